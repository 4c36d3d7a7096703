//! Which models can be asked, and where: the model servers with their lanes, states and models.

use std::{collections::BTreeMap, fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Rejected, backend::Backend, protocol::Protocol, run::check_context};

/// How much a model server does at once: a local one has a single model loaded, a cloud one runs in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    Local,
    Cloud,
}

impl Lane {
    /// The lane of a configured server that does not name one: what runs on this machine is local.
    pub fn of_host(host: &str) -> Self {
        if is_loopback(host) { Lane::Local } else { Lane::Cloud }
    }

    /// As the settings spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Cloud => "cloud",
        }
    }
}

/// Whether a URL's host is this machine, under any of its spellings.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => {
            let host = host.to_ascii_lowercase();
            host == "localhost" || host.ends_with(".localhost")
        }
    }
}

/// What kind of server it is: they share chat completions and differ in how they tell their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavour {
    LlamaSwap,
    LlamaCpp,
    Ollama,
    OpenAi,
    /// The small model that BooCode runs itself when nothing else is there.
    Small,
    /// No server at all: the account of an agent, which asks it by itself.
    Account,
}

impl Flavour {
    pub fn words(self) -> &'static str {
        match self {
            Self::LlamaSwap => "llama-swap",
            Self::LlamaCpp => "llama.cpp",
            Self::Ollama => "Ollama",
            Self::OpenAi => "OpenAI-compatible",
            Self::Small => "built in",
            Self::Account => "an agent's own login",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    pub id: String,
    /// A friendlier name than the id, where the server has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How many tokens it takes, where the server says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// Whether it takes images, where the server says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sees: Option<bool>,
}

impl Model {
    pub fn named(id: impl Into<String>) -> Self {
        Model { id: id.into(), label: None, context: None, sees: None }
    }

    pub fn shown(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// Not asked yet, or still coming up.
    Starting,
    Reachable,
    /// The reason is in plain words and says what to do where that is known.
    Unreachable {
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelServer {
    /// Unique in the catalogue, without a slash.
    pub name: String,
    pub flavour: Flavour,
    pub lane: Lane,
    /// For showing; it carries no credentials.
    pub base_url: String,
    pub state: ServerState,
    /// What it serves, or what it last said it serves while it is unreachable.
    pub models: Vec<Model>,
    /// Besides chat completions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_speaks: Vec<Protocol>,
    /// The machine that it is a part of, where only that one can ask it. Another machine may have one of the same name.
    #[serde(skip)]
    pub machine: Option<String>,
}

impl Catalogue {
    /// The servers that are a machine's own, with that machine.
    pub fn machines(&self) -> BTreeMap<String, String> {
        let own = |server: &ModelServer| Some((server.name.clone(), server.machine.clone()?));
        self.servers.iter().filter_map(own).collect()
    }
}

impl ModelServer {
    /// Why it cannot be used now.
    pub fn reason(&self) -> Option<&str> {
        match &self.state {
            ServerState::Unreachable { reason } => Some(reason),
            ServerState::Starting | ServerState::Reachable => None,
        }
    }

    pub fn speaks(&self, protocol: Protocol) -> bool {
        protocol == Protocol::Chat || self.also_speaks.contains(&protocol)
    }

    /// A chat is answered by a model alone, and an account only ever answers its agent.
    pub fn check_chat(&self) -> Result<(), Rejected> {
        match self.flavour {
            Flavour::Account => Err(Rejected::Invalid(format!(
                "{} is the login of an agent, which works in a Coder only. Choose another model.",
                self.name
            ))),
            _ => Ok(()),
        }
    }
}

/// Why a queued task is not claimed, however free its server is otherwise. One that is unreachable hinders
/// nothing: its tasks are claimed, so that they end with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hindrance {
    /// The server is coming up, and the task then goes on by itself.
    Starting,
    /// Nobody lists the server any more, and without a person that stays so.
    Gone,
}

/// One model of one server, written `server/model`. A model's id may hold slashes, a server's name may not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    pub server: String,
    pub model: String,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.model)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a model: write it as server/model")]
pub struct NotAModelRef(String);

impl FromStr for ModelRef {
    type Err = NotAModelRef;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((server, model)) if !server.is_empty() && !model.is_empty() => {
                Ok(ModelRef { server: server.into(), model: model.into() })
            }
            _ => Err(NotAModelRef(text.into())),
        }
    }
}

/// All model servers, in the order in which they are shown and preferred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    pub servers: Vec<ModelServer>,
}

