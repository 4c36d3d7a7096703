//! Measurements, each against its goal and, where there is one, a reference taken in the same run.

mod start;

use crate::{budget, workspace::Workspace};
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
}

/// What a measurement found.
pub struct Figure {
    pub text: String,
    pub goal: String,
    pub reached: bool,
}

impl Bench {
    pub fn run(&self, workspace: &Workspace) -> Result<ExitCode> {
        let figure = match self.name {
            Name::Load => load(workspace)?,
            Name::Start => start::measure(workspace)?,
        };
        println!("{}", figure.text);
        println!("goal: {} — {}", figure.goal, if figure.reached { "reached" } else { "missed" });
        Ok(if self.check && !figure.reached { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn load(workspace: &Workspace) -> Result<Figure> {
    let load = budget::first_load(&workspace.dist().join("pkg"))?;
    Ok(Figure {
        text: format!("first load {}", load.words()),
        goal: format!("at most {} KB", budget::FIRST_LOAD_BYTES_MAX / 1000),
        reached: load.check().is_ok(),
    })
}
