//! The steps of a run, each with how far it is, and what its agent says.

use domain::{
    flow::{
        StepId,
        plan::{Limits, Work},
    },
    output::Outcome,
    run::{RunStep, StepStatus},
    task::{self, Task},
    tool::Call,
    transcript::Kind,
};
use leptos::{html::Details, prelude::*, task::spawn_local};

use super::{api, pane::Orchestrator};
use crate::{
    arena::TaskOutput,
    chat::StatusLine,
    erased::{Erase, For, Show, effect},
    error::AppError,
    feed::Feed,
    notice::Failure,
    ui::{Badge, Skeleton, Tone},
};

/// Of what is being said, so much is shown in the list.
const TAIL_CHARS: usize = 160;

#[component]
pub fn Steps() -> impl IntoView {
    let (feed, orchestrator) = (expect_context::<Feed>(), expect_context::<Orchestrator>());
    // Another round adds to them.
    let ids = Memo::new(move |_| {
        let ids = orchestrator
            .read(feed, |shown| shown.run.steps.iter().map(|step| step.step.id.clone()).collect::<Vec<_>>());
        ids.unwrap_or_default()
    });
    view! {
        <section class="steps" aria-label="Steps">
            <h2>"Agents and steps"</h2>
            <ol>
                <For each=move || ids.get() key=StepId::clone children=|id| view! { <StepView id /> } />
            </ol>
        </section>
    }
    .erase()
}

#[component]
fn StepView(id: StepId) -> impl IntoView {
    let (feed, orchestrator) = (expect_context::<Feed>(), expect_context::<Orchestrator>());
    let step = {
        let id = id.clone();
        Memo::new(move |_| orchestrator.read(feed, |shown| shown.run.step(&id).cloned()).flatten())
    };
    let task = {
        let id = id.clone();
        Memo::new(move |_| orchestrator.read(feed, |shown| shown.task_of(&id).cloned()).flatten())
    };
    let waits = Memo::new(move |_| {
        let step = step.get().filter(|step| step.status == StepStatus::Waiting)?;
        let open = orchestrator.read(feed, |shown| shown.run.waits_for(&step).join(", "))?;
        (!open.is_empty()).then(|| format!("after {open}"))
    });
    let Some(RunStep { step: planned, .. }) = untrack(|| step.get()) else { return ().erase() };
    let status = Memo::new(move |_| step.with(|step| step.as_ref().map(|step| step.status.clone())));
    let word = move || status.with(|status| status.as_ref().map(StepStatus::word));
    let badge = move || {
        status.get().map(|status| {
            view! { <Badge tone=tone(&status) text=Signal::stored(status.label().to_owned()) /> }
        })
    };
    let reason = move || status.with(|status| status.as_ref().and_then(|it| it.reason().map(str::to_owned)));
    let limits = planned.agent().map(|agent| agent.limits).filter(|limits| *limits == Limits::FAST);
    let limits = limits.and_then(|limits| {
        untrack(|| orchestrator.read(feed, |shown| format!("fast: {}", shown.terms.held_to(limits))))
    });
    let role = match &planned.work {
        Work::Agent(agent) => agent.role.to_string(),
        Work::Fold => "code: puts the answers together".to_owned(),
        Work::Render => "code: writes the report and checks its evidence".to_owned(),
    };
    let head = move || {
        view! {
            <span class="step-label">{planned.label.clone()}</span>
            <span class="step-role">{role.clone()}</span>
            <span class="step-state">{badge}</span>
        }
        .erase()
    };
    let is_agent = untrack(|| step.with(|step| step.as_ref().is_some_and(|it| it.step.agent().is_some())));
    let (of, tried) = (id.clone(), id);
    let tried = Memo::new(move |_| {
        orchestrator
            .read(feed, |shown| shown.tried.get(&tried).copied().unwrap_or_default())
            .unwrap_or_default()
    });
    let body = if is_agent {
        view! { <Stream step=of task head=head().erase() /> }.erase()
    } else {
        view! { <div class="step-head">{head()}</div> }.erase()
    };
    view! {
        <li class="step" data-status=word>
            {body}
            <div class="step-now">
                <span class="step-waits">{waits}</span>
                <StatusLine task />
                <span class="step-reason">{reason}</span>
                <span class="step-limits">{limits}</span>
                <Attempts task tried />
                <Tail task />
            </div>
        </li>
    }
    .erase()
}

