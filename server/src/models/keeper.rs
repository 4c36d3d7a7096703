//! Looks at every server again and again, and publishes what changed.

use std::{future::pending, path::PathBuf, sync::Arc};

use domain::catalogue::{Flavour, Lane, Model, ModelServer, ServerState};
use futures::future::join_all;
use reqwest::Client;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Address, Endpoint, Listing, Place, REFRESH_EVERY, discovery, hostname,
    probe::{self, Seen},
    small::{self, SmallState},
};
use crate::config::{Config, ConfiguredServer, Key, SMALL_MODEL_SERVER};

pub(super) struct Keeper {
    client: Client,
    hostname: String,
    known: Vec<Known>,
    /// Where servers are looked for that nobody named.
    places: Vec<Address>,
    small: Small,
    publish: watch::Sender<Arc<Listing>>,
    tasks: TaskTracker,
    cancel: CancellationToken,
}

/// A server that was configured, or found once.
struct Known {
    server: ConfiguredServer,
    configured: bool,
    /// `None` until it answered once.
    flavour: Option<Flavour>,
    state: ServerState,
    models: Vec<Model>,
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
        let known = config.model_servers.iter().map(|server| Known {
            server: server.clone(),
            configured: true,
            flavour: None,
            state: ServerState::Starting,
            models: server.models.iter().map(Model::named).collect(),
        });
        let known: Vec<_> = known.collect();
        let named = |place: &Address| known.iter().any(|known| known.server.address.is_same_server(place));
        let places = places.into_iter().filter(|place| !named(place)).collect();
        let small = match config.small_model {
            true => Small::Idle { python: config.small_model_python.clone() },
            false => Small::Off,
        };
        let (publish, listing) = watch::channel(Arc::default());
        let keeper = Keeper { client, hostname: hostname(), known, places, small, publish, tasks, cancel };
        keeper.publish();
        (keeper, listing)
    }

    pub async fn keep(mut self, mut requests: mpsc::Receiver<oneshot::Sender<()>>) {
        let cancel = self.cancel.clone();
        let mut waiting: Vec<oneshot::Sender<()>> = Vec::new();
        loop {
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

    /// One look at every server and place, all at the same time.
    async fn look(&mut self) {
        let client = &self.client;
        let found_before = |place: &&Address| {
            self.known.iter().any(|known| !known.configured && known.server.address.is_same_server(place))
        };
        let new_places = self.places.iter().filter(|place| !found_before(place));
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
            };
            let mut known = Known {
                server,
                configured: false,
                flavour: None,
                state: ServerState::Starting,
                models: Vec::new(),
            };
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
        let counts =
            |known: &Known| known.configured || !matches!(known.state, ServerState::Unreachable { .. });
        !self.known.iter().any(counts)
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
                reason: "the small model is not installed — `cargo xtask run` installs it; or configure a model server".into(),
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
        listing.places.push(Place { server: SMALL_MODEL_SERVER.into(), slot_key, parallel: 1, endpoint });
        listing.catalogue.servers.push(ModelServer {
            name: SMALL_MODEL_SERVER.into(),
            flavour: Flavour::Small,
            lane: Lane::Local,
            base_url,
            state: shown,
            models: vec![Model { id: small::MODEL.into(), label: Some("SmolLM2 135M (built in)".into()) }],
        });
    }
}

impl Known {
    async fn look(&mut self, client: &Client) {
        let ConfiguredServer { address, key, models, lane, .. } = &self.server;
        let seen = if self.configured {
            // A cloud provider is asked for nothing but its models.
            if self.flavour.is_none() && *lane == Lane::Cloud {
                self.flavour = Some(Flavour::OpenAi);
            }
            let seen =
                probe::ask(client, address, key, self.flavour.unwrap_or(Flavour::OpenAi), models).await;
            match seen {
                Seen::Serving { models, .. } if self.flavour.is_none() => {
                    Seen::Serving { flavour: probe::flavour(client, address, key).await, models }
                }
                seen => seen,
            }
        } else {
            match probe::discover(client, address).await {
                Some(seen) => seen,
                // It was found once and is gone: the plain question gives the reason.
                None => match probe::ask(client, address, key, Flavour::OpenAi, models).await {
                    Seen::Unreachable { reason } => Seen::Unreachable { reason },
                    _ => Seen::Unreachable { reason: "another program answers there now".into() },
                },
            }
        };
        self.take(seen);
    }

    fn take(&mut self, seen: Seen) {
        match seen {
            Seen::Serving { flavour, models } => {
                self.flavour = Some(flavour);
                self.models = models;
                self.state = ServerState::Reachable;
            }
            Seen::Loading { flavour } => {
                self.flavour.get_or_insert(flavour);
                self.state = ServerState::Starting;
            }
            Seen::Unreachable { reason } => self.state = ServerState::Unreachable { reason },
        }
    }

    fn list(&self, hostname: &str, listing: &mut Listing) {
        let ConfiguredServer { name, address, lane, key, parallel, .. } = &self.server;
        let flavour = self.flavour.unwrap_or(Flavour::OpenAi);
        let endpoint = Endpoint {
            base_url: address.root().into(),
            api_url: address.api().into(),
            api_key: match key {
                Key::Set { value, .. } => Some(value.clone()),
                Key::None | Key::Missing { .. } => None,
            },
            slot_key: address.slot_key(hostname),
            lane: *lane,
            parallel: *parallel,
            flavour,
        };
        listing.places.push(Place {
            server: name.clone(),
            slot_key: endpoint.slot_key.clone(),
            parallel: *parallel,
            endpoint: Some(endpoint),
        });
        listing.catalogue.servers.push(ModelServer {
            name: name.clone(),
            flavour,
            lane: *lane,
            base_url: address.root().into(),
            state: self.state.clone(),
            models: self.models.clone(),
        });
    }
}
