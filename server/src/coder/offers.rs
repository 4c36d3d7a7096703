//! Who can do the work: what is installed, and installing what is not.

use std::{path::PathBuf, sync::Arc};

use acp::{Agent, agents, install};
use app::error::AppError;
use domain::{
    Rejected,
    backend::{Backend, Offer, State},
};
use tokio::sync::mpsc;
use wall::Level;

use super::Coders;
use crate::live::guard;

/// An installation that runs, or how the last one failed.
pub(super) enum Installing {
    Runs,
    Failed(String),
}

impl Coders {
    pub(super) fn agent_folder(&self, agent: &Agent) -> PathBuf {
        install::folder(&self.agents_root(), agent)
    }

    fn agents_root(&self) -> PathBuf {
        self.tools.join("agents")
    }

    pub(super) async fn node(&self) -> Option<install::node::Node> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        install::node::Node::find(&path, &self.tools).await
    }

    pub(super) async fn all_offers(&self) -> Vec<Offer> {
        let unwalled = match self.level().await {
            Level::None { reason } => Some(format!("nothing can wall it in: {reason}")),
            Level::Full | Level::Reduced(_) => None,
        };
        let native = Offer {
            backend: Backend::native(),
            title: "BooCode".to_owned(),
            about: "BooCode's own agent, on any model that can call tools".to_owned(),
            state: State::Ready { version: env!("CARGO_PKG_VERSION").to_owned() },
        };
        let has_node = self.node().await.is_some();
        let externals = agents::ALL.into_iter().map(|agent| Offer {
            backend: Backend(agent.name.to_owned()),
            title: agent.title.to_owned(),
            about: format!("{} {}", agent.package.name, agent.package.version),
            state: self.state_of(agent, has_node),
        });
        let mut offers: Vec<_> = [native].into_iter().chain(externals).collect();
        if let Some(reason) = unwalled {
            offers.iter_mut().for_each(|offer| offer.state = State::Unusable { reason: reason.clone() });
        }
        offers
    }

    fn state_of(&self, agent: &'static Agent, has_node: bool) -> State {
        match guard(&self.installing).get(agent.name) {
            Some(Installing::Runs) => return State::Installing,
            Some(Installing::Failed(reason)) => return State::Unusable { reason: reason.clone() },
            None => {}
        }
        if !install::runs_here(agent) {
            return State::Unusable { reason: "it is not made for this processor".to_owned() };
        }
        match install::installed(&self.agents_root(), agent) {
            install::Installed::Yes if agent.needs_node && !has_node => {
                State::Unusable { reason: "it needs Node.js 20 or newer: apt install nodejs npm".to_owned() }
            }
            install::Installed::Yes => State::Ready { version: agent.package.version.to_owned() },
            install::Installed::No | install::Installed::Other { .. } => {
                State::Missing { install: install::by_hand(&self.agents_root(), agent) }
            }
        }
    }

    /// Begins, and returns. How it goes is seen in the offers.
    pub(super) async fn begin_install(self: Arc<Self>, backend: &Backend) -> Result<(), AppError> {
        let no = |words: String| Err(Rejected::Invalid(words).into());
        let Some(agent) = agents::find(&backend.0) else {
            return no(format!("{backend} has nothing to install."));
        };
        let Some(node) = self.node().await else {
            return no(format!("{} needs Node.js 20 or newer with npm: apt install npm.", agent.title));
        };
        let before = guard(&self.installing).insert(agent.name, Installing::Runs);
        if matches!(before, Some(Installing::Runs)) {
            return Ok(());
        }
        tokio::spawn(async move {
            let (progress, mut lines) = mpsc::channel(16);
            tokio::spawn(async move { while lines.recv().await.is_some() {} });
            let installed = install::install(&node, &self.agents_root(), agent, &progress).await;
            let mut all = guard(&self.installing);
            match installed {
                Ok(()) => drop(all.remove(agent.name)),
                Err(error) => {
                    tracing::warn!(%error, agent = agent.name, "an agent could not be installed");
                    all.insert(agent.name, Installing::Failed(error.to_string()));
                }
            }
        });
        Ok(())
    }
}
