//! Projects, sessions and chats as the sidebar lists them.

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
}

impl BattleEntry {
    pub fn activity(&self) -> Activity {
        if self.status.is_over() { Activity::Idle } else { Activity::Running }
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

/// What a dot in a list tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    Idle,
    Waiting,
    Running,
    /// Messages wait, or an agent does, and only a person makes it go on.
    NeedsPerson,
}

impl ChatEntry {
    pub fn new(id: ChatId, session: SessionId, title: String) -> Self {
        Self { id, session, kind: Kind::Chat, title, turn: None, queued: Vec::new() }
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
    pub chats: Vec<ChatEntry>,
    /// Those that are not over, and the newest.
    #[serde(default)]
    pub battles: Vec<BattleEntry>,
    /// Those that are not over, and the newest.
    #[serde(default)]
    pub runs: Vec<RunEntry>,
}

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

impl Fold for Workspace {
    fn apply(&mut self, event: &Event) {
        match event {
            // Ids are in the order of time, so the order is the same live and after a reload.
            Event::ProjectAdded { project } => {
                self.projects.push(project.clone());
                self.projects.sort_by_key(|project| project.id);
            }
            Event::SessionAdded { session } => {
                self.sessions.push(session.clone());
                self.sessions.sort_by_key(|session| session.id);
            }
            Event::ChatAdded { chat } => {
                self.chats.push(chat.clone());
                self.chats.sort_by_key(|chat| chat.id);
            }
            Event::BattleStarted { battle } => {
                let (id, session, status) = (battle.id, battle.session, battle.course.status);
                self.battles.push(BattleEntry { id, session, title: battle.title(), status });
                self.battles.sort_by_key(|battle| battle.id);
            }
            Event::BattleUpdated { battle, course } => {
                if let Some(entry) = self.battles.iter_mut().find(|entry| entry.id == *battle) {
                    entry.status = course.status;
                }
            }
            Event::FlowRunStarted { run } => {
                let request = &run.run.request;
                self.runs.push(RunEntry {
                    id: run.id(),
                    session: run.session,
                    flow: request.flow,
                    band: request.band,
                    title: run.title(),
                    status: run.run.status.clone(),
                });
                self.runs.sort_by_key(|run| run.id);
            }
            other => {
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
    pub fn chat(&self, id: ChatId) -> Option<&ChatEntry> {
        self.chats.iter().find(|chat| chat.id == id)
    }

    pub fn battle(&self, id: BattleId) -> Option<&BattleEntry> {
        self.battles.iter().find(|battle| battle.id == id)
    }

    pub fn run(&self, id: RunId) -> Option<&RunEntry> {
        self.runs.iter().find(|run| run.id == id)
    }

    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.iter().find(|session| session.id == id)
    }

    fn chat_mut(&mut self, id: ChatId) -> Option<&mut ChatEntry> {
        self.chats.iter_mut().find(|chat| chat.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
