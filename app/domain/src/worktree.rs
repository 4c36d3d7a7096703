//! The folder in which an agent works on a project: a copy of its own, at the project's commit.

use serde::{Deserialize, Serialize};

use crate::{Rejected, id::WorktreeId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub id: WorktreeId,
    /// The host whose disk it is on.
    pub host: String,
    /// The commit that it began at, in full.
    pub base: String,
    /// Whether it began with what was not committed.
    pub carried: bool,
    pub state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ready,
    /// In the trash: it can be brought back until that is emptied.
    Discarded,
    Gone,
}

impl State {
    /// To the trash and back, but not from where it was deleted.
    pub fn turned(self, next: Self) -> Result<Self, Rejected> {
        match (self, next) {
            (Self::Gone, Self::Ready | Self::Discarded) => {
                Err(Rejected::Invalid("The worktree is gone.".into()))
            }
            (_, next) => Ok(next),
        }
    }
}

/// What is different in a worktree from what it began with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    pub files: Vec<Changed>,
    pub added: u64,
    pub deleted: u64,
    /// What is there and cannot be brought anywhere, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Whether the project has something of an earlier apply, which another one may have to take back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_applied: bool,
}

impl Changes {
    /// What no patch can hold, for whoever would take it for nothing: the first few of it.
    pub fn left_out_in_brief(&self) -> Option<String> {
        const NAMED_MAX: usize = 3;
        let mut named: Vec<_> = self.left_out.iter().take(NAMED_MAX).cloned().collect();
        if let more @ 1.. = self.left_out.len().saturating_sub(NAMED_MAX) {
            named.push(format!("and {more} more"));
        }
        (!named.is_empty()).then(|| named.join("; "))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Changed {
    /// As it may be shown.
    pub path: String,
    /// Where it was before it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    pub status: Status,
    pub added: u64,
    pub deleted: u64,
    pub is_binary: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Added,
    Deleted,
    Modified,
    Renamed,
    /// A file became a link, or the like.
    TypeChanged,
}

impl Status {
    /// As git has it.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Added => "A",
            Self::Deleted => "D",
            Self::Modified => "M",
            Self::Renamed => "R",
            Self::TypeChanged => "T",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Added => "new",
            Self::Deleted => "deleted",
            Self::Modified => "changed",
            Self::Renamed => "renamed",
            Self::TypeChanged => "of another kind",
        }
    }
}

/// Where changes are brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// The project's files as they are now.
    Files,
    /// A commit on a new branch of this name; files and current branch stay as they are.
    Branch(String),
}

impl Worktree {
    /// As people read a commit.
    pub fn short_base(&self) -> &str {
        self.base.get(..8).unwrap_or(&self.base)
    }
}
