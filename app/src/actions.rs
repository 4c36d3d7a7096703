//! Everything that can be done from the keyboard, the palette and the slash menu. A new action is one entry.

mod hands;
mod help;
mod keys;
mod palette;

use domain::{
    archive::Of,
    flow::{Flow, FlowId},
    layout::{Direction, Edge, Kind},
    page::Wanted,
};
use leptos::prelude::*;

pub use crate::launching::Brief;
use crate::{address::Step, archive::put_away, icon::Icon, workspace::FOLD_KEYS};
pub use hands::Hands;
pub use help::{HelpSheet, sheet};
pub use keys::{is_covered, listen};
pub use palette::{Palette, PaletteButton, finder};

pub struct Action {
    pub title: &'static str,
    pub group: &'static str,
    /// One line that says what it is for.
    pub about: &'static str,
    pub icon: Icon,
    pub keys: Option<&'static str>,
    pub slash: Option<Slash>,
    /// Whether it would do anything here and now.
    pub fits: fn(Hands) -> bool,
    pub run: fn(Hands),
}

pub type WithText = fn(Hands, Brief);

/// How the slash menu of the composer offers it.
#[derive(Clone, Copy)]
pub struct Slash {
    pub name: &'static str,
    pub what: &'static str,
    pub when: &'static str,
    /// For one that takes what is written behind it.
    pub with_text: Option<WithText>,
}

/// What a message is that is not sent.
#[derive(Clone, Copy)]
pub enum Meant {
    Action(&'static Action),
    WithText(WithText),
    Flow(FlowId),
}

/// What a message means, with what is written behind it: `/arena mend the build`. One that takes no text is meant
/// only where it stands alone.
pub fn of_message(text: &str) -> Option<(Meant, String)> {
    let line = text.trim().strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim().to_owned();
    if let Some(flow) = flows().find(|flow| flow.name == name) {
        return Some((Meant::Flow(flow.id), rest));
    }
    let (action, slash) = slashes().find(|(_, slash)| slash.name == name)?;
    match slash.with_text {
        Some(run) => Some((Meant::WithText(run), rest)),
        None => rest.is_empty().then_some((Meant::Action(action), rest)),
    }
}

/// The actions that a slash does.
pub fn slashes() -> impl Iterator<Item = (&'static Action, Slash)> {
    ACTIONS.iter().filter_map(|action| Some((action, action.slash?)))
}

/// The flows that a slash begins.
pub fn flows() -> impl Iterator<Item = &'static Flow> {
    FlowId::ALL.into_iter().map(FlowId::flow).filter(|flow| flow.kind.is_in_slash_menu())
}

pub(crate) const PALETTE_KEYS: &str = "Mod+K";

const PANES: &str = "Panes";
const CHAT: &str = "Chat";
const ARENA: &str = "Arena";
const ORCHESTRATOR: &str = "Orchestrator";
const GENERAL: &str = "General";

