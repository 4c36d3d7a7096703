//! The rules say no. Each variant is told to the user in its own words.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Rejected {
    #[error("That report belongs to an earlier attempt.")]
    Stale,
    #[error("Write something first.")]
    Empty,
    #[error("That is too long: at most {max} KB, this is {got} KB.")]
    TooLong { got: usize, max: usize },
    #[error("The queue is full: at most {max} messages wait at a time.")]
    QueueFull { max: usize },
    #[error("Stop the running answer first.")]
    Busy,
    #[error("Nothing is running here.")]
    Idle,
    #[error("That {what} does not exist (any more).")]
    Missing { what: String },
    #[error("{0}")]
    Invalid(String),
    /// It does not fit the moment; later, or earlier, it would.
    #[error("{0}")]
    NotNow(String),
}

impl Rejected {
    pub fn missing(what: &str) -> Self {
        Self::Missing { what: what.to_owned() }
    }
}
