//! Looks at every server again and again, and publishes what changed.

mod account;
mod known;

use std::{future::pending, path::PathBuf, sync::Arc};

use domain::{
    catalogue::{Flavour, Lane, Model, ModelServer, ServerState},
    protocol::Protocol,
};
use futures::future::join_all;
use known::{Known, Origin};
use reqwest::Client;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Account, Added, Address, Endpoint, Listing, Place, REFRESH_EVERY, discovery, hostname,
    probe::{self, Seen},
    small::{self, SmallState},
};
use crate::config::{Config, ConfiguredServer, Key, SMALL_MODEL_SERVER};

pub(super) struct Keeper {
    client: Client,
    hostname: String,
    /// In the order of their origins, which is the order in which they are shown.
    known: Vec<Known>,
    /// Removed servers, for which tasks may still wait.
    removed: Vec<String>,
    accounts: Vec<Account>,
    /// Where servers are looked for that nobody named.
    places: Vec<Address>,
    /// Whether the database has told which servers Settings adds.
    is_told: bool,
    small: Small,
    publish: watch::Sender<Arc<Listing>>,
    tasks: TaskTracker,
    cancel: CancellationToken,
}

enum Small {
    Off,
    /// Allowed, and not needed so far.
    Idle {
        python: Option<PathBuf>,
    },
    Running(watch::Receiver<SmallState>),
}

impl Keeper {
    pub fn new(
        config: &Config,
        places: Vec<Address>,
        client: Client,
        tasks: TaskTracker,
        cancel: CancellationToken,
    ) -> (Self, watch::Receiver<Arc<Listing>>) {
        let known = config.model_servers.iter().map(|server| Known::new(server.clone(), Origin::Configured));
        let small = match config.small_model {
            true => Small::Idle { python: config.small_model_python.clone() },
            false => Small::Off,
        };
        let (publish, listing) = watch::channel(Arc::default());
        let keeper = Keeper {
            client,
            hostname: hostname(),
            known: known.collect(),
            removed: Vec::new(),
            accounts: Vec::new(),
            places,
            is_told: false,
            small,
            publish,
            tasks,
            cancel,
        };
        keeper.publish();
        (keeper, listing)
    }

