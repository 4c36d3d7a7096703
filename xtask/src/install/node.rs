//! Node, for agents, tools and the browser tests: the system's where it is new enough, else npm's own copy of it.

use super::{Tools, npm};
use crate::{
    process::{answer, find_program, in_one_line, interrupted},
    stage::stage,
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use std::{
    env,
    ffi::OsString,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// What Playwright asks for.
const MAJOR_MIN: u32 = 20;

/// A `PATH` on which `node` is new enough and `npm` exists.
pub fn path(workspace: &Workspace, tools: &Tools) -> Result<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let new_enough = |node: &PathBuf| major(node).is_some_and(|major| major >= MAJOR_MIN);
    if find_program("node").filter(new_enough).is_some() && find_program("npm").is_some() {
        return Ok(path);
    }
    let bin = match npm::NODE.here()?.find(tools).map(|node| node.join("bin")) {
        Some(bin) if bin.join("npm").exists() => bin,
        _ => stage("node", || unpack(workspace, tools))
            .with_context(|| format!("node {MAJOR_MIN} or newer is missing, with npm: install it"))?,
    };
    Ok(env::join_paths([bin].into_iter().chain(env::split_paths(&path)))?)
}

/// The same, or none, with the reason told: BooCode works without agents' programs too.
pub fn path_or_go_without(workspace: &Workspace, tools: &Tools) -> Result<Option<OsString>> {
    match path(workspace, tools) {
        Ok(path) => Ok(Some(path)),
        Err(error) if interrupted() => Err(error),
        Err(error) => {
            println!("  {}\n  agents that need it cannot be installed", in_one_line(&error));
            Ok(None)
        }
    }
}

/// The package holds node alone; npm is linked beside it, as node's own installer does.
fn unpack(workspace: &Workspace, tools: &Tools) -> Result<PathBuf> {
    let package = npm::NODE.here()?;
    let bin = package.ensure(workspace, tools)?.join("bin");
    if major(&bin.join("node")).is_none() {
        bail!("node {} from npm does not run here", package.version);
    }
    let npm = npm::NPM.ensure(workspace, tools)?;
    let _lock = tools.lock()?;
    if !bin.join("npm").exists() {
        symlink(npm.join("bin/npm-cli.js"), bin.join("npm")).context("cannot link npm")?;
    }
    Ok(bin)
}

fn major(node: &Path) -> Option<u32> {
    let version = answer(Command::new(node).arg("--version"))?;
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}
