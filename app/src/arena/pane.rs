//! A battle: how it stands, who takes part, and what they made.

use domain::{
    battle::{Battle, Kind, Status},
    id::{BattleId, ContestantId},
    page::Wanted,
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    adopt::AdoptDialog,
    api::{self, StopBattle},
    changes::ChangesView,
    examinations::ExaminationsView,
    figures::FiguresView,
    outputs::OutputsView,
    roster::Roster,
    verdict::AnalysisView,
};
use crate::{
    chat::leave_draft,
    erased::{Erase, Erased, Show},
    error::AppError,
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    panes::Panes,
    ui::{Badge, EmptyState, Menu, MenuGroup, MenuItem, Progress, ToastKind, Toasts, Tone},
    workspace::Clock,
};

/// What is looked at of a battle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    Output,
    Changes,
    Analysis,
    Examinations,
    Figures,
}

/// What the parts of a battle's pane share.
#[derive(Clone, Copy)]
pub struct Arena {
    pub battle: BattleId,
    pub view: RwSignal<View>,
    /// The contestant that is looked at alone; all are where there is none.
    pub alone: RwSignal<Option<ContestantId>>,
    /// What the changes of a contestant are compared with: the base, or another.
    pub against: RwSignal<Option<ContestantId>>,
    /// Whom a dialog is open for.
    pub adopting: RwSignal<Option<ContestantId>>,
    toasts: Toasts,
    panes: Panes,
}

impl Arena {
    pub fn read<T>(self, feed: Feed, read: impl FnOnce(&Battle) -> T) -> Option<T> {
        feed.battle(self.battle, read)
    }

    /// Does something that takes a moment; what is refused is said in passing.
    pub fn run(self, asked: impl Future<Output = Result<(), AppError>> + 'static) {
        spawn_local(async move {
            if let Err(error) = asked.await {
                self.toasts.push(ToastKind::Failed, error.to_string(), None);
            }
        });
    }

    pub fn say(self, words: String) {
        self.toasts.push(ToastKind::Done, words, None);
    }

    /// A Coder that goes on where a contestant stopped. The words stand in its composer, to be read once more
    /// before they are sent.
    pub fn go_on(self, contestant: ContestantId, words: String) {
        let pane = self.panes.focused.get_untracked().map(|pane| pane.0);
        self.panes.go_to(async move {
            let path = api::go_on_with(contestant, pane).await?;
            if let Wanted::Chat(chat) = Wanted::from_path(&path) {
                leave_draft(chat, &words);
            }
            Ok(path)
        });
    }

    pub fn look_at(self, contestant: ContestantId, view: View) {
        self.alone.set(Some(contestant));
        self.against.set(None);
        self.view.set(view);
    }
}

#[component]
pub fn ArenaPane(battle: BattleId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let arena = Arena {
        battle,
        view: RwSignal::new(View::Output),
        alone: RwSignal::new(None),
        against: RwSignal::new(None),
        adopting: RwSignal::new(None),
        toasts: expect_context::<Toasts>(),
        panes: expect_context::<Panes>(),
    };
    provide_context(arena);
    let is_here = Memo::new(move |_| arena.read(feed, |_| ()).is_some());
    // On a phone, one that is looked at alone has the whole screen.
    let is_full = move || (arena.view.get() == View::Output && arena.alone.get().is_some()).then_some("");
    view! {
        <section class="arena" aria-label="Battle" data-full=is_full>
            <Show when=move || is_here.get()>
                <Head />
                <Roster />
                <Views />
                <AdoptDialog />
            </Show>
            <Show when=move || !is_here.get()>
                <EmptyState icon=Icon::Swords title="This battle is not here" text="It may be of another session." />
            </Show>
        </section>
    }
    .erase()
}

#[component]
fn Head() -> impl IntoView {
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
    let is_stopping = move || status.get().is_some_and(|(_, stopped)| stopped.is_some());
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
    let Clock(now_ms) = expect_context::<Clock>();
    let times = Memo::new(move |_| arena.read(feed, |it| (it.created_at_ms, it.course.finished_at_ms)));
    let words = move || {
        let (created, finished) = times.get()?;
        let until = match finished {
            Some(finished) => finished,
            None => now_ms.get()?,
        };
        Some(super::roster::clock((until - created).max(0) as u64))
    };
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
            let survivors = battle.survivors().count() as u32 + 1;
            let checks = battle.survivors().map(|it| &it.check).chain([&battle.course.base_check]);
            let checked = checks.filter(|it| it.checked().is_some()).count() as u32;
            Some(("Checking the results".to_owned(), checked, survivors))
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
    let told = Memo::new(move |_| arena.read(feed, winner_of).flatten());
    move || {
        told.get().map(|(is_won, words)| {
            let icon = if is_won { Icon::Trophy } else { Icon::Info };
            let class = if is_won { "arena-winner won" } else { "arena-winner" };
            view! { <p class=class role="status">{icon.view()} <span>{words}</span></p> }
        })
    }
}

fn winner_of(battle: &Battle) -> Option<(bool, String)> {
    if !battle.course.status.is_over() {
        return None;
    }
    let judged = battle.newest_analysis().and_then(|it| it.verdict());
    if let Some(chosen) = battle.course.winner {
        let judge = match judged.map(|verdict| verdict.winner) {
            None => String::new(),
            Some(None) => " The judge named nobody.".to_owned(),
            Some(Some(winner)) if winner == chosen => " The judge says so too.".to_owned(),
            Some(Some(winner)) => format!(" The judge named {}.", battle.letter(winner)),
        };
        return Some((true, format!("You chose {}.{judge}", battle.letter(chosen))));
    }
    if let Some(verdict) = judged {
        return Some((verdict.winner.is_some(), verdict.sentence.clone()));
    }
    match battle.survivors().count() {
        0 => Some((false, "No winner: nobody has a result.".to_owned())),
        1 => Some((false, "No winner: only one has a result.".to_owned())),
        _ => None,
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
        let write = MenuItem::new("Write the results folder again", move || {
            arena.run(async move {
                arena.say(format!("Written to {}", api::write_results(battle).await?));
                Ok(())
            });
        });
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

#[component]
fn Views() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let kind = untrack(|| arena.read(feed, |it| it.kind)).unwrap_or(Kind::Coding);
    let tab = move |view: View, label: &'static str| {
        view! {
            <button
                class="tab"
                type="button"
                role="tab"
                aria-selected=move || if arena.view.get() == view { "true" } else { "false" }
                on:click=move |_| arena.view.set(view)
            >
                {label}
            </button>
        }
        .erase()
    };
    let tabs: Vec<Erased> = [
        (View::Output, "Output"),
        (View::Changes, "Changes"),
        (View::Analysis, "Analysis"),
        (View::Examinations, "Cross-examination"),
        (View::Figures, "Figures"),
    ]
    .into_iter()
    .filter(|(view, _)| kind == Kind::Coding || *view != View::Changes)
    .map(|(view, label)| tab(view, label))
    .collect();
    let shown = move || match arena.view.get() {
        View::Output => view! { <OutputsView /> }.erase(),
        View::Changes => view! { <ChangesView /> }.erase(),
        View::Analysis => view! { <AnalysisView /> }.erase(),
        View::Examinations => view! { <ExaminationsView /> }.erase(),
        View::Figures => view! { <FiguresView /> }.erase(),
    };
    view! {
        <div class="tabs arena-tabs" role="tablist" aria-label="What is shown of the battle">{tabs}</div>
        <div class="arena-view">{shown}</div>
    }
    .erase()
}
