//! Kills by seed, and a look at what is left.

mod start;

use crate::workspace::Workspace;
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
}

impl Chaos {
    pub fn run(&self, workspace: &Workspace) -> Result<ExitCode> {
        println!("seed {}", self.seed);
        let mut dice = Dice(self.seed.max(1));
        match self.name {
            Name::Start => start::run(workspace, self.kills, &mut dice)?,
        }
        Ok(ExitCode::SUCCESS)
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
