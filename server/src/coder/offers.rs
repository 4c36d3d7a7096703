//! Who can do the work: what is installed, and installing what is not.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use acp::{Agent, Need, install};
use app::error::AppError;
use domain::{
    Rejected,
    backend::{Backend, Offer, State},
    protocol::Protocol,
};
use tokio::sync::mpsc;
use wall::Level;

use super::Coders;
use crate::{backend, live::guard};

/// An installation that runs, or how the last one failed.
pub(super) enum Installing {
    Runs,
    Failed(String),
}

impl Coders {
    /// Where its program is looked for, and all that it reads and runs.
    pub(super) fn programs(&self, agent: &Agent) -> Result<(PathBuf, Vec<PathBuf>), backend::Error> {
        let title = agent.title;
        let gone = |words: String| backend::Error::Unprepared(words);
        let folder = install::folder(&self.agents_root(), agent);
        let (installed, folders) = match agent.package {
            Some(_) => {
                let folder = folder.canonicalize();
                let folder =
                    folder.map_err(|_| gone(format!("{title} is not installed. Install it in Settings.")))?;
                (folder.clone(), vec![folder])
            }
            None => (folder, Vec::new()),
        };
        let others = agent.places.iter().map(|place| {
            let real = Path::new(place).canonicalize();
            real.map_err(|error| gone(format!("{title} needs {place}: {error}")))
        });
        let all: Result<Vec<_>, _> = folders.into_iter().map(Ok).chain(others).collect();
        Ok((installed, all?.into_iter().filter(|place| !is_system(place)).collect()))
    }

    fn agents_root(&self) -> PathBuf {
        self.tools.join("agents")
    }

    pub(super) async fn node(&self) -> Option<install::node::Node> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        install::node::Node::find(&path, &self.tools).await
    }

    pub(super) async fn all_offers(&self) -> Vec<Offer> {
        let level = self.level().await;
        let (unwalled, gap) = match &level {
            Level::Full { .. } => (None, None),
            Level::Reduced { .. } => (None, Some(format!("The wall is {level}"))),
            Level::None { reason } => (Some(format!("nothing can wall it in: {reason}")), None),
        };
        let native = Offer {
            backend: Backend::native(),
            title: "BooCode".to_owned(),
            about: "BooCode's own agent, on any model that can call tools".to_owned(),
            state: State::Ready { version: env!("CARGO_PKG_VERSION").to_owned() },
            speaks: Protocol::Chat,
            login: None,
            is_installable: false,
            gap: gap.clone(),
        };
        let has_node = self.node().await.is_some();
        let mut offers = vec![native];
        for agent in &self.agents {
            offers.push(Offer {
                backend: Backend(agent.name.to_owned()),
                title: agent.title.to_owned(),
                about: match &agent.package {
                    Some(package) => format!("{} {}", package.name, package.version),
                    None => format!("{}, as boocode.toml says", agent.program),
                },
                state: self.state_of(agent, has_node),
                speaks: agent.speaks,
                login: self.login_of(agent).await,
                is_installable: agent.package.is_some(),
                gap: gap.clone(),
            });
        }
        if let Some(reason) = unwalled {
            offers.iter_mut().for_each(|offer| offer.state = State::Unusable { reason: reason.clone() });
        }
        offers
    }

    fn state_of(&self, agent: &'static Agent, has_node: bool) -> State {
        // What is there counts, whoever put it there.
        let failure = match guard(&self.installing).get(agent.name) {
            Some(Installing::Runs) => return State::Installing,
            Some(Installing::Failed(reason)) => reason.clone(),
            None => String::new(),
        };
        if !install::runs_here(agent) {
            return State::Unusable { reason: "it is not made for this processor".to_owned() };
        }
        let root = self.agents_root();
        match (install::installed(&root, agent), install::by_hand(&root, agent)) {
            (install::Installed::Yes, _) if agent.needs(Need::Node) && !has_node => {
                State::Unusable { reason: "it needs Node.js 20 or newer: apt install nodejs npm".to_owned() }
            }
            (install::Installed::Yes, _) => {
                let version = agent.package.as_ref().map_or("", |package| package.version);
                State::Ready { version: version.to_owned() }
            }
            (_, Some(install)) => State::Missing { install, failure },
            (_, None) => State::Unusable { reason: format!("there is no program {}", agent.program) },
        }
    }

    /// Begins, and returns. How it goes is seen in the offers.
    pub(super) async fn begin_install(self: Arc<Self>, backend: &Backend) -> Result<(), AppError> {
        let no = |words: String| Err(Rejected::Invalid(words).into());
        let Some(agent) = self.agent(backend).filter(|agent| agent.package.is_some()) else {
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

/// What every program may read and run anyway.
pub(super) fn is_system(path: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib64"].iter().any(|folder| path.starts_with(folder))
}
