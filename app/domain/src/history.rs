//! What happened so far, as a list: each line names one thing that can be opened again.
//!
//! A line is of a kind, and everything that differs between kinds is said once: here, in the store's query, and
//! in the registry of the pages. The filter, the order and the way through the list are the same for all.

mod filter;

use uuid::Uuid;

use crate::{
    id::{ProjectId, SessionId},
    search::Marked,
};
pub use filter::{Cursor, Fault, Field, Filter, ONLY, PATH};

/// What a line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Chat,
    Battle,
    Run,
    Session,
}

/// How the last turn of a chat stands, or a battle, or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Running,
    /// For its model server, or for somebody who lets the queued messages go on.
    Waiting,
    Failed,
    Done,
    /// A person ended it before it was done.
    Stopped,
}

/// An enum whose values stand in addresses and tables under a word each.
pub trait Worded: Copy + PartialEq + Sized + 'static {
    const ALL: &'static [(Self, &'static str)];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, word)| word)
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
    }
}

impl Worded for Kind {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Chat, "chat"), (Self::Battle, "battle"), (Self::Run, "run"), (Self::Session, "session")];
}

impl Worded for State {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Running, "running"),
        (Self::Waiting, "waiting"),
        (Self::Failed, "failed"),
        (Self::Done, "done"),
        (Self::Stopped, "stopped"),
    ];
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    pub id: Uuid,
    pub title: Marked,
    /// None where the title names it.
    pub place: Option<Place>,
    /// Microseconds since 1970, as exact as the database is, because the list goes on from here.
    pub active_at_us: i64,
    /// How many parts it has: the messages of a chat, the contestants of a battle, the agents of a run, the
    /// chats of a session.
    pub parts: u64,
    pub state: Option<State>,
    /// Put away, by itself or with what it belongs to.
    pub archived: bool,
    pub found: Option<Found>,
}

impl Entry {
    pub fn cursor(&self) -> Cursor {
        Cursor { at_us: self.active_at_us, id: self.id }
    }
}

/// What an entry belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub project: (ProjectId, String),
    pub session: (SessionId, String),
}

/// Where in an entry the words that were searched for stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub by: Speaker,
    pub text: Marked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    Person,
    Model,
}

/// A piece of the list, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub entries: Vec<Entry>,
    /// Where the list goes on; none at its end.
    pub older: Option<Cursor>,
}
