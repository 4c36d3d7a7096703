//! What a task is doing, as it goes on.

use domain::{
    id::Attempt,
    output::Outcome,
    task::{Status, Task},
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    api::{self, Waiting},
    status,
};
use crate::{
    erased::effect,
    feed::{Feed, line::Shown},
    ui::Dot,
    workspace::{Clock, Offered},
};

#[component]
pub fn StatusLine(task: Memo<Option<Task>>) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Clock(now_ms) = expect_context::<Clock>();
    let waiting = RwSignal::new(untrack(|| task.with(first_wait)));
    let is_queued =
        Memo::new(move |_| task.read().as_ref().is_some_and(|task| task.status == Status::Queued));
    // Nobody tells when another chat's task moves up, so it is asked for while it matters.
    effect(move || {
        let Some(id) = is_queued.get().then(|| task.with_untracked(|task| task.as_ref().map(|task| task.id)))
        else {
            return waiting.set(Waiting::default());
        };
        let is_due = now_ms.get().is_some_and(|now_ms| now_ms / 1_000 % 2 == 0);
        if let (Some(id), true) = (id, is_due) {
            spawn_local(async move {
                if let Ok(fresh) = api::waiting_for(id).await {
                    waiting.try_set(fresh);
                }
            });
        }
    });
    let is_running = Memo::new(move |_| task.read().as_ref().is_some_and(|task| !task.is_settled()));
    let now_ms = Memo::new(move |before: Option<&Option<i64>>| {
        match (is_running.get(), feed.connection.get()) {
            // A settled turn does not look at the clock, so it is not woken every second.
            (false, _) => None,
            (true, Shown::Live) => now_ms.get(),
            // Nobody tells how it goes on, so nothing is counted.
            (true, _) => before.copied().flatten(),
        }
    });
    move || {
        let line = task.read().as_ref().and_then(|task| status::line(task, waiting.get(), now_ms.get()));
        line.map(|line| {
            view! {
                <p class="message-status">
                    <Dot tone=line.tone />
                    <span>{line.words}</span>
                </p>
            }
        })
    }
}

/// What the page knows of it without asking: enough to say that nothing will happen by itself.
fn first_wait(task: &Option<Task>) -> Waiting {
    let Offered(models) = expect_context::<Offered>();
    let server = task.as_ref().filter(|task| task.status == Status::Queued).map(|task| &task.model.server);
    let hindrance =
        server.and_then(|server| models.with_untracked(|models| models.catalogue.hindrance(server)));
    Waiting { ahead: 0, hindrance }
}

/// Whoever worked at it is gone; what was written stays.
pub fn is_lost(task: &Task, attempt: Attempt) -> bool {
    let settled_lost = matches!(
        &task.status,
        Status::Settled { attempt: Some(last), outcome: Outcome::Lost, .. } if *last == attempt
    );
    settled_lost || task.lost.iter().any(|(lost, _)| *lost == attempt)
}

pub fn writes(task: &Task, attempt: Attempt) -> bool {
    matches!(&task.status, Status::Running { attempt: current, .. } if *current == attempt)
}
