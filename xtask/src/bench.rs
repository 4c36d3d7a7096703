//! Measurements, each against its goal and, where there is one, a reference taken in the same run.

mod backends;
pub mod browser;
mod diffview;
mod git;
mod judge;
mod outputs;
mod scheduler;
mod start;
mod switch;
pub mod wired;

use crate::{
    budget,
    build::{self, Kind},
    install,
    workspace::Workspace,
};
use anyhow::Result;
use clap::ValueEnum;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Bench {
    name: Name,
    /// Exit with an error when short of the goal
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// Bytes of a first visit
    Load,
    /// From a start on existing data to the first page
    Start,
    /// Latency, cost and fan-out of streams, against a relay and a plain broadcast
    Stream,
    /// Memory at rest, and while long streams pass
    Memory,
    /// From a key or a click to the painted tab or pane, against an empty frame
    Switch,
    /// A key while a file is looked for among 100,000, against a plain scan
    Mention,
    /// A worktree of 50,000 files, against `git worktree add`
    Worktree,
    /// A task of ten seconds in a Coder, against the same agent driven bare
    Backends,
    /// A large review from the click to the report, against the longest chain of its agents
    Flow,
    /// The first screen of a diff, and a step of scrolling it, against a floor and other viewers
    Diffview,
    /// A diff of 1,000 changed files, against `git add -N . && git diff`
    Diff,
    /// A battle of six, against its slowest lane alone
    Battle,
    /// What a battle costs the database while the tables grow, and taking up what a killed server left
    Scheduler,
    /// Six outputs that stream at once, by frames and blocking tasks, against an idle page
    Outputs,
    /// Judgements of the small real model with and without results that tell it whom to name
    Judge,
}

/// What a measurement found.
pub struct Figure {
    pub text: String,
    pub goal: String,
    pub reached: bool,
}

impl Figure {
    fn print(&self) -> bool {
        println!("{}", self.text);
        println!("goal: {} — {}", self.goal, if self.reached { "reached" } else { "missed" });
        self.reached
    }
}

impl Bench {
    pub fn run(&self, workspace: &Workspace) -> Result<ExitCode> {
        let reached = match self.name {
            Name::Load => {
                assets(workspace)?;
                load(workspace)?.print()
            }
            Name::Start => start::measure(workspace)?.print(),
            Name::Switch => switch::measure(workspace)?.print(),
            Name::Stream => wired::run(workspace, "stream", &[])?,
            Name::Flow => wired::run(workspace, "flow", &[])?,
            Name::Mention => wired::run(workspace, "mention", &[])?,
            Name::Diffview => diffview::measure(workspace)?,
            Name::Backends => backends::run(workspace)?,
            Name::Worktree => git::run(workspace, "worktree")?,
            Name::Diff => git::run(workspace, "diff")?,
            Name::Battle => wired::run(workspace, "battle", &[])?,
            Name::Scheduler => scheduler::run(workspace)?,
            Name::Outputs => outputs::measure(workspace)?.print(),
            Name::Judge => judge::run(workspace)?,
            Name::Memory => {
                // A page is loaded, so it has to be there.
                assets(workspace)?;
                wired::run(workspace, "memory", &[])?
            }
        };
        Ok(if self.check && !reached { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn assets(workspace: &Workspace) -> Result<()> {
    install::wasm_target(workspace)?;
    build::assets(workspace, Kind::Quick)
}

fn load(workspace: &Workspace) -> Result<Figure> {
    let load = budget::first_load(&workspace.dist().join("pkg"))?;
    Ok(Figure {
        text: format!("first load {}", load.words()),
        goal: load.goal(),
        reached: load.start() <= budget::START_BYTES_MAX,
    })
}
