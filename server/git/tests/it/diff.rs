//! What a diff tells of each kind of change.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use git::{Author, Diff, Error, Limits, Start, Status, Why};

use crate::harness::{Ground, diff, files, git, write};

fn told(diff: &Diff) -> Vec<(String, Status, usize, usize)> {
    diff.files.iter().map(|file| (file.display(), file.status, file.added, file.deleted)).collect()
}

#[test]
fn each_kind_of_change_is_told() {
    let long = "line\n".repeat(20);
    let ground = Ground::new(&[
        ("edited", "one\ntwo\n"),
        ("gone", "x\n"),
        ("moved", &long),
        ("program", "p\n"),
        ("typed", "t\n"),
        ("crlf", "a\r\nb\r\n"),
    ]);
    let worktree = ground.worktree("w");
    let at = |name: &str| worktree.tree().join(name);
    fs::write(at("edited"), "one\nthree\nfour").unwrap();
    fs::remove_file(at("gone")).unwrap();
    fs::create_dir(at("to")).unwrap();
    fs::rename(at("moved"), at("to/here")).unwrap();
    fs::set_permissions(at("program"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(at("typed")).unwrap();
    symlink("edited", at("typed")).unwrap();
    fs::write(at("crlf"), "a\r\nc\r\n").unwrap();
    fs::write(at("empty"), "").unwrap();
    fs::write(at("binary"), b"\0\x01\x02").unwrap();
    let diff = diff(&worktree);
    assert_eq!(
        told(&diff),
        [
            ("binary".into(), Status::Added, 0, 0),
            ("crlf".into(), Status::Modified, 1, 1),
            ("edited".into(), Status::Modified, 2, 1),
            ("empty".into(), Status::Added, 0, 0),
            ("gone".into(), Status::Deleted, 0, 1),
            ("program".into(), Status::Modified, 0, 0),
            ("to/here".into(), Status::Renamed, 0, 0),
            ("typed".into(), Status::TypeChanged, 1, 1),
        ]
    );
    let find = |name: &[u8]| diff.files.iter().find(|file| file.path == name).unwrap();
    assert!(find(b"binary").is_binary && !find(b"crlf").is_binary);
    assert_eq!(find(b"to/here").old_path.as_deref(), Some(&b"moved"[..]));
    assert_eq!((find(b"program").old_mode, find(b"program").new_mode), (0o100644, 0o100755));
    assert_eq!((find(b"typed").old_mode, find(b"typed").new_mode), (0o100644, 0o120000));
    assert!(diff.patch[find(b"crlf").patch.clone()].ends_with(b" a\r\n-b\r\n+c\r\n"));
    assert!(diff.patch[find(b"edited").patch.clone()].ends_with(b"+four\n\\ No newline at end of file\n"));
    assert_eq!(ground.applied(worktree.base(), &diff.patch), files(&worktree.tree()));
}

#[test]
fn names_and_contents_that_are_not_utf8_are_kept() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    write(&worktree.tree(), b"bad\xff/name", b"caf\xe9\n");
    let diff = diff(&worktree);
    assert_eq!(diff.files[0].path, b"bad\xff/name");
    assert_eq!(diff.files[0].display(), "bad\u{fffd}/name");
    assert!(diff.patch.ends_with(b"+caf\xe9\n"));
}

#[test]
fn what_is_ignored_is_not_part_and_what_is_tracked_is() {
    let ground = Ground::new(&[("a", "one\n"), ("build/kept", "k\n")]);
    fs::create_dir_all(ground.at(".git/info")).unwrap();
    fs::write(ground.at(".git/info/exclude"), "private\n").unwrap();
    let worktree = ground.worktree("w");
    write(&worktree.tree(), b".gitignore", b"build/\n*.log\n");
    for name in ["build/out", "x.log", "private", "sub/y.log", "sub/z"] {
        write(&worktree.tree(), name.as_bytes(), b"x\n");
    }
    write(&worktree.tree(), b"build/kept", b"changed\n");
    let names: Vec<_> = diff(&worktree).files.iter().map(|file| file.display()).collect();
    assert_eq!(names, [".gitignore", "build/kept", "sub/z"]);
    git(&worktree.tree(), &["add", "-N", "."]);
    let gits = git(&worktree.tree(), &["diff", "--name-only"]).stdout;
    assert_eq!(String::from_utf8(gits).unwrap(), names.join("\n") + "\n", "as git itself has it");
}

/// A file of the same length, within the same tick of the clock, and with its time set back.
#[test]
fn a_change_is_seen_however_it_hides() {
    let ground = Ground::new(&[("a", "one\n")]);
    for round in 0..20 {
        let worktree = ground.worktree(&format!("w{round}"));
        let file = worktree.tree().join("a");
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "two\n").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
        assert_eq!(diff(&worktree).files.len(), 1);
    }
}

#[test]
fn a_look_leaves_nothing_behind() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("a"), "two\n").unwrap();
    let (before, project) = (files(worktree.folder()), files(&ground.project()));
    diff(&worktree);
    assert_eq!((files(worktree.folder()), files(&ground.project())), (before, project));
}

