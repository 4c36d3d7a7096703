//! The real server, a real Postgres and a model server with a script.

mod chat;
mod crash;
mod feed;
mod harness;
mod security;
mod shared;
