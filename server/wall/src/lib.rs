//! What keeps an agent inside, and who owns its processes.
//!
//! A task's program is started through a helper, which is this program again under its `wall` subcommand: it puts
//! the wall up around itself, starts the program inside and stays as the owner of whatever that leaves behind.
//!
//! 1. namespaces (user, mount, pid, ipc, network): a root that holds what is granted and nothing else, its own
//!    `/proc`, and a network in which there is nobody but who answers at its door
//! 2. privileges: no capability, none to be gained, no inherited descriptor, no terminal
//! 3. Landlock: the same grants once more, and the ports
//! 4. seccomp: the ways around the ports
//! 5. an environment from nothing
//! 6. limits: the size of a file, and how many processes there are
//!
//! What of it a kernel allows is its [`Level`].

mod door;
mod enter;
mod landlock_abi;
mod leftovers;
mod level;
mod marker;
mod process;
mod processes;
mod spawner;
mod sys;
mod wall;

pub use enter::{NOT_STARTED, REFUSED, enter};
pub use landlock_abi::LandlockAbi;
pub use leftovers::{end_leftovers, end_task};
pub use level::{Level, Refused, level};
pub use marker::{Marker, VARIABLE};
pub use process::{Ending, Grace, Process, Step};
pub use spawner::spawn_to_die_with_us;
pub use sys::die_with_parent;
pub use wall::{Access, Program, Shared, Wall};

use std::io;
use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("{} cannot be granted or hidden: {why}", path.display())]
    NotReal { path: PathBuf, why: String },
    #[error("{0} must not be in a task's environment: it changes how the helper outside the wall is loaded")]
    Environment(String),
    #[error("the program could not be started: {0}")]
    Start(#[source] io::Error),
    #[error("the task's processes could not be watched: {0}")]
    Watch(#[source] io::Error),
    #[error("processes of the task could not be ended: {}", list(.0))]
    Remain(Vec<i32>),
}

fn list(pids: &[i32]) -> String {
    pids.iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}
