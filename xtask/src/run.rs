//! From a fresh clone to a link in one command.

use crate::{
    build::{self, Kind},
    install::{self, Tools},
    process::Owned,
    serving,
    workspace::Workspace,
};
use anyhow::Result;
use std::{env, path::PathBuf, process::ExitCode, time::Duration};

/// The server bounds each part of its own end: what it drains, what its agents have running, and its Postgres. Cut off
/// before, it would leave those to its next start.
const SERVER_STOP_LIMIT: Duration = Duration::from_secs(120);

#[derive(clap::Args)]
pub struct Run {
    /// Unoptimised, quick to compile
    #[arg(long)]
    dev: bool,
    /// The port on 127.0.0.1
    #[arg(long)]
    port: Option<u16>,
    /// Where BooCode keeps its database, worktrees and settings
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Do without the small model
    #[arg(long)]
    no_model: bool,
    /// More arguments for boocode serve
    #[arg(last = true)]
    more: Vec<String>,
}

impl Run {
    pub fn run(&self, workspace: &Workspace) -> Result<ExitCode> {
        let tools = Tools::locate()?;
        install::compiler()?;
        install::wasm_target(workspace)?;
        let own_database = env::var_os("DATABASE_URL").is_none();
        // The server finds what is there by itself, and takes the version that its database was made by.
        if own_database {
            install::postgres::ensure(workspace, &tools)?;
        }
        let kind = Kind::dev_if(self.dev);
        if !kind.binary(workspace).exists() {
            println!("  the first build compiles everything: about a quarter of an hour on two cores");
        }
        build::assets(workspace, kind)?;
        let binary = build::server(workspace, kind)?;

        let mut command = serving::command(&binary);
        if let Some(port) = self.port {
            command.arg("--port").arg(port.to_string());
        }
        if let Some(dir) = &self.data_dir {
            command.arg("--data-dir").arg(std::path::absolute(dir)?);
        }
        if self.no_model {
            command.arg("--no-model");
        }
        command.args(&self.more);
        // Settings installs agents by it, and most of them run on it.
        if let Some(path) = install::node::path_or_go_without(workspace, &tools)? {
            command.env("PATH", path);
        }
        command.env_remove("BOOCODE_SMALL_MODEL_PYTHON");
        if !self.no_model
            && let Some(python) = install::model::ensure_or_go_without(workspace, &tools)?
        {
            command.env("BOOCODE_SMALL_MODEL_PYTHON", python);
        }

        let mut server = Owned::spawn("boocode", &mut command)?;
        server.stop_limit = SERVER_STOP_LIMIT;
        let status = server.wait(None)?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
    }
}
