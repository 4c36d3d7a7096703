//! What a project's own command says of a result: evidence before opinion.
//!
//! It runs on the project as it was before, and then on each result in a clean tree. What failed before is not
//! charged to anybody.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{id::TaskId, worktree::Changes};

/// More names of failed tests are not kept.
pub const FAILURES_MAX: usize = 200;
/// The end of what the command said; its beginning is in its stream.
pub const TAIL_BYTES_MAX: usize = 4 * 1024;
/// The longest that a check may take.
pub const LIMIT_S: u32 = 20 * 60;

/// Which tree is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Base,
    Result(crate::id::ContestantId),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// There is none, or not yet.
    #[default]
    None,
    Pending {
        task: TaskId,
    },
    Done {
        task: TaskId,
        checked: Checked,
    },
    /// It could not be run, which says nothing about the result.
    Void {
        reason: String,
    },
}

impl CheckState {
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Pending { task } | Self::Done { task, .. } => Some(*task),
            Self::None | Self::Void { .. } => None,
        }
    }

    pub fn checked(&self) -> Option<&Checked> {
        match self {
            Self::Done { checked, .. } => Some(checked),
            Self::None | Self::Pending { .. } | Self::Void { .. } => None,
        }
    }

    pub fn is_pending(&self) -> bool {
        matches!(self, Self::Pending { .. })
    }
}

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// None where a signal or the clock ended it.
    pub code: Option<i32>,
    pub duration_ms: u64,
    /// The tests that it named as failed.
    pub failures: Vec<String>,
    pub tail: String,
}

impl Checked {
    pub fn new(code: Option<i32>, duration_ms: u64, said: &str) -> Self {
        let from = said.len().saturating_sub(TAIL_BYTES_MAX);
        let tail = &said[said.ceil_char_boundary(from)..];
        Self { code, duration_ms, failures: failures(said), tail: tail.trim().to_owned() }
    }

    pub fn passed(&self) -> bool {
        self.code == Some(0)
    }

    /// What of it is to be charged to whoever changed the base.
    pub fn compared(&self, base: Option<&Checked>) -> Compared {
        let base_passed = base.is_some_and(Checked::passed);
        if self.passed() {
            return if base_passed || base.is_none() { Compared::Passes } else { Compared::Mends };
        }
        let Some(base) = base.filter(|base| !base.passed()) else {
            return Compared::Breaks(self.failures.clone());
        };
        let known: BTreeSet<_> = base.failures.iter().collect();
        let new: Vec<_> = self.failures.iter().filter(|name| !known.contains(name)).cloned().collect();
        // A base without names did not even come to its tests.
        if new.is_empty() || known.is_empty() { Compared::FailsToo } else { Compared::Breaks(new) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    Passes,
    /// What failed before passes now.
    Mends,
    /// It fails as it failed before.
    FailsToo,
    /// It failed where it did not before; the new failures by name, as far as they have one.
    Breaks(Vec<String>),
}

impl Compared {
    pub fn words(&self) -> String {
        match self {
            Self::Passes => "check passes".to_owned(),
            Self::Mends => "check passes, it failed before".to_owned(),
            Self::FailsToo => "check fails as it did before".to_owned(),
            Self::Breaks(new) if new.is_empty() => "check fails, it passed before".to_owned(),
            Self::Breaks(new) if new.len() == 1 => format!("1 new failure: {}", new[0]),
            Self::Breaks(new) => format!("{} new failures: {}", new.len(), new.join(", ")),
        }
    }
}

/// The tests that an output names as failed, as the common runners write them.
fn failures(said: &str) -> Vec<String> {
    let mut names = BTreeSet::new();
    for line in said.lines() {
        let line = plain(line);
        if let Some(name) = failed(line.trim())
            && names.len() < FAILURES_MAX
        {
            names.insert(name.chars().take(200).collect());
        }
    }
    names.into_iter().collect()
}

fn failed(line: &str) -> Option<&str> {
    // cargo: `test a::b ... FAILED`
    if let Some(rest) = line.strip_prefix("test ") {
        return rest.strip_suffix(" ... FAILED").map(str::trim);
    }
    // nextest: `FAIL [   0.01s] crate a::b`, vitest and jest: `FAIL  src/a.test.ts > b`
    if let Some(rest) = line.strip_prefix("FAIL ") {
        let rest = rest.trim_start();
        let rest = match rest.strip_prefix('[') {
            Some(timed) => timed.split_once(']').map_or(timed, |(_, rest)| rest),
            None => rest,
        };
        return Some(rest.trim()).filter(|rest| !rest.is_empty());
    }
    // pytest: `FAILED tests/a.py::b - AssertionError`
    if let Some(rest) = line.strip_prefix("FAILED ") {
        let rest = rest.split(" - ").next().unwrap_or(rest).trim();
        return (rest.contains("::") || rest.contains('.')).then_some(rest);
    }
    // go: `--- FAIL: TestA (0.00s)`
    if let Some(rest) = line.strip_prefix("--- FAIL: ") {
        return without_time(rest);
    }
    // TAP: `not ok 3 - b`
    if let Some(rest) = line.strip_prefix("not ok ") {
        let rest =
            rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches([' ', '-']).trim();
        // Its directives are told apart by their letters alone, not by their case.
        let lower = rest.to_ascii_lowercase();
        let is_excused = ["# todo", "# skip"].iter().any(|directive| lower.contains(directive));
        return Some(rest).filter(|rest| !rest.is_empty() && !is_excused);
    }
    // mocha, node and others mark a failed one with a cross.
    let rest = ["✗ ", "✕ ", "✘ ", "× ", "✖ "].iter().find_map(|mark| line.strip_prefix(mark))?;
    without_time(rest)
}

/// `sorts (3 ms)` is called `sorts`.
fn without_time(name: &str) -> Option<&str> {
    name.split(" (").next().map(str::trim).filter(|name| !name.is_empty())
}

/// Without the colours of a terminal.
fn plain(line: &str) -> String {
    let (mut text, mut letters) = (String::with_capacity(line.len()), line.chars());
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            letters.by_ref().find(|c| c.is_ascii_alphabetic());
        } else {
            text.push(letter);
        }
    }
    text
}

