//! The agents that BooCode can start, and what would keep them inside.

use std::path::{Path, PathBuf};

use acp::{
    Agent, agents,
    install::{self, Installed},
};
use wall::Level;

use super::Finding;

/// `root` is where agents are installed.
pub(super) async fn examine(root: Option<PathBuf>) -> Vec<Finding> {
    let mut findings = vec![wall().await];
    match root {
        Some(root) => findings.extend(agents::ALL.into_iter().map(|agent| look(&root, agent))),
        None => findings.push(Finding::absent("agents", "there is no folder to look in", "set HOME")),
    }
    findings
}

fn look(root: &Path, agent: &Agent) -> Finding {
    let folder = install::folder(root, agent);
    if !install::runs_here(agent) {
        return Finding::fine(agent.title, "not made for this processor");
    }
    let by_hand = || format!("Settings, Agents, or: {}", install::by_hand(root, agent));
    match install::installed(root, agent) {
        Installed::Yes => {
            Finding::fine(agent.title, format!("{} ({})", agent.package.version, folder.display()))
        }
        Installed::No => Finding::absent(agent.title, "not installed", by_hand()),
        Installed::Other { version } => {
            let detail = format!("{version} is installed, {} is needed", agent.package.version);
            Finding::absent(agent.title, detail, by_hand())
        }
    }
}

/// Tried by doing it, with this very program.
async fn wall() -> Finding {
    let Ok(helper) = std::env::current_exe().and_then(|program| program.canonicalize()) else {
        return Finding::absent("wall", "this program cannot be found", "start it by its path");
    };
    let level = wall::level(&helper).await;
    match &level {
        Level::Full | Level::Reduced(_) => Finding::fine("wall", level.to_string()),
        Level::None { .. } => Finding::absent("wall", level.to_string(), "see Kernel"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    #[test]
    fn what_is_installed_and_what_is_not() {
        let root = tempfile::tempdir().unwrap();
        let agent = &agents::qwen::QWEN;
        let found = look(root.path(), agent);
        assert_eq!((found.verdict, found.detail.as_str()), (Verdict::Absent, "not installed"));
        assert!(found.fix.is_some_and(|fix| fix.contains("npm")));
        let package = install::folder(root.path(), agent).join("node_modules").join(agent.package.name);
        std::fs::create_dir_all(&package).unwrap();
        let json = format!(r#"{{"name":"{}","version":"0.0.1"}}"#, agent.package.name);
        std::fs::write(package.join("package.json"), json).unwrap();
        let found = look(root.path(), agent);
        assert_eq!(found.verdict, Verdict::Absent, "{found:?}");
    }
}
