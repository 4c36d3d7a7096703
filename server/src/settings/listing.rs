//! The model servers as Settings lists them: who named each, how it is, and what is at work there.

use std::collections::BTreeMap;

use domain::{
    catalogue::{Flavour, Lane, ModelServer},
    settings::{Fault, KeyState, Look, Origin, ServerEntry, Work},
};
use store::settings::{Kept, ServerRow};

use super::parse_row;
use crate::{
    config::{Config, ConfiguredServer, Key, SMALL_MODEL_SERVER},
    keys::Keys,
    models::{Address, Models, hostname},
};

/// Configured ones first, then those of Settings, then what was found.
pub fn entries(
    config: &Config,
    models: &Models,
    keys: &Keys,
    kept: &Kept,
    work: &BTreeMap<String, Work>,
) -> Vec<ServerEntry> {
    let catalogue = models.catalogue();
    let work_of = |name: &str| work.get(name).copied().unwrap_or_default();
    let configured_origin = Origin::from(config.source("model_server"));
    let mut entries: Vec<_> = config
        .model_servers
        .iter()
        .map(|server| {
            let look = catalogue.server(&server.name).map(Look::from);
            entry(server, configured_origin.clone(), look, None, work_of(&server.name))
        })
        .collect();
    for row in &kept.servers {
        let used = usable(row, config, keys, kept);
        let look = used.as_ref().ok().and_then(|_| catalogue.server(&row.name)).map(Look::from);
        entries.push(match used {
            Ok(server) => entry(&server, Origin::Settings, look, None, work_of(&row.name)),
            Err(unused) => unusable(row, unused, work_of(&row.name)),
        });
    }
    let is_listed = |server: &ModelServer| entries.iter().any(|entry| entry.name == server.name);
    // Agents' own logins stand with the agents.
    let is_account = |server: &ModelServer| server.flavour == Flavour::Account;
    let found = catalogue.servers.iter().filter(|server| !is_listed(server) && !is_account(server));
    let found: Vec<_> = found.collect();
    entries.extend(found.into_iter().map(|server| ServerEntry {
        name: server.name.clone(),
        url: server.base_url.clone(),
        lane: server.lane,
        parallel: models.endpoint(&server.name).map_or(1, |endpoint| endpoint.parallel),
        key: KeyState::None,
        origin: if server.name == SMALL_MODEL_SERVER { Origin::Default } else { Origin::Found },
        look: Some(Look::from(server)),
        unused: None,
        work: work_of(&server.name),
    }));
    entries
}

/// Why a server cannot be added beside those that are there.
pub fn clashes(server: &ConfiguredServer, config: &Config, models: &Models, kept: &Kept) -> Vec<Fault> {
    let place = server.address.slot_key(&hostname());
    let configured = config.model_servers.iter();
    let mut there: Vec<(String, String)> =
        configured.map(|other| (other.name.clone(), other.address.slot_key(&hostname()))).collect();
    there.extend(kept.servers.iter().map(|row| (row.name.clone(), row.slot_key.clone())));
    let mut faults = Vec::new();
    let mut fault = |field: &str, words: String| faults.push(Fault { field: field.into(), words });
    if there.iter().any(|(name, _)| *name == server.name) {
        fault("name", format!("there is a server called \"{}\" already; choose another name", server.name));
    } else if let Some(found) = models.catalogue().server(&server.name)
        && !Address::parse(&found.base_url).is_ok_and(|at| at.is_same_server(&server.address))
    {
        fault("name", format!("\"{}\" was found at {}; choose another name", found.name, found.base_url));
    }
    if let Some((name, _)) = there.iter().find(|(_, other)| *other == place) {
        fault("url", format!("this is the server \"{name}\" again"));
    }
    faults
}

/// A server on loopback belongs to the host that it was added on: on another one the same address is another
/// server, or none.
pub fn is_of_this_host(row: &ServerRow) -> bool {
    Address::parse(&row.url).is_ok_and(|address| address.slot_key(&hostname()) == row.slot_key)
}

/// A row as a server, or why it is not used here.
fn usable(row: &ServerRow, config: &Config, keys: &Keys, kept: &Kept) -> Result<ConfiguredServer, String> {
    let server = parse_row(row, keys, kept)?;
    if !is_of_this_host(row) {
        let host = row.slot_key.split('|').next().unwrap_or_default();
        return Err(format!("It is on {host}, and used by the BooCode that runs there."));
    }
    let clash = config
        .model_servers
        .iter()
        .find(|other| other.name == server.name || other.address.is_same_server(&server.address));
    match clash {
        Some(other) => {
            let origin = Origin::from(config.source("model_server"));
            Err(format!("\"{}\" goes before it, {origin}.", other.name))
        }
        None => Ok(server),
    }
}

fn entry(
    server: &ConfiguredServer,
    origin: Origin,
    look: Option<Look>,
    unused: Option<String>,
    work: Work,
) -> ServerEntry {
    ServerEntry {
        name: server.name.clone(),
        url: server.address.root().to_owned(),
        lane: server.lane,
        parallel: server.parallel,
        key: match &server.key {
            Key::None => KeyState::None,
            Key::Set { variable, .. } => KeyState::Set { variable: variable.clone() },
            Key::Missing { variable } => KeyState::Missing { variable: variable.clone() },
            Key::Kept { .. } => KeyState::Kept,
            Key::Elsewhere => KeyState::Elsewhere,
            Key::Unreadable => KeyState::Unreadable,
        },
        origin,
        look,
        unused,
        work,
    }
}

fn unusable(row: &ServerRow, unused: String, work: Work) -> ServerEntry {
    ServerEntry {
        name: row.name.clone(),
        url: row.url.clone(),
        lane: row.lane,
        parallel: if row.lane == Lane::Local { 1 } else { row.parallel },
        key: KeyState::None,
        origin: Origin::Settings,
        look: None,
        unused: Some(unused),
        work,
    }
}
