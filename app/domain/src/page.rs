//! What one browser page shows: the sidebar, and the panes of the session that is open. One connection feeds
//! all of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    artifact::{Artifact, What},
    battle::Battle,
    chat::Chat,
    feed::{Event, Fold, StreamId},
    id::{BattleId, ChatId, RunId, SessionId, TaskId},
    layout::{Change, Content, Layout, Pane, PaneId, Tab, TabNumber},
    run,
    settings::Section,
    workspace::Workspace,
};

mod streams;

pub use streams::SNAPSHOT_BYTES_MAX;

/// How many chats a page keeps up to date although they are not in front, so that going back to one is quick.
pub const KEPT_MAX: usize = 8;

/// What an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    Start,
    Session(SessionId),
    Chat(ChatId),
    /// Where a battle is launched in a session.
    Arena(SessionId),
    Battle(BattleId),
    /// Where a run is launched in a session.
    Orchestrator(SessionId),
    Run(RunId),
    /// Something of a run beside other work.
    Artifact(Artifact),
    /// Settings in a pane.
    Settings(SessionId),
    /// Settings in place of the panes.
    SettingsPage(Section),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    pub workspace: Workspace,
    pub session: Option<OpenSession>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenSession {
    pub id: SessionId,
    pub layout: Layout,
    /// Those that are in front somewhere, and some that were.
    pub chats: BTreeMap<ChatId, Chat>,
    #[serde(default)]
    pub battles: BTreeMap<BattleId, Battle>,
    #[serde(default)]
    pub runs: BTreeMap<RunId, run::Shown>,
}

/// The tab that holds what an address names, for everybody who looks at its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub wanted: Wanted,
    session: SessionId,
    pane: PaneId,
    tab: TabNumber,
}

/// What a page had in front in each pane when it went to another one. Another page may show another tab there, and its
/// choice is not this one's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fronts(Vec<Held>);

/// Where to go when a tab does not hold any more what an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It was closed.
    Closed(Wanted),
    /// What was made in it took its place.
    Bound(Wanted),
}

impl OpenSession {
    /// The layout with the tabs in front that are still where they were left, as far as what they hold is here.
    fn with(&self, fronts: &Fronts) -> Layout {
        let mut layout = self.layout.clone();
        for front in fronts.0.iter().filter(|front| front.session == self.id) {
            let is_left_so = |(pane, tab): (&Pane, &Tab)| {
                pane.id == front.pane && front.wanted.content() == Some(tab.content) && self.has(tab.content)
            };
            if layout.tab(front.tab).is_some_and(is_left_so) {
                layout.apply(&Change::TabActivated { tab: front.tab });
            }
        }
        layout
    }

    fn has(&self, content: Content) -> bool {
        match fetched(content) {
            Some(Content::Chat(chat)) => self.chats.contains_key(&chat),
            Some(Content::Battle(battle)) => self.battles.contains_key(&battle),
            Some(Content::Run(run)) => self.runs.contains_key(&run),
            _ => true,
        }
    }

    /// One in which nothing is open.
    pub fn empty(id: SessionId) -> Self {
        Self {
            id,
            layout: Layout::default(),
            chats: BTreeMap::new(),
            battles: BTreeMap::new(),
            runs: BTreeMap::new(),
        }
    }
}

/// What has to be fetched to show it.
fn fetched(content: Content) -> Option<Content> {
    match content {
        Content::Chat(_) | Content::Battle(_) | Content::Run(_) => Some(content),
        Content::Artifact(Artifact { run, .. }) => Some(Content::Run(run)),
        Content::Arena | Content::Orchestrator | Content::Settings => None,
    }
}

impl Fronts {
    /// As many as a page is given with a snapshot; the one that was left first gives way.
    pub fn keep(&mut self, held: Held) {
        self.0.retain(|front| (front.session, front.pane) != (held.session, held.pane));
        self.0.insert(0, held);
        self.0.truncate(KEPT_MAX);
    }
}

impl Wanted {
    /// None for an address that leads nowhere. What is no id names something that does not exist, which is then
    /// said.
    pub fn of(path: &str) -> Option<Self> {
        let parts: Vec<_> = path.trim_matches('/').split('/').collect();
        let session = |id: &str| SessionId(id.parse().unwrap_or_default());
        let artifact =
            |id: &str, what| Self::Artifact(Artifact { run: RunId(id.parse().unwrap_or_default()), what });
        Some(match parts[..] {
            [""] => Self::Start,
            ["chat", id] => Self::Chat(ChatId(id.parse().unwrap_or_default())),
            ["session", id] => Self::Session(session(id)),
            ["session", id, "arena"] => Self::Arena(session(id)),
            ["battle", id] => Self::Battle(BattleId(id.parse().unwrap_or_default())),
            ["session", id, "orchestrator"] => Self::Orchestrator(session(id)),
            ["run", id] => Self::Run(RunId(id.parse().unwrap_or_default())),
            ["run", id, "cited", number] => artifact(id, What::Cited(number.parse().ok()?)),
            ["run", id, "report"] => artifact(id, What::Report),
            ["run", id, "diff"] => artifact(id, What::Diff),
            ["session", id, "settings"] => Self::Settings(session(id)),
            ["settings"] => Self::SettingsPage(Section::default()),
            ["settings", section] => Self::SettingsPage(Section::named(section)?),
            _ => return None,
        })
    }

