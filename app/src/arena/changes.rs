//! What contestants changed: each against the base, or one against another.

use domain::{
    battle::Contestant,
    diff::{Comment, Of},
    id::ContestantId,
};
use leptos::prelude::*;

use super::{outputs::TrySelect, pane::Arena};
use crate::{
    diff::code,
    erased::{Erase, Erased},
    feed::Feed,
    icon::Icon,
    ui::EmptyState,
};

#[component]
pub fn ChangesView() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    // Who was tried again has something to look at, although the newest try may not.
    let all = Memo::new(move |_| {
        arena
            .read(feed, |battle| {
                let is_listed =
                    |it: &&Contestant| it.changes.is_some() || it.unkept.is_some() || it.tries.len() > 1;
                let changed = battle.contestants.iter().filter(is_listed);
                changed
                    .map(|it| (it.id, battle.letter(it.id), it.title(), it.tries.len()))
                    .collect::<Vec<_>>()
            })
            .unwrap_or_default()
    });
    let of = Memo::new(move |_| {
        let all = all.read();
        let has = |id: &ContestantId| all.iter().any(|(other, ..)| other == id);
        let shown = arena.alone.get().filter(has).or_else(|| all.first().map(|first| first.0))?;
        let tries = all.iter().find(|(other, ..)| *other == shown).map(|it| it.3);
        let earlier = arena.tries.with(|chosen| chosen.get(&shown).copied());
        Some((shown, arena.against.get().filter(|other| has(other) && *other != shown), earlier, tries))
    });
    let view = move || match of.get() {
        // Nobody goes on from an earlier try, and nobody comments on two at once.
        Some((shown, _, Some(earlier), _)) => code::view(Of::Try(shown, earlier), None),
        Some((shown, Some(against), ..)) => code::view(Of::Between(against, shown), None),
        Some((shown, None, ..)) => {
            // What is said on a line goes to the Coder that goes on from there.
            let take = move |comments: Vec<Comment>| arena.go_on(shown, Comment::all_words(&comments));
            code::view(Of::Contestant(shown), Some(Callback::new(take)))
        }
        None => view! {
            <EmptyState
                icon=Icon::Branch
                title="No changes yet"
                text="What a contestant changed is shown here when it is over."
            />
        }
        .erase(),
    };
    // An earlier try is shown against the base alone.
    let from = move || {
        let (shown, is_newest) = of.get().map_or((None, true), |of| (Some(of.0), of.2.is_none()));
        is_newest.then(|| select("From", arena.against, all, shown, Some("The base")))
    };
    let to = move || select("To", arena.alone, all, None, None);
    let shown = Memo::new(move |_| of.get().map(|of| of.0));
    let earlier = move || shown.get().map(|id| view! { <TrySelect id /> });
    let unkept = move || {
        // That of an earlier try is told where its changes would be.
        let newest = of.get().filter(|(_, _, earlier, _)| earlier.is_none()).map(|of| of.0);
        let why = newest.and_then(|id| arena.read(feed, |it| it.contestant(id).ok()?.unkept.clone()));
        why.flatten().map(|why| {
            view! { <p class="notice error">{format!("Its changes could not be kept: {why}")}</p> }
        })
    };
    view! {
        <div class="arena-changes">
            <div class="arena-sides" hidden=move || all.read().is_empty()>{from} {to} {earlier}</div>
            {unkept}
            {view}
        </div>
    }
    .erase()
}

type Listed = Vec<(ContestantId, char, String, usize)>;

fn select(
    label: &'static str,
    chosen: RwSignal<Option<ContestantId>>,
    all: Memo<Listed>,
    except: Option<ContestantId>,
    none: Option<&'static str>,
) -> Erased {
    let options =
        all.get().into_iter().filter(|(id, ..)| Some(*id) != except).map(|(id, letter, title, _)| {
            let is_chosen = move || chosen.get() == Some(id);
            view! {
                <option value=id.to_string() selected=untrack(is_chosen) prop:selected=is_chosen>
                    {format!("{letter} · {title}")}
                </option>
            }
        });
    let none = none.map(|words| {
        view! { <option value="" prop:selected=move || chosen.get().is_none()>{words}</option> }
    });
    view! {
        <label class="arena-side">
            <span>{label}</span>
            <select
                class="select"
                on:change:target=move |change| chosen.set(change.target().value().parse().ok())
            >
                {none}
                {options.collect_view()}
            </select>
        </label>
    }
    .erase()
}
