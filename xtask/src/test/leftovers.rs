//! After the suite nothing that a test started runs any more: no agent, no server, no Postgres.

use anyhow::{Result, bail};
use std::{fs, path::Path};

/// In the environment of every process of a task.
const MARK: &str = "BOOCODE_TASK=";
/// The folders of tests, and how those of the wall mark what they start. A workspace that somebody uses meanwhile is
/// none of ours.
const OURS: [&str; 2] = ["/boocode-test-", "/boocode-e2e-"];
const OUR_MARKS: [&str; 2] = ["BOOCODE_TASK=wall-test-", "BOOCODE_TASK=test"];

pub fn check() -> Result<String> {
    let left: Vec<String> = fs::read_dir("/proc")?
        .flatten()
        .map(|entry| entry.path())
        .filter(|process| is_of_an_agent(process) || is_of_a_test(process))
        .map(|process| described(&process))
        .collect();
    match left.as_slice() {
        [] => Ok("no process of a test is left".to_owned()),
        left => bail!("processes of tests are left:\n{}", left.join("\n")),
    }
}

fn is_of_an_agent(process: &Path) -> bool {
    fs::read(process.join("environ")).is_ok_and(|environment| is_ours(&environment))
}

fn is_ours(environment: &[u8]) -> bool {
    let text = String::from_utf8_lossy(environment);
    let has = |name: &str, part: &str| text.split('\0').any(|it| it.starts_with(name) && it.contains(part));
    let is_marked_so = OUR_MARKS.iter().any(|mark| has(mark, ""));
    is_marked_so || (has(MARK, "") && OURS.iter().any(|folder| has("HOME=", folder)))
}

/// A server that a test started, or its Postgres, has no mark: it runs in a test's folder, or is told of one.
fn is_of_a_test(process: &Path) -> bool {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    let places = ["cwd", "exe"].map(|name| fs::read_link(process.join(name)).unwrap_or_default());
    is_in_ours(&String::from_utf8_lossy(&line))
        || places.iter().any(|place| is_in_ours(&place.to_string_lossy()))
}

fn is_in_ours(text: &str) -> bool {
    OURS.iter().any(|folder| text.contains(folder))
}

fn described(process: &Path) -> String {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    let number = process.file_name().unwrap_or_default().to_string_lossy().into_owned();
    format!("{number}: {}", String::from_utf8_lossy(&line).replace('\0', " ").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_where_it_runs() {
        let folder = tempfile::Builder::new().prefix("boocode-test-").tempdir().unwrap();
        let mut sleep = std::process::Command::new("sleep");
        let mut child = sleep.arg("60").current_dir(folder.path()).spawn().unwrap();
        let process = Path::new("/proc").join(child.id().to_string());
        let (is_known, other) = (is_of_a_test(&process), is_of_a_test(Path::new("/proc/self")));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_known && !other);
        assert!(is_in_ours("boocode\0serve\0--data-dir\0/tmp/boocode-e2e-x/data"));
        assert!(!is_in_ours("boocode\0serve\0--data-dir\0/home/ada/.local/share/boocode"));
    }

    #[test]
    fn only_what_a_test_started_counts() {
        let of = |text: &str| is_ours(text.replace(' ', "\0").as_bytes());
        assert!(of("PATH=/bin BOOCODE_TASK=a/b.1 HOME=/tmp/boocode-e2e-x/data/worktrees/1/home"));
        assert!(!of("PATH=/bin BOOCODE_TASK=a/b.1 HOME=/home/ada/.local/share/boocode/worktrees/1/home"));
        assert!(!of("PATH=/bin HOME=/tmp/boocode-e2e-x/home"));
        assert!(of("PATH=/bin BOOCODE_TASK=wall-test-7-1/task.1 HOME=/tmp/.tmpx/home"));
        assert!(of("PATH=/bin BOOCODE_TASK=test/task.1 HOME=/tmp/.tmpx/home"));
    }
}
