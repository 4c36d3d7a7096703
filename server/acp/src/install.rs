//! Where agents live, what is there, and how one is installed: by npm, as its lock file says, to the byte.
//!
//! An agent's folder is `<root>/<name>`. It is made aside and renamed when it is whole, so what is there is usable.

pub mod node;

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::json;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::agent::{Agent, Package};
use node::Node;

const INSTALL_LIMIT: Duration = Duration::from_secs(10 * 60);
const LOCK_POLL: Duration = Duration::from_millis(100);
// No agent needs a script of a package to be run, so none is.
const ARGUMENTS: [&str; 4] = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
/// Begins the name of a folder that is being made.
const ASIDE: &str = ".making-";
/// The last lines of npm are enough to see what was wrong.
const TAIL_LINES: usize = 20;
const LINE_BYTES_MAX: usize = 1_000;

#[derive(Debug, Error)]
pub enum Error {
    #[error("{agent} is not installed by BooCode.")]
    NoPackage { agent: &'static str },
    #[error("{agent} is not made for this processor ({processor}).")]
    Processor { agent: &'static str, processor: &'static str },
    #[error("{what} {path}: {source}")]
    Folder { what: &'static str, path: PathBuf, source: io::Error },
    #[error("npm cannot be run: {0}")]
    Npm(io::Error),
    #[error("npm could not install {agent}:\n{tail}")]
    Failed { agent: &'static str, tail: String },
    #[error("npm did not install {agent} within {} minutes.", INSTALL_LIMIT.as_secs() / 60)]
    Slow { agent: &'static str },
}

/// What there is of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installed {
    No,
    Yes,
    /// Another version than the one that is known to work.
    Other {
        version: String,
    },
}

pub fn folder(root: &Path, agent: &Agent) -> PathBuf {
    root.join(agent.name)
}

/// Looks without running anything.
pub fn installed(root: &Path, agent: &Agent) -> Installed {
    #[derive(Deserialize)]
    struct Manifest {
        version: String,
    }
    let folder = folder(root, agent);
    let is_there = folder.join(agent.program).is_file();
    let Some(package) = &agent.package else {
        return if is_there { Installed::Yes } else { Installed::No };
    };
    let manifest = folder.join("node_modules").join(package.name).join("package.json");
    let read = || serde_json::from_slice::<Manifest>(&fs::read(manifest).ok()?).ok();
    match read().filter(|_| is_there) {
        None => Installed::No,
        Some(manifest) if manifest.version == package.version => Installed::Yes,
        Some(manifest) => Installed::Other { version: manifest.version },
    }
}

/// Whether the agent is made for this processor.
pub fn runs_here(agent: &Agent) -> bool {
    let made_for = agent.package.as_ref().map_or(&[][..], |package| package.processors);
    made_for.is_empty() || made_for.contains(&std::env::consts::ARCH)
}

/// The same for somebody who would rather do it by hand.
pub fn by_hand(root: &Path, agent: &Agent) -> Option<String> {
    let (folder, Package { name, version, .. }) = (folder(root, agent), agent.package.as_ref()?);
    Some(format!("npm install --ignore-scripts --prefix {} {name}@{version}", folder.display()))
}

/// Installs an agent, unless it is there. `progress` gets what npm says, line by line.
pub async fn install(
    node: &Node,
    root: &Path,
    agent: &'static Agent,
    progress: &mpsc::Sender<String>,
) -> Result<(), Error> {
    let Some(package) = &agent.package else {
        return Err(Error::NoPackage { agent: agent.title });
    };
    if !runs_here(agent) {
        return Err(Error::Processor { agent: agent.title, processor: std::env::consts::ARCH });
    }
    let all = async {
        fs::create_dir_all(root).map_err(failed("cannot create", root))?;
        // Held until the end, so that two do not write into each other.
        let _lock = lock(&root.join("lock")).await?;
        clear_aside(root);
        if installed(root, agent) == Installed::Yes {
            return Ok(());
        }
        let aside = tempfile::Builder::new().prefix(ASIDE).tempdir_in(root);
        let aside = aside.map_err(failed("cannot make a folder in", root))?;
        write_manifest(aside.path(), package)?;
        npm_ci(node, aside.path(), agent, progress).await?;
        put(aside.path(), &folder(root, agent))
    };
    timeout(INSTALL_LIMIT, all).await.map_err(|_| Error::Slow { agent: agent.title })?
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Folder { what, path, source }
}

async fn lock(path: &Path) -> Result<File, Error> {
    let file = File::create(path).map_err(failed("cannot create", path))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => sleep(LOCK_POLL).await,
            Err(TryLockError::Error(error)) => return Err(failed("cannot lock", path)(error)),
        }
    }
}

/// What killed servers left: whoever holds the lock is the only one who makes a folder.
fn clear_aside(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(ASIDE)) {
            // What stays takes room and is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn write_manifest(folder: &Path, package: &Package) -> Result<(), Error> {
    let (name, version) = (package.name, package.version);
    let manifest = json!({"private": true, "dependencies": {name: version}}).to_string();
    for (file, text) in [("package.json", manifest.as_str()), ("package-lock.json", package.lock)] {
        let path = folder.join(file);
        fs::write(&path, text).map_err(failed("cannot write", &path))?;
    }
    Ok(())
}

async fn npm_ci(
    node: &Node,
    folder: &Path,
    agent: &'static Agent,
    progress: &mpsc::Sender<String>,
) -> Result<(), Error> {
    let mut child = wall::spawn_to_die_with_us(npm(node, folder)).await.map_err(Error::Npm)?;
    let mut group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
    let tail = read_tail(&mut child, progress).await;
    let status = child.wait().await.map_err(Error::Npm)?;
    // From here on its number may be somebody else's.
    group.0 = None;
    if !status.success() {
        return Err(Error::Failed { agent: agent.title, tail: tail.join("\n") });
    }
    Ok(())
}

/// npm's process group. Scripts of packages are ended with it, however this ends.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Usually nothing is left of it.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// npm has its own settings and cache in the user's home, so it gets that, and nothing else of ours.
fn npm(node: &Node, folder: &Path) -> Command {
    let mut command = Command::new(&node.npm);
    command.args(ARGUMENTS).current_dir(folder).env_clear().env("PATH", node.path());
    let passed =
        ["HOME", "LANG", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
    let ours = std::env::vars_os();
    let npms =
        |name: &OsString| name.to_str().is_some_and(|n| passed.contains(&n) || n.starts_with("npm_config_"));
    command.envs(ours.filter(|(name, _)| npms(name)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    command
}

/// Passes on what npm says, and keeps its end.
async fn read_tail(child: &mut Child, progress: &mpsc::Sender<String>) -> Vec<String> {
    let mut tail = std::collections::VecDeque::new();
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else { return Vec::new() };
    let (mut said, mut complained) = (BufReader::new(stdout).lines(), BufReader::new(stderr).lines());
    loop {
        let line = tokio::select! {
            Ok(Some(line)) = said.next_line() => line,
            Ok(Some(line)) = complained.next_line() => line,
            else => return tail.into(),
        };
        let line = line[..line.floor_char_boundary(LINE_BYTES_MAX)].to_owned();
        if tail.len() == TAIL_LINES {
            tail.pop_front();
        }
        tail.push_back(line.clone());
        // Whoever does not look may miss it.
        let _ = progress.try_send(line);
    }
}

/// The old one makes room only for a whole one.
fn put(made: &Path, folder: &Path) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed("cannot remove", folder))?;
    }
    fs::rename(made, folder).map_err(failed("cannot create", folder))
}

#[cfg(test)]
mod tests;
