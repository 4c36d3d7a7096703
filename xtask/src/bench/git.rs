//! Worktrees and diffs against git itself. They need no server, only the crate's own example.

use super::wired::{LIMIT, verdict};
use crate::{
    build::COMPILE_LIMIT,
    process::{Owned, quietly, tied_to_us},
    stage::stage,
    workspace::Workspace,
};
use anyhow::Result;

/// Tells whether the goal was reached.
pub fn run(workspace: &Workspace, task: &str) -> Result<bool> {
    stage("bench", || {
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--package", "git", "--example", "bench", "--profile", "quick"]);
        quietly(workspace, "bench", COMPILE_LIMIT, &mut cargo)
    })?;
    let mut command = tied_to_us(&workspace.target.join("quick/examples/bench"), "TERM");
    let status = Owned::spawn("bench", command.arg(task))?.wait(Some(LIMIT))?;
    verdict(task, status)
}
