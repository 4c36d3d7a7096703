//! Every agent in every case, and the table of what came of it. The names of the tests are its rows and columns:
//! `agents::<agent>::<case>::test`.

use super::{
    binaries::{self, Built, Environment},
    leftovers,
    tally::Tally,
};
use crate::{
    build::{self, Kind},
    install::{self, Tools, agents::Which},
    postgres::Cluster,
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use std::{fs, process::Command, process::ExitCode};

/// Those that run only here.
const ONLY_HERE: [&str; 4] = ["claude", "codex", "opencode", "gemini"];
const CASES: [(&str, &str); 12] = [
    ("writes", "write"),
    ("asks", "ask"),
    ("only_reads_when_told_to_edit", "read-only, edit"),
    ("only_reads_when_told_to_run", "read-only, shell"),
    ("stops_in_the_middle", "stop mid-stream"),
    ("stops_before_the_first_byte", "stop before"),
    ("tells_a_model_error", "model error"),
    ("ends_with_its_model_server", "dead server"),
    ("is_cleared_up_after_a_kill", "kill -9"),
    ("works_in_a_flow", "flow"),
    ("cross_examines", "cross-examination"),
    ("works_on_its_own_login", "own login"),
];
/// What does not apply, for the reason that the README tells. Anything else that did not run is a fault.
const HOLES: [(&str, &str); 3] = [
    ("qwen", "works_on_its_own_login"),
    ("goose", "works_on_its_own_login"),
    ("opencode", "works_on_its_own_login"),
];
/// The table as it came out last, which the README shows.
pub const TABLE: &str = "docs/agents-table.md";

/// Arguments of a test program that leave the others out.
pub fn skipped() -> Vec<String> {
    ONLY_HERE.iter().flat_map(|agent| ["--skip".to_owned(), format!("::{agent}::")]).collect()
}

pub fn run(workspace: &Workspace, tools: &Tools) -> Result<ExitCode> {
    let mut tally = Tally::default();
    // The server embeds this folder, and does not compile without one.
    fs::create_dir_all(workspace.dist().join("pkg"))?;
    install::compiler()?;
    install::wasm_target(workspace)?;
    let Some(built) = tally.step("compile tests", || binaries::compile(workspace))? else {
        return Ok(tally.close());
    };
    let ensure = || install::agents::ensure(workspace, tools, &built.agents, Which::All);
    if tally.step("agents", ensure)?.is_none() {
        return Ok(tally.close());
    }
    let Some(postgres) = tally.step("postgres", || install::postgres::ensure(workspace, tools))? else {
        return Ok(tally.close());
    };
    let cluster = Cluster::start(workspace, &postgres)?;
    cluster.create_database("wired")?;
    let mut environment = Environment::default();
    environment.set("BOOCODE_TOOLS_DIR", &tools.dir);
    environment.set("BOOCODE_TEST_DATABASE_URL", cluster.url("wired"));
    if postgres.from_npm {
        environment.set("PG_BIN_DIR", &postgres.dir);
    }
    tally.tests("how each of them talks", || {
        built
            .run_only(workspace, "server/acp", &["real::".to_owned()], &environment)
            .map(|(counts, _)| counts)
    })?;
    let mut log = String::new();
    tally.tests("each of them at work", || {
        let (counts, printed) =
            built.run_only(workspace, "server", &["agents::".to_owned()], &environment)?;
        log = printed;
        Ok(counts)
    })?;
    if tally.step("assets", || build::assets(workspace, Kind::Quick))?.is_some() {
        environment.set("BOOCODE_BIN", &built.boocode);
        environment.set("SCRIPTED_BIN", &built.scripted);
        let config = ["--config", "agents.config.ts"];
        tally
            .tests("all of them in one battle", || super::browser(workspace, tools, &environment, &config))?;
    }
    tally.check_with("leftovers", leftovers::check)?;
    let table = table(&listed(&built)?, &log);
    println!("\n{table}");
    tally.check_with("the table", || keep(workspace, &table))?;
    Ok(tally.close())
}

/// An agent as its own crate names it.
struct Listed {
    name: String,
    title: String,
    version: String,
}

fn listed(built: &Built) -> Result<Vec<Listed>> {
    let output = Command::new(&built.agents).arg("--list").output().context("the agents cannot be listed")?;
    let listed = |line: &str| {
        let mut parts = line.split('\t').map(str::to_owned);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(name), Some(title), Some(version)) => Ok(Listed { name, title, version }),
            _ => bail!("an agent cannot be listed: {line}"),
        }
    };
    String::from_utf8(output.stdout)?.lines().map(listed).collect()
}

/// One that is whole is kept, for the README to be held against.
fn keep(workspace: &Workspace, table: &str) -> Result<String> {
    let rows = table.lines().skip(2);
    let is_whole = |row: &str| {
        let cells = row.split_once(" | ").map_or("", |(_, cells)| cells);
        cells.trim_end_matches(" |").split(" | ").all(|cell| matches!(cell, "✓" | "–"))
    };
    let faults: Vec<_> = rows.filter(|row| !is_whole(row)).collect();
    if !faults.is_empty() {
        bail!("not every case ran and passed:\n{}", faults.join("\n"));
    }
    fs::write(workspace.root.join(TABLE), format!("{table}\n"))?;
    Ok(format!("it is in {TABLE}"))
}

/// As the README has it.
fn table(agents: &[Listed], log: &str) -> String {
    let columns = CASES.map(|(_, label)| label).join(" | ");
    let mut lines = vec![format!("| agent | {columns} |"), format!("|---|{}", "---|".repeat(CASES.len()))];
    for Listed { name, title, version } in agents {
        let cells = CASES.map(|(case, _)| outcome(log, name, case)).join(" | ");
        lines.push(format!("| {title} {version} | {cells} |"));
    }
    lines.join("\n")
}

fn outcome<'a>(log: &'a str, agent: &str, case: &str) -> &'a str {
    let test = format!("test agents::{agent}::{case}::test ... ");
    match log.lines().find_map(|line| line.strip_prefix(test.as_str())) {
        Some("ok") => "✓",
        Some(other) => other,
        None if HOLES.contains(&(agent, case)) => "–",
        None => "did not run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_what_ran() {
        let log = "running 3 tests\ntest agents::qwen::writes::test ... ok\n\
                   test agents::qwen::asks::test ... FAILED\ntest agents::goose::writes::test ... ok\n";
        let agent =
            |name: &str| Listed { name: name.into(), title: name.to_uppercase(), version: "1.0".into() };
        let table = table(&[agent("qwen"), agent("codex")], log);
        let rows: Vec<_> = table.lines().skip(2).collect();
        let rest = "did not run | ".repeat(9);
        assert_eq!(rows[0], format!("| QWEN 1.0 | ✓ | FAILED | {rest}– |"));
        assert!(rows[1].ends_with("did not run |"), "{}", rows[1]);
    }

    #[test]
    fn every_hole_is_a_case() {
        for (agent, case) in HOLES {
            assert!(CASES.iter().any(|(name, _)| *name == case), "{agent}");
        }
    }

    #[test]
    fn the_others_are_left_out_of_every_other_run() {
        assert_eq!(skipped()[..2], ["--skip", "::claude::"]);
    }
}