#[rustfmt::skip]
pub static ACTIONS: [Action; 38] = [
    action(CHAT, "New chat", "A fresh chat in this pane", Icon::Chat, Some("Alt+N"), slash("new",
        "Opens an empty chat in a new tab of this pane. What you have here goes on and stays open.",
        "When the subject changes: an empty chat costs the model less to read."),
        |hands| hands.open(Kind::Chat, None)),
    action(CHAT, "Rename this chat", "Give it a name that you find again", Icon::Edit, None, slash("rename",
        "Asks for a title and keeps it. A title that you gave is not replaced by a model's.",
        "When you will look for this chat again."),
        |hands| hands.renaming.set(hands.chat().map(Of::Chat))).when(|hands| hands.chat().is_some()),
    action(CHAT, "Archive this chat", "Out of the sidebar; History finds it again", Icon::Archive, None,
        slash("archive",
        "Closes the chat and takes it out of the sidebar. It can be read at its address and brought back.",
        "When you are done with this chat."),
        |hands| put_away(hands, hands.chat().map(Of::Chat))).when(Hands::may_archive_chat),
    action(CHAT, "Rename this session", "Give it a name that you find again", Icon::Edit, None, None,
        |hands| hands.renaming.set(hands.session())).when(Hands::has_session),
    action(CHAT, "Archive this session", "With all in it; History finds it again", Icon::Archive, None, None,
        |hands| put_away(hands, hands.session())).when(Hands::may_archive_session),
    action(ARENA, "Launch a battle", "With what is written here as the prompt", Icon::Swords, None, slash_with("arena",
        "Opens the launcher of a battle with the text behind it as the prompt for every contestant.",
        "When you want to see several agents or models do the same, and take the best.",
        |hands, brief| hands.launching.set(Some(brief))),
        |hands| hands.launching.set(Some(Brief::of(hands.draft())))).when(Hands::has_session),
    action(ORCHESTRATOR, "Launch a flow", "Over what is here, and then beside it", Icon::Workflow, None, None,
        |hands| hands.orchestrating.set(Some(Brief::of(hands.draft())))).when(Hands::has_session),
    action(PANES, "Split right", "A chat beside this pane", Icon::Columns, Some("Alt+\\"), slash("split",
        "Opens an empty chat in a pane of its own at the right of this one.",
        "When you want to read one answer while you ask for another."),
        |hands| hands.split(Edge::Right)).when(Hands::has_pane),
    action(PANES, "Split down", "A chat under this pane", Icon::Rows, Some("Alt+Shift+\\"), None,
        |hands| hands.split(Edge::Bottom)).when(Hands::has_pane),
    action(PANES, "Maximise or restore this pane", "It fills the screen, or all are shown", Icon::Maximise,
        Some("Alt+M"), None, |hands| hands.panes.turn_size()).when(Hands::may_turn_size),
    action(PANES, "Close this tab", "What is in it is kept", Icon::Close, Some("Alt+W"), slash("close",
        "Takes the tab away and keeps its chat. The sidebar and the history lead back to it.",
        "When you are done here for now."), |hands| {
        let tab = hands.focused_pane(|pane| pane.active);
        tab.into_iter().for_each(|tab| hands.panes.close_tab(tab));
    }).when(Hands::has_pane),
    action(PANES, "Close this pane", "With all of its tabs", Icon::Close, None, None,
        |hands| hands.focused().into_iter().for_each(|pane| hands.panes.close_pane(pane))).when(Hands::has_pane),
    action(PANES, "Reopen what was closed last", "Up to ten steps back", Icon::Undo, Some("Alt+Shift+T"), None,
        |hands| hands.panes.reopen()).when(Hands::has_session),
    action(PANES, "Next tab", "In this pane", Icon::Next, Some("Alt+PageDown"), None, |hands| hands.panes.turn(true)).when(Hands::has_tabs),
    action(PANES, "Previous tab", "In this pane", Icon::Previous, Some("Alt+PageUp"), None,
        |hands| hands.panes.turn(false)).when(Hands::has_tabs),
    action(PANES, "Focus the pane on the left", "", Icon::Previous, Some("Alt+Shift+ArrowLeft"), None,
        |hands| hands.panes.focus_towards(Direction::Left)).when(|hands| hands.has_neighbour(Direction::Left)),
    action(PANES, "Focus the pane on the right", "", Icon::Next, Some("Alt+Shift+ArrowRight"), None,
        |hands| hands.panes.focus_towards(Direction::Right)).when(|hands| hands.has_neighbour(Direction::Right)),
    action(PANES, "Focus the pane above", "", Icon::Up, Some("Alt+Shift+ArrowUp"), None,
        |hands| hands.panes.focus_towards(Direction::Up)).when(|hands| hands.has_neighbour(Direction::Up)),
    action(PANES, "Focus the pane below", "", Icon::Down, Some("Alt+Shift+ArrowDown"), None,
        |hands| hands.panes.focus_towards(Direction::Down)).when(|hands| hands.has_neighbour(Direction::Down)),
    action(PANES, "Move this tab forward", "Among the tabs of its pane", Icon::Next, Some("Alt+Shift+PageDown"), None,
        |hands| hands.shift_tab(true)).when(Hands::has_tabs),
    action(PANES, "Move this tab back", "Among the tabs of its pane", Icon::Previous, Some("Alt+Shift+PageUp"), None,
        |hands| hands.shift_tab(false)).when(Hands::has_tabs),
    action(PANES, "Move this tab into a pane on the right", "As dragging it to the right edge does", Icon::Columns,
        None, None, |hands| hands.split_off(Edge::Right)).when(Hands::has_tabs),
    action(PANES, "Move this tab into a pane below", "As dragging it to the lower edge does", Icon::Rows, None, None,
        |hands| hands.split_off(Edge::Bottom)).when(Hands::has_tabs),
    action(PANES, "Move this tab to the pane on the left", "It joins the tabs there", Icon::Previous, None, None,
        |hands| hands.move_tab(Direction::Left)).when(|hands| hands.has_neighbour(Direction::Left)),
    action(PANES, "Move this tab to the pane on the right", "It joins the tabs there", Icon::Next, None, None,
        |hands| hands.move_tab(Direction::Right)).when(|hands| hands.has_neighbour(Direction::Right)),
    action(PANES, "Move this tab to the pane above", "It joins the tabs there", Icon::Up, None, None,
        |hands| hands.move_tab(Direction::Up)).when(|hands| hands.has_neighbour(Direction::Up)),
    action(PANES, "Move this tab to the pane below", "It joins the tabs there", Icon::Down, None, None,
        |hands| hands.move_tab(Direction::Down)).when(|hands| hands.has_neighbour(Direction::Down)),
    action(PANES, "Move this pane to the left", "Past the one there, with all of its tabs", Icon::Previous, None, None,
        |hands| hands.move_pane(Direction::Left, Edge::Left)).when(|hands| hands.has_neighbour(Direction::Left)),
    action(PANES, "Move this pane to the right", "Past the one there, with all of its tabs", Icon::Next, None, None,
        |hands| hands.move_pane(Direction::Right, Edge::Right)).when(|hands| hands.has_neighbour(Direction::Right)),
    action(PANES, "Move this pane up", "Past the one there, with all of its tabs", Icon::Up, None, None,
        |hands| hands.move_pane(Direction::Up, Edge::Top)).when(|hands| hands.has_neighbour(Direction::Up)),
    action(PANES, "Move this pane down", "Past the one there, with all of its tabs", Icon::Down, None, None,
        |hands| hands.move_pane(Direction::Down, Edge::Bottom)).when(|hands| hands.has_neighbour(Direction::Down)),
    action(GENERAL, "Command palette", "Find actions, sessions, chats, battles and runs", Icon::Search, Some(PALETTE_KEYS), None,
        |hands| hands.is_palette_open.update(|open| *open = !*open)),
    action(GENERAL, "Show or hide the sidebar", "More room for the panes", Icon::PanelLeft, Some(FOLD_KEYS), None,
        |hands| hands.turn_sidebar()),
    action(GENERAL, "Keyboard shortcuts", "All of them on one sheet", Icon::Keyboard, Some("Mod+/"), slash("help",
        "Shows every keyboard shortcut on one sheet.",
        "When the hands should stay on the keyboard."),
        |hands| hands.is_help_open.set(true)),
    action(GENERAL, "Switch between light and dark", "Settings can follow the system again", Icon::Moon, None,
        slash("theme",
        "Turns light into dark, or dark into light, in this browser only.",
        "When the room got brighter or darker."), |hands| hands.turn_theme()),
    action(GENERAL, "Settings", "Model servers, appearance, notifications, browsers, pairing a phone", Icon::Settings, None,
        slash("settings",
        "Opens Settings in a tab of this pane: model servers, appearance, browsers and pairing.",
        "When a model is missing, or another device should get in."), |hands| hands.open(Kind::Settings, None)),
    action(GENERAL, "Start page", "Projects and recent chats", Icon::Folder, None, None,
        |hands| hands.go.to(Wanted::Start, Step::Forward)),
    action(GENERAL, "History", "Find chats and sessions by what was said", Icon::History, None, None,
        |_| drop(window().location().set_href(domain::history::PATH))),
];

const fn action(
    group: &'static str,
    title: &'static str,
    about: &'static str,
    icon: Icon,
    keys: Option<&'static str>,
    slash: Option<Slash>,
    run: fn(Hands),
) -> Action {
    Action { title, group, about, icon, keys, slash, fits: |_| true, run }
}

impl Action {
    const fn when(self, fits: fn(Hands) -> bool) -> Self {
        Self { fits, ..self }
    }
}

const fn slash(name: &'static str, what: &'static str, when: &'static str) -> Option<Slash> {
    Some(Slash { name, what, when, with_text: None })
}

const fn slash_with(
    name: &'static str,
    what: &'static str,
    when: &'static str,
    run: WithText,
) -> Option<Slash> {
    Some(Slash { name, what, when, with_text: Some(run) })
}

#[cfg(test)]
#[cfg(feature = "ssr")]
mod tests;
