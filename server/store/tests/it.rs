//! What the store promises, on a real Postgres: each test has a database of its own.

// Says what is true of every file here, for clippy: it allows a helper to panic only under this.
#[cfg(test)]
mod it {
    mod archive;
    mod attachments;
    mod battles;
    mod claim;
    mod coder;
    mod connections;
    mod feed;
    mod history;
    mod layouts;
    mod leases;
    mod logins;
    mod races;
    mod replay;
    mod runs;
    mod scene;
    mod search;
    mod settings;
    mod setups;
    mod slots;
    mod snapshot;
    mod stale;
    mod story;
    mod streams;
    mod words;
    mod workspace;
}
