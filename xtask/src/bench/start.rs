//! How long a start on existing data takes until the first page, Postgres included.

use super::Figure;
use crate::{
    build::{self, Kind},
    install::{self, Tools},
    postgres::{find_cluster, start_server},
    serving::Trial,
    workspace::Workspace,
};
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

const GOAL: Duration = Duration::from_millis(500);
const ROUNDS: usize = 9;
const START_LIMIT: Duration = Duration::from_secs(60);

pub fn measure(workspace: &Workspace) -> Result<Figure> {
    let postgres = install::postgres::ensure(workspace, &Tools::locate()?)?;
    let binary = build::server(workspace, Kind::Quick)?;
    let trial = Trial::new(binary, vec![("PG_BIN_DIR".into(), postgres.dir.clone().into())])?;

    let first = one_start(&trial)?;
    let mut warm = (0..ROUNDS).map(|_| one_start(&trial)).collect::<Result<Vec<_>>>()?;

    // The reference is the database alone, on the very cluster that the server has just left.
    let cluster =
        find_cluster(&trial.data_dir()).context("the server keeps no cluster in its data directory")?;
    let mut bare = Vec::new();
    for _ in 0..ROUNDS {
        let sockets = tempfile::Builder::new().prefix("boocode-pg-").tempdir()?;
        crate::postgres::give_to_account(sockets.path())?;
        let started = Instant::now();
        let server = start_server(&postgres.dir, &cluster, sockets.path())?;
        bare.push(started.elapsed());
        drop(server);
    }
    let (warm, bare) = (median(&mut warm), median(&mut bare));
    Ok(Figure {
        text: format!(
            "first start {} ms, warm start {} ms, of which a bare postgres takes {} ms ({:.1} ×); medians of {ROUNDS}",
            first.as_millis(),
            warm.as_millis(),
            bare.as_millis(),
            warm.as_secs_f64() / bare.as_secs_f64()
        ),
        goal: format!("a warm start within {} ms", GOAL.as_millis()),
        reached: warm <= GOAL,
    })
}

fn one_start(trial: &Trial) -> Result<Duration> {
    let mut serving = trial.start()?;
    let taken = serving.until_first_page(START_LIMIT)?;
    serving.stop()?;
    Ok(taken)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
