//! Two sides of any origin: the patch between them leads from the one to the other.

use std::fs;

use git::{Diff, Limits, Worktree};

use crate::harness::{Ground, files, fill, git, write};

/// The patch, applied by git itself to the files of `from`, gives those of `to`.
#[track_caller]
fn leads(ground: &Ground, diff: &Diff, from: &std::path::Path, to: &std::path::Path) {
    let at = ground.dir.path().join("applied");
    fs::create_dir(&at).unwrap();
    fill(&at, &files(from));
    let patch = ground.dir.path().join("patch");
    fs::write(&patch, &diff.patch).unwrap();
    let applied = git(&at, &["apply", "--binary", "--whitespace=nowarn", patch.to_str().unwrap()]);
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    assert_eq!(files(&at), files(to));
    fs::remove_dir_all(at).unwrap();
}

fn names(diff: &Diff) -> Vec<String> {
    diff.files.iter().map(|file| file.display()).collect()
}

fn changed(worktree: &Worktree, path: &str, text: &str) {
    write(&worktree.tree(), path.as_bytes(), text.as_bytes());
}

#[test]
fn two_worktrees_are_compared_as_they_are_now() {
    let ground = Ground::new(&[("a", "one\n"), ("b", "two\n"), ("gone", "x\n")]);
    let (one, other) = (ground.worktree("one"), ground.worktree("other"));
    changed(&one, "a", "by one\n");
    changed(&one, "same", "same\n");
    changed(&other, "a", "by another\n");
    changed(&other, "same", "same\n");
    changed(&other, "new/deep", "new\n");
    fs::remove_file(other.tree().join("gone")).unwrap();
    let diff = one.diff_to(&other, &Limits::default()).unwrap();
    assert_eq!(names(&diff), ["a", "gone", "new/deep"]);
    leads(&ground, &diff, &one.tree(), &other.tree());
    leads(&ground, &other.diff_to(&one, &Limits::default()).unwrap(), &other.tree(), &one.tree());
}

#[test]
fn a_worktree_is_compared_with_the_project_s_files_as_they_lie_there() {
    let ground = Ground::new(&[("a", "one\n"), ("b", "two\n"), (".gitignore", "ignored\n")]);
    let worktree = ground.worktree("w");
    changed(&worktree, "a", "agent\n");
    changed(&worktree, "new", "agent\n");
    ground.write("b", "mine\n");
    ground.write("untracked", "mine\n");
    ground.write("staged", "mine\n");
    ground.git(&["add", "staged"]);
    ground.write("ignored", "nobody's\n");
    let diff = worktree.diff_from_project(&Limits::default()).unwrap();
    assert_eq!(names(&diff), ["a", "b", "new", "staged", "untracked"]);
    assert_eq!(worktree.in_project(b"b", 100).unwrap().as_deref(), Some(&b"mine\n"[..]));
    fs::remove_file(ground.at("ignored")).unwrap();
    leads(&ground, &diff, &ground.project(), &worktree.tree());
    // Once applied, what is left is the person's own.
    worktree.apply_to_working_tree(&ground.project(), || true, &Limits::default()).unwrap();
    assert_eq!(names(&worktree.diff_from_project(&Limits::default()).unwrap()), ["b", "staged", "untracked"]);
}
