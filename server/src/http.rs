//! What the server answers, and to whom.

mod artifacts;
pub mod assets;
pub mod attachments;
mod battles;
pub mod feed;
pub mod guard;
pub mod headers;
pub mod health;
pub mod history;
pub mod listener;
pub mod login;
pub mod metrics;
pub mod pages;
pub mod peer;
pub mod router;
mod runs;
mod scripts;
