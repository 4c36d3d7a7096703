//! What stays of a worktree's work, and what others begin with.

use std::fs;

use git::{Limits, Snapshot, Worktree};

use crate::harness::{Ground, files, git};

fn limits() -> Limits {
    Limits::default()
}

#[test]
fn everybody_begins_with_the_same_whatever_happens_to_the_project() {
    let ground = Ground::new(&[("a", "one\n"), (".gitignore", "secret\n")]);
    ground.write("a", "mine\n");
    ground.write("new", "untracked\n");
    ground.write("secret", "key\n");
    let committed =
        Snapshot::take(&ground.dir.path().join("s1"), "s1", &ground.project(), false, &limits()).unwrap();
    let carried =
        Snapshot::take(&ground.dir.path().join("s2"), "s2", &ground.project(), true, &limits()).unwrap();
    ground.write("a", "later\n");
    ground.git(&["add", "-A"]);
    ground.git(&["commit", "-qm", "later"]);
    let begin = |snapshot: &Snapshot, id: &str| {
        snapshot.worktree(&ground.dir.path().join(id), id, &limits()).unwrap()
    };
    let text = |worktree: &Worktree, path: &str| fs::read_to_string(worktree.tree().join(path)).ok();
    let (first, second) = (begin(&committed, "w1"), begin(&carried, "w2"));
    assert_eq!(text(&first, "a").as_deref(), Some("one\n"));
    assert_eq!((text(&first, "new"), text(&second, "secret")), (None, None));
    assert_eq!(text(&second, "a").as_deref(), Some("mine\n"));
    assert_eq!(text(&second, "new").as_deref(), Some("untracked\n"));
    // Nothing of it counts as the agent's change.
    assert!(second.diff(&limits()).unwrap().files.is_empty() && first.base() == second.base());
    let again = Snapshot::open(&ground.dir.path().join("s2")).unwrap();
    assert_eq!(again.text(b"a", 100).unwrap().as_deref(), Some(&b"mine\n"[..]));
    assert_eq!(again.text(b"secret", 100).unwrap(), None);
    assert_eq!(again.paths().unwrap(), [&b".gitignore"[..], b"a", b"new"]);
}

#[test]
fn what_comes_along_is_what_it_was_when_the_snapshot_was_taken() {
    let ground = Ground::new(&[("a", "one\n"), (".gitignore", ".env\n")]);
    ground.write(".env", "key=1\n");
    ground.write("local.toml", "x=1\n");
    let copy = [".env".into(), "local.toml".into()];
    let start = git::Start { carry: false, copy: &copy };
    let folder = ground.dir.path().join("s");
    let snapshot = Snapshot::take_with(&folder, "s", &ground.project(), start, &limits()).unwrap();
    ground.write(".env", "key=2\n");
    fs::remove_file(ground.at("local.toml")).unwrap();
    let mut worktree = snapshot.worktree(&ground.dir.path().join("w"), "w", &limits()).unwrap();
    let text = |worktree: &Worktree, path: &str| fs::read_to_string(worktree.tree().join(path)).unwrap();
    assert_eq!([text(&worktree, ".env"), text(&worktree, "local.toml")], ["key=1\n", "x=1\n"]);
    assert!(worktree.diff(&limits()).unwrap().files.is_empty());
    // A result is checked with it too, and what git sees of it is as the result has it.
    fs::write(worktree.tree().join("local.toml"), "x=2\n").unwrap();
    fs::write(worktree.tree().join(".env"), "key=3\n").unwrap();
    worktree.seal(&limits()).unwrap();
    let again = Snapshot::open(&folder).unwrap();
    let checked = worktree.copy_result(&ground.dir.path().join("c"), "c", &again, &limits()).unwrap();
    assert_eq!([text(&checked, ".env"), text(&checked, "local.toml")], ["key=1\n", "x=2\n"]);
}

