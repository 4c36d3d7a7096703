//! How an agent reaches its model: a model server by way of the relay, or its own account by way of a proxy.

use std::{
    io,
    net::TcpListener,
    path::{Path, PathBuf},
};

use acp::{Agent, Source};
use domain::{
    catalogue::Flavour,
    flow::plan::Limits,
    output::{Measured, Output},
};
use tokio::sync::mpsc;
use wall::Shared;

use super::{Coders, home_file, login, proxy::Proxy, relay::Passage, unprepared};
use crate::{backend, models::Endpoint};

pub(super) enum Way {
    Server { passage: Passage, agent: &'static Agent },
    Account { proxy: Proxy, login: PathBuf, place: &'static str },
}

impl Way {
    /// Open for as long as it is held. Says at once where there is nothing to reach.
    pub async fn open(
        coders: &Coders,
        agent: &'static Agent,
        endpoint: &Endpoint,
        model: &str,
        limits: Option<Limits>,
        outputs: &mpsc::Sender<Output>,
    ) -> Result<Self, backend::Error> {
        if endpoint.flavour != Flavour::Account {
            let passage = coders.relay.open(endpoint.clone(), model, limits, outputs);
            passage.check().await?;
            return Ok(Self::Server { passage, agent });
        }
        let no = |words: String| backend::Error::Unprepared(words);
        let account = agent.account.as_ref();
        let account = account.ok_or_else(|| no(format!("{} has no login of its own.", agent.title)))?;
        // Asked again, because the person may have taken it back while the task waited.
        if !coders.may_use_login(agent).await? {
            return Err(no(format!(
                "{} may not use its own login. Allow it in Settings, Agents.",
                agent.title
            )));
        }
        let login = login::file(account).ok_or_else(|| {
            no(format!("{} is not logged in: there is no {}.", agent.title, login::shown(account)))
        })?;
        let proxy = Proxy::open(account.hosts).await.map_err(|error| unprepared(&error))?;
        Ok(Self::Account { proxy, login, place: account.login })
    }

    /// Where a network of its own is the agent's, what it asks comes by this.
    pub fn answer_at(&mut self, door: TcpListener) -> io::Result<()> {
        match self {
            Self::Server { passage, .. } => passage.answer_at(door),
            Self::Account { proxy, .. } => proxy.answer_at(door),
        }
    }

    /// The one port that the agent may connect to.
    pub fn port(&self) -> u16 {
        match self {
            Self::Server { passage, .. } => passage.port(),
            Self::Account { proxy, .. } => proxy.port(),
        }
    }

    pub fn source(&self, model: &str) -> Source {
        match self {
            Self::Server { passage, .. } => {
                let (base_url, model) = (passage.base_url(), model.to_owned());
                Source::Server(acp::Endpoint { base_url, key: None, model })
            }
            Self::Account { proxy, .. } => {
                let model = (model != login::DEFAULT_MODEL).then(|| model.to_owned());
                Source::Account { proxy: proxy.url(), model }
            }
        }
    }

    /// What the agent finds in its home, though it lies elsewhere.
    pub fn shared(&self, home: &Path) -> Result<Vec<Shared>, backend::Error> {
        match self {
            Self::Server { agent, .. } => {
                // The empty file that stood for a login in an earlier turn would be taken for a broken one.
                if let Some(account) = &agent.account {
                    home_file::remove(home, account.login).map_err(|error| unprepared(&error))?;
                }
                Ok(Vec::new())
            }
            Self::Account { login, place, .. } => {
                home_file::put(home, place, "").map_err(|error| unprepared(&error))?;
                Ok(vec![Shared { file: login.clone(), place: home.join(place) }])
            }
        }
    }

    /// Waits until there is no use in trying on.
    pub async fn given_up(&self) -> String {
        match self {
            Self::Server { passage, .. } => passage.given_up().await,
            Self::Account { proxy, .. } => proxy.given_up().await,
        }
    }

    /// What the model server said of its work; nothing where nobody reads what passes.
    pub fn measured(&self) -> Measured {
        match self {
            Self::Server { passage, .. } => passage.measured(),
            Self::Account { .. } => Measured::default(),
        }
    }

    /// Whether tokens were told while the agent worked.
    pub fn has_counted(&self) -> bool {
        match self {
            Self::Server { passage, .. } => passage.has_counted(),
            Self::Account { .. } => false,
        }
    }

    /// What is wrong with the model server, if it is.
    pub fn trouble(&self) -> Option<String> {
        match self {
            Self::Server { passage, .. } => passage.trouble(),
            Self::Account { .. } => None,
        }
    }
}
