//! The agents of this server: those that are known, and those that its configuration names.

use acp::{Agent, Modes, Pairs, Texts};
use domain::backend::Backend;

use super::Coders;
use crate::config::ConfiguredAgent;

/// All of them, in the order in which they are shown.
pub fn all(configured: &[ConfiguredAgent]) -> Vec<&'static Agent> {
    acp::agents::ALL.into_iter().chain(configured.iter().map(agent)).collect()
}

impl Coders {
    pub(crate) fn agent(&self, backend: &Backend) -> Option<&'static Agent> {
        self.agents.iter().copied().find(|agent| agent.name == backend.0)
    }
}

/// It is there for as long as the server is, as those are that are compiled in.
fn agent(configured: &ConfiguredAgent) -> &'static Agent {
    let ConfiguredAgent { modes, .. } = configured;
    // Of the folder that its program lies in, it gets no more than it was given: that may be somebody's home.
    let places = [&configured.command].into_iter().chain(&configured.folders);
    let places: Vec<_> = places.map(|place| place.display().to_string()).collect();
    Box::leak(Box::new(Agent {
        name: kept(&configured.name),
        title: kept(&configured.title),
        program: kept(&configured.command.display().to_string()),
        places: kept_all(&places),
        arguments: kept_all(&configured.arguments),
        environment: kept_pairs(&configured.environment),
        files: kept_pairs(&configured.files),
        needs: configured.needs.clone().leak(),
        speaks: configured.speaks,
        modes: Modes {
            ask: kept(modes.ask.as_deref().unwrap_or_default()),
            edit: kept(modes.edit.as_deref().unwrap_or_default()),
            read_only: kept(modes.read_only.as_deref().unwrap_or_default()),
        },
        tokens: configured.tokens,
        tokens_prove_success: configured.tokens_prove_success,
        error_beginnings: kept_all(&configured.error_beginnings),
        ..Agent::PLAIN
    }))
}

fn kept(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn kept_all(texts: &[String]) -> Texts {
    texts.iter().map(|text| kept(text)).collect::<Vec<_>>().leak()
}

fn kept_pairs(pairs: &[(String, String)]) -> Pairs {
    pairs.iter().map(|(name, text)| (kept(name), kept(text))).collect::<Vec<_>>().leak()
}
