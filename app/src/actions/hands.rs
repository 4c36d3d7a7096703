//! What an action works with.

use domain::{
    archive::Of,
    id::ChatId,
    layout::{Content, Direction, Edge, Input, Kind, PaneId, Target},
    page::Wanted,
    settings::Section,
};
use leptos::prelude::*;

use super::of_message;
use crate::{
    address::{Go, Step},
    chat::draft_of,
    device,
    feed::Feed,
    launching::Brief,
    panes::Panes,
    theme::ThemeChoice,
    workspace::SidebarFold,
};

#[derive(Clone, Copy)]
pub struct Hands {
    pub panes: Panes,
    pub feed: Feed,
    pub go: Go,
    pub theme: ThemeChoice,
    pub is_palette_open: RwSignal<bool>,
    pub is_help_open: RwSignal<bool>,
    /// What is being given another name.
    pub renaming: RwSignal<Option<Of>>,
    /// A battle that is about to be launched.
    pub launching: RwSignal<Option<Brief>>,
    /// A run that is about to be launched.
    pub orchestrating: RwSignal<Option<Brief>>,
    pub sidebar: SidebarFold,
    pub is_drawer_open: RwSignal<bool>,
}

impl Hands {
    pub(super) fn focused(self) -> Option<PaneId> {
        self.panes.focused.get_untracked()
    }

    pub(super) fn focused_pane<T>(self, read: impl FnOnce(&domain::layout::Pane) -> T) -> Option<T> {
        let focused = self.focused()?;
        self.panes.layout.with_untracked(|layout| layout.pane(focused).map(read))
    }

    pub(super) fn has_session(self) -> bool {
        self.panes.session.get_untracked().is_some()
    }

    pub(super) fn has_pane(self) -> bool {
        self.focused().is_some()
    }

    pub(super) fn has_tabs(self) -> bool {
        self.focused_pane(|pane| pane.tabs.len() > 1).unwrap_or_default()
    }

    pub(super) fn has_neighbour(self, direction: Direction) -> bool {
        let neighbour = |from| self.panes.layout.with_untracked(|layout| layout.neighbour(from, direction));
        self.focused().and_then(neighbour).is_some()
    }

    /// A phone shows one pane at a time as it is.
    pub(super) fn may_turn_size(self) -> bool {
        self.panes.are_several() && !device::is_narrow()
    }

    /// What is written in the composer that has the focus.
    pub(super) fn draft(self) -> String {
        let draft = self.chat().and_then(|chat| device::remembered(&draft_of(chat))).unwrap_or_default();
        // Of a command, what stands behind it.
        of_message(&draft).map_or(draft, |(_, rest)| rest)
    }

    /// The chat that has the focus.
    pub fn chat(self) -> Option<ChatId> {
        match self.focused_pane(|pane| pane.shows())?? {
            Content::Chat(chat) => Some(chat),
            Content::Arena
            | Content::Battle(_)
            | Content::Orchestrator
            | Content::Run(_)
            | Content::Artifact(_)
            | Content::Settings => None,
        }
    }

    pub(super) fn session(self) -> Option<Of> {
        self.panes.session.get_untracked().map(Of::Session)
    }

    pub(super) fn may_archive_chat(self) -> bool {
        self.chat().is_some() && self.is_listed(self.chat())
    }

    pub(super) fn may_archive_session(self) -> bool {
        self.has_session() && self.is_listed(None)
    }

    fn is_listed(self, chat: Option<ChatId>) -> bool {
        let session = self.panes.session.get_untracked();
        session
            .is_some_and(|session| untrack(|| self.feed.workspace(|all| all.away(session, chat).is_none())))
    }

    /// In the pane that has the focus or at an edge of it; where there are no panes, at an address of its own.
    pub(super) fn open(self, kind: Kind, edge: Option<Edge>) {
        if self.panes.session.get_untracked().is_none() {
            let page = match kind {
                Kind::Settings => Wanted::SettingsPage(Section::default()),
                Kind::Chat | Kind::Coder | Kind::Arena | Kind::Orchestrator => Wanted::Start,
            };
            return self.go.to(page, Step::Forward);
        }
        let target = match (self.focused(), edge) {
            (Some(pane), Some(edge)) => Target::Split { pane, edge },
            (pane, _) => Target::Tab { pane },
        };
        self.panes.open_new(kind, target);
    }

    /// Nothing where there are no panes.
    pub(super) fn split(self, edge: Edge) {
        if self.focused().is_some() {
            self.open(Kind::Chat, Some(edge));
        }
    }

    pub(super) fn split_off(self, edge: Edge) {
        if let Some((pane, tab)) = self.focused_pane(|pane| (pane.id, pane.active)) {
            self.panes.ask(Input::MoveTab { tab, target: Target::Split { pane, edge }, index: None });
        }
    }

    pub(super) fn move_tab(self, direction: Direction) {
        let Some((from, tab)) = self.focused_pane(|pane| (pane.id, pane.active)) else { return };
        let to = self.panes.layout.with_untracked(|layout| layout.neighbour(from, direction));
        if let Some(pane) = to {
            self.panes.ask(Input::MoveTab { tab, target: Target::Tab { pane: Some(pane) }, index: None });
        }
    }

    /// One place on or back among the tabs of its pane.
    pub(super) fn shift_tab(self, forward: bool) {
        let moved = self.focused_pane(|pane| {
            let at = pane.tabs.iter().position(|tab| tab.number == pane.active)?;
            let to =
                if forward { Some(at + 1).filter(|to| *to < pane.tabs.len()) } else { at.checked_sub(1) };
            Some((pane.id, pane.active, to?))
        });
        if let Some((pane, tab, to)) = moved.flatten() {
            self.panes.ask(Input::MoveTab { tab, target: Target::Tab { pane: Some(pane) }, index: Some(to) });
        }
    }

    pub(super) fn move_pane(self, direction: Direction, edge: Edge) {
        let Some(pane) = self.focused() else { return };
        let to = self.panes.layout.with_untracked(|layout| layout.neighbour(pane, direction));
        if let Some(beside) = to {
            self.panes.ask(Input::MovePane { pane, beside, edge });
        }
    }

    pub(super) fn turn_sidebar(self) {
        if device::is_narrow() {
            self.is_drawer_open.update(|open| *open = !*open);
        } else {
            self.sidebar.turn();
        }
    }

    pub(super) fn turn_theme(self) {
        let ThemeChoice(theme) = self.theme;
        theme.update(|theme| *theme = theme.turned(device::prefers_dark()));
    }
}
