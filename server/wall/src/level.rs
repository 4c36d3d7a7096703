//! How much of the wall this machine allows, and what may run behind that much.

use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use thiserror::Error;
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::enter::{Demand, Description, PREFIX};
use crate::landlock_abi::{COMPLETE, LandlockAbi};
use crate::wall::{Access, Wall};

/// A wall goes up in milliseconds; a machine that swaps gets its time.
const TRIAL_LIMIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Level {
    Full,
    Reduced(Gaps),
    None { reason: String },
}

/// What a reduced wall lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// Why there are no namespaces, where there are none.
    pub namespaces: Option<String>,
    pub landlock: LandlockAbi,
}

/// Why a task does not run behind this level.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// The user may allow it, once for each project.
    #[error("nothing on this machine can keep an agent inside its folder: {reason}")]
    UnlessAllowed { reason: String },
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
    /// Whether a task may run so. `allowed` is the user's word that it may run without a wall.
    pub fn admits(&self, wall: &Wall, allowed: bool) -> Result<(), Refused> {
        let reading = matches!(wall.access, Access::Read { .. });
        if let (Some(shared), Some(reason)) = (wall.shared.first(), self.no_namespaces()) {
            return Err(Refused::NotShared {
                path: shared.file.display().to_string(),
                reason: reason.to_owned(),
            });
        }
        match self {
            Self::Full => Ok(()),
            Self::None { reason } if reading => Err(Refused::NotReadOnly { reason: reason.clone() }),
            Self::None { .. } if allowed => Ok(()),
            Self::None { reason } => Err(Refused::UnlessAllowed { reason: reason.clone() }),
            Self::Reduced(Gaps { namespaces: None, .. }) => Ok(()),
            Self::Reduced(Gaps { namespaces: Some(reason), landlock }) => {
                if reading && !landlock.guards_truncation() {
                    let reason = format!("{reason}, and this kernel's Landlock lets files be emptied");
                    return Err(Refused::NotReadOnly { reason });
                }
                match wall.needs_mounts() {
                    Some(path) => Err(Refused::NotSeparable {
                        path: path.display().to_string(),
                        reason: reason.clone(),
                    }),
                    None => Ok(()),
                }
            }
        }
    }

    /// Whether a task can be kept from seeing what lies in something that it may read.
    pub fn has_namespaces(&self) -> bool {
        self.no_namespaces().is_none()
    }

    fn no_namespaces(&self) -> Option<&str> {
        match self {
            Self::Full => None,
            Self::Reduced(gaps) => gaps.namespaces.as_deref(),
            Self::None { reason } => Some(reason),
        }
    }

    /// What an agent can still do, for the page of settings and for `doctor`.
    pub fn leaks(&self) -> Vec<&'static str> {
        let Self::Reduced(gaps) = self else { return Vec::new() };
        let unseparated = gaps.namespaces.is_some();
        let leaks = [
            (unseparated, "change modes and times of files that it may not write"),
            (unseparated, "connect to unix sockets of other programs"),
            (unseparated, "see the command lines of other programs"),
            (unseparated && !gaps.landlock.guards_truncation(), "empty files that it may not write"),
            (!gaps.landlock.guards_ports(), "connect to every TCP port"),
            (unseparated && !gaps.landlock.guards_signals(), "send signals to other programs"),
            (!gaps.landlock.guards_signals(), "connect to abstract sockets of other programs"),
        ];
        leaks.into_iter().filter_map(|(leaks, what)| leaks.then_some(what)).collect()
    }

    pub(crate) fn demand(&self) -> Demand {
        match self {
            Self::Full => Demand { namespaces: true, landlock: COMPLETE },
            Self::Reduced(gaps) => Demand { namespaces: gaps.namespaces.is_none(), landlock: gaps.landlock },
            Self::None { .. } => Demand { namespaces: false, landlock: LandlockAbi(0) },
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(f, "full: an agent sees and changes only what its task is given"),
            Self::Reduced(gaps) => {
                write!(f, "reduced: an agent can still {}", self.leaks().join("; "))?;
                match &gaps.namespaces {
                    Some(reason) => write!(f, " ({reason})"),
                    None => write!(f, " (the kernel is older than 6.12)"),
                }
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
    let whole = tried(helper, Demand { namespaces: true, landlock }).await;
    match whole {
        Ok(()) if landlock == COMPLETE => Level::Full,
        Ok(()) => Level::Reduced(Gaps { namespaces: None, landlock }),
        Err(why) => match tried(helper, Demand { namespaces: false, landlock }).await {
            Ok(()) => Level::Reduced(Gaps { namespaces: Some(why), landlock }),
            Err(reason) => Level::None { reason },
        },
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
        readable: Vec::new(),
        shared: Vec::new(),
        hidden: Vec::new(),
        connect: Vec::new(),
        bind: Vec::new(),
    };
    // Without the signal of a parent's death: the thread that asks may be one that ends.
    let description = Description { parent: None, demand, folder: inside, wall };
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

    fn reduced(namespaces: bool, landlock: u8) -> Level {
        let namespaces = (!namespaces).then(|| "user namespaces are off".to_owned());
        Level::Reduced(Gaps { namespaces, landlock: LandlockAbi(landlock) })
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
            readable: vec![],
            shared: vec![],
            hidden: vec!["/data".into(), "/project/.boocode".into()],
            connect: vec![],
            bind: vec![],
        }
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let reading = wall(Access::Read { project: "/other".into() });
        let around = wall(Access::Read { project: "/project".into() });
        let writing = wall(Access::Write { tree: "/data/tree".into(), objects: vec![] });
        let check = |level: Level, wall: &Wall, allowed: bool, expected: &str| {
            let said = match level.admits(wall, allowed) {
                Ok(()) => "runs",
                Err(Refused::UnlessAllowed { .. }) => "asks",
                Err(Refused::NotReadOnly { .. }) => "fails closed",
                Err(Refused::NotSeparable { .. }) => "not separable",
                Err(Refused::NotShared { .. }) => "not shared",
            };
            assert_eq!(said, expected, "{level:?} {:?} {allowed}", wall.access);
        };
        for wall in [&reading, &around, &writing] {
            check(Level::Full, wall, false, "runs");
            check(reduced(true, 1), wall, false, "runs");
        }
        for landlock in 1..=6 {
            check(reduced(false, landlock), &writing, false, "runs");
            let holds = landlock >= 3;
            check(reduced(false, landlock), &reading, true, if holds { "runs" } else { "fails closed" });
            check(
                reduced(false, landlock),
                &around,
                true,
                if holds { "not separable" } else { "fails closed" },
            );
        }
        let shared = crate::Shared { file: "/person/login".into(), place: "/data/home/login".into() };
        let sharing = Wall { shared: vec![shared], ..writing.clone() };
        for (level, expected) in [
            (Level::Full, "runs"),
            (reduced(true, 6), "runs"),
            (reduced(false, 6), "not shared"),
            (none(), "not shared"),
        ] {
            check(level, &sharing, true, expected);
        }
        check(none(), &writing, false, "asks");
        check(none(), &writing, true, "runs");
        check(none(), &reading, false, "fails closed");
        check(none(), &reading, true, "fails closed");
    }

    #[test]
    fn a_level_says_what_it_leaves_open() {
        let check = |level: Level, leaks: usize, says: &str| {
            assert_eq!(level.leaks().len(), leaks, "{level:?}");
            assert!(level.to_string().contains(says), "{level}");
        };
        check(Level::Full, 0, "full");
        check(reduced(false, 6), 3, "unix sockets");
        check(reduced(false, 6), 3, "user namespaces are off");
        check(reduced(true, 2), 2, "every TCP port");
        check(reduced(true, 4), 1, "abstract sockets");
        check(reduced(false, 2), 7, "empty files");
        check(none(), 0, "none: no Landlock");
    }
}
