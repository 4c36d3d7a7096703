//! What a worktree begins with, and what it refuses to begin with.

use std::{env, fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use git::{Error, Limits, Refused, Start, Worktree};

use crate::harness::{Ground, diff, files, git, write};

fn refused(result: Result<Worktree, Error>) -> Refused {
    match result {
        Err(Error::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_begins_as_the_project_is_committed_and_git_works_in_it() {
    let ground = Ground::new(&[("a.txt", "one\n"), ("src/b.rs", "two\n")]);
    ground.write("a.txt", "changed\n");
    ground.write("new.txt", "untracked\n");
    let worktree = ground.worktree("w");
    let names: Vec<_> = files(&worktree.tree()).into_keys().collect();
    assert_eq!(names, [b"a.txt".to_vec(), b"src/b.rs".to_vec()]);
    assert_eq!(fs::read(worktree.tree().join("a.txt")).unwrap(), b"one\n");
    assert!(worktree.home().is_dir() && worktree.tmp().is_dir());

    let in_tree = |arguments: &[&str]| {
        let output = git(&worktree.tree(), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(in_tree(&["status", "--porcelain"]), "");
    assert_eq!(in_tree(&["branch", "--show-current"]), "main\n");
    assert_eq!(in_tree(&["rev-parse", "HEAD"]).trim(), worktree.base());
    fs::write(worktree.tree().join("a.txt"), "agent\n").unwrap();
    in_tree(&["commit", "-qam", "theirs"]);
    in_tree(&["fsck"]);
    // Whether the agent commits makes no difference.
    assert_eq!(diff(&worktree).files.len(), 1);
    assert_eq!(fs::read(ground.at("a.txt")).unwrap(), b"changed\n");
}

#[test]
fn the_base_stays_pinned_while_the_project_goes_on() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree = ground.worktree("w");
    ground.write("a", "two\n");
    ground.git(&["commit", "-qa", "--amend", "-m", "rewritten"]);
    ground.git(&["reflog", "expire", "--expire=now", "--all"]);
    ground.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(
        ground.git(&["rev-parse", "refs/boocode/base/w"]).trim_ascii_end(),
        worktree.base().as_bytes()
    );
    fs::write(worktree.tree().join("a"), "three\n").unwrap();
    assert!(diff(&worktree).patch.ends_with(b"-one\n+three\n"));
}

#[test]
fn changes_are_carried_in_and_are_not_the_agents() {
    let ground =
        Ground::new(&[("a", "one\n"), ("gone", "x\n"), ("staged", "s\n"), (".gitignore", "ignored\n")]);
    ground.write("a", "mine\n");
    ground.write("staged", "index\n");
    ground.git(&["add", "staged"]);
    ground.write("dir/untracked", "u\n");
    ground.write("ignored", "i\n");
    fs::remove_file(ground.at("gone")).unwrap();
    let worktree = ground.start("w", Start { carry: true, copy: &[] }).unwrap();
    let mut expected = files(&ground.project());
    expected.remove(&b"ignored"[..]);
    assert_eq!(files(&worktree.tree()), expected);
    assert!(diff(&worktree).files.is_empty(), "the user's changes are not the agent's");
    let status = git(&worktree.tree(), &["status", "--porcelain"]).stdout;
    assert_eq!(String::from_utf8(status).unwrap(), " M a\n D gone\n M staged\n?? dir/\n");
    fs::write(worktree.tree().join("a"), "mine\nagent\n").unwrap();
    assert!(diff(&worktree).patch.ends_with(b" mine\n+agent\n"));
    // What was only staged may be forgotten by the project, but not here.
    ground.git(&["reset", "-q", "--hard"]);
    ground.git(&["gc", "-q", "--prune=now"]);
    fs::write(worktree.tree().join("staged"), "agent\n").unwrap();
    assert!(String::from_utf8(diff(&worktree).patch).unwrap().contains("-index\n+agent\n"));
}

/// Settings are the user's, so the test starts itself again as a user who has some.
#[test]
fn what_the_user_ignores_everywhere_is_not_carried_in() {
    const PROJECT: &str = "TEST_PROJECT_OF_A_USER";
    if let Some(project) = env::var_os(PROJECT) {
        let (project, start) = (Path::new(&project), Start { carry: true, ..Start::default() });
        let folder = project.with_file_name("w");
        let worktree = Worktree::create(&folder, "w", project, start, &Limits::default()).unwrap();
        assert!(worktree.tree().join("new").exists());
        assert!(!worktree.tree().join("a.secret").exists() && worktree.tree().join("b.secret").exists());
        write(&worktree.tree(), b"c.secret", b"c");
        assert!(diff(&worktree).files.is_empty());
        return;
    }
    let as_user = |named: bool| {
        let ground = Ground::new(&[("a", "one\n")]);
        let home = ground.dir.path().join("home");
        let rules = if named { "rules" } else { ".config/git/ignore" };
        write(&home, rules.as_bytes(), b"*.secret");
        if named {
            write(&home, b".gitconfig", b"[core]\n\texcludesFile = ~/rules\n");
        }
        // A repository's own setting is not asked.
        write(ground.dir.path(), b"theirs", b"new\n");
        let theirs = ground.dir.path().join("theirs");
        ground.git(&["config", "core.excludesFile", theirs.to_str().unwrap()]);
        write(&ground.project(), b".git/info/exclude", b"!b.secret\n");
        for name in ["new", "a.secret", "b.secret"] {
            ground.write(name, "x\n");
        }
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", "create::what_the_user_ignores_everywhere_is_not_carried_in"]);
        again.env(PROJECT, ground.project()).env("HOME", &home).env_remove("XDG_CONFIG_HOME");
        let output = again.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        // A test that is not found does not fail.
        assert!(said.contains("1 passed"), "{said}");
    };
    as_user(true);
    as_user(false);
}

#[test]
fn ignored_files_are_copied_when_asked_and_stay_out_of_diffs() {
    let ground = Ground::new(&[("a", "one\n"), (".gitignore", ".env\nconf/local/\n")]);
    ground.write(".env", "SECRET=1\n");
    ground.write("conf/local/x", "x\n");
    ground.write("notes", "n\n");
    let copy = [".env", "conf/local/x", "notes"].map(Into::into);
    let worktree = ground.start("w", Start { carry: false, copy: &copy }).unwrap();
    assert_eq!(fs::read(worktree.tree().join(".env")).unwrap(), b"SECRET=1\n");
    assert!(worktree.tree().join("conf/local/x").exists());
    assert!(diff(&worktree).files.is_empty(), "a copied file is not the agent's work");
    fs::write(worktree.tree().join(".env"), "SECRET=2\n").unwrap();
    fs::write(worktree.tree().join("a"), "two\n").unwrap();
    let seen = diff(&worktree);
    assert_eq!(seen.files.iter().map(|file| file.display()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn what_was_set_up_is_nobodys_change() {
    let ground = Ground::new(&[("a", "one\n"), ("gone", "x\n"), ("src/b", "b\n"), (".gitignore", "deps/\n")]);
    let worktree = ground.worktree("w");
    let write = |path: &str, text: &str| {
        let path = worktree.tree().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("a", "set up\n");
    write("src/made", "made\n");
    write("deps/x", "ignored\n");
    fs::remove_file(worktree.tree().join("gone")).unwrap();
    assert_eq!(diff(&worktree).files.len(), 3, "the control");
    let worktree = worktree.clone().begin_anew(&Limits::default()).unwrap();
    assert!(diff(&worktree).files.is_empty());
    let worktree = Worktree::open(worktree.folder()).unwrap();
    assert!(diff(&worktree).files.is_empty(), "also for whoever finds it later");

    // What comes after it counts, and goes into the project without what was set up.
    fs::write(worktree.tree().join("src/b"), "agent\n").unwrap();
    assert!(diff(&worktree).patch.ends_with(b"-b\n+agent\n"));
    let applied = worktree.apply_to_working_tree(&ground.project(), || true, &Limits::default()).unwrap();
    assert_eq!(applied.changed, [b"src/b".to_vec()]);
    assert_eq!(fs::read(ground.at("a")).unwrap(), b"one\n");
    assert!(ground.at("gone").exists() && !ground.at("src/made").exists());
}

#[test]
fn only_files_of_the_project_are_copied() {
    let ground = Ground::new(&[("a", "one\n")]);
    fs::write(ground.dir.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink("../secret", ground.at("link")).unwrap();
    std::os::unix::fs::symlink("..", ground.at("up")).unwrap();
    for path in ["../secret", "link", "up/secret", "/etc/passwd", "none", ".git/config", "", "a/b"] {
        let copy = [path.into()];
        let result = ground.start("w", Start { carry: false, copy: &copy });
        assert!(matches!(refused(result), Refused::Copy(_)), "{path}");
        assert!(!ground.dir.path().join("w").exists(), "nothing is left: {path}");
    }
    assert!(ground.git(&["for-each-ref", "refs/boocode"]).is_empty());
}

#[test]
fn a_project_that_cannot_be_used_is_refused_in_words() {
    let ground = Ground::empty();
    let path = ground.project();
    assert_eq!(refused(ground.start("w", Start::default())), Refused::NoCommit(path.join("")));
    ground.commit("first");
    assert!(matches!(refused(ground.start("../w", Start::default())), Refused::Id(_)));
    fs::create_dir(ground.dir.path().join("w")).unwrap();
    assert!(matches!(refused(ground.start("w", Start::default())), Refused::Exists(_)));

    let at = |project: &Path| {
        let folder = ground.dir.path().join("other");
        Worktree::create(&folder, "other", project, Start::default(), &Limits::default())
    };
    let gone = ground.dir.path().join("gone");
    assert_eq!(refused(at(&gone)), Refused::Missing(gone.clone()));
    assert_eq!(refused(at(&gone)).to_string(), format!("there is no folder at {}", gone.display()));
    let plain = ground.dir.path().join("plain");
    fs::create_dir(&plain).unwrap();
    assert_eq!(refused(at(&plain)), Refused::NotARepository(plain));
    ground.git(&["clone", "-q", "--bare", ".", "../bare"]);
    let bare = ground.dir.path().join("bare");
    assert_eq!(refused(at(&bare)), Refused::Bare(bare));
    assert!(!ground.dir.path().join("other").exists());
}

#[test]
fn a_detached_head_and_a_linked_worktree_are_projects_too() {
    let ground = Ground::new(&[("a", "one\n")]);
    ground.git(&["checkout", "-q", "--detach"]);
    let worktree = ground.worktree("detached");
    assert_eq!(git(&worktree.tree(), &["branch", "--show-current"]).stdout, b"");
    ground.git(&["worktree", "add", "-q", "../linked"]);
    let (folder, linked) = (ground.dir.path().join("w"), ground.dir.path().join("linked"));
    let worktree = Worktree::create(&folder, "w", &linked, Start::default(), &Limits::default()).unwrap();
    assert_eq!(git(&worktree.tree(), &["branch", "--show-current"]).stdout, b"linked\n");
    assert_eq!(git(&worktree.tree(), &["status", "--porcelain"]).stdout, b"");
}

#[test]
fn a_missing_object_is_named_and_nothing_is_left() {
    let ground = Ground::new(&[("a", "one\n"), ("b", "two\n")]);
    let id = String::from_utf8(ground.git(&["rev-parse", "HEAD:b"])).unwrap();
    let (first, rest) = id.trim().split_at(2);
    let object = ground.at(".git/objects").join(first).join(rest);
    fs::set_permissions(object.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::remove_file(object).unwrap();
    match ground.start("w", Start::default()) {
        Err(Error::MissingObject(missing)) => assert_eq!(missing, id.trim()),
        other => panic!("{other:?}"),
    }
    assert!(!ground.dir.path().join("w").exists());
    assert!(ground.git(&["for-each-ref", "refs/boocode"]).is_empty());
}

#[test]
fn a_full_disk_and_a_locked_folder_have_their_own_words() {
    // A device that is always full, for as far as that can be had without a disk of one's own.
    let cause = fs::write("/dev/full", "x").unwrap_err();
    assert_eq!(cause.kind(), std::io::ErrorKind::StorageFull, "what is told apart by");
    let ground = Ground::new(&[("a", "one\n")]);
    let nowhere = Path::new("/proc/worktree");
    let result = Worktree::create(nowhere, "w", &ground.project(), Start::default(), &Limits::default());
    assert!(matches!(result, Err(Error::Io { .. } | Error::Denied(_))), "{result:?}");
}

#[test]
fn making_one_can_be_stopped() {
    let ground = Ground::new(&[("a", "one\n")]);
    let limits = Limits::default();
    limits.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    let folder = ground.dir.path().join("w");
    let stopped = Worktree::create(&folder, "w", &ground.project(), Start::default(), &limits);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    assert!(!folder.exists());
    let limits = Limits { until: std::time::Instant::now(), ..Limits::default() };
    let late = Worktree::create(&folder, "w", &ground.project(), Start::default(), &limits);
    assert!(matches!(late, Err(Error::TooLong)), "{late:?}");
}

/// As after `git clone --shared`: behind the wall what it borrows is missing.
#[test]
fn a_project_that_borrows_objects_is_refused_until_it_has_its_own() {
    let ground = Ground::new(&[("a", "one\n")]);
    let original = ground.dir.path().join("original");
    fs::rename(ground.project(), &original).unwrap();
    let (from, to) = (original.to_str().unwrap(), "project");
    assert!(git(ground.dir.path(), &["clone", "-q", "--shared", from, to]).status.success());
    let Err(Error::Refused(Refused::Borrows(list))) = ground.start("w", Start::default()) else {
        panic!("it was made")
    };
    assert!(!ground.dir.path().join("w").exists());
    // As it is told.
    ground.git(&["repack", "-q", "-a", "-d"]);
    fs::remove_file(list).unwrap();
    let worktree = ground.worktree("w");
    fs::remove_dir_all(original).unwrap();
    assert!(git(&worktree.tree(), &["fsck"]).status.success());
}
