//! Where things are, and how cargo is called.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
    pub packages: Vec<Package>,
}

impl Workspace {
    pub fn locate() -> Result<Self> {
        // At run time first: a shared target directory may hold an xtask compiled for another checkout.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = manifest.parent().context("xtask lies in the workspace")?.to_path_buf();
        let output = cargo_in(&root)
            .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
            .output()
            .context("cannot run cargo metadata")?;
        let metadata: Metadata = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)))?;
        Ok(Self { root, target: metadata.target_directory, packages: metadata.packages })
    }

    pub fn cargo(&self) -> Command {
        cargo_in(&self.root)
    }

    /// The names of the packages that lie in a folder of the workspace.
    pub fn packages_in(&self, folder: &str) -> impl Iterator<Item = &str> {
        let folder = self.root.join(folder);
        let lies_there = move |package: &&Package| package.manifest_path.starts_with(&folder);
        self.packages.iter().filter(lies_there).map(|package| package.name.as_str())
    }

    /// What the server embeds.
    pub fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    pub fn migrations(&self) -> PathBuf {
        self.root.join("migrations")
    }

    /// Scratch space that survives between runs.
    pub fn scratch(&self) -> Result<PathBuf> {
        let dir = self.target.join("xtask");
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(dir)
    }

    pub fn log(&self, name: &str) -> Result<PathBuf> {
        let dir = self.scratch()?.join("logs");
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(dir.join(format!("{}.log", name.replace(' ', "-"))))
    }
}

#[derive(Deserialize)]
struct Metadata {
    target_directory: PathBuf,
    packages: Vec<Package>,
}

#[derive(Deserialize)]
pub struct Package {
    name: String,
    manifest_path: PathBuf,
}

fn cargo_in(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo says is read only when it fails, and then its diagnostics matter, not its progress.
    command.arg("--quiet").current_dir(root).env("SQLX_OFFLINE", "true").env_remove("DATABASE_URL");
    // `cargo run` describes xtask in these. Build scripts that watch them would run again under every
    // change between a plain cargo and ours.
    for (key, _) in env::vars_os() {
        let name = key.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(&key);
        }
    }
    command
}
