//! What stands above a battle: how it goes, who won, and what can be done with all of it.

use domain::battle::{Battle, Kind, Status, Told};
use leptos::prelude::*;

use super::{
    api::{self, StopBattle},
    pane::{Arena, View},
    roster::clock,
};
use crate::{
    erased::{Erase, Show},
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    ui::{Badge, Menu, MenuGroup, MenuItem, Progress, Tone},
    workspace::Clock,
};

#[component]
pub fn Head() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let stop = Submission::new::<StopBattle>();
    let facts = untrack(|| arena.read(feed, |it| (it.title(), it.kind, it.prompt.clone())));
    let Some((title, kind, prompt)) = facts else { return ().erase() };
    let status = Memo::new(move |_| arena.read(feed, |it| (it.course.status, it.course.stopped)));
    let badge = move || {
        let (status, stopped) = status.get()?;
        let (tone, words) = match (status, stopped) {
            (Status::Running, Some(_)) => (Tone::Waiting, "Stopping…"),
            (Status::Running, None) => (Tone::Running, "Running"),
            (Status::Analysing, _) => (Tone::Running, "Comparing"),
            (Status::Completed, _) => (Tone::Done, "Completed"),
            (Status::Cancelled, _) => (Tone::Cancelled, "Stopped"),
        };
        Some(view! { <Badge tone text=Signal::stored(words.to_owned()) /> })
    };
    let is_running = move || status.get().is_some_and(|(status, _)| !status.is_over());
    let is_stopping = move || matches!(status.get(), Some((Status::Running, Some(_))));
    view! {
        <header class="arena-head">
            <div class="arena-title">
                <h1>{title}</h1>
                <span class="badge">{kind.label()}</span>
                <span role="status">{badge}</span>
                <Elapsed />
                <div class="arena-actions">
                    <Show when=move || is_running()>
                        <Form to=stop>
                            <input type="hidden" name="battle" value=arena.battle.to_string() />
                            <button
                                class="button small danger"
                                type="submit"
                                disabled=move || stop.is_pending() || is_stopping()
                            >
                                {Icon::Stop.view()}
                                "Stop"
                            </button>
                        </Form>
                    </Show>
                    <BattleMenu kind />
                </div>
            </div>
            <Failure error=Signal::derive(move || stop.failure()) dismiss=move |()| stop.forget() />
            <Course />
            <Winner />
            <BaseCheck />
            <Unwritten />
            <details class="arena-prompt-shown">
                <summary>"Prompt"</summary>
                <p>{prompt}</p>
            </details>
        </header>
    }
    .erase()
}

/// How long it has gone on, or took.
#[component]
fn Elapsed() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let now = expect_context::<Clock>();
    let times = Memo::new(move |_| arena.read(feed, |it| (it.created_at_ms, it.course.finished_at_ms)));
    let words = move || Some(clock(now.taken(times.get()?)?));
    view! { <span class="arena-elapsed">{words}</span> }.erase()
}

/// A bar over the contestants, or over the calls of an analysis.
#[component]
fn Course() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let course = Memo::new(move |_| arena.read(feed, course_of).flatten());
    move || {
        course.get().map(|(label, done, all)| {
            let detail = format!("{done} of {all}");
            view! {
                <Progress
                    label=Signal::stored(label)
                    detail=Signal::stored(detail)
                    value=Signal::stored(Some(done))
                    max=all
                />
            }
        })
    }
}

fn course_of(battle: &Battle) -> Option<(String, u32, u32)> {
    match battle.course.status {
        Status::Running => {
            let over = battle.contestants.iter().filter(|it| it.standing.is_over()).count();
            let all = battle.contestants.len();
            if over < all {
                return Some(("Contestants".to_owned(), over as u32, all as u32));
            }
            let (checked, all) = battle.checks();
            Some(("Checking the results".to_owned(), checked, all))
        }
        Status::Analysing => {
            let (done, all) = battle.newest_analysis()?.progress();
            Some(("Comparing the results".to_owned(), done, all))
        }
        Status::Completed | Status::Cancelled => None,
    }
}

/// Who won, in one line, with what a person says beside what the judge says.
#[component]
fn Winner() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let told = Memo::new(move |_| arena.read(feed, Battle::told).flatten());
    move || {
        told.get().map(|Told { is_won, words, may_compare_again }| {
            let icon = if is_won { Icon::Trophy } else { Icon::Info };
            let class = if is_won { "arena-winner won" } else { "arena-winner" };
            let again = may_compare_again.then(|| {
                let look = move |_| arena.view.set(View::Analysis);
                view! { <button class="button small" type="button" on:click=look>"Compare again…"</button> }
            });
            view! { <p class=class role="status">{icon.view()} <span>{words}</span> {again}</p> }
        })
    }
}

/// What the check says of the project itself: what everybody is held against.
#[component]
fn BaseCheck() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let told = Memo::new(move |_| arena.read(feed, |it| it.course.base_check.told_of_base()).flatten());
    let said = Memo::new(move |_| {
        let tail = arena.read(feed, |it| it.course.base_check.checked().map(|it| it.tail.clone())).flatten();
        tail.filter(|tail| !tail.is_empty())
    });
    let output = move || {
        said.get().map(|tail| {
            view! {
                <details class="arena-prompt-shown">
                    <summary>"What it said of the project itself"</summary>
                    <pre>{tail}</pre>
                </details>
            }
        })
    };
    view! { <p class="arena-base">{move || told.get()}</p> {output} }.erase()
}

/// Why the results folder does not tell what is so.
#[component]
fn Unwritten() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let why = Memo::new(move |_| arena.read(feed, |it| it.course.unwritten.clone()).flatten());
    move || {
        why.get().map(|why| {
            view! {
                <p class="notice error">
                    {why} " "
                    <button class="button small" type="button" on:click=move |_| arena.write_results()>
                        "Write it again"
                    </button>
                </p>
            }
        })
    }
}

#[component]
fn BattleMenu(kind: Kind) -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let is_over = Memo::new(move |_| arena.read(feed, |it| it.course.status.is_over()).unwrap_or_default());
    let groups = Signal::derive(move || {
        let battle = arena.battle;
        let late =
            |item: MenuItem| if is_over.get() { item } else { item.disabled("when the battle is over") };
        let analyse = MenuItem::new("Compare the results again", move || {
            arena.view.set(View::Analysis);
        });
        let write = MenuItem::new("Write the results folder again", move || arena.write_results());
        let export = MenuItem::link("Export as one HTML file", format!("/battle/{battle}/export"));
        let mut items =
            vec![late(analyse).icon(Icon::Swords), write.icon(Icon::Folder), export.icon(Icon::External)];
        if kind == Kind::Coding {
            let discard = MenuItem::new("Discard the worktrees", move || {
                arena.run(async move {
                    api::discard_worktrees(battle).await?;
                    arena.say(
                        "The worktrees are in the trash. Settings, Worktrees brings them back.".to_owned(),
                    );
                    Ok(())
                });
            });
            items.push(late(discard).icon(Icon::Trash).danger());
        }
        vec![MenuGroup::new(items)]
    });
    view! { <Menu id=format!("battle-{}", arena.battle) name="More of this battle" icon=Icon::More groups /> }
        .erase()
}
