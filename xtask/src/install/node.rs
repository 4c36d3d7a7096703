//! Node and what comes from npm.

use super::{Apt, INSTALL_LIMIT, Tools};
use crate::{
    process::{answer, find_program, quietly},
    stage::stage,
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// What Playwright asks for.
const MAJOR_MIN: u32 = 20;
const NODE_VERSION: &str = "22.23.3";
const BINARYEN_VERSION: &str = "132.0.0";
const FIX: &str = "node and npm are missing: apt-get install nodejs npm";

/// Any node; enough for small tools.
pub fn find() -> Option<PathBuf> {
    find_program("node").filter(|_| find_program("npm").is_some())
}

/// A `PATH` on which `node` is new enough and `npm` exists.
pub fn path(workspace: &Workspace, tools: &Tools) -> Result<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let node = ensure(workspace)?;
    if major(&node).is_some_and(|major| major >= MAJOR_MIN) {
        return Ok(path);
    }
    // Debian's node is older than Playwright wants; npm itself has newer ones, as plain binaries.
    let package = format!("node-linux-{}", architecture()?);
    let bin = install(workspace, tools, &package, NODE_VERSION)?.join("bin");
    if major(&bin.join("node")).is_none() {
        bail!("node {NODE_VERSION} from npm does not run here; install node {MAJOR_MIN} or newer");
    }
    Ok(env::join_paths([bin].into_iter().chain(env::split_paths(&path)))?)
}

pub fn binaryen(workspace: &Workspace, tools: &Tools) -> Result<PathBuf> {
    Ok(install(workspace, tools, "binaryen", BINARYEN_VERSION)?.join("bin/wasm-opt"))
}

/// The package at exactly this version in a folder of its own. Its scripts do not run.
pub fn install(workspace: &Workspace, tools: &Tools, package: &str, version: &str) -> Result<PathBuf> {
    ensure(workspace)?;
    let prefix = tools.dir.join("npm").join(format!("{}@{version}", package.replace('/', "+")));
    let installed = prefix.join("node_modules").join(package);
    let _lock = tools.lock()?;
    // npm moves the finished package into place, and writes this file last of all.
    if prefix.join("package-lock.json").is_file() && installed.is_dir() {
        return Ok(installed);
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&prefix);
    quietly(workspace, "npm install", INSTALL_LIMIT, npm.arg(format!("{package}@{version}")))
        .with_context(|| format!("npm could not install {package} {version}"))?;
    Ok(installed)
}

/// npm's word for this machine's processor.
pub fn architecture() -> Result<&'static str> {
    match env::consts::ARCH {
        "x86_64" => Ok("x64"),
        "aarch64" => Ok("arm64"),
        other => bail!("npm has no binaries for {other}"),
    }
}

fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(node) = find() {
        return Ok(node);
    }
    let apt = Apt::find().context(FIX)?;
    stage("node", || apt.install(workspace, &["nodejs", "npm"])).context(FIX)?;
    find().context(FIX)
}

fn major(node: &Path) -> Option<u32> {
    let version = answer(Command::new(node).arg("--version"))?;
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}
