//! What the browser downloads must not contain what only a server needs.

use crate::workspace::Workspace;
use anyhow::{Result, bail};

/// Besides those that lie in `server`.
const SERVER_CRATES: [&str; 7] = ["axum", "git2", "hyper", "leptos_axum", "libgit2-sys", "reqwest", "rustls"];

pub fn faults(workspace: &Workspace) -> Result<Vec<String>> {
    let output = workspace
        .cargo()
        .args(["tree", "--package", "frontend", "--target", "wasm32-unknown-unknown", "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}|{f}"])
        .output()?;
    if !output.status.success() {
        bail!("cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    }
    let ours: Vec<&str> = workspace.packages_in("server").collect();
    Ok(forbidden(&String::from_utf8(output.stdout)?, &ours))
}

fn forbidden(tree: &str, ours: &[&str]) -> Vec<String> {
    let mut faults: Vec<String> = tree.lines().filter_map(|line| fault(line, ours)).collect();
    faults.sort();
    faults.dedup();
    faults
}

fn fault(line: &str, ours: &[&str]) -> Option<String> {
    let (package, features) = line.split_once('|')?;
    let name = package.split(' ').next()?;
    // tokio's channels are harmless; its runtime is a server's.
    let runtime = name == "tokio" && features.split([',', ' ']).any(|feature| feature == "rt");
    let database = name == "sqlx" || name.starts_with("sqlx-");
    (runtime || database || SERVER_CRATES.contains(&name) || ours.contains(&name))
        .then(|| format!("{name} is in the browser's module: cargo tree -p frontend --target wasm32-unknown-unknown -i {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tree: &str, names: &[&str]) {
        let faults = forbidden(tree, &["server", "store"]);
        let found: Vec<_> = faults.iter().map(|fault| fault.split(' ').next().unwrap()).collect();
        assert_eq!(found, names);
    }

    #[test]
    fn server_crates_are_found_once() {
        check("frontend v0.1.0 (/x/frontend)|\nleptos v0.8.23|hydrate,nonce\n", &[]);
        check("tokio v1.54.0|default,sync\n", &[]);
        check("tokio v1.54.0|default,rt,sync (*)\n", &["tokio"]);
        check(
            "store v0.1.0 (/x/server/store)|\nsqlx-core v0.9.0|\nstore v0.1.0 (/x/server/store)| (*)\n",
            &["sqlx-core", "store"],
        );
        check("axum-core v0.5.0|\n", &[]);
    }
}
