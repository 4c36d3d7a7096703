//! What a diff costs the browser's main thread, beside the least that any viewer must do and beside other viewers.

use super::browser;
use crate::{
    install::{NPM_LIMIT, Tools, node},
    process::quietly,
    stage::stage,
    workspace::Workspace,
};
use anyhow::{Context, Result};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, fs, path::PathBuf, process::Command, time::Duration};

const LIMIT: Duration = Duration::from_secs(60 * 60);
const FIRST_MAX: f64 = 2.0;
const GROWTH_MAX: f64 = 2.0;
const STEP_MAX: f64 = 1.5;
const NODES_MAX: f64 = 1_500.0;
const TASK_MS_MAX: f64 = 50.0;
/// In the order of the table.
const VIEWERS: [&str; 5] = ["floor", "ours", "pierre", "codemirror", "monaco"];
const CASES: [&str; 4] = ["1k", "10k", "100k", "one-10k"];
const MILLION: &str = "1m";

/// As `end2end/bench/diffview/measure.ts` has it.
#[derive(Clone, Copy, Deserialize)]
struct Seen {
    cpu: f64,
    step: f64,
    blank: f64,
    nodes: f64,
    longest: f64,
}

type Figures = BTreeMap<String, BTreeMap<String, Seen>>;

/// Tells whether every goal was reached.
pub fn measure(workspace: &Workspace) -> Result<bool> {
    let packages = stage("viewers", || packages(workspace))?;
    let text = browser::run(workspace, "diffview", LIMIT, &[("BENCH_PACKAGES", packages.into())])?;
    let figures: Figures = serde_json::from_str(&text)?;
    table(&figures).iter().for_each(|line| println!("{line}"));
    let goals = goals(&figures);
    for (words, reached) in &goals {
        println!("goal: {words} — {}", if *reached { "reached" } else { "missed" });
    }
    Ok(goals.iter().all(|(_, reached)| *reached))
}

/// The other viewers, as their lock file says, in a folder of their own: nothing else needs them.
fn packages(workspace: &Workspace) -> Result<PathBuf> {
    let (tools, source) = (Tools::locate()?, workspace.root.join("end2end/bench/diffview"));
    let lock = fs::read(source.join("package-lock.json"))?;
    let sum = format!("{:x}", Sha256::digest(&lock));
    let folder = tools.dir.join(format!("bench-diffview-{}", &sum[..12]));
    if !folder.join("node_modules/.package-lock.json").is_file() {
        fs::create_dir_all(&folder)?;
        for name in ["package.json", "package-lock.json"] {
            fs::copy(source.join(name), folder.join(name))?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&folder);
        npm.env("PATH", node::path(workspace, &tools)?);
        quietly(workspace, "viewers", NPM_LIMIT, &mut npm).context("npm ci of the viewers")?;
    }
    Ok(folder)
}

fn table(figures: &Figures) -> Vec<String> {
    let mut lines = vec![
        "main-thread CPU in ms, × the floor; blank is steps with a hole on the screen, task the longest one in ms"
            .to_owned(),
    ];
    for case in CASES.into_iter().chain([MILLION]) {
        let Some(seen) = figures.get(case) else { continue };
        let floor = seen.get("floor");
        for viewer in VIEWERS {
            let Some(own) = seen.get(viewer) else { continue };
            let times = |of: fn(&Seen) -> f64| match floor {
                Some(floor) => format!("{:>7.2} ({:>5.2} ×)", of(own), of(own) / of(floor)),
                None => format!("{:>7.2}          ", of(own)),
            };
            lines.push(format!(
                "  {case:<8} {viewer:<10} first {}  step {}  nodes {:>5}  blank {:>2}  task {:>4.0}",
                times(|seen| seen.cpu),
                times(|seen| seen.step),
                own.nodes,
                own.blank,
                own.longest
            ));
        }
    }
    lines
}

/// Each in words, and whether it was reached. What was not measured was not.
fn goals(figures: &Figures) -> Vec<(String, bool)> {
    let of = |case: &str, viewer: &str| figures.get(case).and_then(|seen| seen.get(viewer)).copied();
    let mut goals = Vec::new();
    let mut goal = |words: String, reached: Option<bool>| goals.push((words, reached.unwrap_or(false)));
    for case in CASES {
        let both = of(case, "ours").zip(of(case, "floor"));
        let ratio = |of: fn(&Seen) -> f64, max: f64| both.map(|(ours, floor)| of(&ours) <= max * of(&floor));
        goal(
            format!("{case}: the first screen within {FIRST_MAX} × the floor"),
            ratio(|it| it.cpu, FIRST_MAX),
        );
        goal(format!("{case}: a step within {STEP_MAX} × the floor"), ratio(|it| it.step, STEP_MAX));
        let ours = of(case, "ours");
        goal(format!("{case}: no blank frame"), ours.map(|it| it.blank == 0.0));
        goal(format!("{case}: at most {NODES_MAX} nodes"), ours.map(|it| it.nodes <= NODES_MAX));
        // In no round: whatever else the machine does then counts too, so this can be told of an idle one alone.
        goal(
            format!("{case}: no task over {TASK_MS_MAX} ms, on an idle machine"),
            ours.map(|it| it.longest <= TASK_MS_MAX),
        );
    }
    let growth = of("100k", "ours").zip(of("1k", "ours")).map(|(many, few)| many.cpu <= GROWTH_MAX * few.cpu);
    goal(format!("100,000 lines within {GROWTH_MAX} × 1,000 lines"), growth);
    let opens = of(MILLION, "ours").map(|it| it.nodes <= NODES_MAX && it.blank == 0.0);
    goal("1,000,000 lines open by windows".to_owned(), opens);
    goals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(ours: Seen) -> Figures {
        let floor = Seen { cpu: 10.0, step: 1.0, blank: 0.0, nodes: 100.0, longest: 0.0 };
        let both = BTreeMap::from([("floor".to_owned(), floor), ("ours".to_owned(), ours)]);
        CASES.into_iter().chain([MILLION]).map(|case| (case.to_owned(), both.clone())).collect()
    }

    #[test]
    fn each_goal_is_judged_by_its_own_figure() {
        let good = Seen { cpu: 19.0, step: 1.4, blank: 0.0, nodes: 1_400.0, longest: 40.0 };
        let check = |ours: Seen, missed: &[&str]| {
            let goals = goals(&figures(ours));
            let found: Vec<_> =
                goals.iter().filter(|(_, reached)| !reached).map(|(words, _)| words).collect();
            assert_eq!(found.len(), missed.len(), "{found:?}");
            found.iter().zip(missed).for_each(|(words, part)| assert!(words.contains(part), "{words}"));
        };
        check(good, &[]);
        check(Seen { cpu: 21.0, ..good }, &["the first screen"; 4]);
        check(Seen { step: 1.6, ..good }, &["a step"; 4]);
        check(Seen { longest: 60.0, ..good }, &["no task"; 4]);
        check(Seen { nodes: 1_501.0, ..good }, &["nodes", "nodes", "nodes", "nodes", "1,000,000"]);
        check(Seen { blank: 1.0, ..good }, &["blank", "blank", "blank", "blank", "1,000,000"]);
        assert!(super::goals(&Figures::new()).iter().all(|(_, reached)| !reached), "nothing was measured");
    }
}
