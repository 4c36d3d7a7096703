//! The panes of a session: tiles that split, move and close, each a stack of tabs.
//!
//! Panes lie flat beside each other and are placed by numbers, not nested as the tree is: so a pane that moves
//! keeps its scroll, its focus and its half-written text.

pub mod api;
mod bar;
mod divider;
mod drag;
mod enter;
pub mod kinds;
mod pane;
mod place;
mod tree;
mod turns;

use domain::{
    id::{ChatId, SessionId},
    layout::{Content, Direction, Edge, Input, Kind, Layout, PaneId, SplitId, TabNumber, Target},
    page::{Fronts, Held, Left, Wanted},
};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    address::{Address, Go, Step},
    cookie, device,
    erased::effect,
    error::AppError,
    feed::{Feed, line::Shown},
    ui::{ToastAction, ToastKind, Toasts},
};
use drag::Drag;
pub use kinds::chat_icon;
pub use tree::PaneTree;
use turns::Turns;

/// Lists the sessions in which a pane fills the screen.
const MAXIMISED: &str = "boocode-maximised";

/// The panes as this browser shows them.
#[derive(Clone, Copy)]
pub struct Panes {
    /// None while something else is in front: what cannot be seen is not acted on.
    pub session: Memo<Option<SessionId>>,
    /// With what the address names in front.
    pub layout: Memo<Layout>,
    pub focused: Memo<Option<PaneId>>,
    /// Whether the focused pane fills the screen. This browser remembers it for each session.
    pub is_maximised: RwSignal<bool>,
    /// What this browser left in front, pane by pane.
    pub fronts: StoredValue<Fronts>,
    /// A divider while it is being dragged.
    resizing: RwSignal<Option<(SplitId, u16)>>,
    drag: RwSignal<Option<Drag>>,
    /// What was asked for in a session comes to the front once it is here, unless somebody went elsewhere meanwhile.
    awaited: RwSignal<Option<(SessionId, Content)>>,
    /// Whether the next change of the layout was asked for here.
    is_arranging: StoredValue<bool>,
    turns: Turns,
    toasts: Toasts,
    go: Go,
}

impl Panes {
    /// Follows the address and the feed. Where the address leads to is opened for everybody.
    pub fn follow(feed: Feed, Address(wanted): Address) -> Self {
        let (last, fronts) = (RwSignal::new(None), StoredValue::new(Fronts::default()));
        let is_in_front = Memo::new(move |_| wanted.get().is_of_a_session());
        let session = Memo::new(move |_| {
            feed.page(|page| page.session.as_ref().filter(|_| is_in_front.get()).map(|open| open.id))
        });
        let layout = Memo::new(move |_| {
            let (wanted, last) = (wanted.get(), last.get());
            fronts.with_value(|fronts| feed.page(|page| page.showing(wanted, last, fronts)))
        });
        let focused = Memo::new(move |_| {
            session.get()?;
            let layout = layout.read();
            let wanted = wanted.get().content().and_then(|content| layout.find(content));
            let last = || last.get_untracked().filter(|last| layout.pane(*last).is_some());
            wanted
                .map(|(pane, _)| pane.id)
                .or_else(last)
                .or_else(|| layout.panes().first().map(|pane| pane.id))
        });
        let panes = Self {
            session,
            layout,
            focused,
            is_maximised: RwSignal::new(session.get_untracked().is_some_and(is_remembered_maximised)),
            fronts,
            resizing: RwSignal::new(None),
            drag: RwSignal::new(None),
            awaited: RwSignal::new(None),
            is_arranging: StoredValue::new(false),
            turns: Turns::default(),
            toasts: expect_context::<Toasts>(),
            go: Go::new(),
        };
        effect(move || {
            if let Some(focused) = focused.get() {
                last.set(Some(focused));
            }
        });
        effect(move || {
            let dragged = panes.resizing.get_untracked();
            let is_there = dragged.is_some_and(|(split, share)| layout.read().share(split) == Some(share));
            layout.track();
            if is_there {
                panes.resizing.set(None);
            }
        });
        effect(move || {
            if let Some(session) = session.get() {
                panes.is_maximised.set(is_remembered_maximised(session));
            }
        });
        // One that is alone fills the screen as it is.
        let is_alone = Memo::new(move |_| session.get().is_some() && layout.read().panes().len() == 1);
        effect(move || {
            if is_alone.get() {
                panes.set_maximised(false);
            }
        });
        effect(move || {
            let Some((asked_in, content)) = panes.awaited.get() else { return };
            if session.get() != Some(asked_in) {
                panes.awaited.set(None);
            } else if layout.read().find(content).is_some() {
                panes.awaited.set(None);
                panes.show(content, Step::Forward);
                panes.enter();
            }
        });
        // What is moved or closed may take the focus along; then it goes where the eyes are.
        effect(move || {
            layout.track();
            if panes.is_arranging.try_update_value(std::mem::take) == Some(true) {
                enter::unless_somewhere(panes);
            }
        });
        panes.toasts.leave_keyboard_to(Callback::new(move |()| panes.enter()));
        let held = Memo::new(move |_| feed.page(|page| page.held(wanted.get())));
        panes.leave_what_is_closed(feed, wanted, held);
        panes.enter_where_led(wanted, held);
        panes.open_what_is_wanted(feed, wanted);
        panes
    }

