//! Measurements in a real browser on a real server: one file of `end2end/bench` each.

use crate::{
    build::{self, COMPILE_LIMIT, Kind},
    install::{self, Tools},
    process::{Owned, quietly, quietly_with},
    stage::stage,
    workspace::Workspace,
};
use anyhow::{Context, Result};
use rustix::process::Signal;
use std::{ffi::OsString, fs, time::Duration};

/// Runs `end2end/bench/<name>.spec.ts`, and returns the figures that it wrote.
pub fn run(
    workspace: &Workspace,
    name: &str,
    limit: Duration,
    environment: &[(&str, OsString)],
) -> Result<String> {
    let out = workspace.scratch()?.join(format!("{name}.json"));
    let mut environment = environment.to_vec();
    environment.push(("BENCH_OUT", out.clone().into()));
    let arguments = ["--config", "bench.config.ts", &format!("bench/{name}.spec")];
    play(workspace, name, &arguments, limit, &environment)?;
    fs::read_to_string(&out).context("the browser left no figures")
}

/// Builds what people use, and has Playwright use it.
pub fn play(
    workspace: &Workspace,
    name: &str,
    arguments: &[&str],
    limit: Duration,
    environment: &[(&str, OsString)],
) -> Result<()> {
    let tools = Tools::locate()?;
    let postgres = install::postgres::ensure(workspace, &tools)?;
    super::assets(workspace)?;
    let boocode = build::server(workspace, Kind::Quick)?;
    stage("scripted", || {
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--package", "scripted", "--bin", "scripted", "--profile", "quick"]);
        quietly(workspace, "scripted", COMPILE_LIMIT, &mut cargo)
    })?;
    let mut playwright = install::playwright(workspace, &tools)?;
    playwright.arg("test").args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    playwright.env("BOOCODE_BIN", boocode).env("SCRIPTED_BIN", workspace.target.join("quick/scripted"));
    playwright.env_remove("DATABASE_URL").env("PG_BIN_DIR", postgres.dir);
    // Playwright closes its browsers on INT.
    let on_int = |owned: &mut Owned| owned.stop_with = Signal::INT;
    stage(name, || quietly_with(workspace, name, limit, on_int, &mut playwright).map(drop))
}
