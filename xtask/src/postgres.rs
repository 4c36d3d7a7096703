//! A Postgres for tests and checks: a temporary cluster on a unix socket, gone when its owner is.

pub mod wire;

use crate::{
    install::postgres::Binaries,
    process::{Owned, pause, quietly, tied_to_us},
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use std::{
    fs::{self, File},
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

const START_LIMIT: Duration = Duration::from_secs(60);
const USER: &str = "boocode";

// The server comes first: it must be down before its folder goes.
pub struct Cluster {
    _server: Owned,
    dir: TempDir,
}

impl Cluster {
    pub fn start(workspace: &Workspace, binaries: &Binaries) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("boocode-pg-").tempdir()?;
        give_to_account(dir.path())?;
        let data = dir.path().join("data");
        let mut initdb = Command::new(binaries.dir.join("initdb"));
        initdb.arg("-D").arg(&data).args(["-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]);
        initdb.args(["--no-sync", "--no-instructions"]);
        quietly(workspace, "initdb", START_LIMIT, as_account(&mut initdb, account()?))?;
        let server = start_server(&binaries.dir, &data, dir.path())?;
        Ok(Self { _server: server, dir })
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@localhost/{database}?host={}", self.dir.path().display())
    }

    pub fn run(&self, database: &str, sql: &str) -> Result<()> {
        wire::Session::open(self.dir.path(), USER, database)?.run(sql)
    }

    pub fn create_database(&self, name: &str) -> Result<()> {
        self.run("postgres", &format!("create database {name}"))
    }
}

/// Starts `postgres` on a cluster and waits until it accepts connections on the socket in `socket_dir`.
pub fn start_server(bin: &Path, data: &Path, socket_dir: &Path) -> Result<Owned> {
    let log = tempfile::NamedTempFile::new()?;
    let file = File::options().append(true).open(log.path())?;
    let mut command = tied_to_us(&bin.join("postgres"), "INT");
    command.arg("-D").arg(data).arg("-k").arg(socket_dir);
    // Nothing here outlives the run, so nothing has to reach the disk.
    for setting in ["listen_addresses=", "fsync=off", "full_page_writes=off", "max_connections=200"] {
        command.args(["-c", setting]);
    }
    as_account(&mut command, account()?).stdout(Stdio::from(file.try_clone()?)).stderr(file);
    let mut server = Owned::spawn("postgres", &mut command)?;
    server.stop_with = Signal::INT;
    let started = Instant::now();
    while !wire::accepts(socket_dir) {
        if let Some(status) = server.ended()? {
            bail!("postgres ended at once ({status}):\n{}", fs::read_to_string(log.path())?);
        }
        if started.elapsed() > START_LIMIT {
            bail!("postgres does not come up:\n{}", fs::read_to_string(log.path())?);
        }
        pause()?;
    }
    Ok(server)
}

/// Lets the account that Postgres runs as write here.
pub fn give_to_account(dir: &Path) -> Result<()> {
    if let Some((user, group)) = account()? {
        chown(dir, Some(user), Some(group))?;
    }
    Ok(())
}

/// The cluster that a server keeps in its data directory, at the top or one folder down.
pub fn find_cluster(data_dir: &Path) -> Option<PathBuf> {
    let folders = |dir: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    let top = folders(data_dir);
    let below = top.iter().flat_map(|dir| folders(dir)).collect::<Vec<_>>();
    top.into_iter().chain(below).find(|dir| dir.join("PG_VERSION").is_file() && dir.join("global").is_dir())
}

/// Postgres refuses to run as root, so root lends it another account.
fn account() -> Result<Option<(u32, u32)>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let passwd = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
    let ids = |name: &str| {
        let mut fields = passwd
            .lines()
            .map(|line| line.split(':'))
            .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?;
        Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let found = ids("postgres").or_else(|| ids("nobody"));
    Ok(Some(found.context("Postgres does not run as root, and there is no user postgres or nobody")?))
}

fn as_account(command: &mut Command, account: Option<(u32, u32)>) -> &mut Command {
    if let Some((user, group)) = account {
        command.uid(user).gid(group);
    }
    command.current_dir("/").env("LC_ALL", "C.UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::postgres::installed;

    #[test]
    fn a_cluster_runs_sql_and_leaves_nothing() {
        let target = tempfile::tempdir().unwrap();
        let workspace =
            Workspace { root: target.path().into(), target: target.path().into(), packages: Vec::new() };
        let dir = installed().unwrap().expect("Postgres is installed, or PG_BIN_DIR names it");
        let cluster = Cluster::start(&workspace, &Binaries { dir, from_npm: false }).unwrap();
        cluster.create_database("one").unwrap();
        cluster.run("one", "create table a (id int); insert into a values (1)").unwrap();
        for (sql, message) in [
            ("select * from a", None),
            ("select * from b", Some("relation \"b\" does not exist")),
            ("create table c (); select 1/0", Some("division by zero")),
            // The failed statement took its neighbour along.
            ("select * from c", Some("relation \"c\" does not exist")),
        ] {
            assert_eq!(cluster.run("one", sql).err().map(|error| error.to_string()).as_deref(), message);
        }
        assert!(cluster.run("two", "select 1").unwrap_err().to_string().contains("connecting to two"));
        let (dir, postmaster) = (cluster.dir.path().to_path_buf(), cluster._server.pid());
        drop(cluster);
        assert!(!dir.exists());
        assert!(rustix::process::test_kill_process(postmaster).is_err());
    }
}
