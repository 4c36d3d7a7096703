//! Ids are types, so that a chat's id can never stand where a task's belongs.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

ids! {
    /// A folder with a git repository.
    ProjectId,
    /// One workspace of a project: its panes and chats.
    SessionId,
    ChatId,
    MessageId,
    TaskId,
    /// One login of one browser.
    BrowserId,
    /// A file that goes with a message.
    AttachmentId,
    /// The folder in which an agent works on a project.
    WorktreeId,
    /// The same prompt to several contestants.
    BattleId,
    ContestantId,
    /// One flow at work.
    RunId,
}

/// Which try at a task this is, counted from 1. Whatever reports without the current attempt is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attempt(pub u32);

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
