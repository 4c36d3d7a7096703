//! The real server, a real Postgres and a model server with a script.

// A test that cannot go on says so by panicking; the harness around the tests is test code too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agents;
mod archive;
mod arena;
mod attachments;
mod bad_agents;
mod bad_disk;
mod browsers;
mod chat;
mod coder;
mod crash;
mod feed;
mod files;
mod harness;
mod history;
mod keys;
mod owned;
mod personas;
mod program;
mod public_url;
mod runs;
mod security;
mod settings;
mod setup;
mod shared;
mod walled;
