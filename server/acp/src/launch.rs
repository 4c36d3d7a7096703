//! How an agent is started, pointed at its model.

use std::path::{Path, PathBuf};

use crate::agent::{Agent, Pairs, Texts};
use crate::template::{Endpoint, Values};

/// Where an agent's model comes from.
pub enum Source {
    Server(Endpoint),
    /// Its own account, which it reaches by way of `proxy`. No model: the account's default.
    Account {
        proxy: String,
        model: Option<String>,
    },
}

/// How an agent is started. Holds a secret in its environment, so it cannot be printed.
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// On top of `HOME`, `PATH` and `TMPDIR`, which are the caller's to choose.
    pub environment: Vec<(String, String)>,
    pub files: Vec<File>,
}

/// A file that has to be in the agent's home before it starts.
pub struct File {
    /// Below its home.
    pub path: &'static str,
    pub text: String,
}

impl Agent {
    /// `port` is for one that needs a port of its own. None where it has no account to work on.
    pub fn launch(&self, installed: &Path, source: &Source, port: Option<u16>) -> Option<Launch> {
        let program = installed.join(self.program);
        match source {
            Source::Server(endpoint) => {
                let values = Values::of_server(endpoint, port);
                Some(launch(program, &values, self.arguments, self.environment, self.files))
            }
            Source::Account { proxy, model } => {
                let account = self.account.as_ref()?;
                let values = Values::of_account(model.clone(), port);
                let mut launch =
                    launch(program, &values, account.arguments, account.environment, account.files);
                // Programs differ in which of the two they read.
                let proxies = ["HTTPS_PROXY", "https_proxy"].map(|name| (name.to_owned(), proxy.clone()));
                launch.environment.extend(proxies);
                Some(launch)
            }
        }
    }
}

fn launch(program: PathBuf, values: &Values, arguments: Texts, environment: Pairs, files: Pairs) -> Launch {
    let variable = |(name, text): &(&str, &str)| Some(((*name).to_owned(), values.fill(text)?));
    let file = |(path, text): &(&'static str, &str)| Some(File { path, text: values.fill(text)? });
    Launch {
        program,
        arguments: arguments.iter().filter_map(|text| values.fill(text)).collect(),
        environment: environment.iter().filter_map(variable).collect(),
        files: files.iter().filter_map(file).collect(),
    }
}
