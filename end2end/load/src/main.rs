//! Puts load on a real BooCode and looks at what it does: how fast, how big, and what survives.
//!
//! `cargo xtask bench` and `cargo xtask chaos` build this program and run it. Whatever is measured runs in a
//! process of its own, the references too, so that nobody's work counts as another's.

mod arena;
mod backends;
mod boocode;
mod chaos;
mod flow;
mod fold;
mod machine;
mod memory;
mod mention;
mod part;
mod sse;
mod stream;
mod watcher;

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand};

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Latency, cost and fan-out of streams, against a relay and a plain broadcast
    Stream(Programs),
    /// Memory at rest, and while long streams pass
    Memory(Programs),
    /// The time a key takes while a file is looked for, against a plain scan of the same list
    Mention(Programs),
    /// A task of ten seconds in a Coder, against the same agent driven bare
    Backends {
        #[command(flatten)]
        programs: Programs,
        /// Where agents are installed
        #[arg(long)]
        tools_dir: PathBuf,
    },
    /// Kill the server and its Postgres while chats go on
    Chaos {
        #[command(flatten)]
        programs: Programs,
        #[arg(long)]
        kills: u32,
        #[arg(long)]
        seed: u64,
    },
    /// The same while battles go on
    ChaosArena {
        #[command(flatten)]
        programs: Programs,
        /// Where agents are installed
        #[arg(long)]
        tools_dir: PathBuf,
        #[arg(long)]
        kills: u32,
        #[arg(long)]
        seed: u64,
    },
    /// A large review, against the longest chain of its agents
    Flow(Programs),
    /// Kill the server and its Postgres while runs go on
    ChaosFlows {
        #[command(flatten)]
        programs: Programs,
        #[arg(long)]
        kills: u32,
        #[arg(long)]
        seed: u64,
    },
    /// How long a battle of six takes, against its slowest lane
    Battle(Programs),
    /// How the small real model judges, and how much it is swayed by results that tell it whom to name
    Judge {
        #[command(flatten)]
        programs: Programs,
        /// A Python that has the small model
        #[arg(long)]
        python: PathBuf,
    },
    /// A part of a measurement: the model server
    #[command(hide = true)]
    Model,
    /// A part of a measurement: a model server whose answers are known
    #[command(hide = true)]
    Answers,
    /// A part of a measurement: a plain TCP relay
    #[command(hide = true)]
    Relay { to: SocketAddr },
    /// A part of a measurement: a plain SSE broadcast
    #[command(hide = true)]
    Broadcast,
    /// A part of a measurement: a plain scan of a list of paths
    #[command(hide = true)]
    Scan { list: PathBuf },
}

#[derive(Args)]
pub struct Programs {
    /// The server under test
    #[arg(long)]
    boocode: PathBuf,
    /// Where initdb and postgres are
    #[arg(long)]
    pg_bin_dir: PathBuf,
}

/// Something that was to be reached.
pub struct Goal {
    pub text: String,
    pub reached: bool,
}

/// The exit code of a measurement that worked and fell short of a goal.
const MISSED: u8 = 3;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse().task).await {
        Ok(goals) => {
            for Goal { text, reached } in &goals {
                println!("goal: {text} — {}", if *reached { "reached" } else { "missed" });
            }
            if goals.iter().all(|goal| goal.reached) { ExitCode::SUCCESS } else { ExitCode::from(MISSED) }
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(task: Task) -> anyhow::Result<Vec<Goal>> {
    // Fails only where one is installed already. No connection here is encrypted, but the client insists.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match task {
        Task::Stream(programs) => stream::measure(&programs).await,
        Task::Memory(programs) => memory::measure(&programs).await,
        Task::Mention(programs) => mention::measure(&programs).await,
        Task::Backends { programs, tools_dir } => backends::measure(&programs, &tools_dir).await,
        Task::Chaos { programs, kills, seed } => chaos::run(&programs, kills, seed).await,
        Task::ChaosArena { programs, tools_dir, kills, seed } => {
            arena::run(&programs, &tools_dir, kills, seed).await
        }
        Task::Battle(programs) => arena::bench::measure(&programs).await,
        Task::Judge { programs, python } => arena::judge::measure(&programs, &python).await,
        Task::Flow(programs) => {
            let mut goals = fold::measure()?;
            goals.extend(flow::measure(&programs).await?);
            Ok(goals)
        }
        Task::ChaosFlows { programs, kills, seed } => chaos::flows::run(&programs, kills, seed).await,
        Task::Model => part::model::serve().await,
        Task::Answers => part::answers::serve().await,
        Task::Relay { to } => part::relay::serve(to).await,
        Task::Broadcast => part::broadcast::serve().await,
        Task::Scan { list } => part::scan::serve(&list).await,
    }
}
