//! Projects, sessions and chats as the sidebar lists them.

mod lines;

use serde::{Deserialize, Serialize};

use crate::{
    Rejected, battle,
    chat::Kind,
    feed::{Event, Fold, StreamId},
    flow::{Band, FlowId},
    id::{BattleId, ChatId, MessageId, ProjectId, RunId, SessionId, TaskId},
    output::Phase,
    run,
};
pub use lines::Lines;
use lines::{put, take};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    pub path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub project: ProjectId,
    pub name: String,
}

/// A chat as a line in a list, with what its dot is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatEntry {
    pub id: ChatId,
    pub session: SessionId,
    #[serde(default, skip_serializing_if = "Kind::is_chat")]
    pub kind: Kind,
    pub title: String,
    /// Whether it was put away by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The turn that is queued or running.
    #[serde(default)]
    pub turn: Option<Turn>,
    /// The messages that wait for it.
    #[serde(default)]
    pub queued: Vec<MessageId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub task: TaskId,
    pub running: bool,
    /// Its agent waits for a person's word.
    #[serde(default)]
    pub asking: bool,
}

/// A battle as a line in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BattleEntry {
    pub id: BattleId,
    pub session: SessionId,
    pub title: String,
    pub status: battle::Status,
    /// Whether anybody has had their turn. Until then it waits for a model.
    #[serde(default)]
    pub begun: bool,
}

impl BattleEntry {
    pub fn activity(&self) -> Activity {
        match (self.status.is_over(), self.begun) {
            (true, _) => Activity::Idle,
            (false, true) => Activity::Running,
            (false, false) => Activity::Waiting,
        }
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::BattleUpdated { course, .. } => self.status = course.status,
            Event::TaskStarted { .. } => self.begun = true,
            _ => {}
        }
    }
}

/// A run as a line in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEntry {
    pub id: RunId,
    pub session: SessionId,
    pub flow: FlowId,
    pub band: Band,
    pub title: String,
    pub status: run::Status,
}

impl RunEntry {
    pub fn activity(&self) -> Activity {
        match self.status {
            run::Status::Queued => Activity::Waiting,
            run::Status::Running { .. } => Activity::Running,
            run::Status::Done | run::Status::Failed { .. } | run::Status::Cancelled => Activity::Idle,
        }
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::FlowRunUpdated { change, .. } => match &**change {
                run::Change::RunCancelling => self.status = run::Status::Running { cancelling: true },
                run::Change::RunSettled { status } => self.status = status.clone(),
                _ => {}
            },
            Event::TaskStarted { .. } if self.status == run::Status::Queued => {
                self.status = run::Status::Running { cancelling: false };
            }
            _ => {}
        }
    }
}

/// What a dot in a list tells. Of several the last one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    #[default]
    Idle,
    Waiting,
    Running,
    /// Messages wait, or an agent does, and only a person makes it go on.
    NeedsPerson,
}

impl ChatEntry {
    pub fn new(id: ChatId, session: SessionId, title: String) -> Self {
        Self { id, session, kind: Kind::Chat, title, archived: false, turn: None, queued: Vec::new() }
    }

    pub fn activity(&self) -> Activity {
        match self.turn {
            Some(Turn { asking: true, .. }) => Activity::NeedsPerson,
            Some(Turn { running: true, .. }) => Activity::Running,
            Some(Turn { running: false, .. }) => Activity::Waiting,
            None if !self.queued.is_empty() => Activity::NeedsPerson,
            None => Activity::Idle,
        }
    }

    /// Total, as every fold.
    fn apply(&mut self, event: &Event) {
        match event {
            Event::ChatTitled { title, .. } => self.title = title.clone(),
            Event::MessageQueued { queued, .. } => self.queued.push(queued.turn.message),
            Event::QueuedRemoved { message, .. } => self.queued.retain(|queued| queued != message),
            Event::MessageAdded { message, .. } => self.queued.retain(|queued| *queued != message.id),
            Event::TaskQueued { task, .. } if task.work.is_turn() => {
                self.turn = Some(Turn { task: task.id, running: false, asking: false });
            }
            Event::TaskSettled { work, .. } if work.is_turn() => self.turn = None,
            Event::TaskPhase { task, phase, .. } => self.set_asking(*task, matches!(phase, Phase::Asking(_))),
            Event::TaskAnswered { task, .. } => self.set_asking(*task, false),
            Event::TaskStarted { task, .. } => self.set_running(*task, true),
            Event::TaskRequeued { task, .. } => self.set_running(*task, false),
            _ => {}
        }
    }

