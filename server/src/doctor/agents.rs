//! The agents that BooCode can start, and what would keep them inside.

use std::path::{Path, PathBuf};

use acp::{
    Agent,
    install::{self, Installed},
};
use domain::backend::NATIVE;
use wall::Level;

use super::{Finding, Verdict};
use crate::{coder, config::ConfiguredAgent};

/// `root` is where agents are installed, `flow_backend` who works in flows.
pub(super) async fn examine(
    root: Option<PathBuf>,
    configured: &[ConfiguredAgent],
    flow_backend: &str,
) -> Vec<Finding> {
    let mut findings = vec![wall().await];
    match root {
        Some(root) => {
            let agents = coder::agents::all(configured);
            findings.extend(agents.iter().map(|agent| look(&root, agent)));
            findings.push(flows(&root, &agents, flow_backend));
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

/// Without whoever works in them no flow begins.
fn flows(root: &Path, agents: &[&'static Agent], backend: &str) -> Finding {
    const NAME: &str = "flows";
    const OTHER: &str = "--flow-backend native, or another agent";
    if backend == NATIVE {
        return Finding::fine(NAME, "carried out by BooCode's own agent");
    }
    let Some(agent) = agents.iter().find(|agent| agent.name == backend) else {
        return Finding::absent(NAME, format!("there is no agent called {backend}"), OTHER);
    };
    match look(root, agent).verdict {
        Verdict::Fine => Finding::fine(NAME, format!("carried out by {}", agent.title)),
        Verdict::Absent | Verdict::Broken => {
            Finding::absent(NAME, format!("{} would carry them out and is not there", agent.title), OTHER)
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
        Level::Full { .. } | Level::Reduced { .. } => Finding::fine("wall", level.to_string()),
        Level::None { .. } => Finding::absent("wall", level.to_string(), "see Kernel"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn who_works_in_flows() {
        let root = tempfile::tempdir().unwrap();
        let check = |backend: &str, verdict: Verdict, expected: &str| {
            let found = flows(root.path(), &acp::agents::ALL, backend);
            assert_eq!((found.verdict, found.detail.as_str()), (verdict, expected), "{backend}");
        };
        check("native", Verdict::Fine, "carried out by BooCode's own agent");
        check("qwen", Verdict::Absent, "Qwen Code would carry them out and is not there");
        check("nobody", Verdict::Absent, "there is no agent called nobody");
    }
}