#[test]
fn a_change_is_told_since_the_commit_that_it_began_at() {
    let ground = Ground::new(&[("a", "one\n")]);
    let take = |id: &str| {
        Snapshot::take(&ground.dir.path().join(id), id, &ground.project(), true, &limits()).unwrap()
    };
    let head = || String::from_utf8(ground.git(&["rev-parse", "HEAD"])).unwrap().trim().to_owned();
    let (first, same) = (take("s1"), take("s2"));
    assert_eq!((first.since("").unwrap(), first.content()), (None, same.content()), "nothing was changed");
    // What is not committed.
    let main = head();
    ground.write("a", "two\n");
    let changed = take("s3");
    assert_eq!(changed.since("").unwrap().as_deref(), Some(main.as_str()));
    assert_ne!(changed.content(), first.content());
    let patch = String::from_utf8(changed.patch_since(&main, "", 10_000).unwrap()).unwrap();
    assert!(patch.contains("\n-one\n+two\n"), "{patch}");
    assert!(changed.patch_since(&main, "", 10).unwrap().len() < patch.len());
    // A branch that left the main one.
    ground.git(&["checkout", "-q", "-b", "feature"]);
    ground.commit("second");
    let branch = take("s4");
    assert_eq!(branch.since("").unwrap().as_deref(), Some(main.as_str()));
    // The project may go on; what was taken stays.
    ground.write("a", "three\n");
    ground.commit("third");
    assert_eq!(branch.patch_since(&main, "", 10_000).unwrap(), patch.as_bytes());
    assert_eq!(branch.reader().unwrap().text(b"a", 100).unwrap().as_deref(), Some(&b"two\n"[..]));
}

/// A clone often has no main branch but the one of the server that it came from.
#[test]
fn a_change_is_told_since_the_main_branch_of_wherever_a_project_came_from() {
    let check = |refs: &[&str], expected: bool| {
        let ground = Ground::new(&[("a", "one\n")]);
        let head = || String::from_utf8(ground.git(&["rev-parse", "HEAD"])).unwrap().trim().to_owned();
        let first = head();
        ground.git(&["branch", "-M", "feature"]);
        for name in refs {
            match name.split_once(" -> ") {
                Some((name, other)) => ground.git(&["symbolic-ref", name, other]),
                None => ground.git(&["update-ref", name, &first]),
            };
        }
        ground.write("a", "two\n");
        ground.commit("second");
        let folder = ground.dir.path().join("s");
        let snapshot = Snapshot::take(&folder, "s", &ground.project(), true, &limits()).unwrap();
        assert_eq!(snapshot.since("").unwrap(), expected.then_some(first), "{refs:?}");
    };
    check(&[], false);
    check(&["refs/heads/master"], true);
    check(&["refs/heads/develop"], true);
    check(&["refs/remotes/origin/main"], true);
    check(&["refs/remotes/origin/develop"], true);
    check(&["refs/remotes/origin/feature"], false);
    check(&["refs/remotes/origin/next", "refs/remotes/origin/HEAD -> refs/remotes/origin/next"], true);
    // One that leads nowhere says nothing.
    let nowhere = "refs/remotes/origin/HEAD -> refs/remotes/origin/gone";
    check(&[nowhere], false);
    check(&[nowhere, "refs/remotes/origin/main"], true);
}

/// What nobody else has yet is a change of the main branch, too.
#[test]
fn commits_that_were_not_pushed_are_a_change() {
    let ground = Ground::new(&[("a", "one\n")]);
    ground.git(&["checkout", "-q", "-B", "main"]);
    let first = String::from_utf8(ground.git(&["rev-parse", "HEAD"])).unwrap().trim().to_owned();
    ground.git(&["update-ref", "refs/remotes/origin/main", &first]);
    let take = |id: &str| {
        Snapshot::take(&ground.dir.path().join(id), id, &ground.project(), true, &limits()).unwrap()
    };
    assert_eq!(take("s1").since("").unwrap(), None);
    ground.write("a", "two\n");
    ground.commit("second");
    assert_eq!(take("s2").since("").unwrap(), Some(first));
}

