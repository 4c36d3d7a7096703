//! Applied, worked on, and applied again: the second time goes on from what the first one brought.

use std::fs;

use git::{Applied, Author, Error, Left, Limits, Reason, Worktree};

use crate::harness::{Ground, files, write};

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";

fn apply(ground: &Ground, worktree: &Worktree) -> Result<Applied, Error> {
    worktree.apply_to_working_tree(&ground.project(), || true, &Limits::default())
}

/// What somebody does to a file: writes it, or takes it away.
#[track_caller]
fn make(folder: &std::path::Path, path: &str, text: Option<&str>) {
    match text {
        Some(text) => write(folder, path.as_bytes(), text.as_bytes()),
        None => drop(fs::remove_file(folder.join(path))),
    }
}

/// Of one file: how it begins, what the agent makes of it first, what the user makes of that, what the agent makes of
/// its own then, and what the project has after the second apply, or why that is refused.
#[track_caller]
fn check(
    start: Option<&str>,
    first: Option<&str>,
    user: Option<Option<&str>>,
    second: Option<&str>,
    expected: Result<Option<&str>, Reason>,
) {
    let ground = Ground::new(&[("other", "x\n")]);
    if let Some(start) = start {
        ground.write("f", start);
        ground.commit("with it");
    }
    let worktree = ground.worktree("w");
    make(&worktree.tree(), "f", first);
    // Without it the worktree may be as it began, which has nothing to apply.
    make(&worktree.tree(), "other", Some("agent\n"));
    apply(&ground, &worktree).unwrap();
    let now = || fs::read_to_string(ground.at("f")).ok();
    assert_eq!(now().as_deref(), first, "the first apply");
    if let Some(user) = user {
        make(&ground.project(), "f", user);
    }
    make(&worktree.tree(), "f", second);
    let before = files(&ground.project());
    match (apply(&ground, &worktree), expected) {
        (Ok(_), Ok(expected)) => {
            assert_eq!(now().as_deref(), expected);
            let again = apply(&ground, &worktree).unwrap();
            assert_eq!((again.changed, now().as_deref()), (vec![], expected), "a third brings nothing");
        }
        (Err(Error::Conflicts(all)), Err(reason)) => {
            assert_eq!(all.iter().map(|one| one.reason).collect::<Vec<_>>(), [reason]);
            assert_eq!(files(&ground.project()), before, "nothing changes");
        }
        (result, expected) => panic!("{result:?} and not {expected:?}"),
    }
}

#[test]
fn what_the_agent_changed_once_more_comes_too() {
    // The same line again.
    check(Some("1\n"), Some("a\n"), None, Some("b\n"), Ok(Some("b\n")));
    // A file of its own.
    check(None, Some("a\n"), None, Some("b\n"), Ok(Some("b\n")));
    check(None, Some("a\n"), None, None, Ok(None));
    check(Some("1\n"), None, None, Some("b\n"), Ok(Some("b\n")));
    check(Some("1\n"), Some("a\n"), None, None, Ok(None));
    // Nothing else.
    check(Some("1\n"), Some("a\n"), None, Some("a\n"), Ok(Some("a\n")));
}

#[test]
fn what_only_does_not_come_along_any_more_stays_in_the_project() {
    let check = |leave_out: &dyn Fn(&std::path::Path)| {
        let ground = Ground::new(&[("other", "x\n")]);
        let worktree = ground.worktree("w");
        make(&worktree.tree(), "f", Some("a\n"));
        apply(&ground, &worktree).unwrap();
        leave_out(&worktree.tree());
        make(&worktree.tree(), "other", Some("agent\n"));
        apply(&ground, &worktree).unwrap();
        assert_eq!(fs::read_to_string(ground.at("f")).unwrap(), "a\n");
        // The control: what the agent removes goes.
        make(&worktree.tree(), "f", None);
        apply(&ground, &worktree).unwrap();
        assert!(!fs::exists(ground.at("f")).unwrap());
    };
    check(&|tree| make(tree, ".gitignore", Some("f\n")));
    check(&|tree| fs::File::options().write(true).open(tree.join("f")).unwrap().set_len(1 << 40).unwrap());
}

