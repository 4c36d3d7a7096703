//! One model server that is looked at again and again.

use domain::{
    catalogue::{Flavour, Model, ModelServer, ServerState},
    protocol::Protocol,
};
use reqwest::Client;

use crate::{
    config::{ConfiguredServer, Key},
    models::{
        Endpoint, Listing, Place, context,
        probe::{self, Seen},
        spoken,
    },
};

pub(super) struct Known {
    pub server: ConfiguredServer,
    pub origin: Origin,
    /// `None` until it answered once.
    flavour: Option<Flavour>,
    /// Whoever was away may be another program when it is back.
    was_away: bool,
    pub state: ServerState,
    models: Vec<Model>,
    /// Besides chat completions. `None` until it is known.
    speaks: Option<Vec<Protocol>>,
}

/// How a server came to be known. Where two are the same, the first of these stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    Configured,
    Settings,
    Found,
}

impl Known {
    pub fn new(server: ConfiguredServer, origin: Origin) -> Self {
        let models = server.models.iter().map(Model::named).collect();
        let speaks = server.speaks.clone();
        let state = ServerState::Starting;
        Self { server, origin, flavour: None, was_away: false, state, models, speaks }
    }

    pub async fn look(&mut self, client: &Client) {
        let ConfiguredServer { address, key, models, .. } = &self.server;
        let seen = if self.origin != Origin::Found {
            probe::look(client, &self.server, self.flavour.filter(|_| !self.was_away)).await
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
        let seen = match seen {
            Seen::Serving { flavour, mut models } => {
                context::ask(client, address, key.value(), flavour, &mut models).await;
                if self.speaks.is_none() || (self.was_away && self.server.speaks.is_none()) {
                    self.speaks = spoken::ask(client, address, key.value(), flavour).await;
                }
                Seen::Serving { flavour, models }
            }
            seen => seen,
        };
        self.take(seen);
    }

    pub fn take(&mut self, seen: Seen) {
        self.was_away = matches!(seen, Seen::Unreachable { .. });
        match seen {
            Seen::Serving { flavour, mut models } => {
                // Some servers tell it only while a model is loaded.
                for model in models.iter_mut().filter(|model| model.context.is_none()) {
                    let before = self.models.iter().find(|before| before.id == model.id);
                    model.context = before.and_then(|before| before.context);
                }
                self.flavour = Some(flavour);
                self.models = models;
                self.state = ServerState::Reachable;
            }
            Seen::Loading { flavour } => {
                self.flavour = Some(flavour);
                self.state = ServerState::Starting;
            }
            Seen::Unreachable { reason } => self.state = ServerState::Unreachable { reason },
        }
    }

    pub fn list(&self, hostname: &str, listing: &mut Listing) {
        let ConfiguredServer { name, address, lane, key, parallel, .. } = &self.server;
        let flavour = self.flavour.unwrap_or(Flavour::OpenAi);
        let endpoint = Endpoint {
            base_url: address.root().into(),
            api_url: address.api().into(),
            api_key: key.value().cloned(),
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
            is_left_to_others: *key == Key::Elsewhere,
        });
        listing.catalogue.servers.push(ModelServer {
            name: name.clone(),
            flavour,
            lane: *lane,
            base_url: address.root().into(),
            state: self.state.clone(),
            models: self.models.clone(),
            also_speaks: self.speaks.clone().unwrap_or_default(),
            machine: address.machine(hostname),
        });
    }
}