#[test]
fn only_what_lies_in_the_target_counts_as_changed() {
    let ground = Ground::new(&[("src/a", "one\n"), ("docs/b", "two\n"), ("c", "three\n")]);
    let take = |id: &str| {
        Snapshot::take(&ground.dir.path().join(id), id, &ground.project(), true, &limits()).unwrap()
    };
    let first = take("s1");
    ground.write("src/a", "one more\n");
    let head = String::from_utf8(ground.git(&["rev-parse", "HEAD"])).unwrap().trim().to_owned();
    let check = |snapshot: &Snapshot, target: &str, changed: bool| {
        assert_eq!(snapshot.since(target).unwrap().is_some(), changed, "{target}");
        let patch = snapshot.patch_since(&head, target, 10_000).unwrap();
        assert_eq!(!patch.is_empty(), changed, "{target}: {}", String::from_utf8_lossy(&patch));
    };
    let changed = take("s2");
    for (target, is_changed) in [("", true), ("src", true), ("src/a", true), ("docs", false), ("c", false)] {
        check(&changed, target, is_changed);
    }
    // On a branch too.
    ground.git(&["checkout", "-q", "-b", "feature"]);
    ground.commit("second");
    let branch = take("s3");
    check(&branch, "src", true);
    check(&branch, "docs", false);
    assert_eq!(branch.text_in(&head, b"src/a", 100).unwrap().as_deref(), Some(&b"one\n"[..]));
    // What differs between two moments is told by name.
    ground.write("new", "x\n");
    std::fs::remove_file(ground.project().join("c")).unwrap();
    let differing = |one: &Snapshot, other: &Snapshot| -> Vec<String> {
        let paths = one.differing(other).unwrap();
        paths.into_iter().map(|path| String::from_utf8(path).unwrap()).collect()
    };
    assert_eq!(differing(&first, &take("s4")), ["c", "new", "src/a"]);
    assert_eq!(differing(&branch, &changed), [""; 0]);
}

#[test]
fn a_result_stays_as_it_was_and_can_be_compared_copied_and_adopted() {
    let ground = Ground::new(&[("a", "one\n"), ("b", "two\n")]);
    let mut one = ground.worktree("w1");
    let mut other = ground.worktree("w2");
    fs::write(one.tree().join("a"), "by one\n").unwrap();
    fs::write(one.tree().join("c"), "new\n").unwrap();
    fs::remove_file(other.tree().join("b")).unwrap();
    fs::write(other.tree().join("a"), "by other\n").unwrap();
    let sealed = one.seal(&limits()).unwrap();
    other.seal(&limits()).unwrap();
    assert_eq!(sealed.files.len(), 2);
    // Somebody goes on in the folder.
    fs::write(one.tree().join("a"), "later\n").unwrap();
    let one = Worktree::open(&ground.dir.path().join("w1")).unwrap();
    assert_eq!(one.result_text(b"a", 100).unwrap().as_deref(), Some(&b"by one\n"[..]));

    let between = one.compare(&other, &limits()).unwrap();
    let told: Vec<_> = between.files.iter().map(|file| (file.display(), file.status)).collect();
    use git::Status::{Deleted, Modified};
    assert_eq!(told, [("a".into(), Modified), ("b".into(), Deleted), ("c".into(), Deleted)]);
    assert!(String::from_utf8_lossy(&between.patch).contains("-by one\n+by other\n"));

    let began_with =
        Snapshot::take(&ground.dir.path().join("s"), "s", &ground.project(), false, &limits()).unwrap();
    let copy = one.copy_result(&ground.dir.path().join("w3"), "w3", &began_with, &limits()).unwrap();
    let held = files(&copy.tree());
    assert_eq!(held[&b"a".to_vec()].1, b"by one\n");
    assert!(copy.diff(&limits()).unwrap().files.is_empty());

    let adopted = one.adopt_to_working_tree(&ground.project(), &limits()).unwrap();
    assert_eq!(adopted.changed.len(), 2);
    assert_eq!(fs::read_to_string(ground.at("a")).unwrap(), "by one\n");
    let author = git::Author { name: "A", email: "a@b.c" };
    other.adopt_as_commit(&ground.project(), "theirs", "It", author).unwrap();
    let shown = git(&ground.project(), &["show", "--stat", "--format=%s", "theirs"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.starts_with("It\n") && shown.contains("2 files changed"), "{shown}");
}

#[test]
fn without_a_result_there_is_nothing_to_adopt() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w1");
    fs::write(worktree.tree().join("a"), "two\n").unwrap();
    assert!(worktree.adopt_to_working_tree(&ground.project(), &limits()).is_err());
    assert_eq!(fs::read_to_string(ground.at("a")).unwrap(), "one\n");
}