    /// What somebody else closes would come back with the address, for this browser alone and under a number that is
    /// another's.
    fn leave_what_is_closed(self, feed: Feed, wanted: Memo<Wanted>, held: Memo<Option<Held>>) {
        let last = StoredValue::new(None);
        effect(move || {
            let held = held.get();
            if let Some(held) = held {
                self.fronts.update_value(|fronts| fronts.keep(held));
            }
            let before = last.try_update_value(|last| std::mem::replace(last, held)).flatten();
            // Whoever went elsewhere left it by themselves.
            let Some(before) = before.filter(|before: &Held| before.wanted == wanted.get_untracked()) else {
                return;
            };
            match untrack(|| feed.page(|page| page.left(before))) {
                None => return,
                Some(Left::Closed(heir)) => self.go.to(heir, Step::Aside),
                // As for whoever launched it, whom the server leads there.
                Some(Left::Bound(made)) => self.go.to(made, Step::Forward),
            }
            enter::unless_somewhere(self);
        });
    }

    /// What the server leads to has the focus once it is here, unless somebody went elsewhere meanwhile.
    fn enter_where_led(self, wanted: Memo<Wanted>, held: Memo<Option<Held>>) {
        let mut before = None;
        effect(move || {
            let Some(led) = self.go.led.get() else { return before = None };
            let before = before.get_or_insert_with(enter::holder);
            let is_here = match led {
                Wanted::Session(session) => self.session.get() == Some(session),
                _ => held.get().is_some(),
            };
            if wanted.get() != led {
                self.go.led.set(None);
            } else if is_here {
                self.go.led.set(None);
                enter::unless_left(self, before.take());
            }
        });
    }

    /// Once for each address: two browsers that look at two tabs of one pane must not argue. Nobody asked for it, so
    /// a server that is away is asked again without a word when it is back.
    fn open_what_is_wanted(self, feed: Feed, wanted: Memo<Wanted>) {
        let is_here = Memo::new(move |_| feed.page(|page| page.holds(wanted.get())));
        let opened = StoredValue::new(None);
        effect(move || {
            let wanted = wanted.get();
            let is_live = feed.connection.get() == Shown::Live;
            if !is_here.get() || !is_live || opened.get_value() == Some(wanted) {
                return;
            }
            opened.set_value(Some(wanted));
            let Some(content) = wanted.content() else { return };
            let is_in_front = untrack(|| {
                feed.page(|page| {
                    page.session.as_ref().is_some_and(|open| open.layout.visible().contains(&content))
                })
            });
            if is_in_front {
                return;
            }
            let target = Target::Tab { pane: self.focused.get_untracked() };
            self.arrange(Input::Open { content, target }, move |error| {
                if error == AppError::Offline {
                    opened.try_update_value(|opened| *opened = opened.filter(|later| *later != wanted));
                } else {
                    self.say(&error);
                }
            });
        });
    }

