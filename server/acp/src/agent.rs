//! What there is to know of one agent. Another one is another value of [`Agent`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::tool::Kind;
use serde_json::Value;

/// One kind of agent, all of it data.
pub struct Agent {
    pub name: &'static str,
    pub title: &'static str,
    pub package: Package,
    /// Below the folder that it is installed in.
    pub program: &'static str,
    pub arguments: &'static [&'static str],
    /// Its program is a script, and `node` has to be on its `PATH`.
    pub needs_node: bool,
    /// What the wall has to leave open for it, besides its folders and the model server's port.
    pub needs: &'static [Need],
    pub environment: fn(&Endpoint) -> Vec<(&'static str, String)>,
    pub files: fn(&Endpoint) -> Vec<File>,
    pub modes: Modes,
    pub tokens: Tokens,
    /// A turn that ends well tells its tokens; one that does not was ended by an error.
    pub tokens_prove_success: bool,
    /// How its own words about an error of the model begin. It says them as if the model had.
    pub error_beginnings: &'static [&'static str],
    /// The name of the tool in what it sends along with a call.
    pub tool_name: fn(&serde_json::Map<String, Value>) -> Option<&str>,
    /// What its tools do, where it does not tell.
    pub kinds: &'static [(&'static str, Kind)],
    /// How long it goes on writing its session down after a turn.
    pub settling: Duration,
}

/// A package of npm's registry, with everything that it needs pinned.
pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
    /// npm's lock file for it alone.
    pub lock: &'static str,
    /// The processors it is made for, as Rust names them; empty for all.
    pub processors: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// `/dev/ptmx` and `/dev/pts`.
    Terminals,
}

/// How far an agent may go by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It asks before it changes anything.
    Ask,
    /// It changes files without asking. What it still asks, a person or a policy answers.
    Edit,
    /// It only reads. Whatever it asks is refused. No proof: only the wall is.
    ReadOnly,
}

/// The agent's own names of these.
pub struct Modes {
    pub ask: &'static str,
    pub edit: &'static str,
    pub read_only: &'static str,
}

impl Modes {
    pub fn name(&self, mode: Mode) -> &'static str {
        match mode {
            Mode::Ask => self.ask,
            Mode::Edit => self.edit,
            Mode::ReadOnly => self.read_only,
        }
    }
}

/// Where an agent tells how many tokens it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Call by call, beside the text; they add up.
    PerCall,
    /// At the end of the turn, of its last call alone.
    LastCall,
    /// At the end of the turn, of all its calls.
    Total,
}

/// What a usage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    Turn,
    LastCall,
}

impl Tokens {
    pub fn counted(self) -> Counted {
        match self {
            Self::PerCall | Self::Total => Counted::Turn,
            Self::LastCall => Counted::LastCall,
        }
    }
}

/// The model that an agent is pointed at. Holds a secret, so it cannot be printed.
#[derive(Clone)]
pub struct Endpoint {
    /// With or without the final `/v1`.
    pub base_url: String,
    pub key: Option<String>,
    pub model: String,
}

impl Endpoint {
    /// The address with its `/v1`, as the clients of OpenAI take it.
    pub fn versioned(&self) -> String {
        format!("{}/v1", self.bare())
    }

    /// Scheme, host and port, and apart from them the path of chat completions.
    pub fn host_and_path(&self) -> (String, String) {
        let bare = self.bare();
        let host_from = bare.find("://").map_or(0, |at| at + 3);
        let host_to = bare[host_from..].find('/').map_or(bare.len(), |at| host_from + at);
        let (host, path) = bare.split_at(host_to);
        let path = format!("{path}/v1/chat/completions");
        (host.to_owned(), path.trim_start_matches('/').to_owned())
    }

    /// Agents refuse to start without a key, local servers have none.
    pub fn key_or_any(&self) -> String {
        self.key.clone().unwrap_or_else(|| "none".to_owned())
    }

    fn bare(&self) -> &str {
        let url = self.base_url.trim_end_matches('/');
        url.strip_suffix("/v1").unwrap_or(url).trim_end_matches('/')
    }
}

/// A file that has to be in the agent's home before it starts.
pub struct File {
    /// Below its home.
    pub path: &'static str,
    pub text: String,
}

/// How an agent is started. Holds a secret in its environment, so it cannot be printed.
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// On top of `HOME`, `PATH` and `TMPDIR`, which are the caller's to choose.
    pub environment: Vec<(String, String)>,
    pub files: Vec<File>,
}

impl Agent {
    pub fn launch(&self, installed: &Path, endpoint: &Endpoint) -> Launch {
        let environment = (self.environment)(endpoint);
        Launch {
            program: installed.join(self.program),
            arguments: self.arguments.iter().map(ToString::to_string).collect(),
            environment: environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            files: (self.files)(endpoint),
        }
    }

    pub(crate) fn kind_of(&self, meta: Option<&serde_json::Map<String, Value>>) -> Option<Kind> {
        let name = (self.tool_name)(meta?)?;
        self.kinds.iter().find(|(tool, _)| *tool == name).map(|(_, kind)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_with_and_without_its_version() {
        let check = |url: &str, versioned: &str, host: &str, path: &str| {
            let endpoint = Endpoint { base_url: url.into(), key: None, model: "m".into() };
            assert_eq!(endpoint.versioned(), versioned, "{url}");
            assert_eq!(endpoint.host_and_path(), (host.to_owned(), path.to_owned()), "{url}");
        };
        for url in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/"] {
            check(url, "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080", "v1/chat/completions");
        }
        check(
            "https://openrouter.ai/api/v1",
            "https://openrouter.ai/api/v1",
            "https://openrouter.ai",
            "api/v1/chat/completions",
        );
    }
}
