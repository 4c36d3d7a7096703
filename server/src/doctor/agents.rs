//! The agents that BooCode can start, and what would keep them inside.

use std::path::{Path, PathBuf};

use acp::{
    Agent,
    install::{self, Installed},
};
use wall::Level;

use super::Finding;
use crate::{coder, config::ConfiguredAgent};

/// `root` is where agents are installed.
pub(super) async fn examine(root: Option<PathBuf>, configured: &[ConfiguredAgent]) -> Vec<Finding> {
    let mut findings = vec![wall().await];
    match root {
        Some(root) => {
            findings.extend(coder::agents::all(configured).into_iter().map(|agent| look(&root, agent)))
        }
        None => findings.push(Finding::absent("agents", "there is no folder to look in", "set HOME")),
    }
    findings
}

fn look(root: &Path, agent: &Agent) -> Finding {
    let folder = install::folder(root, agent);
    if !install::runs_here(agent) {
        return Finding::fine(agent.title, "not made for this processor");
    }
    let Some(package) = &agent.package else { return look_at_program(agent) };
    let by_hand = || format!("Settings, Agents, or: {}", install::by_hand(root, agent).unwrap_or_default());
    match install::installed(root, agent) {
        Installed::Yes => Finding::fine(agent.title, format!("{} ({})", package.version, folder.display())),
        Installed::No => Finding::absent(agent.title, "not installed", by_hand()),
        Installed::Other { version } => {
            let detail = format!("{version} is installed, {} is needed", package.version);
            Finding::absent(agent.title, detail, by_hand())
        }
    }
}

fn look_at_program(agent: &Agent) -> Finding {
    match Path::new(agent.program).is_file() {
        true => Finding::fine(agent.title, format!("of yours ({})", agent.program)),
        false => Finding::absent(
            agent.title,
            "there is no such program",
            format!("correct the command of {} in boocode.toml", agent.name),
        ),
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
        let agent = &acp::agents::qwen::QWEN;
        let found = look(root.path(), agent);
        assert_eq!((found.verdict, found.detail.as_str()), (Verdict::Absent, "not installed"));
        assert!(found.fix.is_some_and(|fix| fix.contains("npm")));
        let name = agent.package.as_ref().unwrap().name;
        let package = install::folder(root.path(), agent).join("node_modules").join(name);
        std::fs::create_dir_all(&package).unwrap();
        let json = format!(r#"{{"name":"{name}","version":"0.0.1"}}"#);
        std::fs::write(package.join("package.json"), json).unwrap();
        let found = look(root.path(), agent);
        assert_eq!(found.verdict, Verdict::Absent, "{found:?}");
    }
}
