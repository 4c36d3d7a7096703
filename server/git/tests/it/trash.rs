//! Only what has our mark goes away, and only from a trash.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use git::{Error, Limits, Refused, Worktree};

use crate::harness::{Ground, diff, empty, write};

fn trash(ground: &Ground) -> std::path::PathBuf {
    let trash = ground.dir.path().join("trash");
    fs::create_dir_all(&trash).unwrap();
    trash
}

#[test]
fn it_comes_back_from_the_trash_as_it_was() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("a"), "agent\n").unwrap();
    let (folder, patch) = (worktree.folder().to_owned(), diff(&worktree).patch);
    worktree.trash(&trash(&ground)).unwrap();
    assert!(!folder.exists());
    let found = git::list(&trash(&ground)).unwrap();
    assert_eq!(found.iter().map(Worktree::id).collect::<Vec<_>>(), ["w"]);
    let back = found.into_iter().next().unwrap().restore(&folder).unwrap();
    assert_eq!(diff(&back).patch, patch);
    assert_eq!(diff(&Worktree::open(&folder).unwrap()).patch, patch);

    let other = ground.worktree("other");
    let refused = other.restore(&folder);
    assert!(matches!(refused, Err(Error::Refused(Refused::Exists(_)))), "{refused:?}");
}

#[test]
fn emptying_removes_what_is_ours_and_nothing_else() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    let outside = ground.dir.path().join("outside");
    write(&outside, b"kept", b"k");
    symlink(&outside, worktree.tree().join("link")).unwrap();
    write(&worktree.tree(), b"locked/in/x", b"x");
    for folder in ["locked/in", "locked"] {
        fs::set_permissions(worktree.tree().join(folder), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let trash = trash(&ground);
    worktree.trash(&trash).unwrap();
    // Without a mark, with another's, and with one behind a link.
    write(&trash, b"plain/file", b"x");
    write(&trash, b"odd/owner.json", b"{}");
    write(&trash, b"linked/file", b"x");
    write(&outside, b"owner.json", &fs::read(trash.join("w/owner.json")).unwrap());
    symlink(outside.join("owner.json"), trash.join("linked/owner.json")).unwrap();
    symlink(&outside, trash.join("link")).unwrap();

    assert_eq!(empty(&trash), 1);
    let mut left: Vec<_> = fs::read_dir(&trash).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["link", "linked", "odd", "plain"]);
    assert!(outside.join("kept").exists());
    assert!(ground.git(&["for-each-ref", "refs/boocode"]).is_empty(), "the base is let go");
    assert!(matches!(Worktree::open(&trash.join("plain")), Err(Error::NotOurs(_))));
}

#[test]
fn the_trash_is_emptied_after_the_project_is_gone() {
    let ground = Ground::new(&[("a", "one\n")]);
    ground.worktree("w").trash(&trash(&ground)).unwrap();
    fs::remove_dir_all(ground.project()).unwrap();
    assert_eq!(empty(&trash(&ground)), 1);
}

#[test]
fn what_it_takes_on_the_disk_is_told() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    let before = worktree.size(&Limits::default()).unwrap();
    fs::write(worktree.home().join("cache"), vec![1; 1 << 20]).unwrap();
    // A link weighs what it is, not what it leads to.
    symlink("/usr", worktree.tmp().join("link")).unwrap();
    let grown = worktree.size(&Limits::default()).unwrap() - before;
    assert!((1 << 20..2 << 20).contains(&grown), "{grown}");
}

/// As crashes leave them: before there was anything in them, before the mark was whole, and after it had gone.
#[test]
fn what_has_no_mark_goes_only_where_nothing_else_is_in_it() {
    let ground = Ground::new(&[("a", "one\n")]);
    let trash = trash(&ground);
    for name in ["ours-empty", "other"] {
        fs::create_dir(trash.join(name)).unwrap();
    }
    write(&trash, b"ours-begun/owner.json.new", b"{");
    write(&trash, b"ours-used/owner.json.new", b"{");
    write(&trash, b"ours-used/file", b"x");
    write(&trash, b"ours-marked/owner.json", b"{}");
    write(&trash, b"ours-file", b"x");
    symlink(trash.join("ours-used"), trash.join("ours-link")).unwrap();
    git::clear_half_made(&trash, |name| name.starts_with("ours"));
    let mut left: Vec<_> = fs::read_dir(&trash).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["other", "ours-file", "ours-link", "ours-marked", "ours-used"]);
    assert!(trash.join("ours-used/owner.json.new").exists());
}

/// As a crash in the middle of its making leaves it.
#[test]
fn an_unfinished_one_can_only_be_thrown_away() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    let marker = worktree.folder().join("owner.json");
    let text = fs::read_to_string(&marker).unwrap();
    let start = text.lines().find(|line| line.contains("\"start\"")).unwrap();
    fs::write(&marker, text.replace(start, "\"start\": null,")).unwrap();
    let worktree = Worktree::open(worktree.folder()).unwrap();
    assert!(!worktree.is_ready());
    let refused = worktree.diff(&Limits::default());
    assert!(matches!(refused, Err(Error::Refused(Refused::Unfinished(_)))), "{refused:?}");
    worktree.trash(&trash(&ground)).unwrap();
    assert_eq!(empty(&trash(&ground)), 1);
    assert_eq!(git::list(&ground.dir.path().join("nowhere")).unwrap().len(), 0);
}