/// What the agent says, folded; one is open at a time. What is over comes when somebody opens it: so a page need not
/// carry all that many agents said. Without scripts there is a link to it.
#[component]
fn Stream(step: StepId, task: Memo<Option<Task>>, head: crate::erased::Erased) -> impl IntoView {
    let (feed, orchestrator) = (expect_context::<Feed>(), expect_context::<Orchestrator>());
    let (is_alive, is_open) = (RwSignal::new(false), RwSignal::new(false));
    let details = NodeRef::<Details>::new();
    let follow = move |_| {
        if let Some(details) = details.get_untracked() {
            is_open.set(details.open());
        }
    };
    // It may have been opened before anything here could follow.
    effect(move || {
        is_alive.set(true);
        if let Some(details) = details.get() {
            is_open.set(details.open());
        }
    });
    let is_empty =
        Memo::new(move |_| task.read().as_ref().is_none_or(|task: &Task| task.attempts().is_empty()));
    // The attempts that are over.
    let over = Memo::new(move |_| {
        task.read().as_ref().map_or(0, |task: &Task| {
            task.attempts().len() - usize::from(matches!(task.status, task::Status::Running { .. }))
        })
    });
    let what = Memo::new(move |_| {
        let task = task.read();
        match task.as_ref().map(|task: &Task| &task.status) {
            Some(task::Status::Settled { outcome: Outcome::Done { .. }, .. }) => Some("What it answered"),
            Some(task::Status::Settled { .. }) if !is_empty.get() => Some("What it said"),
            _ => None,
        }
    });
    let (fetched, failure) = (RwSignal::new(0), RwSignal::new(None::<AppError>));
    let (run, wanted) = (orchestrator.run, step.clone());
    let fetch = move || {
        let (step, over) = (wanted.clone(), over.get_untracked());
        failure.set(None);
        spawn_local(async move {
            match api::said_at_step(run, step).await {
                Ok(said) => {
                    said.iter().take(over).for_each(|(stream, text)| feed.bring(*stream, text));
                    fetched.try_update(|fetched: &mut usize| *fetched = over.max(*fetched));
                }
                Err(error) => drop(failure.try_set(Some(error))),
            }
        });
    };
    let asked = fetch.clone();
    effect(move || {
        if is_open.get() && over.get() > fetched.get_untracked() {
            asked();
        }
    });
    let is_loading = move || over.get() > fetched.get() && failure.with(Option::is_none);
    let again = move || {
        let fetch = fetch.clone();
        failure.with(Option::is_some).then(|| {
            view! { <button class="button small" type="button" on:click=move |_| fetch()>"Try again"</button> }
        })
    };
    let answer = format!("/api/runs/{run}/steps/{step}");
    view! {
        <details
            class="step-stream"
            name=format!("steps-{}", orchestrator.run)
            node_ref=details
            on:toggle=follow
        >
            <summary class="step-head">{head}</summary>
            <div class="step-said">
                <Show when=move || is_empty.get()>
                    <p class="step-nothing">"Nothing yet"</p>
                </Show>
                <Show when=move || !is_alive.get() && what.get().is_some()>
                    <p class="step-nothing"><a href=answer.clone() rel="external">{move || what.get()}</a></p>
                </Show>
                <Failure error=failure />
                {again}
                <Show when=move || is_alive.get() && is_open.get() && !is_empty.get()>
                    <Show when=is_loading>
                        <Skeleton lines=3 label="Loading what it said" />
                    </Show>
                    <TaskOutput task />
                </Show>
            </div>
        </details>
    }
    .erase()
}

/// How often it tried to change something. It cannot; that it tried is told.
#[component]
fn Attempts(task: Memo<Option<Task>>, tried: Memo<u32>) -> impl IntoView {
    let feed = expect_context::<Feed>();
    // Of one that works, what it says tells; of one that is over, the server has counted.
    let now = Memo::new(move |_| {
        let task = task.read();
        let Some(task::Status::Running { attempt, .. }) = task.as_ref().map(|task| &task.status) else {
            return 0;
        };
        let stream = task.as_ref().map(|task| domain::feed::StreamId { task: task.id, attempt: *attempt });
        // Looked at again when something begins: how one call goes on changes nothing about what it is.
        let calls = stream.into_iter().flat_map(|stream| feed.text(stream).segments.get());
        let calls = calls.filter(|segment| segment.kind == Kind::Tool);
        calls.filter(|call| call.text.with_untracked(|lines| Call::read(lines).tries_to_change())).count()
            as u32
    });
    move || {
        let words = match tried.get().max(now.get()) {
            0 => return None,
            1 => "1 attempt to change something, refused".to_owned(),
            many => format!("{many} attempts to change something, refused"),
        };
        Some(view! { <span class="step-attempts">{crate::icon::Icon::Alert.view()} {words}</span> })
    }
}

/// The end of what is being said.
#[component]
fn Tail(task: Memo<Option<Task>>) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let tail = Memo::new(move |_| {
        let task = task.read();
        let task = task.as_ref()?;
        let task::Status::Running { attempt, .. } = task.status else { return None };
        let text = feed.text(domain::feed::StreamId { task: task.id, attempt });
        let last = text.segments.get().pop().filter(|segment| segment.kind == Kind::Text)?;
        let tail = last.text.with(|text| {
            let from = text.char_indices().rev().nth(TAIL_CHARS).map_or(0, |(at, _)| at);
            text[from..].split_whitespace().collect::<Vec<_>>().join(" ")
        });
        Some(tail)
    });
    view! { <span class="step-tail" aria-hidden="true"><span>{tail}</span></span> }.erase()
}

fn tone(status: &StepStatus) -> Tone {
    match status {
        StepStatus::Waiting => Tone::Neutral,
        StepStatus::Queued => Tone::Waiting,
        StepStatus::Running { .. } => Tone::Running,
        StepStatus::Done { .. } => Tone::Done,
        StepStatus::Failed { .. } => Tone::Failed,
        StepStatus::Skipped { .. } | StepStatus::Cancelled => Tone::Cancelled,
    }
}
