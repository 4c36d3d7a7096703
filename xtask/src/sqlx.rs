//! `.sqlx` holds what the query macros learnt from a database, so that a build needs none.

use crate::{
    build::COMPILE_LIMIT,
    install::{self, Tools},
    postgres::Cluster,
    process::quietly,
    stage::stage,
    tidy::migrations,
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    time::SystemTime,
};

#[derive(clap::Args)]
pub struct Sqlx {
    /// Change nothing; fail when .sqlx is not what the queries and migrations give
    #[arg(long)]
    check: bool,
}

impl Sqlx {
    pub fn run(&self, workspace: &Workspace) -> Result<()> {
        let binaries = install::postgres::ensure(workspace, &Tools::locate()?)?;
        let cluster = Cluster::start(workspace, &binaries)?;
        if self.check {
            return stage("sqlx", || check(workspace, &cluster));
        }
        let fresh = stage("sqlx", || generate(workspace, &cluster))?;
        let kept = cache(workspace);
        fs::create_dir_all(&kept)?;
        for name in read_all(&kept)?.into_keys().filter(|name| !fresh.contains_key(name)) {
            fs::remove_file(kept.join(name))?;
        }
        for (name, bytes) in &fresh {
            fs::write(kept.join(name), bytes)?;
        }
        println!("{} queries in {}", fresh.len(), kept.display());
        Ok(())
    }
}

pub fn check(workspace: &Workspace, cluster: &Cluster) -> Result<()> {
    let fresh = generate(workspace, cluster)?;
    let kept = read_all(&cache(workspace))?;
    if fresh == kept {
        return Ok(());
    }
    let differing = fresh.keys().chain(kept.keys()).filter(|name| fresh.get(*name) != kept.get(*name));
    let names: std::collections::BTreeSet<&String> = differing.collect();
    bail!("{} of the files in .sqlx are not current ({names:?}): run cargo xtask sqlx", names.len());
}

type Queries = BTreeMap<String, Vec<u8>>;

fn generate(workspace: &Workspace, cluster: &Cluster) -> Result<Queries> {
    cluster.create_database("sqlx")?;
    for file in migrations::files(&workspace.migrations())? {
        let sql = fs::read_to_string(&file)?;
        cluster.run("sqlx", &sql).with_context(|| format!("{} does not apply", file.display()))?;
    }
    let out = tempfile::tempdir()?;
    let _again = Touched::new(&workspace.root.join("server/store/src/lib.rs"))?;
    let mut cargo = workspace.cargo();
    cargo.args(["check", "--package", "store", "--all-targets"]).env("SQLX_OFFLINE", "false");
    cargo.env("DATABASE_URL", cluster.url("sqlx")).env("SQLX_OFFLINE_DIR", out.path());
    quietly(workspace, "sqlx", COMPILE_LIMIT, &mut cargo)?;
    read_all(out.path())
}

fn cache(workspace: &Workspace) -> PathBuf {
    let own = workspace.root.join("server/store/.sqlx");
    if own.is_dir() { own } else { workspace.root.join(".sqlx") }
}

fn read_all(dir: &Path) -> Result<Queries> {
    let mut queries = Queries::new();
    if !dir.is_dir() {
        return Ok(queries);
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("query-") {
            queries.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(queries)
}

/// Makes cargo compile a crate once more, and gives the file its old time back, so that everything else
/// that was built from it stays fresh.
struct Touched {
    file: File,
    before: SystemTime,
}

impl Touched {
    fn new(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let before = file.metadata()?.modified()?;
        file.set_modified(SystemTime::now())?;
        Ok(Self { file, before })
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        let _ = self.file.set_modified(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touched_file_gets_its_time_back() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let time = || fs::metadata(file.path()).unwrap().modified().unwrap();
        file.as_file().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let touched = Touched::new(file.path()).unwrap();
        assert!(time() > SystemTime::UNIX_EPOCH);
        drop(touched);
        assert_eq!(time(), SystemTime::UNIX_EPOCH);
    }
}
