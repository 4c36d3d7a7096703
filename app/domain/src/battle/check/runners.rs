//! What the common runners of tests write, and what their files are called.

use std::collections::BTreeSet;

use crate::worktree::Changes;

/// More names of failed tests are not kept.
pub(super) const FAILURES_MAX: usize = 200;

/// The tests that an output names as failed, as the common runners write them.
pub(super) fn failures(said: &str) -> Vec<String> {
    let mut names = BTreeSet::new();
    for line in said.lines() {
        let line = plain(line);
        if let Some(name) = failed(line.trim())
            && names.len() < FAILURES_MAX
        {
            names.insert(without_line(name).chars().take(200).collect());
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

/// A test in a document is called by the line that it stands in, which is another one when something is written above.
fn without_line(name: &str) -> String {
    let Some((before, rest)) = name.split_once(" (line ") else { return name.to_owned() };
    match rest.split_once(')') {
        Some((line, after)) if line.bytes().all(|b| b.is_ascii_digit()) => format!("{before}{after}"),
        _ => name.to_owned(),
    }
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

/// The changed files that tests are made of, or were before they were moved. Whoever changes those may have made them
/// pass that way.
pub fn changed_tests(changes: &Changes) -> Vec<&str> {
    let paths = changes.files.iter().map(|file| [Some(&file.path), file.moved_from.as_ref()]);
    paths
        .filter_map(|of_one| of_one.into_iter().flatten().map(String::as_str).find(|path| is_test(path)))
        .collect()
}

fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    // `commonTest`, `AppTests`: a folder is called by what it ends with.
    let ends = |name: &str| ["Test", "Tests", "Spec", "Specs"].iter().any(|end| name.ends_with(end));
    let is_hump = folders.split('/').any(ends) || has_hump(name.split('.').next().unwrap_or(name));
    let path = path.to_ascii_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let in_folder = folders.split('/').any(|folder| {
        let last = folder.rsplit('.').next().unwrap_or(folder);
        let is_of_tests = matches!(last, "test" | "tests" | "spec" | "specs" | "e2e" | "end2end");
        is_of_tests || matches!(folder, "__tests__" | "__snapshots__")
    });
    let stem = name.split('.').next().unwrap_or(name);
    let parts: Vec<_> = name.split(['.', '_', '-']).collect();
    let named = parts.iter().any(|part| matches!(*part, "test" | "tests" | "spec"));
    let is_snapshot = name.ends_with(".snap");
    in_folder || is_hump || named || is_snapshot || stem.starts_with("test_") || stem == "conftest"
}

/// Whether a name that is written together has a word for tests in it: `FooTests`, `TestFoo`, `FooSpec`.
fn has_hump(stem: &str) -> bool {
    let ends_word = |rest: &str| !rest.starts_with(|next: char| next.is_lowercase());
    let mut tests = stem.match_indices("Test").map(|(at, word)| &stem[at + word.len()..]);
    tests.any(|rest| ends_word(rest.strip_prefix('s').unwrap_or(rest))) || stem.ends_with("Spec")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worktree::{Changed, Status};

    #[test]
    fn failed_tests_are_found_as_runners_name_them() {
        let check = |said: &str, expected: &[&str]| assert_eq!(failures(said), expected, "{said}");
        check("running 2 tests\ntest a::b ... FAILED\ntest a::c ... ok\n", &["a::b"]);
        check("test src/lib.rs - a::b (line 12) ... FAILED\n", &["src/lib.rs - a::b"]);
        check("test src/lib.rs - c (line 7) - compile fail ... FAILED\n", &["src/lib.rs - c - compile fail"]);
        check("test d (line of it) ... FAILED\n", &["d (line of it)"]);
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
    fn files_of_tests_are_told_by_their_names() {
        let check = |path: &str, expected: bool| assert_eq!(is_test(path), expected, "{path}");
        for path in [
            "tests/it/a.rs",
            "src/a_test.go",
            "src/a.spec.ts",
            "test_a.py",
            "app/__tests__/a.js",
            "src/tests.rs",
            "My.App.Tests/Login.cs",
            "App/FooTests.cs",
            "src/main/HTTPTests.swift",
            "src/TestLogin.java",
            "src/UserSpec.scala",
            "shared/src/commonTest/kotlin/a.kt",
            "app/src/androidTest/a.kt",
            "src/snapshots/a__b.snap",
            "src/__snapshots__/a.tsx",
        ] {
            check(path, true);
        }
        for path in [
            "src/attestation.rs",
            "src/main.rs",
            "contest/a.rs",
            "latest.md",
            "src/Testament.java",
            "src/Contest.java",
            "Greatest/Specs.cs",
            "src/snapshots/a.rs",
        ] {
            check(path, false);
        }
        let file = |path: &str| Changed {
            path: path.into(),
            moved_from: None,
            status: Status::Modified,
            added: 1,
            deleted: 0,
            is_binary: false,
        };
        let moved = |from: &str, to: &str| Changed { moved_from: Some(from.into()), ..file(to) };
        let files = vec![
            file("src/a.rs"),
            file("tests/a.rs"),
            moved("src/b.rs", "src/c.rs"),
            moved("tests/d.rs", "src/d.rs"),
            moved("src/e.rs", "tests/e.rs"),
        ];
        let changes = Changes { files, added: 2, ..Changes::default() };
        assert_eq!(changed_tests(&changes), ["tests/a.rs", "tests/d.rs", "tests/e.rs"]);
    }
}
