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
mod lines;
mod permission;
mod prompt;
mod told;
mod turn;

pub use agent::{Agent, Counted, Endpoint, File, Launch, Mode, Modes, Need, Package, Tokens};
pub use error::{Error, Step};
pub use permission::Permits;
pub use prompt::Block;
pub use turn::{Ended, Limits, Stop, Turn, run};
