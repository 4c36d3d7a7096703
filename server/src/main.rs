//! The command line.

use std::{io::IsTerminal as _, process::ExitCode};

use clap::{Parser, Subcommand};
use server::{
    backend::http_client,
    config::{Config, LogFormat, ServeArgs, read_file},
    doctor, link, serve,
};
use tracing_subscriber::EnvFilter;

#[derive(Parser)]
#[command(name = "boocode", version, about = "A workspace in the browser for AI coding agents")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the workspace and print the link that opens it
    Serve(Box<ServeArgs>),
    /// Print a fresh link that logs a browser in to the running workspace
    Link(Box<ServeArgs>),
    /// List what is found on this machine and what is missing
    Doctor(Box<ServeArgs>),
    /// The tools of BooCode's own agent, asked over standard input
    #[command(hide = true)]
    Tools,
}

fn main() -> ExitCode {
    // Before anything is read: it is started with a description, not with settings, and has to be quick.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == "wall") {
        wall::enter(words);
    }
    let (args, run): (ServeArgs, fn(Config) -> anyhow::Result<ExitCode>) = match Cli::parse().command {
        Command::Serve(args) => (*args, |config| run(serve::serve(config)).map(|()| ExitCode::SUCCESS)),
        Command::Link(args) => (*args, |config| run(link::print(config)).map(|()| ExitCode::SUCCESS)),
        Command::Tools => return serve_tools(),
        Command::Doctor(args) => (*args, |config| {
            let report = run(async { anyhow::Ok(doctor::examine(&config, http_client()?).await) })?;
            println!("{report}");
            Ok(ExitCode::from(report.exit_code()))
        }),
    };
    let config = match settings(args) {
        Ok(config) => config,
        Err(problems) => {
            eprintln!("These settings cannot be used:");
            problems.iter().for_each(|problem| eprintln!("  {problem}"));
            return ExitCode::from(2);
        }
    };
    log(config.log_format);
    run(config).unwrap_or_else(|error| {
        eprintln!("boocode: {error:#}");
        ExitCode::FAILURE
    })
}

fn serve_tools() -> ExitCode {
    let served = std::env::current_dir()
        .and_then(|folder| tools::serve(&folder, std::io::stdin().lock(), std::io::stdout().lock()));
    if served.is_err() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn settings(args: ServeArgs) -> Result<Config, Vec<server::config::Problem>> {
    let env = |name: &str| std::env::var(name).ok();
    let file = read_file(&args, env).map_err(|problem| vec![problem])?;
    Config::load(args, env, file)
}

fn log(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,server=info"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().init(),
    }
}

fn run<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
