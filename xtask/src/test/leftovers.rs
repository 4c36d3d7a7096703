//! After the suite nothing of an agent runs any more.

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
        .filter(|entry| fs::read(entry.path().join("environ")).is_ok_and(|it| is_ours(&it)))
        .map(|entry| described(&entry.path()))
        .collect();
    match left.as_slice() {
        [] => Ok("no process of an agent is left".to_owned()),
        left => bail!("processes of agents are left:\n{}", left.join("\n")),
    }
}

fn is_ours(environment: &[u8]) -> bool {
    let text = String::from_utf8_lossy(environment);
    let has = |name: &str, part: &str| text.split('\0').any(|it| it.starts_with(name) && it.contains(part));
    let is_marked_so = OUR_MARKS.iter().any(|mark| has(mark, ""));
    is_marked_so || (has(MARK, "") && OURS.iter().any(|folder| has("HOME=", folder)))
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
    fn only_what_a_test_started_counts() {
        let of = |text: &str| is_ours(text.replace(' ', "\0").as_bytes());
        assert!(of("PATH=/bin BOOCODE_TASK=a/b.1 HOME=/tmp/boocode-e2e-x/data/worktrees/1/home"));
        assert!(!of("PATH=/bin BOOCODE_TASK=a/b.1 HOME=/home/ada/.local/share/boocode/worktrees/1/home"));
        assert!(!of("PATH=/bin HOME=/tmp/boocode-e2e-x/home"));
        assert!(of("PATH=/bin BOOCODE_TASK=wall-test-7-1/task.1 HOME=/tmp/.tmpx/home"));
        assert!(of("PATH=/bin BOOCODE_TASK=test/task.1 HOME=/tmp/.tmpx/home"));
    }
}
