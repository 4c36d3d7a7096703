//! What battles cost the database. It needs no server, only a Postgres and the crate's own example.

use super::wired::{LIMIT, verdict};
use crate::{
    build::COMPILE_LIMIT,
    install::{self, Tools},
    postgres::Cluster,
    process::{Owned, quietly, tied_to_us},
    stage::stage,
    workspace::Workspace,
};
use anyhow::Result;

/// Tells whether the goals were reached.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let postgres = install::postgres::ensure(workspace, &Tools::locate()?)?;
    stage("bench", || {
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--package", "store", "--example", "scheduler", "--profile", "quick"]);
        quietly(workspace, "bench", COMPILE_LIMIT, cargo.env("SQLX_OFFLINE", "true"))
    })?;
    let cluster = Cluster::start(workspace, &postgres)?;
    let mut command = tied_to_us(&workspace.target.join("quick/examples/scheduler"), "TERM");
    for database in ["few", "many"] {
        cluster.create_database(database)?;
        command.arg(cluster.url(database));
    }
    verdict("scheduler", Owned::spawn("scheduler", &mut command)?.wait(Some(LIMIT))?)
}