impl Catalogue {
    pub fn server(&self, name: &str) -> Option<&ModelServer> {
        self.servers.iter().find(|server| server.name == name)
    }

    pub fn model(&self, wanted: &ModelRef) -> Option<(&ModelServer, &Model)> {
        let server = self.server(&wanted.server)?;
        let model = server.models.iter().find(|model| model.id == wanted.model)?;
        Some((server, model))
    }

    pub fn lane(&self, wanted: &ModelRef) -> Option<Lane> {
        self.server(&wanted.server).map(|server| server.lane)
    }

    /// What keeps the tasks of a server waiting.
    pub fn hindrance(&self, server: &str) -> Option<Hindrance> {
        match self.server(server).map(|server| &server.state) {
            None => Some(Hindrance::Gone),
            Some(ServerState::Starting) => Some(Hindrance::Starting),
            Some(ServerState::Reachable | ServerState::Unreachable { .. }) => None,
        }
    }

    /// Every model of every server, in order.
    pub fn all(&self) -> impl Iterator<Item = (&ModelServer, ModelRef)> {
        self.servers.iter().flat_map(|server| {
            server
                .models
                .iter()
                .map(move |model| (server, ModelRef { server: server.name.clone(), model: model.id.clone() }))
        })
    }

    /// Finds a model by what a person wrote: `server/model`, or a model's id alone. Of several servers with
    /// the same id, one that answers wins.
    pub fn resolve(&self, text: &str) -> Option<ModelRef> {
        let exact = text.parse::<ModelRef>().ok().filter(|wanted| self.model(wanted).is_some());
        exact.or_else(|| {
            let same_id = || self.all().filter(|(_, model)| model.model == text);
            let answering = same_id().find(|(server, _)| server.state == ServerState::Reachable);
            answering.or_else(|| same_id().next()).map(|(_, model)| model)
        })
    }
}

/// The model that the flows were made with.
const FLOW_MODEL: &str = "qwen3.6-35b-a3b-mxfp4";

/// The model to use when nobody chose one. What is configured wins even while its server is unreachable: the
/// reason is then shown, where another model would silently answer in its place. Without a usable setting it
/// is the first model that answers, local before cloud, and the small model only when there is nothing else.
pub fn choose_default(catalogue: &Catalogue, configured: Option<&str>) -> Option<ModelRef> {
    let resolved = configured.and_then(|text| catalogue.resolve(text));
    let is_server = |model: &ModelRef| {
        catalogue.server(&model.server).is_some_and(|server| server.flavour != Flavour::Account)
    };
    resolved.filter(is_server).or_else(|| {
        catalogue
            .all()
            .filter_map(|(server, model)| Some((rank(server)?, model)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, model)| model)
    })
}

/// The model of flows where nobody chose one: the one that they were made with where it is served, else a local one,
/// the default model before others. A run asks many times, which is not to cost anything by itself. What is known to
/// take too little for `backend` is passed over, and the default model is there in any case.
pub fn choose_for_flows(
    catalogue: &Catalogue,
    backend: &Backend,
    default: Option<ModelRef>,
) -> Option<ModelRef> {
    let takes_enough = |model: &ModelRef| {
        let tokens = catalogue.model(model).and_then(|(_, model)| model.context);
        check_context(backend, model, tokens).is_ok()
    };
    let fit = catalogue.all().filter(|(_, model)| takes_enough(model));
    let fit: Vec<_> = fit.filter_map(|(server, model)| Some((rank(server)?, model))).collect();
    let made_with = fit.iter().filter(|(_, model)| model.model == FLOW_MODEL).min_by_key(|(rank, _)| *rank);
    let is_default = |model: &ModelRef| default.as_ref() == Some(model);
    let local = || {
        let locals = fit.iter().filter(|(rank, _)| rank.1 == 0);
        locals.min_by_key(|(rank, model)| (!is_default(model), *rank))
    };
    let chosen = made_with.or_else(local).map(|(_, model)| model.clone());
    chosen.or(default)
}

/// What answers goes before what is about to, local before cloud, and the small model goes last.
fn rank(server: &ModelServer) -> Option<(u8, u8)> {
    let state = match server.state {
        ServerState::Reachable => 0,
        ServerState::Starting => 1,
        ServerState::Unreachable { .. } => return None,
    };
    let kind = match (server.flavour, server.lane) {
        (Flavour::Account, _) => return None,
        (Flavour::Small, _) => 2,
        (_, Lane::Local) => 0,
        (_, Lane::Cloud) => 1,
    };
    Some((state, kind))
}

#[cfg(test)]
mod tests;
