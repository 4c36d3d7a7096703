//! The steps of a run, each with how far it is, and what its agent says.

use domain::{
    flow::{
        StepId,
        plan::{Limits, Work},
    },
    run::{RunStep, StepStatus},
    task::{self, Task},
    tool::Call,
    transcript::Kind,
};
use leptos::{html::Details, prelude::*};

use super::pane::Orchestrator;
use crate::{
    arena::TaskOutput,
    chat::StatusLine,
    erased::{Erase, For, Show, effect},
    feed::Feed,
    ui::{Badge, Tone},
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
    let limits = limits.map(|Limits { steps, calls }| format!("fast: at most {steps} steps, {calls} calls"));
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
    let body = if is_agent {
        view! { <Stream task head=head().erase() /> }.erase()
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
                <Attempts task />
                <Tail task />
            </div>
        </li>
    }
    .erase()
}

/// What the agent says, folded; one is open at a time. Without scripts all of it is in the page.
#[component]
fn Stream(task: Memo<Option<Task>>, head: crate::erased::Erased) -> impl IntoView {
    let orchestrator = expect_context::<Orchestrator>();
    let (is_alive, is_open) = (RwSignal::new(false), RwSignal::new(false));
    effect(move || is_alive.set(true));
    let details = NodeRef::<Details>::new();
    let follow = move |_| {
        if let Some(details) = details.get_untracked() {
            is_open.set(details.open());
        }
    };
    let is_empty =
        Memo::new(move |_| task.read().as_ref().is_none_or(|task: &Task| task.attempts().is_empty()));
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
                <Show when=move || !is_alive.get() || is_open.get()>
                    <TaskOutput task />
                </Show>
            </div>
        </details>
    }
    .erase()
}

/// How often it tried to change something. It cannot; that it tried is told.
#[component]
fn Attempts(task: Memo<Option<Task>>) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let count = Memo::new(move |_| {
        let task = task.read();
        let streams = task.as_ref().map(|task| (task.id, task.attempts())).into_iter();
        let streams = streams.flat_map(|(id, attempts)| {
            attempts.into_iter().map(move |(attempt, _)| domain::feed::StreamId { task: id, attempt })
        });
        // Looked at again when something begins: how one call goes on changes nothing about what it is.
        let calls = streams.flat_map(|stream| feed.text(stream).segments.get());
        let calls = calls.filter(|segment| segment.kind == Kind::Tool);
        calls.filter(|call| call.text.with_untracked(|lines| Call::read(lines).tries_to_change())).count()
    });
    move || {
        let words = match count.get() {
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
