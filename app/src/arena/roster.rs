//! Who takes part and how each stands.

use domain::{
    battle::{Contestant, Kind, Standing, check::changed_tests},
    id::ContestantId,
    task::Task,
};
use leptos::prelude::*;

use super::{
    api,
    pane::{Arena, View},
};
use crate::{
    chat::StatusLine,
    erased::{Erase, For, Show},
    feed::Feed,
    icon::Icon,
    ui::{Badge, Menu, MenuGroup, MenuItem, Tone},
    workspace::Clock,
};

#[component]
pub fn Roster() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let ids = untrack(|| arena.read(feed, |it| it.contestants.iter().map(|it| it.id).collect::<Vec<_>>()));
    let ids = ids.unwrap_or_default();
    view! {
        <ol class="arena-roster" aria-label="Contestants">
            <For each=move || ids.clone() key=|id| *id children=|id| view! { <Row id /> } />
        </ol>
    }
    .erase()
}

/// What a row shows of a contestant.
#[derive(Clone, PartialEq)]
struct Shown {
    contestant: Contestant,
    standing: Standing,
    task: Option<Task>,
    letter: char,
    ahead: Vec<char>,
    is_leader: bool,
    is_chosen: bool,
    /// What is told of its check, and how that looks.
    check: Option<(String, &'static str)>,
    is_coding: bool,
    is_over: bool,
}

#[component]
fn Row(id: ContestantId) -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let shown = Memo::new(move |_| {
        arena
            .read(feed, |battle| {
                let contestant = battle.contestant(id).ok()?.clone();
                let base = &battle.course.base_check;
                // What nobody is charged with does not look as if somebody were.
                let class = match contestant.check.compared(base) {
                    Some(compared) if compared.is_good() => "arena-fact good",
                    Some(compared) if compared.is_charged() => "arena-fact bad",
                    _ => "arena-fact",
                };
                Some(Shown {
                    standing: battle.standing(&contestant),
                    task: battle.task_of(&contestant).cloned(),
                    letter: battle.letter(id),
                    ahead: battle.ahead_of(&contestant),
                    is_leader: battle.leader() == Some(id),
                    is_chosen: battle.course.winner == Some(id),
                    check: contestant.check.told(base).map(|words| (words, class)),
                    is_coding: battle.kind == Kind::Coding,
                    is_over: battle.course.status.is_over(),
                    contestant,
                })
            })
            .flatten()
    });
    let facts = untrack(|| shown.get());
    let Some(Shown { contestant, letter, .. }) = facts else { return ().erase() };
    let lane = contestant.lane.word();
    let task = Memo::new(move |_| shown.with(|shown| shown.as_ref().and_then(|it| it.task.clone())));
    let standing = Memo::new(move |_| shown.with(|shown| shown.as_ref().map(|it| it.standing.clone())));
    let is_leader = Memo::new(move |_| shown.with(|shown| shown.as_ref().is_some_and(|it| it.is_leader)));
    let ahead =
        Memo::new(move |_| shown.with(|shown| shown.as_ref().map(|it| it.ahead.clone()).unwrap_or_default()));
    let status = move || {
        standing.get().map(|standing| {
            let words = standing.label().to_owned();
            view! { <Badge tone=tone(&standing) text=Signal::stored(words) /> }
        })
    };
    let reason =
        move || standing.with(|standing| standing.as_ref().and_then(|it| it.reason().map(str::to_owned)));
    let waits = move || {
        let ahead = ahead.get();
        let letters: Vec<_> = ahead.iter().map(ToString::to_string).collect();
        (!letters.is_empty()).then(|| format!("after {}", letters.join(", ")))
    };
    let is_alone = move || arena.alone.get() == Some(id);
    let look = move |_| {
        arena.alone.update(|alone| *alone = if *alone == Some(id) { None } else { Some(id) });
    };
    view! {
        <li class="arena-row" data-leader=move || is_leader.get().then_some("")>
            <button
                class="arena-letter"
                type="button"
                data-letter=letter.to_string()
                aria-pressed=move || is_alone().to_string()
                title="Look at this one alone, or at all"
                aria-label=format!("{letter}: look at this one alone, or at all")
                on:click=look
            >
                {letter.to_string()}
            </button>
            <div class="arena-who">
                <span class="arena-name">
                    {contestant.identity.to_string()}
                    <Show when=move || is_leader.get()>
                        <span class="arena-trophy" title="Winner">{Icon::Trophy.view()}</span>
                        <span class="visually-hidden">"Winner"</span>
                    </Show>
                </span>
                <span class="arena-model">{contestant.model.to_string()} <span class="badge">{lane}</span></span>
            </div>
            <div class="arena-status">
                {status}
                <span class="arena-waits">{waits}</span>
                <Show when=move || ahead.with(Vec::is_empty)>
                    <StatusLine task />
                </Show>
                <span class="arena-reason">{reason}</span>
            </div>
            <Facts shown task />
            <RowMenu id shown />
        </li>
    }
    .erase()
}

