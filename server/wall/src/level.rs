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

/// What `helper`, whose `wall` subcommand calls [`crate::enter`], can put up here. Tried once, by doing it; but again
/// where a machine under load gave no answer, which says nothing of what it allows.
pub async fn level(helper: &Path) -> Level {
    static LEVEL: OnceCell<Level> = OnceCell::const_new();
    match LEVEL.get_or_try_init(|| measure(helper)).await {
        Ok(level) => level.clone(),
        Err(Unsure(level)) => level,
    }
}

/// What holds only for now.
struct Unsure(Level);

/// Why a wall did not go up.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    Late,
    Refused(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late => write!(f, "the wall did not go up in time"),
            Self::Refused(words) => write!(f, "{words}"),
        }
    }
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

async fn measure(helper: &Path) -> Result<Level, Unsure> {
    let landlock = LandlockAbi::of_this_kernel();
    if landlock == LandlockAbi(0) {
        let reason = "this kernel has no Landlock, or it is switched off".to_owned();
        return Ok(Level::None { reason });
    }
    let tried = |namespaces| tried(helper, Demand { namespaces, landlock }, TRIAL_LIMIT);
    let Err(apart) = tried(true).await else { return Ok(Level::Full { landlock }) };
    let (level, is_sure) = match tried(false).await {
        Ok(()) => (Level::Reduced { reason: apart.to_string(), landlock }, apart != Fault::Late),
        Err(fault) => {
            let is_sure = apart != Fault::Late && fault != Fault::Late;
            (Level::None { reason: fault.to_string() }, is_sure)
        }
    };
    if is_sure { Ok(level) } else { Err(Unsure(level)) }
}

/// Puts a wall up around nothing.
async fn tried(helper: &Path, demand: Demand, limit: Duration) -> Result<(), Fault> {
    let refused = |what: &str, error: &dyn fmt::Display| Fault::Refused(format!("{what}: {error}"));
    let folder = tempfile::tempdir().map_err(|error| refused("no temporary folder", &error))?;
    let inside = folder.path().canonicalize().map_err(|error| refused("no temporary folder", &error))?;
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
    let description = description.to_argument().map_err(|error| Fault::Refused(error.to_string()))?;
    let mut command = Command::new(helper);
    command.arg("wall").arg(description).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(limit, command.output()).await.map_err(|_| Fault::Late)?;
    let output = output.map_err(|error| refused("the helper did not start", &error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Fault::Refused(said.lines().next().map_or_else(
        || format!("the helper ended with {}", output.status),
        |line| line.strip_prefix(PREFIX).unwrap_or(line).trim().to_owned(),
    )))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const LAST: LandlockAbi = LandlockAbi(6);

    /// What a machine under load gives is not kept for good.
    #[tokio::test]
    async fn an_answer_that_does_not_come_is_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let check = async |script: &str, expected: Fault| {
            let helper = folder.path().join("helper");
            std::fs::write(&helper, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755)).unwrap();
            let demand = Demand { namespaces: false, landlock: LAST };
            let limit = if expected == Fault::Late { Duration::ZERO } else { TRIAL_LIMIT };
            assert_eq!(tried(&helper, demand, limit).await, Err(expected), "{script}");
        };
        check("exec sleep 60", Fault::Late).await;
        check("echo not allowed >&2; exit 125", Fault::Refused("not allowed".to_owned())).await;
    }

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
