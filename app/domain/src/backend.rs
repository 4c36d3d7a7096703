//! What can do the work of a Coder's turn: our own loop, or an agent's program.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    catalogue::{Flavour, Model, ModelServer},
    protocol::Protocol,
};

/// Less than this is used up by what an agent's program tells its model before the first question.
const AGENT_TOKENS_MIN: u32 = 16_384;

/// A backend by its name, as tasks and settings have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Backend(pub String);

/// BooCode's own agent loop, on any model that can call tools.
pub const NATIVE: &str = "native";

/// What people know backends as, beside their names.
pub const TITLES: [(&str, &str); 7] = [
    (NATIVE, "BooCode"),
    ("claude", "Claude Code"),
    ("codex", "Codex"),
    ("gemini", "Gemini CLI"),
    ("goose", "Goose"),
    ("opencode", "OpenCode"),
    ("qwen", "Qwen Code"),
];

impl Backend {
    pub fn native() -> Self {
        Self(NATIVE.to_owned())
    }

    pub fn is_native(&self) -> bool {
        self.0 == NATIVE
    }

    /// As people know it; one that is not known goes by its name.
    pub fn title(&self) -> &str {
        let known = TITLES.iter().find(|(name, _)| *name == self.0);
        known.map_or(&self.0, |(_, title)| title)
    }

    /// Under this name the catalogue lists its own login.
    pub fn login_server(&self) -> String {
        format!("{}-login", self.0)
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
    /// How it asks its model.
    pub speaks: Protocol,
    /// For one that can have a login of its own.
    pub login: Option<Login>,
    /// Whether BooCode can install it.
    pub is_installable: bool,
    /// How its wall falls short on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

/// An agent's own login on the server's machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// Where it lies, as a person would write it.
    pub file: String,
    pub is_there: bool,
    /// Whether a person allowed the agent to use it.
    pub is_used: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ready {
        /// Empty where it is not known.
        version: String,
    },
    /// `install` is the command that a person would type; a button does the same.
    Missing {
        install: String,
        /// Why the last try to install it failed; empty where there was none.
        #[serde(default)]
        failure: String,
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

    /// Why the models of this server are not for it.
    pub fn mismatch(&self, server: &ModelServer) -> Option<String> {
        let (title, name) = (&self.title, &server.name);
        match server.flavour {
            Flavour::Account if *name == self.backend.login_server() => None,
            Flavour::Account => Some(format!("{name} is the login of another agent")),
            _ if server.speaks(self.speaks) => None,
            _ => Some(format!("{title} needs a server that speaks {}; {name} does not", self.speaks.title())),
        }
    }

    /// Why this model is too small for it. One whose server does not tell gets the benefit of the doubt.
    pub fn shortage(&self, model: &Model) -> Option<String> {
        let tokens =
            model.context.filter(|tokens| !self.backend.is_native() && *tokens < AGENT_TOKENS_MIN)?;
        let (title, name) = (&self.title, model.shown());
        Some(format!("{title} needs a model that takes {AGENT_TOKENS_MIN} tokens; {name} takes {tokens}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Lane, ServerState};

    #[test]
    fn an_agents_program_needs_room() {
        let check = |agent: &str, tokens: Option<u32>, expected: Option<&str>| {
            let offer = Offer {
                backend: Backend(agent.to_owned()),
                title: "Qwen Code".to_owned(),
                about: String::new(),
                state: State::Installing,
                speaks: Protocol::Chat,
                login: None,
                is_installable: true,
                gap: None,
            };
            let model = Model { context: tokens, ..Model::named("m") };
            assert_eq!(offer.shortage(&model).as_deref(), expected, "{agent} {tokens:?}");
        };
        check("qwen", Some(4_096), Some("Qwen Code needs a model that takes 16384 tokens; m takes 4096"));
        check("qwen", Some(16_384), None);
        check("qwen", None, None);
        check(NATIVE, Some(4_096), None);
    }

    #[test]
    fn an_agent_needs_a_server_that_speaks_its_protocol() {
        let check = |agent: &str, speaks, server: &str, flavour, also_speaks: &[Protocol], expected| {
            let offer = Offer {
                backend: Backend(agent.to_owned()),
                title: "Claude Code".to_owned(),
                about: String::new(),
                state: State::Installing,
                speaks,
                login: None,
                is_installable: true,
                gap: None,
            };
            let server = ModelServer {
                name: server.to_owned(),
                flavour,
                lane: Lane::Local,
                base_url: String::new(),
                state: ServerState::Reachable,
                models: Vec::new(),
                also_speaks: also_speaks.to_vec(),
                machine: None,
            };
            assert_eq!(offer.mismatch(&server).as_deref(), expected, "{offer:?} {server:?}");
        };
        use Protocol::{Chat, Messages, Responses};
        check("qwen", Chat, "desk", Flavour::OpenAi, &[], None);
        check("claude", Messages, "desk", Flavour::LlamaCpp, &[Responses, Messages], None);
        let words = "Claude Code needs a server that speaks Anthropic messages; desk does not";
        check("claude", Messages, "desk", Flavour::OpenAi, &[Responses], Some(words));
        check("claude", Messages, "claude-login", Flavour::Account, &[], None);
        let words = "claude-login is the login of another agent";
        check("native", Chat, "claude-login", Flavour::Account, &[], Some(words));
    }
}
