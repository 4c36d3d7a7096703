//! What contestants say and do, as it comes: side by side, or one at a time.

use domain::{feed::StreamId, id::ContestantId, task::Task};
use leptos::prelude::*;

use super::{api, pane::Arena};
use crate::{
    chat::{AttemptView, is_lost, writes},
    erased::{Erase, For, Show},
    feed::Feed,
    icon::Icon,
};

/// Of everybody where all of a battle stands at once, as on paper.
#[component]
pub fn OutputsView(is_whole: RwSignal<bool>) -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let all = untrack(|| arena.read(feed, |it| it.contestants.iter().map(|it| it.id).collect::<Vec<_>>()));
    let all = all.unwrap_or_default();
    let shown = Memo::new(move |_| match arena.alone.get().filter(|_| !is_whole.get()) {
        Some(alone) => vec![alone],
        None => all.clone(),
    });
    view! {
        <div class="arena-outputs" data-count=move || shown.read().len().to_string()>
            <For each=move || shown.get() key=|id| *id children=|id| view! { <OutputView id /> } />
        </div>
    }
    .erase()
}

#[component]
fn OutputView(id: ContestantId) -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let facts =
        untrack(|| arena.read(feed, |it| (it.letter(id), it.contestant(id).ok().map(|it| it.title()))));
    let (letter, title) = facts.unwrap_or(('A', None));
    // The newest is shown; the tries before it stay to be looked at.
    let tries = Memo::new(move |_| {
        arena
            .read(feed, |it| it.contestant(id).map(|it| it.tries.clone()).unwrap_or_default())
            .unwrap_or_default()
    });
    let is_alone = move || arena.alone.get().is_some();
    let shown = Memo::new(move |_| {
        let chosen = arena.tries.with(|chosen| chosen.get(&id).copied());
        chosen.or_else(|| tries.read().last().copied())
    });
    let task = Memo::new(move |_| {
        let shown = shown.get()?;
        arena.read(feed, |it| it.tasks.get(&shown).cloned()).flatten()
    });
    let is_empty =
        Memo::new(move |_| task.read().as_ref().is_none_or(|task: &Task| task.attempts().is_empty()));
    view! {
        <article class="arena-output" aria-label=format!("Output of {letter}")>
            <header class="arena-output-head">
                <Show when=is_alone>
                    <button
                        class="icon-button arena-back"
                        type="button"
                        aria-label="Back to all contestants"
                        on:click=move |_| arena.alone.set(None)
                    >
                        {Icon::Previous.view()}
                    </button>
                </Show>
                <span class="arena-letter" data-letter=letter.to_string()>{letter.to_string()}</span>
                <h2>{title}</h2>
                <TrySelect id />
                <Show when=move || !is_alone()>
                    <button
                        class="icon-button"
                        type="button"
                        aria-label=format!("Show {letter} alone")
                        on:click=move |_| arena.alone.set(Some(id))
                    >
                        {Icon::Maximise.view()}
                    </button>
                </Show>
            </header>
            <div class="arena-output-body" tabindex="0" role="region" aria-label=format!("What {letter} says")>
                <Show when=move || is_empty.get()>
                    <p class="arena-nothing">"Nothing yet"</p>
                </Show>
                <TaskOutput task />
            </div>
        </article>
    }
    .erase()
}

/// Which of its tries is looked at, where there are several. What an earlier one said is fetched then.
#[component]
pub fn TrySelect(id: ContestantId) -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let tries = Memo::new(move |_| {
        let tries = arena.read(feed, |it| it.contestant(id).map(|it| it.tries.clone()).unwrap_or_default());
        tries.unwrap_or_default()
    });
    let choose = move |value: String| {
        let newest = tries.with_untracked(|tries| tries.last().copied());
        let Some(task) = value.parse().ok().filter(|task| Some(*task) != newest) else {
            return arena.tries.update(|chosen| {
                chosen.remove(&id);
            });
        };
        arena.tries.update(|chosen| {
            chosen.insert(id, task);
        });
        arena.run(async move {
            let said = api::output_of_try(arena.battle, task).await?;
            said.iter().for_each(|(stream, text)| feed.bring(*stream, text));
            Ok(())
        });
    };
    move || {
        let tries = tries.get();
        (tries.len() > 1).then(|| {
            let last = tries.len();
            let options = tries.into_iter().enumerate().rev().map(|(place, task)| {
                let newest = if place + 1 == last { " (newest)" } else { "" };
                let is_chosen = move || arena.tries.with(|chosen| chosen.get(&id) == Some(&task));
                view! {
                    <option value=task.to_string() prop:selected=is_chosen>{format!("Try {}{newest}", place + 1)}</option>
                }
            });
            view! {
                <select
                    class="select ghost"
                    aria-label="Which try is shown"
                    on:change:target=move |change| choose(change.target().value())
                >
                    {options.collect_view()}
                </select>
            }
            .erase()
        })
    }
}

/// Everything that a task said, attempt by attempt.
#[component]
pub fn TaskOutput(task: Memo<Option<Task>>) -> impl IntoView {
    let attempts = Memo::new(move |_| {
        let task = task.read();
        task.as_ref()
            .map(|task| (task.id, task.attempts()))
            .map(|(id, attempts)| {
                attempts
                    .into_iter()
                    .map(|(attempt, len)| (StreamId { task: id, attempt }, len))
                    .collect::<Vec<_>>()
            })
            .unwrap_or_default()
    });
    view! {
        <For
            each=move || attempts.get()
            key=|(stream, _)| *stream
            children=move |(stream, len)| {
                let of = move |look: fn(&Task, domain::id::Attempt) -> bool| {
                    Memo::new(move |_| task.read().as_ref().is_some_and(|task| look(task, stream.attempt)))
                };
                view! { <AttemptView stream len interrupted=of(is_lost) streaming=of(writes) /> }
            }
        />
    }
    .erase()
}
