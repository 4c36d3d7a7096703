use std::fs;

use tempfile::TempDir;

use super::*;
use crate::entry::FILE;

/// A project with the files `a` and `gone/b`, each with its name in it.
fn project() -> TempDir {
    let project = tempfile::tempdir().unwrap();
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
    carry_out(Plan { steps, unchanged: Vec::new() }, project.path(), "w")
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
