//! Agents in Coders against agents driven bare. Both need the agents themselves.

use super::wired;
use crate::{
    build::COMPILE_LIMIT,
    install::{self, Tools, agents::Which},
    process::quietly,
    stage::stage,
    workspace::Workspace,
};
use anyhow::Result;

/// Tells whether the goal was reached.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let tools = Tools::locate()?;
    stage("agents", || {
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--package", "acp", "--bin", "agents", "--profile", "quick"]);
        quietly(workspace, "agents installer", COMPILE_LIMIT, &mut cargo)?;
        install::agents::ensure(workspace, &tools, &workspace.target.join("quick/agents"), Which::Always)
    })?;
    wired::run(workspace, "backends", &["--tools-dir".to_owned(), tools.dir.to_string_lossy().into_owned()])
}
