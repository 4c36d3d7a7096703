//! Agents in Coders against agents driven bare. Both need the agents themselves.

use super::wired;
use crate::workspace::Workspace;
use anyhow::Result;

/// Tells whether the goal was reached.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let agents = wired::agents(workspace)?;
    wired::run(workspace, "backends", &agents)
}
