//! The agents that tests run, from npm's registry, each as its own lock file says.

use super::{NPM_LIMIT, Tools, node};
use crate::{process::quietly, workspace::Workspace};
use anyhow::{Context, Result};
use std::{path::Path, process::Command};

/// `installer` is the program of that crate, so that there is one way to install them.
pub fn ensure(workspace: &Workspace, tools: &Tools, installer: &Path) -> Result<()> {
    let mut command = Command::new(installer);
    command.arg(tools.dir.join("agents")).env("PATH", node::path(workspace, tools)?);
    quietly(workspace, "agents", 2 * NPM_LIMIT, &mut command)
        .context("the agents cannot be installed")
        .map(drop)
}
