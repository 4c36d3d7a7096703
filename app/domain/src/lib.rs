//! The rules of BooCode. Pure: no clock, no randomness, no I/O. The server and the browser compile the same
//! code, so both fold the same events into the same state.

pub mod catalogue;
pub mod chat;
pub mod completion;
pub mod feed;
pub mod id;
pub mod markdown;
pub mod output;
pub mod page;
pub mod rejected;
#[cfg(test)]
mod sim;
pub mod slot;
pub mod task;
pub mod transcript;
pub mod workspace;

pub use rejected::Rejected;
