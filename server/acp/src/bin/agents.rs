//! Installs the agents that tests run: `agents <root>`, and with `--all` every other. Says nothing where all are there.
//! `agents --list` tells which there are: name, title and version, a line each.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use acp::Agent;
use acp::agents::{ALL, TESTED_ALWAYS};
use acp::install::node::{MAJOR_MIN, Node};
use acp::install::{Installed, install, installed, runs_here};
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> ExitCode {
    let Some(root) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: agents <folder> [--all], or agents --list");
        return ExitCode::FAILURE;
    };
    if root == Path::new("--list") {
        for agent in ALL {
            let version = agent.package.as_ref().map_or("", |package| package.version);
            println!("{}\t{}\t{version}", agent.name, agent.title);
        }
        return ExitCode::SUCCESS;
    }
    let wanted: &[&'static Agent] = match std::env::args_os().nth(2) {
        Some(all) if all == "--all" => &ALL,
        _ => &TESTED_ALWAYS,
    };
    match ensure(&root, wanted).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn ensure(root: &Path, wanted: &[&'static Agent]) -> Result<(), Box<dyn std::error::Error>> {
    let wanted = wanted.iter().copied().filter(|agent| runs_here(agent));
    let missing: Vec<_> = wanted.filter(|agent| installed(root, agent) != Installed::Yes).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tools = root.parent().unwrap_or(root);
    let node =
        Node::find(&path, tools).await.ok_or(format!("node {MAJOR_MIN} or newer is missing, with npm"))?;
    let (progress, mut lines) = mpsc::channel(100);
    let printer = tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            println!("{line}");
        }
    });
    for agent in missing {
        install(&node, root, agent, &progress).await?;
        println!("{} is installed", agent.title);
    }
    drop(progress);
    Ok(printer.await?)
}
