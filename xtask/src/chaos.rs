//! Kills by seed, and a look at what is left.

mod start;

use crate::{bench::wired, workspace::Workspace};
use anyhow::Result;
use clap::ValueEnum;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Chaos {
    name: Name,
    /// How many times something is killed
    #[arg(long, default_value_t = 20)]
    kills: u32,
    /// Repeats a run
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// The server, its Postgres or both, at any moment of a start
    Start,
    /// The same while chats go on, and a look at every question, answer and page
    Chat,
    /// The same while battles go on that are stopped, tried again and judged, and a look at every contestant, result,
    /// verdict, process and folder
    Arena,
    /// The same while flows run, and a look at every step and report
    Flows,
}

impl Chaos {
    pub fn run(&self, workspace: &Workspace) -> Result<ExitCode> {
        println!("seed {}", self.seed);
        match self.name {
            Name::Start => {
                start::run(workspace, self.kills, &mut Dice(self.seed.max(1)))?;
                Ok(ExitCode::SUCCESS)
            }
            Name::Chat => self.wired(workspace, "chaos", Vec::new()),
            Name::Arena => self.wired(workspace, "chaos-arena", wired::agents(workspace)?),
            Name::Flows => self.wired(workspace, "chaos-flows", Vec::new()),
        }
    }

    fn wired(&self, workspace: &Workspace, task: &str, mut arguments: Vec<String>) -> Result<ExitCode> {
        let own = [("--kills", u64::from(self.kills)), ("--seed", self.seed)];
        arguments.extend(own.map(|(name, value)| format!("{name}={value}")));
        let held = wired::run(workspace, task, &arguments)?;
        Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Xorshift: enough to choose moments and victims, and the same on every machine.
pub struct Dice(u64);

impl Dice {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
