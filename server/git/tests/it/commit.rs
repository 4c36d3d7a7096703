//! As a commit on a branch of its own, while the project stays as it is.

use std::fs;

use git::{Author, Commit, Error, Limits, Reason, Refused, Start, Worktree};

use crate::harness::{Ground, files, git, write};

fn commit(ground: &Ground, worktree: &Worktree, branch: &str) -> Result<Commit, Error> {
    let author = Author { name: "Ann", email: "ann@example.org" };
    worktree.apply_as_commit(
        &ground.project(),
        branch,
        "Add things\n\nAt length.",
        author,
        || true,
        &Limits::default(),
    )
}

#[test]
fn a_branch_holds_the_work_and_nothing_else_moves() {
    let ground = Ground::new(&[("a", "one\n"), ("gone", "g\n"), ("d/x", "x\n")]);
    known_as(&ground, "");
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("a"), "agent\n").unwrap();
    fs::remove_file(worktree.tree().join("gone")).unwrap();
    fs::remove_dir_all(worktree.tree().join("d")).unwrap();
    write(&worktree.tree(), b"d", b"\0binary");
    write(&worktree.tree(), b"new/\xff", b"n\n");
    // Meanwhile the project went on.
    ground.write("b", "later\n");
    ground.commit("later");
    ground.write("a", "mine\n");
    let state = || {
        (
            files(&ground.project()),
            fs::read(ground.at(".git/index")).unwrap(),
            ground.git(&["rev-parse", "HEAD"]),
        )
    };
    let before = state();
    let made = commit(&ground, &worktree, "agent/work").unwrap();
    assert_eq!(state(), before);
    assert_eq!(ground.git(&["rev-parse", "agent/work"]).trim_ascii_end(), made.id.as_bytes());
    assert_eq!(ground.git(&["rev-parse", "agent/work^"]).trim_ascii_end(), worktree.base().as_bytes());
    let said = String::from_utf8(ground.git(&["log", "-1", "--format=%an|%ce|%B", "agent/work"])).unwrap();
    assert!(said.starts_with("Ann|ann@example.org|Add things\n\nAt length."), "{said}");
    assert_eq!(ground.applied(&made.id, b""), files(&worktree.tree()));
    assert!(git(&ground.project(), &["fsck", "--strict"]).status.success());
    // It stands on its own: the worktree may go.
    fs::remove_dir_all(worktree.folder()).unwrap();
    assert!(git(&ground.project(), &["fsck", "--strict"]).status.success());
}

/// What the project says of who commits, whatever this machine does.
fn known_as(ground: &Ground, name: &str) {
    ground.git(&["config", "user.name", name]);
    ground.git(&["config", "user.email", "zoe@example.org"]);
}

#[test]
fn a_commit_is_by_whom_git_knows() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("a"), "agent\n").unwrap();
    for (branch, name, expected) in [
        ("known", "Zoe", "Zoe <zoe@example.org> Zoe <zoe@example.org>"),
        // git itself would refuse.
        ("unknown", "", "Ann <ann@example.org> Ann <ann@example.org>"),
    ] {
        known_as(&ground, name);
        commit(&ground, &worktree, branch).unwrap();
        let said = ground.git(&["log", "-1", "--format=%an <%ae> %cn <%ce>", branch]);
        assert_eq!(String::from_utf8(said).unwrap().trim_end(), expected);
    }
}

#[test]
fn a_branch_that_exists_or_cannot_be_is_refused() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    assert!(matches!(commit(&ground, &worktree, "x"), Err(Error::Refused(Refused::NothingToApply))));
    fs::write(worktree.tree().join("a"), "agent\n").unwrap();
    let before = ground.git(&["for-each-ref"]);
    assert!(matches!(commit(&ground, &worktree, "main"), Err(Error::Refused(Refused::BranchExists(_)))));
    for name in ["", "a..b", "a b", "-x", "HEAD", "a/", "../main", "x.lock"] {
        let refused = commit(&ground, &worktree, name);
        assert!(matches!(refused, Err(Error::Refused(Refused::BranchName(_)))), "{name}: {refused:?}");
    }
    assert_eq!(ground.git(&["for-each-ref"]), before);
}

#[test]
fn what_was_carried_in_is_not_committed() {
    let ground = Ground::new(&[("a", "1\n2\n3\n4\n5\n6\n7\n8\n"), ("b", "one\n")]);
    ground.write("a", "mine\n2\n3\n4\n5\n6\n7\n8\n");
    ground.write("untracked", "mine\n");
    let worktree = ground.start("w", Start { carry: true, copy: &[] }).unwrap();
    fs::write(worktree.tree().join("a"), "mine\n2\n3\n4\n5\n6\n7\nagent\n").unwrap();
    fs::write(worktree.tree().join("new"), "agent\n").unwrap();
    let made = commit(&ground, &worktree, "work").unwrap();
    let show = |path: &str| ground.git(&["show", &format!("{}:{path}", made.id)]);
    assert_eq!(show("a"), b"1\n2\n3\n4\n5\n6\n7\nagent\n");
    assert_eq!(ground.git(&["ls-tree", "-r", "--name-only", &made.id]), b"a\nb\nnew\n");
}

#[test]
fn work_on_top_of_what_was_carried_in_conflicts_in_words() {
    let ground = Ground::new(&[("lines", "one\n"), ("binary", "\0one")]);
    ground.write("lines", "mine\n");
    ground.write("binary", "\0mine");
    ground.write("untracked", "mine\n");
    let worktree = ground.start("w", Start { carry: true, copy: &[] }).unwrap();
    for (name, text) in [("lines", "agent\n"), ("binary", "\0agent"), ("untracked", "agent\n")] {
        fs::write(worktree.tree().join(name), text).unwrap();
    }
    let before = ground.git(&["for-each-ref"]);
    let Err(Error::Conflicts(all)) = commit(&ground, &worktree, "work") else { panic!("it was committed") };
    let mut all: Vec<_> = all.iter().map(|one| (git::display(&one.path), one.reason)).collect();
    all.sort();
    let expected =
        [("binary", Reason::NotText), ("lines", Reason::SameLines), ("untracked", Reason::GoneThere)];
    assert_eq!(all, expected.map(|(name, reason)| (name.to_owned(), reason)));
    assert_eq!(ground.git(&["for-each-ref"]), before);
    let error = commit(&ground, &worktree, "work").unwrap_err().to_string();
    assert!(error.starts_with("3 files would not go in without loss: "), "{error}");
}
