//! One who takes part: who it is, how it stands, and what is known of what it made.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Benchmark, CheckState, Kind};
use crate::{
    backend::Backend,
    catalogue::{Lane, ModelRef},
    id::{ContestantId, TaskId},
    output::{Outcome, Phase},
    task::{self, Task},
    worktree::Changes,
};

/// As whom the model works.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Who changes the code.
    Backend(Backend),
    Persona(String),
    /// The model as it is.
    Plain,
}

impl Identity {
    /// As forms and tables have it. Nothing for the model as it is.
    pub fn named(kind: Kind, name: &str) -> Self {
        match (kind, name) {
            (Kind::Coding, name) => Self::Backend(Backend(name.to_owned())),
            (Kind::Qa, "") => Self::Plain,
            (Kind::Qa, name) => Self::Persona(name.to_owned()),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Backend(Backend(name)) | Self::Persona(name) => name,
            Self::Plain => "",
        }
    }

    pub fn persona(&self) -> Option<&str> {
        match self {
            Self::Persona(name) => Some(name),
            Self::Backend(_) | Self::Plain => None,
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Backend(backend) => backend.title(),
            Self::Persona(name) => name,
            Self::Plain => "No persona",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contestant {
    pub id: ContestantId,
    pub identity: Identity,
    pub model: ModelRef,
    /// Tells two apart that are otherwise the same.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    pub lane: Lane,
    /// Its tasks, the newest last. What an older one made stays to be looked at.
    #[serde(default)]
    pub tries: Vec<TaskId>,
    /// Queued until it is over; [`super::Battle::standing`] tells what lies between.
    pub standing: Standing,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<Benchmark>,
    /// What its tries have used, as far as that is known; counted while they run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What is different in its worktree. None where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Why what it changed could not be kept: there may be more than what is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unkept: Option<String>,
    /// The same for those who made the same. None where nobody can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    #[serde(default)]
    pub check: CheckState,
}

/// How a contestant stands, each with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It waits for its turn, or for a place at its model server.
    Queued,
    /// Its folder is being made, or its model loaded: its clock does not run yet.
    Dispatched,
    Running,
    Done,
    /// The contestant's fault.
    Failed {
        reason: String,
    },
    Cancelled {
        reason: String,
    },
    /// Ours, or its server's: never counted as a loss.
    Void {
        reason: String,
    },
}

impl Contestant {
    pub fn made_the_same_as(&self, other: &Self) -> bool {
        self.mark.is_some() && self.mark == other.mark
    }

    /// Whether it had a worktree, and that is as it was.
    pub fn changed_nothing(&self) -> bool {
        self.changes.as_ref().is_some_and(|changes| changes.files.is_empty() && changes.left_out.is_empty())
    }

    /// Whether it has a task that is not over.
    pub fn is_under_way(&self, task: Option<&Task>) -> bool {
        task.is_some_and(|task| !task.is_settled())
    }

    /// As people tell it from the others.
    pub fn title(&self) -> String {
        match self.variant.as_str() {
            "" => format!("{} · {}", self.identity, self.model.model),
            variant => format!("{} · {} ({variant})", self.identity, self.model.model),
        }
    }
}

impl Standing {
    /// What the state of its task means. A task that is asked to stop stands as it stood.
    pub fn of(task: &Task) -> Self {
        match &task.status {
            task::Status::Queued => Self::Queued,
            task::Status::Running { phase, .. } => Self::during(phase),
            task::Status::Settled { outcome, .. } => Self::after(outcome),
        }
    }

    pub fn during(phase: &Phase) -> Self {
        match phase {
            Phase::Starting | Phase::Preparing | Phase::Loading | Phase::Waiting { .. } => Self::Dispatched,
            Phase::Generating | Phase::Asking(_) => Self::Running,
        }
    }

    pub(super) fn after(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done { .. } => Self::Done,
            Outcome::Failed { reason } => Self::Failed { reason: reason.clone() },
            Outcome::Void { reason } => Self::Void { reason: reason.clone() },
            Outcome::Lost => {
                Self::Void { reason: "Whoever ran it, or the database, went away each time.".to_owned() }
            }
            Outcome::Cancelled => Self::Cancelled { reason: "It was stopped.".to_owned() },
        }
    }

    pub fn is_over(&self) -> bool {
        !matches!(self, Self::Queued | Self::Dispatched | Self::Running)
    }

    /// In tables and the API.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Dispatched => "dispatched",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
            Self::Void { .. } => "void",
        }
    }

    pub fn label(&self) -> &'static str {
        match self {
            Self::Queued => "Queued",
            Self::Dispatched => "Getting ready",
            Self::Running => "Running",
            Self::Done => "Done",
            Self::Failed { .. } => "Failed",
            Self::Cancelled { .. } => "Stopped",
            Self::Void { .. } => "Void",
        }
    }

    /// Why it has no result.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason } | Self::Cancelled { reason } | Self::Void { reason } => Some(reason),
            Self::Queued | Self::Dispatched | Self::Running | Self::Done => None,
        }
    }
}