    fn set_asking(&mut self, task: TaskId, asking: bool) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.task == task) {
            turn.asking = asking;
        }
    }

    fn set_running(&mut self, task: TaskId, running: bool) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.task == task) {
            turn.running = running;
            turn.asking = false;
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    pub projects: Vec<Project>,
    pub sessions: Vec<Session>,
    /// Of each session the newest `CHATS_MAX`, all that are at work, and those that are open where a page looks.
    pub chats: Vec<ChatEntry>,
    /// Those that are not over, and the newest.
    #[serde(default)]
    pub battles: Vec<BattleEntry>,
    /// Those that are not over, and the newest.
    #[serde(default)]
    pub runs: Vec<RunEntry>,
    /// What is in no list: every project and session that was put away, and of the rest what is looked at.
    #[serde(default, skip_serializing_if = "Lines::is_empty")]
    pub archived: Lines,
}

/// Older ones are found in the history.
pub const CHATS_MAX: usize = 50;

pub const NAME_CHARS_MAX: usize = 120;

/// A name that a person gave: one line, trimmed, not empty, not endless.
pub fn name(text: &str) -> Result<String, Rejected> {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return Err(Rejected::Empty);
    }
    if line.chars().count() > NAME_CHARS_MAX {
        return Err(Rejected::Invalid(format!("A name has at most {NAME_CHARS_MAX} characters.")));
    }
    Ok(line)
}

const NUMBERED: &str = "Session ";

pub fn numbered(n: usize) -> String {
    format!("{NUMBERED}{n}")
}

/// Whether nobody has given the session a name.
pub fn is_numbered(name: &str) -> bool {
    name.strip_prefix(NUMBERED).is_some_and(|n| n.parse::<usize>().is_ok())
}

impl Fold for Workspace {
    fn apply(&mut self, event: &Event) {
        match event {
            Event::ProjectAdded { project } => put(&mut self.projects, project.clone()),
            Event::SessionAdded { session } => put(&mut self.sessions, session.clone()),
            Event::ChatAdded { chat } => put(&mut self.chats, chat.clone()),
            Event::ProjectRenamed { project, name } => {
                let all = self.projects.iter_mut().chain(&mut self.archived.projects);
                all.filter(|other| other.id == *project).for_each(|project| project.name = name.clone());
            }
            Event::SessionRenamed { session, name } => {
                let all = self.sessions.iter_mut().chain(&mut self.archived.sessions);
                all.filter(|other| other.id == *session).for_each(|session| session.name = name.clone());
            }
            Event::ChatArchived { chat } => {
                self.chat_mut(*chat).into_iter().for_each(|chat| chat.archived = true);
                take(&mut self.chats, &mut self.archived.chats, |it| it.id == *chat)
            }
            Event::SessionArchived { session } => self.archive(None, &[*session]),
            Event::ProjectArchived { project } => self.archive_project(*project),
            Event::ChatRestored { chat } => {
                self.archived.chats.retain(|other| other.id != chat.id);
                put(&mut self.chats, chat.clone());
            }
            Event::SessionRestored { lines, .. } | Event::ProjectRestored { lines, .. } => {
                self.restore(lines)
            }
            Event::BattleStarted { battle } => {
                let (id, session, status) = (battle.id, battle.session, battle.course.status);
                let entry = BattleEntry { id, session, title: battle.title(), status, begun: false };
                put(&mut self.battles, entry);
            }
            Event::FlowRunStarted { run } => {
                let request = &run.run.request;
                let entry = RunEntry {
                    id: run.id(),
                    session: run.session,
                    flow: request.flow,
                    band: request.band,
                    title: run.title(),
                    status: run.run.status.clone(),
                };
                put(&mut self.runs, entry);
            }
            other => {
                if let Some(battle) = other.battle()
                    && let Some(entry) = self.battles.iter_mut().find(|entry| entry.id == battle)
                {
                    entry.apply(other);
                }
                if let Some(run) = other.run()
                    && let Some(entry) = self.runs.iter_mut().find(|entry| entry.id == run)
                {
                    entry.apply(other);
                }
                if let Some(entry) = other.chat().and_then(|chat| self.chat_mut(chat)) {
                    entry.apply(other);
                }
            }
        }
    }

    fn streams(&self) -> Vec<(StreamId, Option<u64>)> {
        Vec::new()
    }
}

impl Workspace {
    /// In the lists or not, as are projects and sessions.
    pub fn chat(&self, id: ChatId) -> Option<&ChatEntry> {
        self.chats.iter().chain(&self.archived.chats).find(|chat| chat.id == id)
    }

    pub fn project(&self, id: ProjectId) -> Option<&Project> {
        self.projects.iter().chain(&self.archived.projects).find(|project| project.id == id)
    }

