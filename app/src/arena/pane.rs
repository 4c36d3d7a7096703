//! A battle: how it stands, who takes part, and what they made.

use std::collections::BTreeMap;

use domain::{
    battle::{Battle, Kind},
    id::{BattleId, ContestantId, TaskId},
    page::Wanted,
};
use leptos::{html::Div, prelude::*, task::spawn_local};

use super::{
    adopt::AdoptDialog, api, changes::ChangesView, examinations::ExaminationsView, figures::FiguresView,
    head::Head, outputs::OutputsView, patches::PatchesView, roster::Roster, verdict::AnalysisView,
};
use crate::{
    chat::leave_draft,
    device,
    erased::{Erase, Erased, Show, effect},
    error::AppError,
    feed::Feed,
    icon::Icon,
    panes::Panes,
    ui::{EmptyState, ToastKind, Toasts},
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
    /// The tries that are looked at of those who were tried again, where it is not the newest.
    pub tries: RwSignal<BTreeMap<ContestantId, TaskId>>,
    /// What was changed, as far as the page came with it.
    pub patches: StoredValue<BTreeMap<ContestantId, String>>,
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

    pub fn write_results(self) {
        self.run(async move {
            self.say(format!("Written to {}", api::write_results(self.battle).await?));
            Ok(())
        });
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
        tries: RwSignal::default(),
        patches: StoredValue::default(),
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
fn Views() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let kind = untrack(|| arena.read(feed, |it| it.kind)).unwrap_or(Kind::Coding);
    let panel = NodeRef::<Div>::new();
    // On a phone the roster fills the screen, and what is chosen lies below it.
    let look_at = move |view| {
        arena.view.set(view);
        if device::is_narrow() {
            request_animation_frame(move || {
                panel.get_untracked().into_iter().for_each(|panel| panel.scroll_into_view());
            });
        }
    };
    let tab = move |view: View, label: &'static str| {
        view! {
            <button
                class="tab"
                type="button"
                role="tab"
                aria-selected=move || if arena.view.get() == view { "true" } else { "false" }
                on:click=move |_| look_at(view)
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
    // Without scripts there are no tabs, and on paper neither, so what is behind them stands below what was said. The
    // browser's first look is the same.
    let Clock(now_ms) = expect_context::<Clock>();
    let is_whole = RwSignal::new(untrack(|| now_ms.get()).is_none());
    effect(move || {
        is_whole.set(false);
        let listen = |sign, whole| window_event_listener_untyped(sign, move |_| is_whole.set(whole));
        let listeners = [listen("beforeprint", true), listen("afterprint", false)];
        on_cleanup(move || listeners.into_iter().for_each(|listener| listener.remove()));
    });
    let chosen = Memo::new(move |_| if is_whole.get() { View::Output } else { arena.view.get() });
    let shown = move || match chosen.get() {
        View::Output => view! { <OutputsView is_whole /> }.erase(),
        View::Changes => view! { <ChangesView /> }.erase(),
        View::Analysis => view! { <AnalysisView /> }.erase(),
        View::Examinations => view! { <ExaminationsView /> }.erase(),
        View::Figures => view! { <FiguresView /> }.erase(),
    };
    let rest = move || {
        is_whole.get().then(|| {
            view! {
                <div class="arena-rest">
                    {(kind == Kind::Coding).then(|| view! { <h2>"Changes"</h2> <PatchesView /> })}
                    <h2>"Analysis"</h2>
                    <AnalysisView />
                    <h2>"Cross-examination"</h2>
                    <ExaminationsView />
                    <h2>"Figures"</h2>
                    <FiguresView />
                </div>
            }
        })
    };
    view! {
        <div class="tabs arena-tabs" role="tablist" aria-label="What is shown of the battle">{tabs}</div>
        <div class="arena-view" node_ref=panel>{shown}</div>
        {rest}
    }
    .erase()
}