    /// What leads nowhere leads to the start.
    pub fn from_path(path: &str) -> Self {
        Self::of(path).unwrap_or(Self::Start)
    }

    pub fn path(self) -> String {
        match self {
            Self::Start => "/".to_owned(),
            Self::Session(session) => format!("/session/{session}"),
            Self::Chat(chat) => format!("/chat/{chat}"),
            Self::Arena(session) => format!("/session/{session}/arena"),
            Self::Battle(battle) => format!("/battle/{battle}"),
            Self::Orchestrator(session) => format!("/session/{session}/orchestrator"),
            Self::Run(run) => format!("/run/{run}"),
            Self::Artifact(Artifact { run, what }) => match what {
                What::Cited(number) => format!("/run/{run}/cited/{number}"),
                What::Report => format!("/run/{run}/report"),
                What::Diff => format!("/run/{run}/diff"),
            },
            Self::Settings(session) => format!("/session/{session}/settings"),
            Self::SettingsPage(section) => format!("/settings/{}", section.id()),
        }
    }

    /// What leads to a content of this session.
    pub fn to_content(session: SessionId, content: Content) -> Self {
        match content {
            Content::Chat(chat) => Self::Chat(chat),
            Content::Arena => Self::Arena(session),
            Content::Battle(battle) => Self::Battle(battle),
            Content::Orchestrator => Self::Orchestrator(session),
            Content::Run(run) => Self::Run(run),
            Content::Artifact(artifact) => Self::Artifact(artifact),
            Content::Settings => Self::Settings(session),
        }
    }

    /// Whether it shows the panes of a session.
    pub fn is_of_a_session(self) -> bool {
        !matches!(self, Self::Start | Self::SettingsPage(_))
    }

    pub fn content(self) -> Option<Content> {
        match self {
            Self::Start | Self::SettingsPage(_) | Self::Session(_) => None,
            Self::Chat(chat) => Some(Content::Chat(chat)),
            Self::Arena(_) => Some(Content::Arena),
            Self::Battle(battle) => Some(Content::Battle(battle)),
            Self::Orchestrator(_) => Some(Content::Orchestrator),
            Self::Run(run) => Some(Content::Run(run)),
            Self::Artifact(artifact) => Some(Content::Artifact(artifact)),
            Self::Settings(_) => Some(Content::Settings),
        }
    }
}

impl Page {
    pub fn chat(&self, id: ChatId) -> Option<&Chat> {
        self.session.as_ref()?.chats.get(&id)
    }

    pub fn battle(&self, id: BattleId) -> Option<&Battle> {
        self.session.as_ref()?.battles.get(&id)
    }

    pub fn run(&self, id: RunId) -> Option<&run::Shown> {
        self.session.as_ref()?.runs.get(&id)
    }

    /// The session that what is wanted belongs to, as far as it is known here.
    pub fn session_of(&self, wanted: Wanted) -> Option<SessionId> {
        match wanted {
            Wanted::Start | Wanted::SettingsPage(_) => None,
            Wanted::Session(session)
            | Wanted::Settings(session)
            | Wanted::Arena(session)
            | Wanted::Orchestrator(session) => Some(session),
            Wanted::Chat(chat) => self.workspace.chat(chat).map(|chat| chat.session),
            Wanted::Battle(battle) => {
                let listed = self.workspace.battle(battle).map(|battle| battle.session);
                listed.or_else(|| self.battle(battle).map(|battle| battle.session))
            }
            Wanted::Run(run) | Wanted::Artifact(Artifact { run, .. }) => {
                let listed = self.workspace.run(run).map(|run| run.session);
                listed.or_else(|| self.run(run).map(|run| run.session))
            }
        }
    }

    /// The layout of the open session with what the address names in front, and beside it what was left there. What is
    /// of another session has no place in it: that comes with its own.
    pub fn showing(&self, wanted: Wanted, beside: Option<PaneId>, fronts: &Fronts) -> Layout {
        let Some(open) = &self.session else { return Layout::default() };
        let is_elsewhere = self.session_of(wanted).is_some_and(|session| session != open.id);
        let layout = open.with(fronts);
        match wanted.content().filter(|_| !is_elsewhere) {
            Some(content) => layout.showing(content, beside),
            None => layout,
        }
    }

    /// The tab of the open session that holds what is wanted. What is only shown because the address names it is in
    /// none.
    pub fn held(&self, wanted: Wanted) -> Option<Held> {
        let is_here = |open: &&OpenSession| self.session_of(wanted).is_none_or(|session| session == open.id);
        let open = self.session.as_ref().filter(is_here)?;
        let (pane, tab) = open.layout.find(wanted.content()?)?;
        Some(Held { wanted, session: open.id, pane: pane.id, tab: tab.number })
    }