#[test]
fn what_the_agent_took_back_goes_back_in_the_project() {
    check(Some("1\n"), Some("a\n"), None, Some("1\n"), Ok(Some("1\n")));
    check(Some("1\n"), None, None, Some("1\n"), Ok(Some("1\n")));
    // And nothing of the user's goes with it.
    let (first, edited) = ("1\n2\n3\n4\n5\n6\n7\nagent\n", "mine\n2\n3\n4\n5\n6\n7\nagent\n");
    check(Some(BASE), Some(first), Some(Some(edited)), Some(BASE), Ok(Some("mine\n2\n3\n4\n5\n6\n7\n8\n")));
    check(None, Some("a\n"), Some(Some("mine\n")), None, Err(Reason::ChangedThere));
    check(Some("1\n"), Some("a\n"), Some(Some("mine\n")), Some("1\n"), Err(Reason::SameLines));
    check(Some("1\n"), None, Some(Some("mine\n")), Some("1\n"), Err(Reason::AlreadyThere));
    check(Some("1\n"), Some("a\n"), Some(None), Some("1\n"), Ok(None));
}

#[test]
fn what_the_user_did_meanwhile_is_kept_or_told() {
    let first = "1\n2\n3\n4\n5\n6\n7\nagent\n";
    let (edited, second) = ("mine\n2\n3\n4\n5\n6\n7\nagent\n", "1\n2\n3\n4\n5\n6\n7\nagain\n");
    check(
        Some(BASE),
        Some(first),
        Some(Some(edited)),
        Some(second),
        Ok(Some("mine\n2\n3\n4\n5\n6\n7\nagain\n")),
    );
    check(None, Some(first), Some(Some(edited)), Some(second), Ok(Some("mine\n2\n3\n4\n5\n6\n7\nagain\n")));
    check(Some("1\n"), Some("a\n"), Some(Some("mine\n")), Some("b\n"), Err(Reason::SameLines));
    check(None, Some("a\n"), Some(Some("mine\n")), Some("b\n"), Err(Reason::SameLines));
    check(Some("1\n"), Some("a\n"), Some(None), Some("b\n"), Err(Reason::GoneThere));
    // Where the agent did nothing more, it has nothing to say.
    check(Some("1\n"), Some("a\n"), Some(Some("mine\n")), Some("a\n"), Ok(Some("mine\n")));
    check(Some("1\n"), Some("a\n"), Some(None), Some("a\n"), Ok(None));
    check(Some("1\n"), None, Some(Some("mine\n")), None, Ok(Some("mine\n")));
}

#[test]
fn what_the_user_took_back_comes_again_whole() {
    let first = "1\n2\n3\n4\n5\n6\n7\nagent\n";
    let (edited, second) = ("mine\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\nagain\n5\n6\n7\nagent\n");
    check(Some(BASE), Some(first), Some(Some(BASE)), Some(second), Ok(Some(second)));
    let both = "mine\n2\n3\nagain\n5\n6\n7\nagent\n";
    check(Some(BASE), Some(first), Some(Some(edited)), Some(second), Ok(Some(both)));
    check(None, Some("a\n"), Some(None), Some("a\n"), Ok(Some("a\n")));
}

#[test]
fn a_file_that_moved_leaves_nothing_behind() {
    let ground = Ground::new(&[("kept", "x\n"), ("a", "1\n")]);
    let worktree = ground.worktree("w");
    let at = |name: &str| worktree.tree().join(name);
    fs::write(at("new"), "agent\n").unwrap();
    fs::remove_file(at("a")).unwrap();
    write(&worktree.tree(), b"a/inside", b"agent\n");
    apply(&ground, &worktree).unwrap();
    fs::rename(at("new"), at("renamed")).unwrap();
    fs::remove_dir_all(at("a")).unwrap();
    fs::write(at("a"), "1\n").unwrap();
    apply(&ground, &worktree).unwrap();
    assert_eq!(files(&ground.project()), files(&worktree.tree()));
    assert!(worktree.is_applied().unwrap());
    // All of it taken back: the worktree is as it began, and the project becomes so.
    fs::remove_file(at("renamed")).unwrap();
    assert_eq!(apply(&ground, &worktree).unwrap().changed, [b"renamed".to_vec()]);
    assert_eq!(files(&ground.project()), files(&worktree.tree()));
    assert!(!worktree.is_applied().unwrap());
}

/// It looks the same, and is not ours to take away.
#[test]
fn what_the_user_had_that_way_already_is_not_taken_back() {
    let ground = Ground::new(&[("a", "1\n")]);
    let worktree = ground.worktree("w");
    for name in ["a", "new"] {
        fs::write(worktree.tree().join(name), "same\n").unwrap();
        ground.write(name, "same\n");
    }
    fs::write(worktree.tree().join("other"), "agent\n").unwrap();
    assert_eq!(apply(&ground, &worktree).unwrap().changed, [b"other".to_vec()]);
    fs::remove_file(worktree.tree().join("new")).unwrap();
    fs::write(worktree.tree().join("a"), "1\n").unwrap();
    apply(&ground, &worktree).unwrap();
    assert_eq!(["a", "new"].map(|name| fs::read_to_string(ground.at(name)).unwrap()), ["same\n"; 2]);
}