    pub fn ask(self, input: Input) {
        if let Input::Open { target, .. } | Input::MoveTab { target, .. } = input {
            self.make_room(target);
        }
        self.arrange(input, move |error| {
            self.say(&error);
            self.resizing.try_set(None);
        });
    }

    /// In passing: nothing was changed, so there is nothing to keep in sight.
    pub(crate) fn say(self, error: &AppError) {
        let kind = match error {
            AppError::Rejected(_) | AppError::Invalid(_) => ToastKind::Info,
            _ => ToastKind::Failed,
        };
        self.toasts.push(kind, error.to_string(), None);
    }

    /// In passing, with what can be done about it.
    pub(crate) fn tell(self, words: &str, action: ToastAction) {
        self.toasts.push(ToastKind::Done, words, Some(action));
    }

    fn arrange(self, input: Input, on_failure: impl FnOnce(AppError) + 'static) {
        let Some(session) = self.session.get_untracked() else { return };
        let Ok(input) = serde_json::to_string(&input) else { return };
        self.is_arranging.set_value(true);
        let asked = self.turns.take(api::arrange(session, input));
        spawn_local(async move {
            if let Err(error) = asked.await {
                on_failure(error);
            }
        });
    }

    /// Something new, in front as soon as it is here: before, it would be shown in a place that is not its own.
    pub fn open_new(self, kind: Kind, target: Target) {
        let Some(session) = self.session.get_untracked() else { return };
        self.make_room(target);
        let Ok(target) = serde_json::to_string(&target) else { return };
        let made = self.turns.take(api::open_new(session, kind, target));
        spawn_local(async move { self.go_when_here(session, made.await) });
    }

    /// A new chat; `prepare` is told which one before it is shown.
    pub fn open_chat(self, prepare: impl FnOnce(ChatId) + 'static) {
        let Some(session) = self.session.get_untracked() else { return };
        let target = Target::Tab { pane: self.focused.get_untracked() };
        let Ok(target) = serde_json::to_string(&target) else { return };
        let made = self.turns.take(api::open_new(session, Kind::Chat, target));
        self.go_to(async move {
            let path = made.await?;
            if let Wanted::Chat(chat) = Wanted::from_path(&path) {
                prepare(chat);
            }
            Ok(path)
        });
    }

    /// Beside what has the focus, so that both are seen; where evidence is open already, it joins that.
    pub fn open_beside(self, content: Content) {
        let (Some(session), Some(focused)) = (self.session.get_untracked(), self.focused.get_untracked())
        else {
            return;
        };
        let other = self.layout.with_untracked(|layout| {
            let panes = layout.panes();
            let other = panes.iter().find(|pane| matches!(pane.shows(), Some(Content::Artifact(_))));
            other.map(|pane| pane.id)
        });
        let target = match other {
            Some(pane) => Target::Tab { pane: Some(pane) },
            None if device::is_narrow() => Target::Tab { pane: Some(focused) },
            None => Target::Split { pane: focused, edge: Edge::Right },
        };
        self.awaited.set(Some((session, content)));
        self.ask(Input::Open { content, target });
    }

    /// Leads to what is being made, once it is here.
    pub fn go_to(self, path: impl Future<Output = Result<String, AppError>> + 'static) {
        let Some(session) = self.session.get_untracked() else { return };
        spawn_local(async move { self.go_when_here(session, path.await) });
    }

    fn go_when_here(self, session: SessionId, path: Result<String, AppError>) {
        match path {
            Ok(path) => {
                let content = Wanted::from_path(&path).content();
                self.awaited.try_set(content.map(|content| (session, content)));
            }
            Err(error) => self.say(&error),
        }
    }

    /// Of a tab that is on its way to another place.
    fn await_tab(self, tab: TabNumber) {
        let content = self.layout.with_untracked(|layout| layout.tab(tab).map(|(_, tab)| tab.content));
        self.awaited.set(self.session.get_untracked().zip(content));
    }

    /// What has the focus.
    pub fn in_front(self) -> Option<Content> {
        let focused = self.focused.get()?;
        self.layout.read().pane(focused)?.shows()
    }

