//! The login of an agent, listed beside the servers. Nothing is asked of it here: whether it is any good, its agent
//! finds out.

use domain::catalogue::{Flavour, Lane, Model, ModelServer, ServerState};

use crate::models::{Account, Endpoint, Listing, Place};

/// How many turns one account is asked for at once.
const PARALLEL: u32 = 4;

/// A server that has the same name goes first.
pub(super) fn list(account: &Account, hostname: &str, listing: &mut Listing) {
    let Account { server, title, models } = account;
    if listing.catalogue.server(server).is_some() {
        return;
    }
    let slot_key = format!("{hostname}|{server}");
    let endpoint = Endpoint {
        base_url: String::new(),
        api_url: String::new(),
        api_key: None,
        slot_key: slot_key.clone(),
        lane: Lane::Cloud,
        parallel: PARALLEL,
        flavour: Flavour::Account,
    };
    let endpoint = Some(endpoint);
    listing.places.push(Place {
        server: server.clone(),
        slot_key,
        parallel: PARALLEL,
        endpoint,
        is_left_to_others: false,
    });
    let model = |id: &String| Model { label: Some(format!("{title}: {id}")), ..Model::named(id) };
    listing.catalogue.servers.push(ModelServer {
        name: server.clone(),
        flavour: Flavour::Account,
        lane: Lane::Cloud,
        base_url: String::new(),
        state: ServerState::Reachable,
        models: models.iter().map(model).collect(),
        also_speaks: Vec::new(),
        machine: Some(hostname.to_owned()),
    });
}
