//! Everything that has to hold, quickest first.

pub mod agents;
mod binaries;
mod leftovers;
mod only;
mod packages;
mod tally;

use crate::{
    budget,
    build::{self, COMPILE_LIMIT, Kind},
    install::{self, Tools, agents::Which, postgres::Binaries},
    postgres::Cluster,
    process::{Owned, find_program, quietly, quietly_with},
    sqlx,
    stage::skipped,
    tidy,
    workspace::Workspace,
};
use anyhow::Result;
use binaries::{Built, Environment};
use rustix::process::Signal;
use std::{ffi::OsStr, fs, process::ExitCode, thread::available_parallelism, time::Duration};
use tally::{Counts, Tally};

const BROWSER_LIMIT: Duration = Duration::from_secs(60 * 60);
const QUICK_LIMIT: Duration = Duration::from_secs(5 * 60);

#[derive(clap::Args)]
pub struct Test {
    /// Without the browser tests
    #[arg(long)]
    fast: bool,
    /// Instead of all this: every agent in every case, and the table of what came of it
    #[arg(long, conflicts_with = "fast")]
    agents: bool,
    #[command(flatten)]
    only: only::Only,
}

impl Test {
    pub fn run(&self, workspace: &Workspace) -> Result<ExitCode> {
        let tools = Tools::locate()?;
        if self.agents {
            return agents::run(workspace, &tools);
        }
        if self.only.is_asked_for() {
            return self.only.run(workspace, &tools);
        }
        let mut tally = Tally::default();
        // The server embeds this folder, and does not compile without one.
        fs::create_dir_all(workspace.dist().join("pkg"))?;

        tally.check("fmt", || {
            let mut cargo = workspace.cargo();
            quietly(workspace, "fmt", QUICK_LIMIT, cargo.args(["fmt", "--all", "--check"])).map(drop)
        })?;
        tally.check_with("tidy", || tidy::check(workspace))?;
        install::compiler()?;
        install::wasm_target(workspace)?;
        lint(workspace, &mut tally)?;

        let built = tally.step("compile tests", || binaries::compile(workspace))?;
        let mut environment = Environment::default();
        if let Some(built) = &built {
            for package in [
                "app/domain",
                "app",
                "server/tools",
                "server/git",
                "server/wall",
                "end2end/scripted",
                "end2end/load",
            ] {
                tally.tests(&format!("{package} tests"), || built.run(workspace, package, &environment))?;
            }
            let ensure = || install::agents::ensure(workspace, &tools, &built.agents, Which::Always);
            if tally.step("agents", ensure)?.is_some() {
                environment.set("BOOCODE_TOOLS_DIR", &tools.dir);
                tally.tests("server/acp tests", || built.run(workspace, "server/acp", &environment))?;
            }
            environment.set("BOOCODE_BIN", &built.boocode);
            environment.set("SCRIPTED_BIN", &built.scripted);
        }
        let assets = tally.step("assets", || build::assets(workspace, Kind::Quick))?;
        if assets.is_some() {
            tally.check_with("size budget", || {
                let load = budget::first_load(&workspace.dist().join("pkg"))?;
                load.check().map(|()| load.words())
            })?;
        }
        let postgres = tally.step("postgres", || install::postgres::ensure(workspace, &tools))?;
        if let Some(python) = install::model::ensure_or_go_without(workspace, &tools)? {
            environment.set("BOOCODE_SMALL_MODEL_PYTHON", python);
        }
        if let Some(postgres) = &postgres {
            if postgres.from_npm {
                environment.set("PG_BIN_DIR", &postgres.dir);
            }
            with_database(workspace, &mut tally, postgres, built.as_ref(), &environment)?;
        }
        if self.fast {
            skipped("browser tests", "--fast");
        } else if built.is_some() && assets.is_some() {
            tally.tests("browser tests", || browser(workspace, &tools, &environment, &[""; 0]))?;
        }
        tally.check_with("leftovers", leftovers::check)?;
        Ok(tally.close())
    }
}

fn lint(workspace: &Workspace, tally: &mut Tally) -> Result<()> {
    const BROWSER: [&str; 8] =
        ["-p", "frontend", "-p", "app", "--features", "app/hydrate", "--target", "wasm32-unknown-unknown"];
    tally.check("clippy", || {
        let mut cargo = workspace.cargo();
        cargo.args(["clippy", "--quiet"]).args(packages::host());
        cargo.args(["--all-targets", "--", "-D", "warnings"]);
        quietly(workspace, "clippy", COMPILE_LIMIT, &mut cargo).map(drop)
    })?;
    tally.check("clippy for the browser", || {
        let mut cargo = workspace.cargo();
        cargo.args(["clippy", "--quiet"]).args(BROWSER).args(["--", "-D", "warnings"]);
        quietly(workspace, "clippy browser", COMPILE_LIMIT, &mut cargo).map(drop)
    })?;
    if find_program("cargo-deny").is_none() {
        skipped("deny", "not installed, cargo install cargo-deny");
        return Ok(());
    }
    tally.check("deny", || {
        let mut cargo = workspace.cargo();
        quietly(workspace, "deny", QUICK_LIMIT, cargo.args(["deny", "check"])).map(drop)
    })
}

/// The cluster lives as long as this function.
fn with_database(
    workspace: &Workspace,
    tally: &mut Tally,
    postgres: &Binaries,
    built: Option<&Built>,
    environment: &Environment,
) -> Result<()> {
    let Some(cluster) = tally.step("start postgres", || Cluster::start(workspace, postgres))? else {
        return Ok(());
    };
    tally.check("sqlx", || sqlx::check(workspace, &cluster))?;
    let Some(built) = built else { return Ok(()) };
    tally.tests("xtask tests", || built.run(workspace, "xtask", environment))?;
    for (package, variable, database) in
        [("server/store", "DATABASE_URL", "store"), ("server", "BOOCODE_TEST_DATABASE_URL", "wired")]
    {
        cluster.create_database(database)?;
        let mut environment = environment.clone();
        environment.set(variable, cluster.url(database));
        // These wait for servers more than they work.
        environment.set("RUST_TEST_THREADS", (2 * available_parallelism()?.get()).to_string());
        tally.tests(&format!("{package} tests"), || built.run(workspace, package, &environment))?;
    }
    Ok(())
}

fn browser(
    workspace: &Workspace,
    tools: &Tools,
    environment: &Environment,
    arguments: &[impl AsRef<OsStr>],
) -> Result<Counts> {
    let mut playwright = install::playwright(workspace, tools)?;
    playwright.arg("test").args(arguments).env("CI", "1");
    environment.apply(&mut playwright);
    // Playwright closes its browsers on INT.
    let on_int = |owned: &mut Owned| owned.stop_with = Signal::INT;
    let outcome = quietly_with(workspace, "browser tests", BROWSER_LIMIT, on_int, &mut playwright);
    let log = fs::read_to_string(workspace.log("browser tests")?)?;
    Ok(Counts::of_playwright(&log).after(outcome))
}