/// `*.bat text eol=crlf`: what lies there is not byte by byte what was brought.
#[test]
fn lines_that_git_ends_otherwise_are_known_again() {
    let ground = Ground::new(&[(".gitattributes", "*.bat text eol=crlf\n"), ("a.bat", "1\n2\n")]);
    fs::remove_file(ground.at("a.bat")).unwrap();
    ground.git(&["checkout", "-q", "--", "."]);
    let worktree = ground.worktree("w");
    for (text, expected) in
        [("1\nagent\n", "1\r\nagent\r\n"), ("1\nagain\n", "1\r\nagain\r\n"), ("1\n2\n", "1\r\n2\r\n")]
    {
        fs::write(worktree.tree().join("a.bat"), text).unwrap();
        apply(&ground, &worktree).unwrap();
        assert_eq!(fs::read_to_string(ground.at("a.bat")).unwrap(), expected);
    }
}

#[test]
fn a_commit_on_a_branch_brings_nothing_to_the_files() {
    let ground = Ground::new(&[("a", "1\n")]);
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("a"), "first\n").unwrap();
    apply(&ground, &worktree).unwrap();
    fs::write(worktree.tree().join("a"), "second\n").unwrap();
    let (by, limits) = (Author { name: "A", email: "a@example.org" }, Limits::default());
    worktree.apply_as_commit(&ground.project(), "theirs", "words", by, || true, &limits).unwrap();
    assert_eq!(fs::read_to_string(ground.at("a")).unwrap(), "first\n");
    fs::write(worktree.tree().join("a"), "third\n").unwrap();
    apply(&ground, &worktree).unwrap();
    assert_eq!(fs::read_to_string(ground.at("a")).unwrap(), "third\n");
}

/// As after an adopted result that somebody goes on from.
#[test]
fn an_adopted_result_counts_too() {
    let ground = Ground::new(&[("a", "1\n"), ("b", "1\n")]);
    let mut worktree = ground.worktree("w");
    for name in ["a", "b"] {
        fs::write(worktree.tree().join(name), "result\n").unwrap();
    }
    worktree.seal(&Limits::default()).unwrap();
    worktree.adopt_to_working_tree(&ground.project(), &Limits::default()).unwrap();
    fs::write(worktree.tree().join("a"), "went on\n").unwrap();
    fs::write(worktree.tree().join("b"), "1\n").unwrap();
    apply(&ground, &worktree).unwrap();
    assert_eq!(["a", "b"].map(|name| fs::read_to_string(ground.at(name)).unwrap()), ["went on\n", "1\n"]);
}

/// Somebody went on from the result and applied that; then the result itself is adopted.
#[test]
fn what_came_after_a_result_goes_when_that_is_adopted() {
    let ground = Ground::new(&[("a", "1\n")]);
    let mut worktree = ground.worktree("w");
    make(&worktree.tree(), "a", Some("result\n"));
    worktree.seal(&Limits::default()).unwrap();
    make(&worktree.tree(), "later", Some("x\n"));
    apply(&ground, &worktree).unwrap();
    assert!(fs::exists(ground.at("later")).unwrap());
    worktree.adopt_to_working_tree(&ground.project(), &Limits::default()).unwrap();
    assert!(!fs::exists(ground.at("later")).unwrap());
    assert_eq!(fs::read_to_string(ground.at("a")).unwrap(), "result\n");
}

/// The journal says that it is done, and the record is not written: whoever comes next writes it.
#[test]
fn a_crash_after_the_last_step_forgets_nothing() {
    for is_settled in [true, false] {
        let ground = Ground::new(&[("a", "1\n")]);
        let worktree = ground.worktree("w");
        let [record, journal] = ["applied.json", "apply.json"].map(|name| worktree.folder().join(name));
        fs::write(worktree.tree().join("a"), "first\n").unwrap();
        apply(&ground, &worktree).unwrap();
        let brought: serde_json::Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
        fs::remove_file(&record).unwrap();
        let aside = ground.at(".boocode-apply-w");
        fs::create_dir(&aside).unwrap();
        let (project, state) = (ground.project(), "Done");
        let done =
            serde_json::json!({ "aside": aside, "project": project, "state": state, "record": brought });
        fs::write(&journal, done.to_string()).unwrap();
        if is_settled {
            assert_eq!(worktree.take_back_apply().unwrap(), Left::Finished);
        }
        fs::write(worktree.tree().join("a"), "1\n").unwrap();
        apply(&ground, &worktree).unwrap();
        assert_eq!(fs::read_to_string(ground.at("a")).unwrap(), "1\n");
        assert!(!journal.exists() && !aside.exists());
    }
}
