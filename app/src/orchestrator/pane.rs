//! A run: what it was asked, its report when there is one, and who works on it.

use domain::{
    artifact::{Artifact, What},
    flow::Report,
    id::RunId,
    layout::Content,
    page::Wanted,
    run::{Shown, Status},
};
use leptos::{ev::MouseEvent, prelude::*};

use super::{
    actions::{ReportActions, RunMenu},
    api::CancelRun,
    first,
    report::Place,
    reported::Reported,
    steps::Steps,
};
use crate::{
    arena::clock,
    erased::{Erase, Show},
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    panes::Panes,
    ui::{Badge, Progress, Skeleton, Tone},
    workspace::Clock,
};

/// What the parts of a run's pane share.
#[derive(Clone, Copy)]
pub struct Orchestrator {
    pub run: RunId,
    pub(super) report: RwSignal<Option<Report>>,
    pub(super) panes: Panes,
}

impl Orchestrator {
    pub fn read<T>(self, feed: Feed, read: impl FnOnce(&Shown) -> T) -> Option<T> {
        feed.run(self.run, read)
    }
}

#[component]
pub fn OrchestratorPane(run: RunId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let (first, block) = first::report(run, "report");
    let reported = Reported::new(run, first, Place::Pane(run));
    let orchestrator = Orchestrator { run, report: reported.report, panes: expect_context::<Panes>() };
    provide_context(orchestrator);
    let is_here = Memo::new(move |_| orchestrator.read(feed, |_| ()).is_some());
    view! {
        <section class="orchestrator" aria-label="Run">
            <Show when=move || is_here.get()>
                <Head />
                {reported.trouble()}
                <Show when=move || reported.is_here.get()>
                    <ReportActions />
                </Show>
                {reported.content()}
                <Steps />
            </Show>
            // It is on its way: what does not exist is said in place of the pane.
            <Show when=move || !is_here.get()>
                <Skeleton lines=6 label="Loading the run" />
            </Show>
            // After what is read first: a browser shows that without waiting for the rest of the page.
            {block}
        </section>
    }
    .erase()
}

#[component]
fn Head() -> impl IntoView {
    let (feed, orchestrator) = (expect_context::<Feed>(), expect_context::<Orchestrator>());
    let cancel = Submission::new::<CancelRun>();
    let facts = untrack(|| orchestrator.read(feed, |shown| (shown.run.request.clone(), shown.terms.clone())));
    let Some((request, terms)) = facts else { return ().erase() };
    let status = Memo::new(move |_| orchestrator.read(feed, |shown| shown.run.status.clone()));
    let badge = move || {
        status.get().map(|status| {
            view! { <Badge tone=tone(&status) text=Signal::stored(status.label().to_owned()) /> }
        })
    };
    let is_running = move || status.with(|status| status.as_ref().is_some_and(|status| !status.is_over()));
    let is_stopping = move || status.get() == Some(Status::Running { cancelling: true });
    let reason = move || {
        let reason = status.with(|status| status.as_ref().and_then(|it| it.reason().map(str::to_owned)));
        reason.map(|reason| view! { <p class="notice error" role="alert">{reason}</p> })
    };
    let words = move || orchestrator.read(feed, |shown| shown.run.words());
    let card = request.flow.flow();
    let who = move || {
        orchestrator.read(feed, |shown| {
            let (run, terms) = (&shown.run, &shown.terms);
            format!("{} · {} · {}", run.request.target, terms.workers(&run.steps), terms.model)
        })
    };
    let diff = Artifact { run: orchestrator.run, what: What::Diff };
    let change = terms.since.is_some().then(|| {
        let open = move |click: MouseEvent| {
            if !(click.meta_key() || click.ctrl_key() || click.shift_key()) {
                click.prevent_default();
                orchestrator.panes.open_beside(Content::Artifact(diff));
            }
        };
        view! {
            <p class="orchestrator-change">
                <a href=Wanted::Artifact(diff).path() on:click=open>{Icon::Branch.view()} "The change that it looks at"</a>
            </p>
        }
    });
    let asked = (!request.focus.is_empty()).then(|| {
        view! {
            <details class="orchestrator-asked" open=true>
                <summary>{card.focus.asks()}</summary>
                <p>{request.focus.clone()}</p>
            </details>
        }
    });
    view! {
        <header class="orchestrator-head">
            <div class="orchestrator-title">
                <h1>{card.title}</h1>
                <span class="badge">{format!("{} band", request.band)}</span>
                {request.fast.then(|| view! { <span class="badge">"fast"</span> })}
                <span role="status">{badge}</span>
                <Elapsed />
                <div class="orchestrator-actions">
                    <Show when=is_running>
                        <Form to=cancel>
                            <input type="hidden" name="run" value=orchestrator.run.to_string() />
                            <button
                                class="button small danger"
                                type="submit"
                                disabled=move || cancel.is_pending() || is_stopping()
                            >
                                {Icon::Stop.view()}
                                "Cancel"
                            </button>
                        </Form>
                    </Show>
                    <RunMenu />
                </div>
            </div>
            <Failure error=Signal::derive(move || cancel.failure()) dismiss=move |()| cancel.forget() />
            <p class="orchestrator-who">{who}</p>
            <p class="orchestrator-words">{words}</p>
            {change}
            {reason}
            <Course />
            {asked}
        </header>
    }
    .erase()
}

/// How long it has gone on, or took.
#[component]
fn Elapsed() -> impl IntoView {
    let (feed, orchestrator) = (expect_context::<Feed>(), expect_context::<Orchestrator>());
    let now = expect_context::<Clock>();
    let times =
        Memo::new(move |_| orchestrator.read(feed, |shown| (shown.created_at_ms, shown.finished_at_ms)));
    let words = move || Some(clock(now.taken(times.get()?)?));
    view! { <span class="orchestrator-elapsed">{words}</span> }.erase()
}

/// A bar over the steps, while there is something to wait for.
#[component]
fn Course() -> impl IntoView {
    let (feed, orchestrator) = (expect_context::<Feed>(), expect_context::<Orchestrator>());
    let course = Memo::new(move |_| {
        let course = orchestrator.read(feed, |shown| (!shown.run.is_over()).then(|| shown.progress()));
        course.flatten()
    });
    move || {
        course.get().map(|(done, all)| {
            view! {
                <Progress
                    label=Signal::stored("Steps".to_owned())
                    detail=Signal::stored(format!("{done} of {all}"))
                    value=Signal::stored(Some(done as u32))
                    max=all as u32
                />
            }
        })
    }
}

fn tone(status: &Status) -> Tone {
    match status {
        Status::Queued => Tone::Waiting,
        Status::Running { .. } => Tone::Running,
        Status::Done => Tone::Done,
        Status::Failed { .. } => Tone::Failed,
        Status::Cancelled => Tone::Cancelled,
    }
}
