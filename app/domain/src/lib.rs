//! The rules of BooCode. Pure: no clock, no randomness, no I/O. The server and the browser compile the same
//! code, so both fold the same events into the same state.

pub mod agent;
pub mod archive;
pub mod artifact;
pub mod attachment;
pub mod backend;
pub mod battle;
pub mod browser;
pub mod catalogue;
pub mod chat;
pub mod completion;
pub mod context;
pub mod diff;
pub mod feed;
pub mod fence;
pub mod flow;
pub mod fuzzy;
pub mod history;
pub mod id;
pub mod json;
pub mod layout;
pub mod markdown;
pub mod mention;
pub mod moment;
pub mod notifications;
pub mod output;
pub mod page;
pub mod persona;
pub mod protocol;
pub mod rejected;
pub mod run;
pub mod search;
pub mod settings;
pub mod setup;
#[cfg(test)]
mod sim;
pub mod slot;
pub mod task;
pub mod tool;
pub mod transcript;
pub mod workspace;
pub mod worktree;

pub use rejected::Rejected;
