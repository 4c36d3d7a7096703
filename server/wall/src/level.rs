//! How much of the wall this machine allows, and what may run behind that much.

use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use thiserror::Error;
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::enter::{Demand, Description, PREFIX};
use crate::landlock_abi::LandlockAbi;
use crate::wall::{Access, Wall};

/// A wall goes up in milliseconds; a machine that swaps gets its time.
const TRIAL_LIMIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Level {
    /// With namespaces, which keep alone what an older Landlock does not.
    Full {
        landlock: LandlockAbi,
    },
    /// Without them, for a reason.
    Reduced {
        reason: String,
        landlock: LandlockAbi,
    },
    None {
        reason: String,
    },
}

/// Why a task does not run behind this level.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    #[error("nothing on this machine can keep an agent inside its folder: {reason}")]
    NotHeld { reason: String },
    #[error("nothing on this machine can keep an agent from changing the project: {reason}")]
    NotReadOnly { reason: String },
    #[error(
        "{path} lies in a folder that the agent may use, and only namespaces could keep it out: {reason}"
    )]
    NotSeparable { path: String, reason: String },
    #[error("{path} can be shared with an agent only where there are namespaces: {reason}")]
    NotShared { path: String, reason: String },
}

/// What `helper`, whose `wall` subcommand calls [`crate::enter`], can put up here. Tried once, by doing it.
pub async fn level(helper: &Path) -> Level {
    static LEVEL: OnceCell<Level> = OnceCell::const_new();
    LEVEL.get_or_init(|| measure(helper)).await.clone()
}

impl Level {
    /// What has to be enforced for a task to run, or why it does not.
    pub fn admits(&self, wall: &Wall) -> Result<Demand, Refused> {
        let reading = matches!(wall.access, Access::Read { .. });
        let (reason, landlock) = match self {
            Self::Full { landlock } => return Ok(Demand { namespaces: true, landlock: *landlock }),
            Self::Reduced { reason, landlock } => (reason.clone(), *landlock),
            Self::None { reason } if reading => return Err(Refused::NotReadOnly { reason: reason.clone() }),
            Self::None { reason } => return Err(Refused::NotHeld { reason: reason.clone() }),
        };
        if let Some(shared) = wall.shared.first() {
            return Err(Refused::NotShared { path: shared.file.display().to_string(), reason });
        }
        if reading && !landlock.guards_truncation() {
            let reason = format!("{reason}, and this kernel's Landlock lets files be emptied");
            return Err(Refused::NotReadOnly { reason });
        }
        match wall.needs_mounts() {
            Some(path) => Err(Refused::NotSeparable { path: path.display().to_string(), reason }),
            None => Ok(Demand { namespaces: false, landlock }),
        }
    }

    /// What an agent can still do, for the page of settings and for `doctor`.
    pub fn leaks(&self) -> Vec<&'static str> {
        let Self::Reduced { landlock, .. } = self else { return Vec::new() };
        let leaks = [
            (true, "change modes and times of files that it may not write"),
            (true, "connect to unix sockets of other programs"),
            (true, "see the command lines of other programs"),
            (!landlock.guards_truncation(), "empty files that it may not write"),
            (!landlock.guards_ports(), "connect to every TCP port of every address"),
            (landlock.guards_ports(), "connect to every address at the port of its model"),
            (true, "listen on a TCP port of this machine"),
            (!landlock.guards_signals(), "send signals to other programs"),
            (!landlock.guards_signals(), "connect to abstract sockets of other programs"),
        ];
        leaks.into_iter().filter_map(|(leaks, what)| leaks.then_some(what)).collect()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { .. } => {
                write!(f, "full: an agent sees, changes and reaches only what its task is given")
            }
            Self::Reduced { reason, .. } => {
                write!(f, "reduced: an agent can still {} ({reason})", self.leaks().join("; "))
            }
            Self::None { reason } => write!(f, "none: {reason}"),
        }
    }
}

async fn measure(helper: &Path) -> Level {
    let landlock = LandlockAbi::of_this_kernel();
    if landlock == LandlockAbi(0) {
        return Level::None { reason: "this kernel has no Landlock, or it is switched off".to_owned() };
    }
    let Err(reason) = tried(helper, Demand { namespaces: true, landlock }).await else {
        return Level::Full { landlock };
    };
    match tried(helper, Demand { namespaces: false, landlock }).await {
        Ok(()) => Level::Reduced { reason, landlock },
        Err(reason) => Level::None { reason },
    }
}

