//! `cargo xtask …`: builds, runs, tests and measures BooCode. Needs no installed tool but cargo itself.

mod bench;
mod budget;
mod build;
mod chaos;
mod install;
mod parallel;
mod pictures;
mod postgres;
mod process;
mod run;
mod serving;
mod sqlx;
mod stage;
mod test;
mod tidy;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, runs, tests and measures BooCode")]
struct Args {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the browser's assets into dist, then the server that embeds them
    Build(build::Build),
    /// Install what is missing, build, start the server
    Run(run::Run),
    /// Every check and test, quickest first
    Test(test::Test),
    /// Measure against a reference in the same run
    Bench(bench::Bench),
    /// Kill the server again and again and look at what is left
    Chaos(chaos::Chaos),
    /// Take the README's pictures anew
    Pictures(pictures::Pictures),
    /// Regenerate .sqlx from the queries and the migrations
    Sqlx(sqlx::Sqlx),
    /// Add new migrations to migrations/checksums.txt
    Migrations,
}

fn main() -> ExitCode {
    match dispatch(Args::parse().command) {
        Ok(code) => code,
        // 130 is what a shell expects of a program that was interrupted.
        Err(_) if process::interrupted() => ExitCode::from(130),
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(task: Task) -> Result<ExitCode> {
    process::watch_signals()?;
    let workspace = Workspace::locate()?;
    match task {
        Task::Build(build) => build.run(&workspace),
        Task::Run(run) => return run.run(&workspace),
        Task::Test(test) => return test.run(&workspace),
        Task::Bench(bench) => return bench.run(&workspace),
        Task::Chaos(chaos) => return chaos.run(&workspace),
        Task::Pictures(pictures) => pictures.run(&workspace),
        Task::Sqlx(sqlx) => sqlx.run(&workspace),
        Task::Migrations => tidy::migrations::append(&workspace.migrations()),
    }?;
    Ok(ExitCode::SUCCESS)
}
