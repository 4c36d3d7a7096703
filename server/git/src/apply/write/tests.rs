use std::{fs, os::unix::fs::PermissionsExt};

use tempfile::TempDir;

use super::*;
use crate::entry::{FILE, PROGRAM};

/// A project with the files `a` and `gone/b`, each with its name in it.
fn project() -> TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir(project.path().join(".git")).unwrap();
    fs::create_dir(project.path().join("gone")).unwrap();
    for name in ["a", "gone/b"] {
        fs::write(project.path().join(name), name).unwrap();
    }
    project
}

fn step(project: &TempDir, path: &str, new: Option<&str>) -> Step {
    let old = rustix::fs::lstat(project.path().join(path)).ok();
    Step { path: path.into(), old, new: new.map(|text| (FILE, text.into())) }
}

fn carry_out_all(project: &TempDir, steps: Vec<Step>) -> Result<Applied, Error> {
    let folder = tempfile::tempdir().unwrap();
    let applied = carry_out(Plan { steps, ..Plan::default() }, project.path(), folder.path(), "w");
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.retain(|name| name != "applied.json");
    assert!(left.is_empty(), "{left:?}");
    applied
}

/// `last` fails after the others were done: `a` changed, `gone/b` removed, `new/folder/c` made.
#[track_caller]
fn check_undone(project: &TempDir, last: Step, reason: Option<Reason>) {
    let mut steps = vec![
        step(project, "a", Some("changed")),
        step(project, "gone/b", None),
        step(project, "new/folder/c", Some("new")),
    ];
    steps.push(last);
    let error = carry_out_all(project, steps).unwrap_err();
    match (&error, reason) {
        (Error::Conflicts(all), Some(reason)) => assert_eq!(all[0].reason, reason),
        (_, None) => {}
        _ => panic!("{error}"),
    }
    assert!(!matches!(error, Error::HalfDone { .. }), "{error}");
    for name in ["a", "gone/b"] {
        assert_eq!(fs::read_to_string(project.path().join(name)).unwrap(), name);
    }
    assert!(!project.path().join("new").exists() && !project.path().join(".boocode-apply-w").exists());
}

#[test]
fn a_plan_is_carried_out() {
    let project = project();
    let steps = vec![step(&project, "a", Some("changed")), step(&project, "gone/b", None)];
    carry_out_all(&project, steps).unwrap();
    assert_eq!(fs::read_to_string(project.path().join("a")).unwrap(), "changed");
    assert!(!project.path().join("gone").exists() && !project.path().join(".boocode-apply-w").exists());
}

#[test]
fn a_file_that_changed_meanwhile_stays_and_so_do_the_others() {
    let project = project();
    fs::write(project.path().join("z"), "seen").unwrap();
    let last = step(&project, "z", Some("agent"));
    fs::write(project.path().join("z"), "changed since").unwrap();
    check_undone(&project, last, Some(Reason::ChangedMeanwhile));
    assert_eq!(fs::read_to_string(project.path().join("z")).unwrap(), "changed since");
}

/// The journal would be written through a folder that the plan itself makes.
#[test]
fn what_cannot_be_called_done_is_taken_back() {
    let project = project();
    let journal = project.path().join("journal");
    fs::create_dir(&journal).unwrap();
    let steps = vec![
        step(&project, "a", Some("changed")),
        step(&project, "gone/b", None),
        step(&project, "journal/apply.json.new/c", Some("in the way")),
    ];
    let error = carry_out(Plan { steps, ..Plan::default() }, project.path(), &journal, "w").unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    for name in ["a", "gone/b"] {
        assert_eq!(fs::read_to_string(project.path().join(name)).unwrap(), name);
    }
    assert_eq!(fs::read_dir(&journal).unwrap().count(), 0);
    assert!(!project.path().join(".boocode-apply-w").exists());
}

#[test]
fn a_file_that_came_meanwhile_stays_and_so_do_the_others() {
    let project = project();
    let last = step(&project, "z", Some("agent"));
    fs::write(project.path().join("z"), "mine").unwrap();
    check_undone(&project, last, Some(Reason::ChangedMeanwhile));
    assert_eq!(fs::read_to_string(project.path().join("z")).unwrap(), "mine");
}

#[test]
fn a_folder_that_cannot_be_made_takes_everything_back() {
    let project = project();
    let last = step(&project, &format!("{}/x", "long".repeat(100)), Some("agent"));
    check_undone(&project, last, None);
}