/// Puts a wall up around nothing.
async fn tried(helper: &Path, demand: Demand) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let inside = folder.path().canonicalize().map_err(|error| format!("no temporary folder: {error}"))?;
    let wall = Wall {
        access: Access::Write { tree: inside.clone(), objects: Vec::new() },
        home: inside.clone(),
        tmp: inside.clone(),
        programs: Vec::new(),
        shared: Vec::new(),
        hidden: Vec::new(),
        door: None,
        own_port: None,
    };
    // Without the signal of a parent's death: the thread that asks may be one that ends.
    let description = Description { parent: None, demand, handed_over: None, folder: inside, wall };
    let description = description.to_argument().map_err(|error| error.to_string())?;
    let mut command = Command::new(helper);
    command.arg("wall").arg(description).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(TRIAL_LIMIT, command.output()).await;
    let output = output.map_err(|_| "the wall did not go up in time".to_owned())?;
    let output = output.map_err(|error| format!("the helper did not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next().map_or_else(
        || format!("the helper ended with {}", output.status),
        |line| line.strip_prefix(PREFIX).unwrap_or(line).trim().to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: LandlockAbi = LandlockAbi(6);

    fn reduced(landlock: u8) -> Level {
        Level::Reduced { reason: "user namespaces are off".to_owned(), landlock: LandlockAbi(landlock) }
    }

    fn none() -> Level {
        Level::None { reason: "no Landlock".to_owned() }
    }

    fn wall(access: Access) -> Wall {
        Wall {
            access,
            home: "/data/home".into(),
            tmp: "/data/tmp".into(),
            programs: vec![],
            shared: vec![],
            hidden: vec!["/data".into(), "/project/.boocode".into()],
            door: None,
            own_port: None,
        }
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let reading = wall(Access::Read { project: "/other".into() });
        let around = wall(Access::Read { project: "/project".into() });
        let writing = wall(Access::Write { tree: "/data/tree".into(), objects: vec![] });
        let shared = crate::Shared { file: "/person/login".into(), place: "/data/home/login".into() };
        let sharing = Wall { shared: vec![shared], ..writing.clone() };
        let check = |level: Level, wall: &Wall, expected: &str| {
            let said = match level.admits(wall) {
                Ok(demand) if demand.namespaces => "runs apart",
                Ok(_) => "runs",
                Err(Refused::NotHeld { .. }) => "not held",
                Err(Refused::NotReadOnly { .. }) => "not read-only",
                Err(Refused::NotSeparable { .. }) => "not separable",
                Err(Refused::NotShared { .. }) => "not shared",
            };
            assert_eq!(said, expected, "{level:?} {:?}", wall.access);
        };
        for wall in [&reading, &around, &writing, &sharing] {
            check(Level::Full { landlock: LAST }, wall, "runs apart");
            check(Level::Full { landlock: LandlockAbi(1) }, wall, "runs apart");
        }
        for landlock in 1..=6 {
            let holds = landlock >= 3;
            check(reduced(landlock), &writing, "runs");
            check(reduced(landlock), &reading, if holds { "runs" } else { "not read-only" });
            check(reduced(landlock), &around, if holds { "not separable" } else { "not read-only" });
            check(reduced(landlock), &sharing, "not shared");
        }
        check(none(), &writing, "not held");
        check(none(), &sharing, "not held");
        check(none(), &reading, "not read-only");
    }

    #[test]
    fn a_level_says_what_it_leaves_open() {
        let check = |level: Level, leaks: usize, says: &str| {
            assert_eq!(level.leaks().len(), leaks, "{level:?}");
            assert!(level.to_string().contains(says), "{level}");
        };
        check(Level::Full { landlock: LAST }, 0, "full");
        check(reduced(6), 5, "unix sockets");
        check(reduced(6), 5, "user namespaces are off");
        check(reduced(6), 5, "every address at the port of its model; listen on a TCP port");
        check(reduced(4), 7, "abstract sockets");
        check(reduced(2), 8, "empty files");
        check(reduced(2), 8, "every TCP port");
        check(none(), 0, "none: no Landlock");
    }
}
