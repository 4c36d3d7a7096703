//! Node with npm: the system's where it is new enough, else the copy that BooCode keeps among its tools.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// What the agents that are scripts ask for.
pub const MAJOR_MIN: u32 = 20;
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// One installation of node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The folder that `node` lies in; it has to be on the `PATH` of whatever is a script.
    pub bin: PathBuf,
    pub npm: PathBuf,
}

impl Node {
    /// The first that will do: along `path`, then among the tools.
    pub async fn find(path: &OsStr, tools: &Path) -> Option<Self> {
        for bin in std::env::split_paths(path).chain(kept(tools)) {
            let node = Self { npm: bin.join("npm"), bin };
            if node.npm.is_file() && node.is_new_enough().await {
                return Some(node);
            }
        }
        None
    }

    /// A `PATH` with node, and with what scripts of packages call.
    pub fn path(&self) -> OsString {
        let mut path = self.bin.clone().into_os_string();
        for more in ["/usr/local/bin", "/usr/bin", "/bin"] {
            path.push(":");
            path.push(more);
        }
        path
    }

    async fn is_new_enough(&self) -> bool {
        let mut command = Command::new(self.bin.join("node"));
        command.arg("--version").env_clear().stdin(Stdio::null()).kill_on_drop(true);
        let Ok(Ok(output)) = timeout(VERSION_LIMIT, command.output()).await else { return false };
        let version = String::from_utf8_lossy(&output.stdout);
        let major = version.trim().trim_start_matches('v').split('.').next().and_then(|m| m.parse().ok());
        major.is_some_and(|major: u32| major >= MAJOR_MIN)
    }
}

/// Where `cargo xtask` unpacks it.
fn kept(tools: &Path) -> Vec<PathBuf> {
    let packages = std::fs::read_dir(tools.join("packages")).into_iter().flatten().flatten();
    let is_node = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with("node-linux-"));
    packages.filter(|entry| is_node(&entry.file_name())).map(|entry| entry.path().join("bin")).collect()
}
