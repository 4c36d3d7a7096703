//! An apply that is killed: the project is then as it was, or as it was to become.

use std::{
    env, fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use git::{Left, Limits, Worktree};

use crate::harness::{Files, Ground, files, write};

const FILES: usize = 600;
const WORKTREE: &str = "BOOCODE_TEST_APPLY_OF";

/// Half of the files change, and each of the others makes room for a folder of its name.
fn changed() -> (Ground, Worktree, Files, Files) {
    let ground = Ground::empty();
    for number in 0..FILES {
        ground.write(&format!("{}/{number}", number % 7), "before\n");
    }
    ground.commit("first");
    let worktree = ground.worktree("w");
    for number in 0..FILES {
        let path = format!("{}/{number}", number % 7);
        if number % 2 == 0 {
            write(&worktree.tree(), path.as_bytes(), b"after\n");
        } else {
            fs::remove_file(worktree.tree().join(&path)).unwrap();
            write(&worktree.tree(), format!("{path}/new").as_bytes(), b"new\n");
        }
    }
    let (before, after) = (files(&ground.project()), files(&worktree.tree()));
    (ground, worktree, before, after)
}

/// Applies in a process of its own, and kills that once `moved` files lie aside and `put` of the new ones do not.
/// Where it is quicker, it is done: what must hold, holds then too.
fn kill_when(ground: &Ground, worktree: &Worktree, moved: usize, put: usize) {
    let mut apply = Command::new(env::current_exe().unwrap());
    apply
        .args(["--exact", "crash::an_apply_that_was_killed_is_taken_back_whole"])
        .env(WORKTREE, worktree.folder())
        .stdout(Stdio::null());
    let mut apply = apply.spawn().unwrap();
    let aside = ground.at(".boocode-apply-w");
    let until = Instant::now() + Duration::from_secs(60);
    while apply.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it takes too long");
        let names = fs::read_dir(&aside).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let (old, new) = names.partition::<Vec<_>, _>(|name| name.to_string_lossy().starts_with("old-"));
        if old.len() >= moved && new.len() <= FILES - put {
            apply.kill().unwrap();
        }
        thread::yield_now();
    }
}

#[test]
fn an_apply_that_was_killed_is_taken_back_whole() {
    // Where the test was started again to be killed.
    if let Some(folder) = env::var_os(WORKTREE) {
        let worktree = Worktree::open(folder.as_ref()).unwrap();
        worktree.apply_to_working_tree(worktree.project(), || true, &Limits::default()).unwrap();
        return;
    }
    let mut interrupted = 0;
    for (moved, put) in [(1, 0), (FILES / 2, 0), (FILES, 1), (FILES, FILES / 2)] {
        let (ground, worktree, before, after) = changed();
        kill_when(&ground, &worktree, moved, put);
        let left = worktree.take_back_apply().unwrap();
        interrupted += usize::from(left == Left::TakenBack);
        let expected = if left == Left::TakenBack { before } else { after.clone() };
        let is_whole = files(&ground.project()) == expected;
        assert!(is_whole, "{moved} {put}: {left:?}: neither as it was nor as it was to become");
        let journal = worktree.folder().join("apply.json");
        assert!(!ground.at(".boocode-apply-w").exists() && !journal.exists());
        // What was taken back can be applied.
        worktree.apply_to_working_tree(&ground.project(), || true, &Limits::default()).unwrap();
        assert_eq!(files(&ground.project()), after);
    }
    assert!(interrupted > 0, "none was killed in time");
}
