//! The model servers: those that are configured, those added in Settings, those found on loopback, and the small
//! one that BooCode runs itself when there is no other. The catalogue is kept fresh in the background.

mod address;
mod context;
mod discovery;
mod keeper;
mod probe;
mod small;
mod spoken;

use std::{sync::Arc, time::Duration};

pub use address::Address;
use domain::{
    catalogue::{Catalogue, Flavour, Lane, ModelRef, ServerState, choose_default},
    chat::Choice,
};
pub use probe::{Seen, look};
use reqwest::Client;
use store::tasks::Reachable;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    config::{Config, ConfiguredServer},
    secret::Secret,
};
use keeper::Keeper;

const REFRESH_EVERY: Duration = Duration::from_secs(15);
const REFRESH_REQUESTS_MAX: usize = 16;

/// How a model server is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The server's root, for its own pages such as `/running`.
    pub base_url: String,
    /// Where `/chat/completions` is appended.
    pub api_url: String,
    pub api_key: Option<Secret>,
    /// The slot that its tasks share, also with other BooCode processes.
    pub slot_key: String,
    pub lane: Lane,
    /// How many tasks may run there at once.
    pub parallel: u32,
    pub flavour: Flavour,
}

/// The catalogue and the endpoints behind it, as of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub catalogue: Catalogue,
    places: Vec<Place>,
}

/// One server's slot and, while it has an address, its endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    server: String,
    slot_key: String,
    parallel: u32,
    endpoint: Option<Endpoint>,
    /// Another host can ask it, and this one cannot: tasks wait for that one.
    is_left_to_others: bool,
}

/// What Settings adds to the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    pub servers: Vec<ConfiguredServer>,
    /// The names of servers that were removed, for which tasks may still wait.
    pub removed: Vec<String>,
    /// `model` or `server/model`, for where the configuration names none.
    pub default_model: Option<String>,
    /// Logins of agents that may be used.
    pub accounts: Vec<Account>,
}

/// The login of an agent, listed as if it were a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// As the catalogue calls it.
    pub server: String,
    /// Whose it is.
    pub title: String,
    pub models: Vec<String>,
}

#[derive(Clone)]
pub struct Models {
    listing: watch::Receiver<Arc<Listing>>,
    refresh: mpsc::Sender<oneshot::Sender<()>>,
    /// `None` until the database has told.
    added: watch::Sender<Option<Added>>,
    /// What the configuration says.
    default_model: Option<String>,
    settings_bell: Arc<Notify>,
    tasks: TaskTracker,
}

impl Models {
    /// Starts looking, until `cancel`. Nothing has been asked when this returns: await [`Models::refresh_now`]
    /// for the first answers.
    pub fn start(config: &Config, client: Client, cancel: CancellationToken) -> Models {
        let places = if config.discover { discovery::usual_places() } else { Vec::new() };
        Models::start_at(config, places, client, cancel)
    }

    /// As [`Models::start`], looking for unnamed servers in the given places.
    pub fn start_at(
        config: &Config,
        places: Vec<Address>,
        client: Client,
        cancel: CancellationToken,
    ) -> Models {
        let (refresh, requests) = mpsc::channel(REFRESH_REQUESTS_MAX);
        let (added, told) = watch::channel(None);
        let tasks = TaskTracker::new();
        let (keeper, listing) = Keeper::new(config, places, client, tasks.clone(), cancel);
        tasks.spawn(keeper.keep(requests, told));
        tasks.close();
        let default_model = config.default_model.clone();
        Models { listing, refresh, added, default_model, settings_bell: Arc::default(), tasks }
    }

    /// Takes over what Settings says now. The catalogue follows: see [`Models::refresh_now`].
    pub fn set_added(&self, added: Added) {
        self.added.send_if_modified(|kept| {
            let differs = kept.as_ref() != Some(&added);
            *kept = Some(added);
            differs
        });
    }

    /// Rings when Settings were changed somewhere, and [`Models::set_added`] is to be called.
    pub fn settings_bell(&self) -> &Notify {
        &self.settings_bell
    }

    /// The model for titles, and where nobody chose one.
    pub fn default_model(&self) -> Option<ModelRef> {
        let added = self.added.borrow().as_ref().and_then(|added| added.default_model.clone());
        let wanted = self.default_model.clone().or(added);
        choose_default(&self.listing.borrow().catalogue, wanted.as_deref())
    }

    /// The same, as who answers.
    pub fn default_choice(&self) -> Option<Choice> {
        let model = self.default_model()?;
        Some(Choice::of(model.clone(), self.listing.borrow().catalogue.server(&model.server)?))
    }

    pub fn catalogue(&self) -> Catalogue {
        self.listing.borrow().catalogue.clone()
    }

    /// `None` when there is no such server, or when it has no address now: its state in the catalogue says why.
    pub fn endpoint(&self, server: &str) -> Option<Endpoint> {
        let listing = self.listing.borrow();
        listing.places.iter().find(|place| place.server == server)?.endpoint.clone()
    }

    /// The slots of every server, with how many tasks run there at once.
    pub fn slots(&self) -> Vec<(String, u32)> {
        let listing = self.listing.borrow();
        listing.places.iter().map(|place| (place.slot_key.clone(), place.parallel)).collect()
    }

    /// The servers whose tasks may be claimed now. One that is starting is left out, so that its tasks wait in the
    /// queue, and so is one whose key only another host has; one that is unreachable or was removed is not, so that
    /// they are told.
    pub fn claimable(&self) -> Vec<Reachable> {
        let listing = self.listing.borrow();
        let starting = |place: &&Place| {
            let server = listing.catalogue.server(&place.server);
            server.is_some_and(|server| server.state == ServerState::Starting)
        };
        let ready = listing.places.iter().filter(|place| !starting(place) && !place.is_left_to_others);
        let reachable = |place: &Place| (place.server.clone(), place.slot_key.clone());
        ready.map(reachable).map(|(server, slot_key)| Reachable { server, slot_key }).collect()
    }

    /// Every key in use, so that none of them is shown by accident.
    pub fn keys(&self) -> Vec<Secret> {
        let listing = self.listing.borrow();
        listing.places.iter().filter_map(|place| place.endpoint.as_ref()?.api_key.clone()).collect()
    }

    /// Wakes when anything above changes.
    pub fn changed(&self) -> watch::Receiver<Arc<Listing>> {
        self.listing.clone()
    }

    /// Asks every server again and returns when all have answered or run out of time.
    pub async fn refresh_now(&self) {
        let (done, answered) = oneshot::channel();
        if self.refresh.send(done).await.is_ok() {
            // An error means that everything is being stopped: there will be no fresher answer.
            let _ = answered.await;
        }
    }

    /// Returns when, after `cancel`, nothing that was started here is left, the small model included.
    pub async fn stopped(&self) {
        self.tasks.wait().await;
    }
}

/// The name under which this machine's slots are kept apart from another machine's.
pub fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
