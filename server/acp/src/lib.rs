//! External agents that speak the Agent Client Protocol: one turn of one agent, told as [`Output`].
//!
//! The agent's process is the caller's, who puts it behind the wall and ends it; here are its stdin and stdout.
//! [`turn::run`] talks to it: `lines.rs` bounds what it may send, `told.rs` turns it into output, `permission.rs`
//! into questions. What differs between agents is data in `agents/`.
//!
//! [`Output`]: domain::output::Output

mod agent;
pub mod agents;
mod error;
pub mod install;
mod launch;
mod lines;
mod permission;
mod prompt;
mod template;
mod told;
mod turn;

pub use agent::{Account, Agent, Counted, Mode, Modes, Need, Package, Pairs, Texts, Tokens};
pub use error::{Error, Step};
pub use launch::{File, Launch, Source};
pub use permission::Permits;
pub use prompt::Block;
pub use template::{Endpoint, PLACEHOLDERS, unknown_placeholder};
pub use turn::{Ended, Limits, Stop, Turn, run};