/// What was measured, checked and changed. What is not known is not there.
#[component]
fn Facts(shown: Memo<Option<Shown>>, task: Memo<Option<Task>>) -> impl IntoView {
    let Clock(now_ms) = expect_context::<Clock>();
    let duration = move || {
        let done = shown.with(|shown| shown.as_ref()?.contestant.benchmark.as_ref().map(|it| it.duration_ms));
        let running = || task.read().as_ref()?.worked_ms(now_ms.get()?);
        done.or_else(running).map(clock)
    };
    let rate = move || {
        shown.with(|shown| {
            let rate = shown.as_ref()?.contestant.benchmark.as_ref()?.tokens_per_sec?;
            Some(format!("{rate:.1} tokens/s"))
        })
    };
    let tokens = move || {
        shown.with(|shown| {
            shown.as_ref()?.contestant.tokens.map(|tokens| format!("{} tokens", thousands(tokens)))
        })
    };
    let changes = move || {
        shown.with(|shown| {
            let changes = shown.as_ref()?.contestant.changes.as_ref()?;
            Some(match changes.files.len() {
                0 => "no changes".to_owned(),
                1 => format!("1 file +{} −{}", changes.added, changes.deleted),
                count => format!("{count} files +{} −{}", changes.added, changes.deleted),
            })
        })
    };
    let left_out = move || {
        shown.with(|shown| {
            let left_out = shown.as_ref()?.contestant.changes.as_ref()?.left_out_in_brief()?;
            Some(format!("not part of the patch: {left_out}"))
        })
    };
    let tests = move || {
        shown.with(|shown| {
            let tests = changed_tests(shown.as_ref()?.contestant.changes.as_ref()?).len();
            (tests > 0).then(|| format!("changed {tests} test file{}", if tests == 1 { "" } else { "s" }))
        })
    };
    let check = move || shown.with(|shown| shown.as_ref()?.check.clone());
    let check_class = move || check().map_or("arena-fact", |it| it.1);
    let unkept = move || {
        shown.with(|shown| {
            let why = shown.as_ref()?.contestant.unkept.as_ref()?;
            Some(format!("its changes could not be kept: {why}"))
        })
    };
    view! {
        <div class="arena-facts">
            <span class="arena-fact">{duration}</span>
            <span class="arena-fact">{rate}</span>
            <span class="arena-fact">{tokens}</span>
            <span class="arena-fact">{changes}</span>
            <span class=check_class>{move || check().map(|it| it.0)}</span>
            <span class="arena-fact bad">{unkept}</span>
            <span class="arena-fact bad">{left_out}</span>
            <span class="arena-fact bad">{tests}</span>
        </div>
    }
    .erase()
}

#[component]
fn RowMenu(id: ContestantId, shown: Memo<Option<Shown>>) -> impl IntoView {
    let arena = expect_context::<Arena>();
    let battle = arena.battle;
    let state = Memo::new(move |_| {
        shown.with(|shown| {
            shown.as_ref().map(|it| (it.standing.clone(), it.is_chosen, it.is_coding, it.is_over, it.letter))
        })
    });
    let groups = Signal::derive(move || {
        let Some((standing, is_chosen, is_coding, is_over, _)) = state.get() else { return Vec::new() };
        let mut work = Vec::new();
        if standing.is_over() {
            let again = MenuItem::new("Try again", move || arena.run(api::retry_contestant(battle, id)));
            let about = match is_coding {
                true => "In a fresh worktree; what it made stays",
                false => "Asks it once more; what it said stays",
            };
            work.push(again.icon(Icon::Retry).describe(about));
        } else {
            let stop = MenuItem::new("Stop this one", move || arena.run(api::stop_contestant(battle, id)));
            work.push(stop.icon(Icon::Stop).danger());
        }
        let mut result = Vec::new();
        let has_result = standing == Standing::Done;
        let only = |item: MenuItem, is_fine: bool, why: &str| if is_fine { item } else { item.disabled(why) };
        if is_chosen {
            let clear = MenuItem::new("Clear my choice", move || arena.run(api::set_winner(battle, None)));
            result.push(clear.icon(Icon::Trophy));
        } else {
            let win =
                MenuItem::new("Choose as the winner", move || arena.run(api::set_winner(battle, Some(id))));
            let why = if is_over { "it has no result" } else { "when the battle is over" };
            result.push(only(win.icon(Icon::Trophy), has_result && is_over, why));
        }
        if is_coding {
            let look = MenuItem::new("Show its changes", move || arena.look_at(id, View::Changes));
            let adopt = MenuItem::new("Adopt…", move || arena.adopting.set(Some(id)));
            let go_on = MenuItem::new("Continue with feedback", move || arena.go_on(id, String::new()));
            let is_over = standing.is_over();
            result.push(only(look.icon(Icon::Branch), is_over, "when it is over"));
            result.push(only(adopt.icon(Icon::Check), is_over, "when it is over"));
            let about = "Opens a Coder in its worktree";
            result.push(only(go_on.icon(Icon::Code).describe(about), is_over, "when it is over"));
        }
        vec![MenuGroup::new(work), MenuGroup::new(result)]
    });
    let letter = untrack(|| state.get()).map(|it| it.4).unwrap_or('A');
    let name = format!("What can be done with {letter}");
    view! {
        <div class="arena-row-menu"><Menu id=format!("contestant-{id}") name=name icon=Icon::More groups /></div>
    }
    .erase()
}

pub fn tone(standing: &Standing) -> Tone {
    match standing {
        Standing::Queued => Tone::Waiting,
        Standing::Dispatched | Standing::Running => Tone::Running,
        Standing::Done => Tone::Done,
        Standing::Failed { .. } => Tone::Failed,
        Standing::Cancelled { .. } | Standing::Void { .. } => Tone::Cancelled,
    }
}

/// `1:04`, or `12.3 s` below a minute.
pub fn clock(ms: u64) -> String {
    match ms / 1_000 {
        seconds @ 60.. => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{:.1} s", ms as f64 / 1_000.0),
    }
}

pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join("\u{2009}")
}
