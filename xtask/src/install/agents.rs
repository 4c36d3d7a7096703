//! The agents that tests run, from npm's registry, each as its own lock file says.

use super::{NPM_LIMIT, Tools, node};
use crate::{process::quietly, workspace::Workspace};
use anyhow::{Context, Result};
use std::{path::Path, process::Command};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that every run of the tests has.
    Always,
    All,
}

/// `installer` is the program of that crate, so that there is one way to install them.
pub fn ensure(workspace: &Workspace, tools: &Tools, installer: &Path, which: Which) -> Result<()> {
    let mut command = Command::new(installer);
    command.arg(tools.dir.join("agents")).env("PATH", node::path(workspace, tools)?);
    if which == Which::All {
        command.arg("--all");
    }
    quietly(workspace, "agents", 4 * NPM_LIMIT, &mut command)
        .context("the agents cannot be installed")
        .map(drop)
}
