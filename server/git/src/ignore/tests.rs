use std::{fs, process::Command};

use proptest::prelude::*;

use super::*;

/// What git itself says of the path with these rules.
fn git_ignores(rules: &[u8], path: &str) -> bool {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder.path()).args(["-c", "core.excludesFile=/dev/null"]).args(arguments);
        git.output().unwrap()
    };
    git(&["init", "-q", "--template="]);
    fs::create_dir_all(folder.path().join(".git/info")).unwrap();
    fs::write(folder.path().join(".git/info/exclude"), rules).unwrap();
    let file = folder.path().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "").unwrap();
    git(&["status", "--porcelain", "-uall"]).stdout.is_empty()
}

fn ours_ignores(rules: &[u8], path: &str) -> bool {
    let mut all = Rules::default();
    all.push(rules, 0);
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    let ignores = |path: &str, is_folder| all.ignore(path.as_bytes(), is_folder, &Limits::default()).unwrap();
    folders.into_iter().any(|folder| ignores(folder, true)) || ignores(path, false)
}

#[track_caller]
fn check(rules: &str, path: &str, expected: bool) {
    assert_eq!(ours_ignores(rules.as_bytes(), path), expected, "{rules:?} {path:?}");
    assert_eq!(git_ignores(rules.as_bytes(), path), expected, "git itself: {rules:?} {path:?}");
}

#[test]
fn rules_mean_what_they_mean_to_git() {
    check("*.o", "a/b.o", true);
    check("/b.o", "a/b.o", false);
    check("a/b.o", "a/b.o", true);
    check("a/b.o", "x/a/b.o", false);
    check("**/a/b", "x/y/a/b", true);
    check("a/**/b", "a/b", true);
    check("a/**/b", "a/x/y/b", true);
    check("a/**", "a/x/y", true);
    check("a**b", "a/x/b", false);
    check("a**/b", "ab", true);
    check("a?**/b", "aab", false);
    check("/a**", "ab/c", true);
    check("target/", "target/x", true);
    check("target/", "x/target", false);
    check("*.o\n!b.o", "b.o", false);
    check("a/\n!a/b.o", "a/b.o", true);
    check("x[a-c]\\*", "xb*", true);
    check("x[!a-c]", "xb", false);
    check("x[[:digit:]]", "x7", true);
    check("end  ", "end", true);
    check("end\\ ", "end ", true);
    check("\\#a\n#b", "#a", true);
    check("\u{feff}a\r\n", "a", true);
    check("open[", "open[", false);
    check("tail\\", "tail", false);
}

/// A pattern that takes others an exponential time. The test itself would not end.
#[test]
fn no_pattern_takes_for_ever() {
    let rules = format!("{}z", "*a".repeat(200));
    assert!(!ours_ignores(rules.as_bytes(), &"a".repeat(250)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_rules_mean_what_they_mean_to_git(
        rules in "(!?/?([abc*?/]|\\*\\*/|\\[ab\\]|\\[!a\\]| ){1,6}\n){1,3}",
        path in "[abc]{1,3}(/[abc]{1,2}){0,3}",
    ) {
        prop_assert_eq!(ours_ignores(rules.as_bytes(), &path), git_ignores(rules.as_bytes(), &path));
    }
}

/// Rules that would take longer than anybody waits.
#[test]
fn hostile_rules_end_with_the_limits() {
    let mut all = Rules::default();
    all.push("*a*b*c*d*e\n".repeat(10_000).as_bytes(), 0);
    let stopped = Limits::default();
    stopped.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(all.ignore(b"x", false, &stopped), Err(Error::Cancelled)));
    assert!(!all.ignore(b"x", false, &Limits::default()).unwrap(), "the control");
}

#[test]
fn only_so_much_is_read_of_rules() {
    let top = tempfile::tempdir().unwrap();
    let long = format!("{}\nfirst\n", "x".repeat(RULES_BYTES_MAX as usize - 8));
    fs::write(top.path().join(".gitignore"), long).unwrap();
    fs::create_dir(top.path().join("below")).unwrap();
    fs::write(top.path().join("below/.gitignore"), "second\n").unwrap();
    let folder = Folder::open(top.path()).unwrap();
    let mut all = Rules::default();
    all.enter(&folder, 0).unwrap();
    all.enter(&folder.enter(b"below").unwrap(), 6).unwrap();
    let ignores = |path: &str| all.ignore(path.as_bytes(), false, &Limits::default()).unwrap();
    assert!(ignores("first") && !ignores("below/second"));
}