    pub async fn keep(
        mut self,
        mut requests: mpsc::Receiver<oneshot::Sender<()>>,
        mut added: watch::Receiver<Option<Added>>,
    ) {
        let cancel = self.cancel.clone();
        let mut waiting: Vec<oneshot::Sender<()>> = Vec::new();
        loop {
            let told = added.borrow_and_update().clone();
            if let Some(added) = told {
                self.take_added(added);
                self.publish();
            }
            if cancel.run_until_cancelled(self.look()).await.is_none() {
                return;
            }
            self.start_small_if_alone();
            self.publish();
            for waiter in waiting.drain(..) {
                // Whoever asked may have gone; the answer is published anyway.
                let _ = waiter.send(());
            }
            let pause = tokio::time::sleep(REFRESH_EVERY);
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    () = cancel.cancelled() => return,
                    () = &mut pause => break,
                    Ok(()) = added.changed() => break,
                    () = self.small_changed() => self.publish(),
                    Some(waiter) = requests.recv() => {
                        waiting.push(waiter);
                        while let Ok(waiter) = requests.try_recv() {
                            waiting.push(waiter);
                        }
                        break;
                    }
                }
            }
        }
    }

    /// What the configuration has is left as it is. What was found and is named now goes by its new name.
    fn take_added(&mut self, added: Added) {
        let mut wanted = added.servers;
        let is_same = |one: &ConfiguredServer, other: &ConfiguredServer| {
            one.name == other.name || one.address.is_same_server(&other.address)
        };
        let configured = self.known.iter().filter(|known| known.origin == Origin::Configured);
        for known in configured {
            wanted.retain(|server| !is_same(server, &known.server));
        }
        self.known.retain(|known| match known.origin {
            Origin::Configured => true,
            Origin::Settings => wanted.contains(&known.server),
            Origin::Found => !wanted.iter().any(|server| is_same(server, &known.server)),
        });
        for server in wanted {
            if !self.known.iter().any(|known| known.server == server) {
                self.known.push(Known::new(server, Origin::Settings));
            }
        }
        self.known.sort_by_key(|known| known.origin);
        self.removed = added.removed;
        self.accounts = added.accounts;
        self.is_told = true;
    }

    /// One look at every server and place, all at the same time.
    async fn look(&mut self) {
        let client = &self.client;
        let is_known =
            |place: &&Address| self.known.iter().any(|known| known.server.address.is_same_server(place));
        let new_places = self.places.iter().filter(|place| !is_known(place));
        let discovered = join_all(
            new_places
                .map(|place| async move { Some((place.clone(), probe::discover(client, place).await?)) }),
        );
        let looks = join_all(self.known.iter_mut().map(|known| known.look(client)));
        let (discovered, _) = tokio::join!(discovered, looks);

        for (address, seen) in discovered.into_iter().flatten() {
            let taken: Vec<_> = self.known.iter().map(|known| known.server.name.clone()).collect();
            let flavour = match &seen {
                Seen::Serving { flavour, .. } | Seen::Loading { flavour } => *flavour,
                Seen::Unreachable { .. } => continue,
            };
            let name = discovery::name_for(flavour, &taken);
            let server = ConfiguredServer {
                name,
                address,
                lane: Lane::Local,
                key: Key::None,
                parallel: 1,
                models: Vec::new(),
                speaks: None,
            };
            let mut known = Known::new(server, Origin::Found);
            known.take(seen);
            tracing::info!(server = %known.server.name, url = %known.server.address.root(), "found a model server");
            self.known.push(known);
        }
    }

    fn start_small_if_alone(&mut self) {
        let Small::Idle { python } = &self.small else {
            return;
        };
        if self.needs_small()
            && let Some(python) = python.clone()
        {
            self.small = Small::Running(small::start(python, &self.tasks, self.cancel.clone()));
        }
    }

    fn needs_small(&self) -> bool {
        // Whoever writes a configuration relies on it. What was added by a click may be a try that leads nowhere.
        let counts = |known: &Known| {
            known.origin == Origin::Configured || !matches!(known.state, ServerState::Unreachable { .. })
        };
        // Settings may name a server; the database says so a moment after the start.
        self.is_told && !self.known.iter().any(counts)
    }

    async fn small_changed(&mut self) {
        if let Small::Running(state) = &mut self.small
            && state.changed().await.is_ok()
        {
            return;
        }
        // It never runs, or has given up for good.
        pending().await
    }

    fn publish(&self) {
        let mut listing = Listing::default();
        for known in &self.known {
            known.list(&self.hostname, &mut listing);
        }
        self.list_small(&mut listing);
        for account in &self.accounts {
            account::list(account, &self.hostname, &mut listing);
        }
        for name in &self.removed {
            if listing.catalogue.server(name).is_none() {
                // A place of its own: nobody waits there for what is still running.
                let slot_key = format!("removed|{name}");
                listing.places.push(Place {
                    server: name.clone(),
                    slot_key,
                    parallel: 1,
                    endpoint: None,
                    is_left_to_others: false,
                });
            }
        }
        self.publish.send_if_modified(|published| {
            let differs = **published != listing;
            if differs {
                *published = Arc::new(listing);
            }
            differs
        });
    }

    fn list_small(&self, listing: &mut Listing) {
        let state = match &self.small {
            Small::Running(state) => state.borrow().clone(),
            Small::Idle { python: None } if self.needs_small() => SmallState::Down {
                reason: "the small model is not installed — `cargo xtask run` installs it where there is Python 3.10 or newer; or configure a model server".into(),
            },
            Small::Off | Small::Idle { .. } => return,
        };
        let slot_key = format!("{}|small", self.hostname);
        let (shown, base_url) = match &state {
            SmallState::Starting => (ServerState::Starting, String::new()),
            SmallState::Ready { port, .. } => (ServerState::Reachable, format!("http://127.0.0.1:{port}")),
            SmallState::Down { reason } => {
                (ServerState::Unreachable { reason: reason.clone() }, String::new())
            }
        };
        let endpoint = match state {
            SmallState::Ready { key, .. } => Some(Endpoint {
                api_url: format!("{base_url}/v1"),
                base_url: base_url.clone(),
                api_key: Some(key),
                slot_key: slot_key.clone(),
                lane: Lane::Local,
                parallel: 1,
                flavour: Flavour::Small,
            }),
            _ => None,
        };
        listing.places.push(Place {
            server: SMALL_MODEL_SERVER.into(),
            slot_key,
            parallel: 1,
            endpoint,
            is_left_to_others: false,
        });
        listing.catalogue.servers.push(ModelServer {
            name: SMALL_MODEL_SERVER.into(),
            flavour: Flavour::Small,
            lane: Lane::Local,
            base_url,
            state: shown,
            models: vec![Model {
                id: small::MODEL.into(),
                label: Some("SmolLM2 135M (built in)".into()),
                context: Some(small::CONTEXT_TOKENS),
                sees: Some(false),
            }],
            // It is llama.cpp's server.
            also_speaks: vec![Protocol::Messages, Protocol::Responses],
            machine: Some(self.hostname.clone()),
        });
    }
}
