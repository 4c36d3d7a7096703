//! The helper: what `boocode wall` runs, from the first line to the exit of the program inside.
//!
//! With namespaces it is three processes: the keeper outside, which the server knows; the first process of the pid
//! namespace, with which all others in it end; and the program. Without them the keeper starts the program itself.

mod bounds;
mod inside;
mod keeper;
mod landlock_rules;
mod network;
mod privileges;
mod root;
mod seccomp;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::RawFd;
use std::path::PathBuf;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::landlock_abi::LandlockAbi;
use crate::wall::Wall;

/// The exit code of a wall that could not be put up as it was asked for. The reason is on standard error.
pub const REFUSED: i32 = 125;
/// The exit code when the wall stands, and the program could not be started behind it.
pub const NOT_STARTED: i32 = 127;
/// What lines of the helper's own on standard error begin with.
pub const PREFIX: &str = "boocode wall: ";
/// Asks the keeper to end everything at once. It also gets this when the server dies.
pub const END_NOW: Signal = Signal::USR1;

/// All but the program and its environment. It travels in the argument list, and so holds no secret.
#[derive(Debug, Serialize, Deserialize)]
pub struct Description {
    /// Whose death is to be the death of all of it.
    pub parent: Option<u32>,
    pub demand: Demand,
    /// The inherited socket over which whoever answers at the task's door gets it.
    pub handed_over: Option<RawFd>,
    pub folder: PathBuf,
    pub wall: Wall,
}

/// What has to be enforced.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Demand {
    pub namespaces: bool,
    pub landlock: LandlockAbi,
}

impl Description {
    pub fn to_argument(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// Puts up the wall that the arguments describe, runs the command after their `--` behind it, and exits as that
/// does; without a command it only tries. The process must have no other thread yet.
pub fn enter(args: impl Iterator<Item = OsString>) -> ! {
    let code = parse(args).and_then(|(description, command)| keeper::run(&description, &command));
    std::process::exit(code.unwrap_or_else(|failure| {
        eprintln!("{PREFIX}{failure}");
        failure.exit_code()
    }))
}

/// Names the part of the wall that failed.
#[derive(Debug, Error)]
enum Failure {
    #[error("{0}")]
    Said(String),
    #[error("{what}: {error}")]
    Wall { what: String, error: String },
    #[error("{} could not be started: {error}", program.display())]
    Program { program: PathBuf, error: io::Error },
}

impl Failure {
    fn exit_code(&self) -> i32 {
        match self {
            Self::Said(_) | Self::Wall { .. } => REFUSED,
            Self::Program { .. } => NOT_STARTED,
        }
    }
}

/// Says what could not be done, in the words of the person who reads of it.
trait Naming<T> {
    fn naming(self, what: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> Naming<T> for Result<T, E> {
    fn naming(self, what: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|error| Failure::Wall { what: what.into(), error: error.to_string() })
    }
}

fn parse(mut args: impl Iterator<Item = OsString>) -> Result<(Description, Vec<OsString>), Failure> {
    let usage = |why: &str| Failure::Said(format!("{why}; this command is for the server itself"));
    let description = args.next().ok_or_else(|| usage("the description of the wall is missing"))?;
    let description = description.to_str().ok_or_else(|| usage("the description is not text"))?;
    let description = serde_json::from_str(description)
        .map_err(|error| usage(&format!("the description cannot be read ({error})")))?;
    match args.next() {
        Some(separator) if separator != OsStr::new("--") => Err(usage("a -- is missing")),
        _ => Ok((description, args.collect())),
    }
}