    pub fn battle(&self, id: BattleId) -> Option<&BattleEntry> {
        self.battles.iter().chain(&self.archived.battles).find(|battle| battle.id == id)
    }

    pub fn run(&self, id: RunId) -> Option<&RunEntry> {
        self.runs.iter().chain(&self.archived.runs).find(|run| run.id == id)
    }

    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.iter().chain(&self.archived.sessions).find(|session| session.id == id)
    }

    /// What one more session of a project is called until somebody names it. One that was put away keeps its name.
    pub fn next_session_name(&self, project: ProjectId) -> String {
        let all = self.sessions.iter().chain(&self.archived.sessions);
        numbered(all.filter(|session| session.project == project).count() + 1)
    }

    /// Of all that belongs to a project, for where only the project is seen.
    pub fn activity(&self, project: ProjectId) -> Activity {
        let is_its = |session| self.session(session).is_some_and(|session| session.project == project);
        let chats = self.chats.iter().map(|chat| (chat.session, chat.activity()));
        let battles = self.battles.iter().map(|battle| (battle.session, battle.activity()));
        let runs = self.runs.iter().map(|run| (run.session, run.activity()));
        let all = chats.chain(battles).chain(runs);
        all.filter(|(session, _)| is_its(*session)).map(|(_, activity)| activity).max().unwrap_or_default()
    }

    fn chat_mut(&mut self, id: ChatId) -> Option<&mut ChatEntry> {
        self.chats.iter_mut().chain(&mut self.archived.chats).find(|chat| chat.id == id)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{id::Attempt, task::Owner};

    #[test]
    fn a_new_session_has_a_number_that_is_free() {
        let project = ProjectId(Uuid::nil());
        let session =
            |n: u128, name: &str| Session { id: SessionId(Uuid::from_u128(n)), project, name: name.into() };
        let mut all = Workspace {
            sessions: vec![session(1, &numbered(1)), session(2, "Release")],
            ..Workspace::default()
        };
        assert_eq!(all.next_session_name(project), "Session 3");
        all.apply(&Event::SessionArchived { session: SessionId(Uuid::from_u128(1)) });
        assert_eq!(all.next_session_name(project), "Session 3");
        assert_eq!(all.next_session_name(ProjectId(Uuid::max())), "Session 1");
        assert!(is_numbered(&numbered(12)) && !is_numbered("Release") && !is_numbered("Session two"));
    }

    #[test]
    fn a_project_tells_the_most_urgent_of_what_it_holds() {
        let (mine, other) = (ProjectId(Uuid::from_u128(1)), ProjectId(Uuid::from_u128(2)));
        let session = |n: u128| SessionId(Uuid::from_u128(n));
        let entry = |n: u128, of| {
            let turn = Turn { task: TaskId(Uuid::from_u128(n)), running: false, asking: false };
            let chat = ChatEntry::new(ChatId(Uuid::from_u128(n)), of, String::new());
            ChatEntry { turn: Some(turn), ..chat }
        };
        let named = |id, project| Session { id, project, name: String::new() };
        let mut all = Workspace {
            sessions: vec![named(session(1), mine), named(session(2), mine), named(session(3), other)],
            ..Default::default()
        };
        let check = |all: &Workspace, expected| assert_eq!(all.activity(mine), expected);
        check(&all, Activity::Idle);
        all.chats = vec![entry(1, session(1)), ChatEntry { turn: None, ..entry(2, session(2)) }];
        check(&all, Activity::Waiting);
        let (id, status) = (BattleId(Uuid::nil()), battle::Status::Running);
        let battle = BattleEntry { id, session: session(2), title: String::new(), status, begun: false };
        all.battles = vec![battle];
        check(&all, Activity::Waiting);
        all.apply(&Event::TaskStarted {
            owner: Owner::Battle(id),
            task: TaskId(Uuid::nil()),
            attempt: Attempt(1),
            at_ms: 0,
        });
        check(&all, Activity::Running);
        // Another project's is its own.
        let asks = Some(Turn { task: TaskId(Uuid::nil()), running: true, asking: true });
        all.chats.push(ChatEntry { turn: asks, ..entry(3, session(3)) });
        check(&all, Activity::Running);
        all.chats[0].turn = asks;
        check(&all, Activity::NeedsPerson);
    }

    #[test]
    fn a_name_is_one_clean_line() {
        let check = |text: &str, expected: Result<&str, Rejected>| {
            assert_eq!(name(text), expected.map(str::to_owned), "{text:?}");
        };
        check("  my \n project ", Ok("my project"));
        check("a\u{7}b", Ok("a b"));
        check(" \t ", Err(Rejected::Empty));
        check(&"x".repeat(121), Err(Rejected::Invalid("A name has at most 120 characters.".into())));
    }
}
