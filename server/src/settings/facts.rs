//! What is shown and not changed in Settings: where things are, and which versions run.

use std::net::SocketAddr;

use domain::settings::{Fact, Origin};

use crate::{config::Config, models::hostname};

pub fn facts(config: &Config, address: SocketAddr, postgres: &str) -> Vec<Fact> {
    let set = |name: &str, help: &str, value: String, key: &str| Fact {
        name: name.into(),
        help: help.into(),
        value,
        origin: Some(Origin::from(config.source(key))),
    };
    let seen = |name: &str, help: &str, value: String| Fact {
        name: name.into(),
        help: help.into(),
        value,
        origin: None,
    };
    let roots: Vec<_> = config.allowed_roots.iter().map(|root| root.display().to_string()).collect();
    let listen_key = if config.sources.contains_key("listen") { "listen" } else { "port" };
    // The URL itself holds a password.
    let database = match config.database_url {
        Some(_) => "A Postgres of yours",
        None => "Its own, in the data directory",
    };
    let (major, minor, patch) = git2::Version::get().libgit2_version();
    vec![
        set(
            "Data directory",
            "Holds the database, the login secrets and whatever else BooCode keeps.",
            config.data_dir.display().to_string(),
            "data_dir",
        ),
        set("Database", "Where projects, chats and answers are kept.", database.into(), "database_url"),
        set(
            "Project folders",
            "Projects lie in one of these.",
            if roots.is_empty() { "none".into() } else { roots.join(", ") },
            "allowed_roots",
        ),
        set(
            "Listens on",
            "The address that browsers, or the proxy, connect to.",
            address.to_string(),
            listen_key,
        ),
        set(
            "Public address",
            "What browsers call it when a proxy stands in front.",
            config.public_url.clone().unwrap_or_else(|| "none".into()),
            "public_url",
        ),
        seen("BooCode", "The version that runs.", env!("CARGO_PKG_VERSION").into()),
        seen("Postgres", "The version of the database.", postgres.into()),
        seen("libgit2", "What reads the repositories.", format!("{major}.{minor}.{patch}")),
        seen("Host", "The machine that BooCode runs on.", hostname()),
    ]
}