    pub fn focus(self, pane: PaneId) {
        let content = self.layout.with_untracked(|layout| layout.pane(pane).and_then(|pane| pane.shows()));
        if let Some(content) = content.filter(|_| self.focused.get_untracked() != Some(pane)) {
            self.show(content, Step::Aside);
        }
    }

    pub fn focus_towards(self, direction: Direction) {
        let Some(from) = self.focused.get_untracked() else { return };
        if let Some(to) = self.layout.with_untracked(|layout| layout.neighbour(from, direction)) {
            self.focus(to);
            self.enter();
        }
    }

    /// What is typed from now on goes to what is in front.
    pub fn enter(self) {
        enter::now(self);
    }

    /// The same, where what had the focus went with it.
    pub fn enter_if_lost(self) {
        enter::unless_somewhere(self);
    }

    /// The tab beside the one in front, around the corner too.
    pub fn turn(self, forward: bool) {
        let next = self.layout.with_untracked(|layout| {
            let pane = layout.pane(self.focused.get_untracked()?)?;
            let at = pane.tabs.iter().position(|tab| tab.number == pane.active)?;
            let step = if forward { 1 } else { pane.tabs.len() - 1 };
            Some(pane.tabs[(at + step) % pane.tabs.len()].content)
        });
        if let Some(content) = next {
            self.show(content, Step::Forward);
            self.enter();
        }
    }

    fn show(self, content: Content, step: Step) {
        if let Some(session) = self.session.get_untracked() {
            self.go.to(Wanted::to_content(session, content), step);
        }
    }

    pub fn close_tab(self, tab: TabNumber) {
        self.close(Input::CloseTab { tab });
    }

    pub fn close_pane(self, pane: PaneId) {
        self.close(Input::ClosePane { pane });
    }

    /// Goes where the focus will be, so that what is closed does not come back with the address.
    fn close(self, input: Input) {
        let Some(session) = self.session.get_untracked() else { return };
        let next = self.layout.with_untracked(|layout| {
            let mut after = layout.clone();
            layout.decide(input.clone()).ok()?.iter().for_each(|change| after.apply(change));
            let shown = |pane| layout.pane(pane).and_then(|pane| pane.shows());
            let focused = self.focused.get_untracked();
            if focused.and_then(shown).is_some_and(|content| after.find(content).is_some()) {
                return None;
            }
            Some(
                after
                    .heir(focused)
                    .map_or(Wanted::Session(session), |content| Wanted::to_content(session, content)),
            )
        });
        if let Some(wanted) = next {
            self.go.to(wanted, Step::Aside);
            self.enter();
        }
        self.ask(input);
    }

    pub fn are_several(self) -> bool {
        self.layout.with_untracked(|layout| layout.panes().len() > 1)
    }

    /// The focused pane fills the screen, or all are shown.
    pub fn turn_size(self) {
        self.set_maximised(!self.is_maximised.get_untracked());
    }

    fn set_maximised(self, is_maximised: bool) {
        let Some(session) = self.session.get_untracked() else { return };
        if self.is_maximised.get_untracked() != is_maximised {
            self.is_maximised.set(is_maximised);
            cookie::list(MAXIMISED, &session.to_string(), is_maximised);
        }
    }

    /// A new pane is asked for to be seen beside the others.
    fn make_room(self, target: Target) {
        if let Target::Split { .. } = target {
            self.set_maximised(false);
        }
    }

    /// Goes to what comes back.
    pub fn reopen(self) {
        let Some(session) = self.session.get_untracked() else { return };
        let reopened = self.turns.take(api::reopen(session));
        spawn_local(async move { self.go_when_here(session, reopened.await) });
    }

    /// The layout as it is drawn now, a dragged divider included.
    fn drawn(self) -> Layout {
        let mut layout = self.layout.get();
        if let Some((split, share)) = self.resizing.get() {
            layout.apply(&domain::layout::Change::SplitResized { split, share });
        }
        layout
    }
}

/// What the page is called: what has the focus.
pub fn front(feed: Feed, panes: Panes) -> Option<String> {
    panes.in_front().map(|content| kinds::title(feed, content))
}

fn is_remembered_maximised(session: SessionId) -> bool {
    cookie::lists(MAXIMISED, &session.to_string())
}