#[test]
fn nested_repositories_and_submodules_are_told() {
    let ground = Ground::new(&[("a", "one\n")]);
    let id = String::from_utf8(ground.git(&["rev-parse", "HEAD"])).unwrap();
    let link = format!("160000,{},module", id.trim());
    ground.git(&["update-index", "--add", "--cacheinfo", &link]);
    ground.git(&["commit", "-qm", "module"]);
    let worktree = ground.worktree("w");
    assert!(worktree.tree().join("module").is_dir());
    assert!(diff(&worktree).files.is_empty());
    write(&worktree.tree(), b"module/inside", b"x\n");
    fs::create_dir(worktree.tree().join("nested")).unwrap();
    git(&worktree.tree().join("nested"), &["init", "-q"]);
    write(&worktree.tree(), b"nested/file", b"n\n");
    write(&worktree.tree(), b"sub/.GIT/config", b"n\n");
    let diff = diff(&worktree);
    let left_out: Vec<_> = diff.left_out.iter().map(|one| (git::display(&one.path), one.why)).collect();
    assert_eq!(
        left_out,
        [
            ("module".into(), Why::Submodule),
            ("nested/.git".into(), Why::NestedRepository),
            ("sub/.GIT".into(), Why::Name)
        ]
    );
    assert_eq!(told(&diff), [("nested/file".into(), Status::Added, 1, 0)], "no work is lost");
}

#[test]
fn too_much_is_an_error_and_never_half_a_patch() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("a"), "x".repeat(2000)).unwrap();
    fs::write(worktree.tree().join("b"), "y").unwrap();
    let taken = |limits: Limits| match worktree.diff(&limits) {
        Err(Error::TooLarge { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(taken(Limits { file_bytes: 1999, ..Limits::default() }), "a with 2000 bytes");
    assert_eq!(taken(Limits { total_bytes: 2000, ..Limits::default() }), "changes of 2001 bytes");
    assert_eq!(taken(Limits { files: 1, ..Limits::default() }), "2 changed files");
    assert!(taken(Limits { entries: 2, ..Limits::default() }).starts_with("a tree of"));
    // A file that says it is larger than any disk.
    fs::File::create(worktree.tree().join("a")).unwrap().set_len(1 << 40).unwrap();
    assert!(taken(Limits::default()).starts_with("a with"));
}

/// What nobody tracks, and what nothing tells git to ignore: it stays behind and blocks nothing else.
#[test]
fn new_files_that_are_too_much_are_told_and_the_others_go_in() {
    let ground = Ground::new(&[("a", "one\n"), ("kept/x", "x\n"), (".gitignore", "junk/\n")]);
    let worktree = ground.worktree("w");
    let put = |path: &str, text: &str| write(&worktree.tree(), path.as_bytes(), text.as_bytes());
    put("a", "two\n");
    put("kept/new", "new\n");
    put("small/new", "new\n");
    for number in 0..30 {
        put(&format!("modules/{}/{number}", number % 3), "x\n");
        put(&format!("small/junk/{number}"), "ignored\n");
    }
    fs::File::create(worktree.tree().join("kept/sparse")).unwrap().set_len(1 << 40).unwrap();
    let limits = Limits { files: 20, ..Limits::default() };
    let diff = worktree.diff(&limits).unwrap();
    let left_out: Vec<_> = diff.left_out.iter().map(|one| (git::display(&one.path), one.why)).collect();
    assert_eq!(left_out, [("modules".into(), Why::TooMuch), ("kept/sparse".into(), Why::TooLarge)]);
    let paths: Vec<_> = diff.files.iter().map(|file| file.display()).collect();
    assert_eq!(paths, ["a", "kept/new", "small/new"]);

    let applied = worktree.apply_to_working_tree(&ground.project(), || true, &limits).unwrap();
    assert_eq!((applied.changed.len(), applied.left_out.len()), (3, 2));
    assert!(!ground.at("modules").exists() && ground.at("small/new").exists());
    let by = Author { name: "A", email: "a@example.org" };
    let made = worktree.apply_as_commit(&ground.project(), "work", "m", by, || true, &limits).unwrap();
    assert_eq!(made.left_out, applied.left_out);
    // By their bytes, too.
    put("modules/0/0", &"x".repeat(5000));
    let limits = Limits { total_bytes: 4000, ..Limits::default() };
    assert_eq!(worktree.diff(&limits).unwrap().left_out[0].why, Why::TooMuch);
    // Nor is it lost where it only moved.
    fs::rename(worktree.tree().join("kept/x"), worktree.tree().join("modules/0/x")).unwrap();
    assert!(matches!(worktree.diff(&limits), Err(Error::TooLarge { .. })));
    // Where the project's own files are brought along, none may be missing.
    fs::File::create(ground.at("sparse")).unwrap().set_len(1 << 40).unwrap();
    let refused = ground.start("carrying", Start { carry: true, copy: &[] });
    assert!(matches!(&refused, Err(Error::TooLarge { what, .. }) if what == "sparse"), "{refused:?}");
}

#[test]
fn a_worktree_that_is_gone_or_broken_is_an_error_and_never_an_empty_patch() {
    let ground = Ground::new(&[("a", "one\n")]);
    let check = |id: &str, spoil: &dyn Fn(&git::Worktree), what: &str| {
        let worktree = ground.worktree(id);
        fs::write(worktree.tree().join("a"), "two\n").unwrap();
        spoil(&worktree);
        let error = worktree.diff(&Limits::default()).unwrap_err();
        assert!(error.to_string().contains(what), "{id}: {error}");
    };
    check("tree", &|w| fs::remove_dir_all(w.tree()).unwrap(), "there is no folder at");
    check("git", &|w| fs::remove_dir_all(w.folder().join("git")).unwrap(), "");
    check("index", &|w| fs::remove_file(w.folder().join("git/index")).unwrap(), "index");
    check("objects", &|_| fs::remove_dir_all(ground.at(".git/objects")).unwrap(), "no object");
}