    /// Where a page goes whose address names what was held so. None while it still is.
    pub fn left(&self, held: Held) -> Option<Left> {
        let open = self.session.as_ref().filter(|open| open.id == held.session)?;
        let to = |content| Wanted::to_content(open.id, content);
        if held.wanted.content().is_none_or(|content| open.layout.find(content).is_some()) {
            return None;
        }
        if let Some((_, tab)) = open.layout.tab(held.tab) {
            return Some(Left::Bound(to(tab.content)));
        }
        Some(Left::Closed(open.layout.heir(Some(held.pane)).map_or(Wanted::Session(open.id), to)))
    }

    /// Whether everything that is in front then is here. What is not has to be fetched.
    pub fn holds(&self, wanted: Wanted) -> bool {
        if !wanted.is_of_a_session() {
            return true;
        }
        let Some(open) = self.session.as_ref().filter(|open| self.session_of(wanted) == Some(open.id)) else {
            return false;
        };
        open.layout.visible().into_iter().chain(wanted.content()).all(|content| open.has(content))
    }

    /// What to keep when a new snapshot is fetched: what is in front here alone, what was looked at last, then the newest.
    pub fn kept(&self, wanted: Wanted, fronts: &Fronts, viewed: &Viewed) -> Vec<Content> {
        let session = self.session_of(wanted);
        let fronts = fronts.0.iter().filter(|front| Some(front.session) == session);
        let mut kept: Vec<_> = fronts.filter_map(|front| fetched(front.wanted.content()?)).collect();
        let Some(open) = &self.session else { return kept };
        let chats = open.chats.keys().rev().map(|chat| Content::Chat(*chat));
        let battles = open.battles.keys().rev().map(|battle| Content::Battle(*battle));
        let runs = open.runs.keys().rev().map(|run| Content::Run(*run));
        let here: Vec<_> = chats.chain(battles).chain(runs).collect();
        let known = viewed.0.iter().filter(|content| here.contains(content));
        let others = here.iter().filter(|content| !viewed.0.contains(content));
        for content in known.chain(others) {
            if kept.len() < KEPT_MAX && !kept.contains(content) {
                kept.push(*content);
            }
        }
        kept
    }
}

/// The chats, battles and runs that were looked at in a page, the last one first.
#[derive(Clone, Debug, Default)]
pub struct Viewed(Vec<Content>);

impl Viewed {
    pub fn look_at(&mut self, wanted: Wanted) {
        let Some(content @ (Content::Chat(_) | Content::Battle(_) | Content::Run(_))) = wanted.content()
        else {
            return;
        };
        self.0.retain(|other| *other != content);
        self.0.insert(0, content);
        self.0.truncate(KEPT_MAX);
    }
}

impl Page {
    /// Whether a task, or an earlier try of what it carries out, belongs to something here.
    pub fn has_task(&self, task: TaskId) -> bool {
        let Some(open) = &self.session else { return false };
        let tried = |battle: &Battle| battle.contestants.iter().any(|it| it.tries.contains(&task));
        open.chats.values().any(|chat| chat.tasks.contains_key(&task))
            || open.battles.values().any(|battle| battle.tasks.contains_key(&task) || tried(battle))
            || open.runs.values().any(|run| run.tasks.contains_key(&task))
    }
}

impl Fold for Page {
    fn apply(&mut self, event: &Event) {
        self.workspace.apply(event);
        let Some(open) = &mut self.session else { return };
        match event {
            Event::LayoutChanged { session, change } if *session == open.id => open.layout.apply(change),
            // It is empty yet, so nothing of it has to be fetched.
            Event::ChatAdded { chat } if chat.session == open.id => {
                let new = Chat { kind: chat.kind, ..Chat::new(chat.id, chat.session, chat.title.clone()) };
                open.chats.insert(chat.id, new);
            }
            Event::BattleStarted { battle } if battle.session == open.id => {
                open.battles.insert(battle.id, (**battle).clone());
            }
            Event::FlowRunStarted { run } if run.session == open.id => {
                open.runs.insert(run.id(), (**run).clone());
            }
            other => {
                if let Some(run) = other.run().and_then(|run| open.runs.get_mut(&run)) {
                    run.apply(other);
                }
                if let Some(battle) = other.battle().and_then(|battle| open.battles.get_mut(&battle)) {
                    battle.apply(other);
                }
                if let Some(chat) = other.chat().and_then(|chat| open.chats.get_mut(&chat)) {
                    chat.apply(other);
                }
            }
        }
    }

    fn streams(&self) -> Vec<(StreamId, Option<u64>)> {
        let Some(open) = &self.session else { return Vec::new() };
        let chats = open.chats.values().flat_map(Chat::visible_streams);
        let battles = open.battles.values().flat_map(Battle::visible_streams);
        chats.chain(battles).chain(open.runs.values().flat_map(run::Shown::growing_streams)).collect()
    }
}

#[cfg(test)]
mod tests;
