//! Rules about the source that no compiler keeps.

pub mod migrations;
mod style;
mod tree;
mod words;

use crate::{test::agents::TABLE, workspace::Workspace};
use anyhow::{Result, bail};
use std::{fs, path::PathBuf, process::Command};

/// All of them, so that one run shows every fault; a few words about the longest files when there is none.
pub fn check(workspace: &Workspace) -> Result<String> {
    let sources = sources(workspace)?;
    let mut faults = Vec::new();
    faults.extend(tree::faults(workspace)?);
    faults.extend(migrations::faults(&workspace.migrations())?);
    faults.extend(words::faults(&sources)?);
    faults.extend(style::faults(&workspace.root.join("style"), &sources)?);
    faults.extend(readme_faults(workspace));
    if !faults.is_empty() {
        bail!("\n{}", faults.join("\n"));
    }
    lengths(workspace, &sources)
}

fn sources(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"])
        .args(["*.rs", "*.ts", "*.css", "*.sql", "*.py", "*.sh", ".ci/run"])
        .current_dir(&workspace.root)
        .output()?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    }
    let names = String::from_utf8(output.stdout)?;
    let paths = names.split_terminator('\0').map(|name| workspace.root.join(name));
    // The index still names what was deleted and not yet committed.
    Ok(paths.filter(|path| path.is_file()).collect())
}

fn readme_faults(workspace: &Workspace) -> Vec<String> {
    let readme = fs::read_to_string(workspace.root.join("README.md")).unwrap_or_default();
    let missing =
        ["cargo xtask run", "cargo xtask test"].into_iter().filter(|command| !readme.contains(command));
    let mut faults: Vec<_> = missing.map(|command| format!("README.md does not name {command}")).collect();
    let table = fs::read_to_string(workspace.root.join(TABLE)).unwrap_or_default();
    if table.is_empty() || !readme.contains(&table) {
        faults.push(format!("README.md does not show what `cargo xtask test --agents` wrote to {TABLE}"));
    }
    faults
}

/// A report, not a rule: a long file deserves the question what its second subject is.
fn lengths(workspace: &Workspace, sources: &[PathBuf]) -> Result<String> {
    const LONG_LINES: usize = 500;
    let mut long = Vec::new();
    for path in sources {
        let lines = String::from_utf8_lossy(&fs::read(path)?).lines().count();
        if lines > LONG_LINES {
            let name = path.strip_prefix(&workspace.root).unwrap_or(path).display();
            long.push(format!("{name} has {lines} lines"));
        }
    }
    Ok(long.join(", "))
}
