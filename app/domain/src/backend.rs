//! What can do the work of a Coder's turn: our own loop, or an agent's program.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A backend by its name, as tasks and settings have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Backend(pub String);

/// BooCode's own agent loop, on any model that can call tools.
pub const NATIVE: &str = "native";

impl Backend {
    pub fn native() -> Self {
        Self(NATIVE.to_owned())
    }

    pub fn is_native(&self) -> bool {
        self.0 == NATIVE
    }

    /// As people know it; one that is not known goes by its name.
    pub fn title(&self) -> &str {
        match self.0.as_str() {
            NATIVE => "BooCode",
            "claude" => "Claude Code",
            "codex" => "Codex",
            "gemini" => "Gemini CLI",
            "goose" => "Goose",
            "opencode" => "OpenCode",
            "qwen" => "Qwen Code",
            name => name,
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How somebody wants the work of a Coder to be done, as its form says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    pub backend: Backend,
    #[serde(default)]
    pub carry: bool,
    #[serde(default)]
    pub asks: bool,
}

/// A backend as pickers and Settings list it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub backend: Backend,
    pub title: String,
    pub about: String,
    pub state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ready {
        version: String,
    },
    /// `install` is the command that a person would type; a button does the same.
    Missing {
        install: String,
    },
    Installing,
    /// It is there and cannot be used.
    Unusable {
        reason: String,
    },
}

impl Offer {
    pub fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready { .. })
    }

    /// Why it cannot be chosen.
    pub fn hindrance(&self) -> Option<String> {
        match &self.state {
            State::Ready { .. } => None,
            State::Missing { .. } => Some("not installed".to_owned()),
            State::Installing => Some("being installed".to_owned()),
            State::Unusable { reason } => Some(reason.clone()),
        }
    }
}
