//! The feed: the one registry of what is told to a browser, and how a browser folds it.
//!
//! *Events* are few, numbered without gaps, and make up the state. *Streams* are the long texts of single
//! attempts, addressed by offset. Both carry their place, so a piece that comes twice, late or not at all can
//! never be misapplied: it is ignored, or it is a gap and the browser resumes from where it stands.

mod event;
mod mirror;
#[cfg(test)]
mod sim;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    id::{Attempt, TaskId},
    json::{self, Unfit},
};
pub use event::Event;
pub use mirror::{Cursor, Fold, Mirror, Received, Snapshot, StreamCopy, WATCH_MAX};

/// The number of an event: 1, 2, 3 … in commit order, without gaps.
pub type Seq = i64;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    pub seq: Seq,
    pub event: Event,
}

/// The output of one attempt at one task. Written `task.attempt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    pub task: TaskId,
    pub attempt: Attempt,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.task, self.attempt)
    }
}

impl FromStr for StreamId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not a stream: expected <task>.<attempt>");
        let (task, attempt) = text.split_once('.').ok_or_else(bad)?;
        Ok(Self {
            task: task.parse().map_err(|_| bad())?,
            attempt: Attempt(attempt.parse().map_err(|_| bad())?),
        })
    }
}

impl Serialize for StreamId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StreamId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What travels over the connection, each under the SSE event name that its variant has in snake case.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// Boxed, because most frames are small deltas.
    Event(Box<Envelope>),
    Delta(Delta),
    /// The browser is ahead of what survived a crash: its copy is cut back to `len` bytes, visibly.
    Truncate(Truncate),
    /// What the browser asked for is no longer kept, or it is ahead of us: it needs a new snapshot.
    Reset,
    /// Every two seconds, so that silence means a dead connection.
    Beat,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delta {
    pub stream: StreamId,
    pub offset: u64,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truncate {
    pub stream: StreamId,
    pub len: u64,
}

impl Frame {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Event(_) => "event",
            Self::Delta(_) => "delta",
            Self::Truncate(_) => "truncate",
            Self::Reset => "reset",
            Self::Beat => "beat",
        }
    }

    pub fn data(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Event(envelope) => serde_json::to_string(envelope),
            Self::Delta(delta) => serde_json::to_string(delta),
            Self::Truncate(cut) => serde_json::to_string(cut),
            Self::Reset | Self::Beat => Ok("{}".into()),
        }
    }

    pub fn parse(name: &str, data: &str) -> Result<Self, Unfit> {
        match name {
            "event" => json::read(data).map(Box::new).map(Self::Event),
            "delta" => json::read(data).map(Self::Delta),
            "truncate" => json::read(data).map(Self::Truncate),
            "reset" => Ok(Self::Reset),
            "beat" => Ok(Self::Beat),
            _ => Err(Unfit),
        }
    }
}
