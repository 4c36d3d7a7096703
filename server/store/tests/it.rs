//! What the store promises, on a real Postgres: each test has a database of its own.

// Says what is true of every file here, for clippy: it allows a helper to panic only under this.
#[cfg(test)]
mod it {
    mod claim;
    mod feed;
    mod leases;
    mod logins;
    mod races;
    mod replay;
    mod scene;
    mod slots;
    mod snapshot;
    mod stale;
    mod story;
    mod streams;
    mod words;
    mod workspace;
}
