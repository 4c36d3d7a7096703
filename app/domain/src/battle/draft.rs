//! A battle as a launcher's form, or a script, asks for it. What it may be is decided by what it becomes.

use serde::{Deserialize, Serialize};

use super::{Kind, LIMIT_S};
use crate::id::{BattleId, SessionId};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// Made by whoever asks, so that asking twice launches once.
    pub id: BattleId,
    pub session: SessionId,
    pub kind: Kind,
    pub prompt: String,
    #[serde(default)]
    pub contestants: Vec<Line>,
    #[serde(default = "limit_s")]
    pub limit_s: u32,
    /// Nothing: as many as it takes.
    #[serde(default)]
    pub tokens_max: Option<u64>,
    #[serde(default)]
    pub carry: bool,
    /// A command; nothing where there is none, or none is wanted.
    #[serde(default)]
    pub check: String,
    /// A model, as `server/model`; nothing where nobody shall judge.
    #[serde(default)]
    pub judge: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// A backend or a persona, by name; nothing for a model as it is.
    #[serde(default)]
    pub identity: String,
    /// `server/model`
    #[serde(default)]
    pub model: String,
    #[serde(default)]
    pub variant: String,
}

fn limit_s() -> u32 {
    LIMIT_S
}