/// The changed files that tests are made of. Whoever changes those may have made them pass that way.
pub fn changed_tests(changes: &Changes) -> Vec<&str> {
    changes.files.iter().map(|file| file.path.as_str()).filter(|path| is_test(path)).collect()
}

fn is_test(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let in_folder = folders.split('/').any(|folder| {
        matches!(folder, "test" | "tests" | "spec" | "specs" | "__tests__" | "e2e" | "end2end")
    });
    let stem = name.split('.').next().unwrap_or(name);
    let parts: Vec<_> = name.split(['.', '_', '-']).collect();
    let named = parts.iter().any(|part| matches!(*part, "test" | "tests" | "spec"));
    in_folder || named || stem.starts_with("test_") || stem == "conftest"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worktree::{Changed, Status};

    #[test]
    fn failed_tests_are_found_as_runners_name_them() {
        let check = |said: &str, expected: &[&str]| assert_eq!(failures(said), expected, "{said}");
        check("running 2 tests\ntest a::b ... FAILED\ntest a::c ... ok\n", &["a::b"]);
        check("        FAIL [   0.012s] store::it claim::two\n", &["store::it claim::two"]);
        check("FAILED tests/test_a.py::test_b - AssertionError: 1 == 2\n", &["tests/test_a.py::test_b"]);
        check(
            "--- FAIL: TestSort (0.00s)\n    --- FAIL: TestSort/empty (0.00s)\n",
            &["TestSort", "TestSort/empty"],
        );
        check(" FAIL  src/a.test.ts > sorts\n  ✕ sorts (3 ms)\n", &["sorts", "src/a.test.ts > sorts"]);
        check("not ok 3 - sorts\nnot ok 4 - later # todo\nnot ok 5 - off # SKIP\nok 5 - b", &["sorts"]);
        check("\u{1b}[31m✖ sorts\u{1b}[0m", &["sorts"]);
        check("error: it failed\nFAILED (failures=1)\ntest result: FAILED. 1 passed", &[]);
    }

    #[test]
    fn what_failed_before_is_not_charged() {
        let run = |word: &str| {
            let names = word.trim_start_matches(['+', '-']);
            let failures = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            let code = Some(if word.starts_with('+') { 0 } else { 1 });
            Checked { code, duration_ms: 1, failures, tail: String::new() }
        };
        let check = |base: &str, own: &str, expected: &str| {
            let base = (!base.is_empty()).then(|| run(base));
            assert_eq!(run(own).compared(base.as_ref()).words(), expected, "{own} after {base:?}");
        };
        check("+", "+", "check passes");
        check("", "+", "check passes");
        check("-a", "+", "check passes, it failed before");
        check("-a,b", "-b", "check fails as it did before");
        check("-a", "-a,b", "1 new failure: b");
        check("+", "-a,b", "2 new failures: a, b");
        check("+", "-", "check fails, it passed before");
        // One that did not compile before has no names to compare.
        check("-", "-a", "check fails as it did before");
        check("-", "-", "check fails as it did before");
    }

    #[test]
    fn files_of_tests_are_told_by_their_names() {
        let check = |path: &str, expected: bool| assert_eq!(is_test(path), expected, "{path}");
        for path in [
            "tests/it/a.rs",
            "src/a_test.go",
            "src/a.spec.ts",
            "test_a.py",
            "app/__tests__/a.js",
            "src/tests.rs",
        ] {
            check(path, true);
        }
        for path in ["src/attestation.rs", "src/main.rs", "contest/a.rs", "latest.md"] {
            check(path, false);
        }
        let file = |path: &str| Changed {
            path: path.into(),
            status: Status::Modified,
            added: 1,
            deleted: 0,
            is_binary: false,
        };
        let changes =
            Changes { files: vec![file("src/a.rs"), file("tests/a.rs")], added: 2, ..Changes::default() };
        assert_eq!(changed_tests(&changes), ["tests/a.rs"]);
    }

    #[test]
    fn the_end_of_what_was_said_is_kept() {
        let said = format!("{}é end", "x".repeat(TAIL_BYTES_MAX));
        let checked = Checked::new(Some(1), 7, &said);
        assert!(checked.tail.len() <= TAIL_BYTES_MAX && checked.tail.ends_with("é end"));
        assert!(!checked.passed());
    }
}
