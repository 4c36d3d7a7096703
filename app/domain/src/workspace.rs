//! Projects, sessions and chats as the sidebar lists them.

use serde::{Deserialize, Serialize};

use crate::{
    Rejected,
    feed::{Event, Fold, StreamId},
    id::{ChatId, ProjectId, SessionId},
    task::Work,
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

/// A chat as a line in a list; `running` is whether an answer is being worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatEntry {
    pub id: ChatId,
    pub session: SessionId,
    pub title: String,
    pub running: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    pub projects: Vec<Project>,
    pub sessions: Vec<Session>,
    pub chats: Vec<ChatEntry>,
}

pub const NAME_CHARS_MAX: usize = 120;
pub const UNTITLED: &str = "New chat";

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
            Event::ChatTitled { chat, title, .. } => {
                if let Some(entry) = self.chat_mut(*chat) {
                    entry.title = title.clone();
                }
            }
            Event::TaskQueued { chat, task } if task.work == Work::ChatTurn => {
                if let Some(entry) = self.chat_mut(*chat) {
                    entry.running = true;
                }
            }
            Event::TaskSettled { chat, work: Work::ChatTurn, .. } => {
                if let Some(entry) = self.chat_mut(*chat) {
                    entry.running = false;
                }
            }
            _ => {}
        }
    }

    fn streams(&self) -> Vec<(StreamId, Option<u64>)> {
        Vec::new()
    }
}

impl Workspace {
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
