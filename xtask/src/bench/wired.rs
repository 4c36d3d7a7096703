//! Measurements that need a real BooCode under load. They live in a program of their own, `end2end/load`, so
//! that this one stays quick to compile.

use crate::{
    build::{self, COMPILE_LIMIT, Kind},
    install::{self, Tools, agents::Which},
    process::{Owned, quietly, tied_to_us},
    stage::stage,
    workspace::Workspace,
};
use anyhow::{Result, bail};
use std::{fs, process::ExitStatus, time::Duration};

pub const LIMIT: Duration = Duration::from_secs(60 * 60);
/// What the program ends with when it worked and fell short of a goal.
const MISSED: i32 = 3;

/// Builds what is needed and runs `load <task> …`. Tells whether every goal was reached.
pub fn run(workspace: &Workspace, task: &str, arguments: &[String]) -> Result<bool> {
    let postgres = install::postgres::ensure(workspace, &Tools::locate()?)?;
    // The server embeds this folder, and does not compile without one.
    fs::create_dir_all(workspace.dist().join("pkg"))?;
    let boocode = build::server(workspace, Kind::Quick)?;
    stage("load", || {
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--package", "load", "--bin", "load", "--profile", "quick"]);
        quietly(workspace, "load", COMPILE_LIMIT, &mut cargo)
    })?;
    let mut command = tied_to_us(&workspace.target.join("quick/load"), "TERM");
    command.arg(task).arg("--boocode").arg(boocode).arg("--pg-bin-dir").arg(postgres.dir).args(arguments);
    verdict(task, Owned::spawn("load", &mut command)?.wait(Some(LIMIT))?)
}

/// Installs the agents that every test runs, and gives the arguments that tell where they are.
pub fn agents(workspace: &Workspace) -> Result<Vec<String>> {
    let tools = Tools::locate()?;
    stage("agents", || {
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--package", "acp", "--bin", "agents", "--profile", "quick"]);
        quietly(workspace, "agents installer", COMPILE_LIMIT, &mut cargo)?;
        install::agents::ensure(workspace, &tools, &workspace.target.join("quick/agents"), Which::Always)
    })?;
    Ok(vec!["--tools-dir".to_owned(), tools.dir.to_string_lossy().into_owned()])
}

pub fn verdict(task: &str, status: ExitStatus) -> Result<bool> {
    match status.code() {
        Some(0) => Ok(true),
        Some(MISSED) => Ok(false),
        _ => bail!("{task} did not come to its end: {status}"),
    }
}
