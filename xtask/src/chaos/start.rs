//! Whatever dies at whatever moment of a start, the next start works and nobody is left behind.

use super::Dice;
use crate::{
    build::{self, Kind},
    install::{self, Tools},
    postgres::find_cluster,
    process::pause,
    serving::{Serving, Trial},
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

const START_LIMIT: Duration = Duration::from_secs(60);
const ORPHAN_LIMIT: Duration = Duration::from_secs(20);
/// Longer than a warm start, so that a kill also hits a server that is up.
const MOMENT_MAX_MS: u64 = 1_000;

#[derive(Clone, Copy, Debug)]
enum Victim {
    Server,
    Postgres,
    Both,
}

pub fn run(workspace: &Workspace, kills: u32, dice: &mut Dice) -> Result<()> {
    let postgres = install::postgres::ensure(workspace, &Tools::locate()?)?;
    let binary = build::server(workspace, Kind::Quick)?;
    let trial = Trial::new(binary, vec![("PG_BIN_DIR".into(), postgres.dir.into())])?;
    for round in 1..=kills {
        let moment = Duration::from_millis(dice.below(MOMENT_MAX_MS));
        let victim = [Victim::Server, Victim::Postgres, Victim::Both][dice.below(3) as usize];
        let words = || format!("kill {round}: {victim:?} after {} ms", moment.as_millis());
        one_kill(&trial, moment, victim).with_context(words)?;
    }
    println!("{kills} kills, every start after them worked, 0 orphans");
    Ok(())
}

fn one_kill(trial: &Trial, moment: Duration, victim: Victim) -> Result<()> {
    let mut serving = trial.start()?;
    let started = Instant::now();
    while started.elapsed() < moment {
        pause()?;
    }
    strike(&mut serving, trial, victim)?;
    drop(serving);
    let mut next = trial.start()?;
    next.until_first_page(START_LIMIT).context("the start after the kill")?;
    next.stop()?;
    no_orphans(&trial.data_dir())
}

fn strike(serving: &mut Serving, trial: &Trial, victim: Victim) -> Result<()> {
    let postgres = postmaster(&trial.data_dir());
    if matches!(victim, Victim::Postgres | Victim::Both)
        && let Some(pid) = postgres
    {
        // It may have ended between the look and the kill.
        let _ = kill_process(pid, Signal::KILL);
    }
    if matches!(victim, Victim::Server | Victim::Both) {
        serving.kill()?;
    }
    Ok(())
}

fn postmaster(data_dir: &Path) -> Option<Pid> {
    let file = find_cluster(data_dir)?.join("postmaster.pid");
    let pid: i32 = fs::read_to_string(file).ok()?.lines().next()?.trim().parse().ok()?;
    // The file may be an old one and its number another's by now.
    belongs_to(pid, data_dir).then(|| Pid::from_raw(pid)).flatten()
}

fn no_orphans(data_dir: &Path) -> Result<()> {
    let started = Instant::now();
    loop {
        let numbers =
            fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let left: Vec<i32> = numbers.filter(|pid| belongs_to(*pid, data_dir)).collect();
        if left.is_empty() {
            return Ok(());
        }
        if started.elapsed() > ORPHAN_LIMIT {
            bail!("processes {left:?} outlived their server");
        }
        pause()?;
    }
}

/// Postgres works in its cluster's folder; anything else of ours names the data directory when it starts.
/// A zombie has neither.
fn belongs_to(pid: i32, data_dir: &Path) -> bool {
    let inside = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(data_dir));
    let named = || {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&*data_dir.to_string_lossy())
    };
    inside || named()
}