#[test]
fn what_an_apply_left_is_not_written_over() {
    let project = project();
    fs::create_dir(project.path().join(".boocode-apply-w")).unwrap();
    let refused = carry_out_all(&project, vec![step(&project, "a", Some("changed"))]);
    assert!(matches!(refused, Err(Error::Refused(Refused::Exists(_)))), "{refused:?}");
    assert_eq!(fs::read_to_string(project.path().join("a")).unwrap(), "a");
}

/// What git does not know of a file: who may read it.
#[test]
fn who_may_read_a_file_stays_as_it_was() {
    let project = project();
    let check = |was: u32, mode: u32, expected: u32| {
        let path = project.path().join("a");
        fs::set_permissions(&path, fs::Permissions::from_mode(was)).unwrap();
        let old = rustix::fs::lstat(&path).ok();
        let new = Some((mode, format!("{was:o} {mode:o}").into_bytes()));
        carry_out_all(&project, vec![Step { path: b"a".to_vec(), old, new }]).unwrap();
        let now = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(now, expected, "{was:o} {mode:o}: {now:o}");
    };
    check(0o600, FILE, 0o600);
    check(0o640, PROGRAM, 0o750);
    check(0o750, FILE, 0o640);
    check(0o666, FILE, 0o666);
}

/// Dies at the last step, after it moved `a` and `gone/b` aside and put `a` and `new/folder/c` into place.
fn die(project: &TempDir, folder: &TempDir) {
    let blocked = format!("{}/x", "long".repeat(100));
    let steps = [
        step(project, "a", Some("changed")),
        step(project, "gone/b", None),
        step(project, "new/folder/c", Some("new")),
        step(project, &blocked, Some("never")),
    ];
    let aside = project.path().join(".boocode-apply-w");
    let mut journal =
        Journal { aside, project: project.path().to_owned(), state: State::Preparing, record: None };
    journal.write(folder.path()).unwrap();
    run(&steps, &mut journal, folder.path()).unwrap_err();
    let now = fs::read_to_string(project.path().join("a")).unwrap();
    assert_eq!(now, "changed", "the control: half of it is there");
    assert!(!project.path().join("gone").exists() && project.path().join("new/folder/c").exists());
}

#[test]
fn whoever_comes_after_a_crash_takes_back_what_was_begun() {
    let (project, folder) = (project(), tempfile::tempdir().unwrap());
    die(&project, &folder);
    Journal::read(folder.path()).unwrap().unwrap().settle(folder.path()).unwrap();
    for name in ["a", "gone/b"] {
        assert_eq!(fs::read_to_string(project.path().join(name)).unwrap(), name);
    }
    assert_eq!(fs::read_dir(project.path()).unwrap().count(), 3);
    assert!(Journal::read(folder.path()).unwrap().is_none());
}

/// As one on a disk that is not mounted at this start.
#[test]
fn a_project_that_is_not_there_is_waited_for() {
    let (project, folder) = (project(), tempfile::tempdir().unwrap());
    die(&project, &folder);
    let away = tempfile::tempdir().unwrap();
    let away = away.path().join("away");
    fs::rename(project.path(), &away).unwrap();
    let settle = || Journal::read(folder.path()).unwrap().unwrap().settle(folder.path());
    assert!(matches!(settle(), Err(Error::Refused(Refused::Missing(_)))));
    fs::create_dir(project.path()).unwrap();
    assert!(matches!(settle(), Err(Error::Refused(Refused::NotARepository(_)))));
    fs::remove_dir(project.path()).unwrap();
    fs::rename(&away, project.path()).unwrap();
    settle().unwrap();
    assert_eq!(fs::read_to_string(project.path().join("a")).unwrap(), "a");
}

#[test]
fn what_was_changed_after_a_crash_is_kept_and_the_others_are_not_lost() {
    let (project, folder) = (project(), tempfile::tempdir().unwrap());
    die(&project, &folder);
    fs::write(project.path().join("a"), "mine").unwrap();
    fs::write(project.path().join("new/folder/c"), "mine too").unwrap();
    let left = Journal::read(folder.path()).unwrap().unwrap();
    let half = left.settle(folder.path());
    assert!(matches!(&half, Err(Error::HalfDone { cause: None, .. })), "{half:?}");
    let read = |name: &str| fs::read_to_string(project.path().join(name)).unwrap();
    assert_eq!(
        (read("a").as_str(), read("new/folder/c").as_str(), read("gone/b").as_str()),
        ("mine", "mine too", "gone/b")
    );
    assert_eq!(read(".boocode-apply-w/old-0"), "a", "where it says that it lies");
    // Once it is out of the way, the rest goes back too.
    fs::remove_file(project.path().join("a")).unwrap();
    left.settle(folder.path()).unwrap();
    assert_eq!(read("a"), "a");
    assert!(!project.path().join(".boocode-apply-w").exists());
}
