//! What a fresh machine lacks, installed where it may be, and named with its command where not.

pub mod agents;
mod apt;
mod download;
pub mod model;
pub mod node;
pub mod npm;
pub mod postgres;

use crate::{
    process::{answer, find_program, pause, quietly},
    stage::stage,
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use apt::Apt;
use std::{
    env,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

const INSTALL_LIMIT: Duration = Duration::from_secs(20 * 60);
pub const NPM_LIMIT: Duration = Duration::from_secs(5 * 60);

/// The folder for everything that we install outside of the system's packages.
#[derive(Clone)]
pub struct Tools {
    pub dir: PathBuf,
}

impl Tools {
    pub fn locate() -> Result<Self> {
        let dir = env::var_os("BOOCODE_TOOLS_DIR")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(env::var_os("XDG_CACHE_HOME")?).join("boocode")))
            .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache/boocode")))
            .context("neither BOOCODE_TOOLS_DIR nor HOME is set; set one of them")?;
        Ok(Self { dir })
    }

    /// Held while something is installed, so that two checkouts do not write into each other.
    pub fn lock(&self) -> Result<File> {
        fs::create_dir_all(&self.dir).with_context(|| format!("cannot create {}", self.dir.display()))?;
        let file = File::create(self.dir.join("lock"))?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(error).context("cannot lock the tools folder"),
                Err(TryLockError::WouldBlock) if started.elapsed() > INSTALL_LIMIT => {
                    bail!("another cargo xtask has been installing into {} for too long", self.dir.display())
                }
                Err(TryLockError::WouldBlock) => pause()?,
            }
        }
    }
}

/// What cannot be installed from here, because compiling already needs it.
pub fn compiler() -> Result<()> {
    if find_program("cc").is_none() {
        bail!("a C compiler is missing: apt-get install build-essential");
    }
    if find_program("git").is_none() {
        bail!("git is missing: apt-get install git");
    }
    Ok(())
}

pub fn wasm_target(workspace: &Workspace) -> Result<()> {
    let sysroot = answer(Command::new("rustc").args(["--print", "sysroot"]).current_dir(&workspace.root));
    if sysroot.is_some_and(|root| Path::new(&root).join("lib/rustlib/wasm32-unknown-unknown/lib").is_dir()) {
        return Ok(());
    }
    stage("wasm target", || {
        let mut rustup = Command::new("rustup");
        rustup.args(["target", "add", "wasm32-unknown-unknown"]).current_dir(&workspace.root);
        quietly(workspace, "wasm target", INSTALL_LIMIT, &mut rustup)
            .context("the wasm target is missing: rustup target add wasm32-unknown-unknown")
    })?;
    Ok(())
}

pub fn chromium(workspace: &Workspace) -> Result<PathBuf> {
    // The shell is the same engine without a window: pages cost it a seventh less.
    const SHELL: &str = "chromium-headless-shell";
    const BROWSERS: [&str; 4] = [SHELL, "chromium", "chromium-browser", "google-chrome"];
    let find = || {
        let named = env::var_os("CHROMIUM").map(PathBuf::from);
        named.or_else(|| BROWSERS.iter().find_map(|name| find_program(name)))
    };
    if let Some(found) = find() {
        return Ok(found);
    }
    const FIX: &str =
        "a browser is missing: apt-get install chromium-headless-shell, or set CHROMIUM to its path";
    let apt = Apt::find().context(FIX)?;
    stage("chromium", || apt.install(workspace, &[SHELL]).or_else(|_| apt.install(workspace, &["chromium"])))
        .context(FIX)?;
    find().context(FIX)
}

/// Playwright with a browser, in the folder of the browser tests.
pub fn playwright(workspace: &Workspace, tools: &Tools) -> Result<Command> {
    let path = node::path(workspace, tools)?;
    let chromium = chromium(workspace)?;
    let folder = workspace.root.join("end2end");
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&folder).env("PATH", &path);
    quietly(workspace, "npm ci", NPM_LIMIT, &mut npm).context("npm ci in end2end")?;
    let mut playwright = Command::new(folder.join("node_modules/.bin/playwright"));
    playwright.current_dir(&folder).env("PATH", &path).env("CHROMIUM", chromium);
    Ok(playwright)
}
