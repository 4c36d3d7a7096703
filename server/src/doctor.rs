//! `boocode doctor`: what was found on this machine, whether the server can run with it, and the command that
//! helps where it cannot.

mod agents;
mod kernel;
mod models;
mod postgres;
mod programs;

use std::{fmt, path::Path};

use reqwest::Client;
use rustix::fs::{Access, access, statvfs};

use crate::config::Config;

const DISK_FREE_BYTES_WANTED: u64 = 1024 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub title: &'static str,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub name: String,
    pub verdict: Verdict,
    pub detail: String,
    /// The command or setting that helps.
    pub fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Fine,
    /// Not there, and the server runs without it.
    Absent,
    /// The server cannot run like this.
    Broken,
}

/// Looks at everything at once; each look has a time limit of its own.
pub async fn examine(config: &Config, client: Client) -> Report {
    let (postgres, tools, agents, models, kernel) = tokio::join!(
        postgres::examine(config),
        programs::tools(),
        agents::examine(
            crate::tools::dir(|name| std::env::var(name).ok()).map(|dir| dir.join("agents")),
            &config.agents,
            &config.flow_backend,
        ),
        models::examine(config, client),
        kernel::examine(),
    );
    let sections = [
        ("Data", vec![data_dir(&config.data_dir)]),
        ("Postgres", postgres),
        ("Tools", tools),
        ("Agents", agents),
        ("Models", models),
        ("Kernel", kernel),
    ];
    Report { sections: sections.into_iter().map(|(title, findings)| Section { title, findings }).collect() }
}

impl Report {
    pub fn can_run(&self) -> bool {
        let mut findings = self.sections.iter().flat_map(|section| &section.findings);
        findings.all(|finding| finding.verdict != Verdict::Broken)
    }

    pub fn exit_code(&self) -> u8 {
        if self.can_run() { 0 } else { 1 }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for section in &self.sections {
            writeln!(f, "{}", section.title)?;
            for Finding { name, verdict, detail, fix } in &section.findings {
                let mark = match verdict {
                    Verdict::Fine => "ok",
                    Verdict::Absent => "--",
                    Verdict::Broken => "!!",
                };
                writeln!(f, "  {mark}  {name:<20} {detail}")?;
                if let Some(fix) = fix {
                    writeln!(f, "      {:<20} → {fix}", "")?;
                }
            }
            writeln!(f)?;
        }
        match self.can_run() {
            true => writeln!(f, "BooCode can run here: boocode serve"),
            false => writeln!(f, "BooCode cannot run here yet: see the lines marked !!"),
        }
    }
}

impl Finding {
    fn fine(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Finding { name: name.into(), verdict: Verdict::Fine, detail: detail.into(), fix: None }
    }

    fn absent(name: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { name: name.into(), verdict: Verdict::Absent, detail: detail.into(), fix: Some(fix.into()) }
    }

    fn broken(name: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { name: name.into(), verdict: Verdict::Broken, detail: detail.into(), fix: Some(fix.into()) }
    }
}

/// The directory, or the one above it in which it would be made: the doctor itself makes nothing.
fn data_dir(path: &Path) -> Finding {
    let name = "data directory";
    let shown = path.display();
    let Some(nearest) = path.ancestors().find(|folder| folder.exists()) else {
        return Finding::broken(
            name,
            format!("{shown} has no folder above it"),
            "boocode serve --data-dir <folder>",
        );
    };
    let writable = nearest.is_dir() && access(nearest, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if !writable {
        let detail = format!("{shown}: {} is not a folder that we may write to", nearest.display());
        return Finding::broken(
            name,
            detail,
            format!("mkdir -p {shown} && chown \"$USER\" {shown}, or --data-dir <folder>"),
        );
    }
    let made = if nearest == path { "" } else { " (made at the first start)" };
    match statvfs(nearest).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)) {
        Ok(free) if free < DISK_FREE_BYTES_WANTED => {
            let detail = format!("{shown}{made}, only {} MB free", free / 1_000_000);
            Finding::absent(name, detail, "free some space, or --data-dir <folder> on another disk")
        }
        Ok(free) => Finding::fine(name, format!("{shown}{made}, {} GB free", free / 1_000_000_000)),
        Err(_) => Finding::fine(name, format!("{shown}{made}")),
    }
}

#[cfg(test)]
mod tests;
