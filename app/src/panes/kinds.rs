//! The kinds of panes: what each is called and looks like, and how it is shown. A new kind is one entry here.

use domain::{
    artifact::{Artifact, What},
    battle::Battle,
    chat::Kind as ChatKind,
    layout::{Content, Edge, Kind, Target},
    run::Shown,
};
use leptos::prelude::*;

use super::Panes;
use crate::{
    actions::ACTIONS,
    arena, chat,
    erased::{Erase, Erased},
    feed::Feed,
    icon::Icon,
    orchestrator,
    settings::SettingsPane,
    ui::MenuItem,
};

/// How a kind presents itself in menus.
pub struct Entry {
    pub kind: Kind,
    pub name: &'static str,
    /// What opening one is called.
    pub open: &'static str,
    pub icon: Icon,
    pub about: &'static str,
}

/// In the order of the menus.
pub static KINDS: [Entry; 5] = [
    Entry {
        kind: Kind::Chat,
        name: "Chat",
        open: "New chat",
        icon: Icon::Chat,
        about: "Ask a model about this project",
    },
    Entry {
        kind: Kind::Coder,
        name: "Coder",
        open: "New task",
        icon: Icon::Code,
        about: "Let an agent change the code, in a worktree of its own",
    },
    Entry {
        kind: Kind::Arena,
        name: "Arena",
        open: "New Arena",
        icon: Icon::Swords,
        about: "Give one prompt to several agents or models, and see who does it best",
    },
    Entry {
        kind: Kind::Orchestrator,
        name: "Orchestrator",
        open: "New Orchestrator",
        icon: Icon::Workflow,
        about: "Let several agents look at the project, and get a report whose evidence is checked",
    },
    Entry {
        kind: Kind::Settings,
        name: "Settings",
        // There is one, so it is not made.
        open: "Settings",
        icon: Icon::Settings,
        about: "Model servers, appearance, browsers",
    },
];

/// Where something new goes: a tab of the pane, or a pane at an edge of it.
pub struct Place {
    pub edge: Option<Edge>,
    /// Behind what opening it is called.
    words: &'static str,
    split: &'static str,
}

static PLACES: [Place; 3] = [
    Place { edge: None, words: "", split: "" },
    Place { edge: Some(Edge::Right), words: " on the right", split: "Split right. " },
    Place { edge: Some(Edge::Bottom), words: " below", split: "Split down. " },
];

/// Something new in a place, as the palette has it.
#[derive(Clone, Copy)]
pub struct New {
    pub entry: &'static Entry,
    pub place: &'static Place,
}

/// Every kind in every place.
pub fn offered() -> impl Iterator<Item = New> {
    PLACES.iter().flat_map(|place| KINDS.iter().map(move |entry| New { entry, place }))
}

impl New {
    pub fn title(self) -> String {
        format!("{}{}", self.entry.open, self.place.words)
    }

    pub fn about(self) -> String {
        format!("{}{}", self.place.split, self.entry.about)
    }
}

/// An item for every kind.
pub fn menu(
    panes: Panes,
    name: fn(&Entry) -> &'static str,
    target: impl Fn() -> Target + Copy + Send + Sync + 'static,
) -> Vec<MenuItem> {
    let item = |entry: &'static Entry| {
        let open = Callback::new(move |()| panes.open_new(entry.kind, target()));
        let item = MenuItem::new(name(entry), open).icon(entry.icon).describe(entry.about);
        match keys(entry.kind, target()) {
            Some(keys) => item.shortcut(keys),
            None => item,
        }
    };
    KINDS.iter().map(item).collect()
}

/// The shortcut of the action that does the same.
fn keys(kind: Kind, target: Target) -> Option<&'static str> {
    let title = match (kind, target) {
        (Kind::Chat, Target::Tab { .. }) => "New chat",
        (Kind::Chat, Target::Split { edge: Edge::Right, .. }) => "Split right",
        (Kind::Chat, Target::Split { edge: Edge::Bottom, .. }) => "Split down",
        _ => return None,
    };
    ACTIONS.iter().find(|action| action.title == title)?.keys
}

pub fn icon(feed: Feed, content: Content) -> Icon {
    let kind = match content {
        Content::Chat(chat) => {
            return chat_icon(feed.workspace(|all| all.chat(chat).map(|chat| chat.kind)).unwrap_or_default());
        }
        // Opened from a report, and from nowhere else.
        Content::Artifact(_) => return Icon::File,
        Content::Arena | Content::Battle(_) => Kind::Arena,
        Content::Orchestrator | Content::Run(_) => Kind::Orchestrator,
        Content::Settings => Kind::Settings,
    };
    icon_of(kind)
}

pub fn chat_icon(kind: ChatKind) -> Icon {
    icon_of(match kind {
        ChatKind::Chat => Kind::Chat,
        ChatKind::Coder => Kind::Coder,
    })
}

fn icon_of(kind: Kind) -> Icon {
    KINDS.iter().find(|entry| entry.kind == kind).map_or(Icon::File, |entry| entry.icon)
}

/// What a tab is called.
pub fn title(feed: Feed, content: Content) -> String {
    match content {
        Content::Chat(chat) => {
            feed.workspace(|all| all.chat(chat).map(|chat| chat.title.clone())).unwrap_or_default()
        }
        Content::Arena => "New battle".to_owned(),
        Content::Battle(battle) => {
            let listed = feed.workspace(|all| all.battle(battle).map(|battle| battle.title.clone()));
            listed.or_else(|| feed.battle(battle, Battle::title)).unwrap_or_else(|| "Battle".to_owned())
        }
        Content::Orchestrator => "New run".to_owned(),
        Content::Run(run) => {
            let listed = feed.workspace(|all| all.run(run).map(|run| run.title.clone()));
            listed.or_else(|| feed.run(run, Shown::title)).unwrap_or_else(|| "Run".to_owned())
        }
        Content::Artifact(Artifact { what, .. }) => match what {
            What::Cited(number) => format!("Evidence {number}"),
            What::Report => "Report".to_owned(),
            What::Diff => "Changes".to_owned(),
        },
        Content::Settings => "Settings".to_owned(),
    }
}

pub fn view(content: Content) -> Erased {
    match content {
        Content::Chat(chat) => chat::code::CHUNK.view(chat),
        Content::Arena => arena::code::CHUNK.view(arena::code::Part::Launcher),
        Content::Battle(battle) => arena::code::CHUNK.view(arena::code::Part::Battle(battle)),
        Content::Orchestrator => orchestrator::code::CHUNK.view(orchestrator::code::Part::Launcher),
        Content::Run(run) => orchestrator::code::CHUNK.view(orchestrator::code::Part::Run(run)),
        Content::Artifact(artifact) => {
            orchestrator::code::CHUNK.view(orchestrator::code::Part::Artifact(artifact))
        }
        Content::Settings => view! { <SettingsPane /> }.erase(),
    }
}
