//! Some of the tests, for whoever works on what they show.

use super::{
    binaries::{self, Environment},
    browser,
    tally::Tally,
};
use crate::{
    build::{self, Kind},
    install::{self, Tools, agents::Which},
    postgres::Cluster,
    workspace::Workspace,
};
use anyhow::Result;
use std::{fs, process::ExitCode};

#[derive(clap::Args)]
pub struct Only {
    /// Only tests of the whole server whose names hold one of these
    #[arg(long, num_args = 1.., conflicts_with_all = ["fast", "agents"])]
    wired: Vec<String>,
    /// Only browser tests, with these arguments of Playwright: files, and -g with a part of a name
    #[arg(long, num_args = 1.., allow_hyphen_values = true, conflicts_with_all = ["fast", "agents"])]
    browser: Vec<String>,
}

impl Only {
    pub fn is_asked_for(&self) -> bool {
        !(self.wired.is_empty() && self.browser.is_empty())
    }

    pub fn run(&self, workspace: &Workspace, tools: &Tools) -> Result<ExitCode> {
        let mut tally = Tally::default();
        // The server embeds this folder, and does not compile without one.
        fs::create_dir_all(workspace.dist().join("pkg"))?;
        install::compiler()?;
        let Some(built) = tally.step("compile tests", || binaries::compile_wired(workspace))? else {
            return Ok(tally.close());
        };
        install::agents::ensure(workspace, tools, &built.agents, Which::Always)?;
        let postgres = install::postgres::ensure(workspace, tools)?;
        let mut environment = Environment::default();
        environment.set("BOOCODE_TOOLS_DIR", &tools.dir);
        environment.set("BOOCODE_BIN", &built.boocode);
        environment.set("SCRIPTED_BIN", &built.scripted);
        if postgres.from_npm {
            environment.set("PG_BIN_DIR", &postgres.dir);
        }
        if !self.wired.is_empty() {
            let cluster = Cluster::start(workspace, &postgres)?;
            cluster.create_database("wired")?;
            let mut environment = environment.clone();
            environment.set("BOOCODE_TEST_DATABASE_URL", cluster.url("wired"));
            tally.tests("server tests", || {
                built.run_only(workspace, "server", &self.wired, &environment).map(|(counts, _)| counts)
            })?;
        }
        if !self.browser.is_empty() {
            install::wasm_target(workspace)?;
            build::assets(workspace, Kind::Quick)?;
            if let Some(python) = install::model::ensure_or_go_without(workspace, tools)? {
                environment.set("BOOCODE_SMALL_MODEL_PYTHON", python);
            }
            tally.tests("browser tests", || browser(workspace, tools, &environment, &self.browser))?;
        }
        Ok(tally.close())
    }
}
