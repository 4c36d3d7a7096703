//! Repositories and agents that attack. Each has a control that shows the attack working on plain git or on
//! whoever reads files without care.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
    thread,
    time::Duration,
};

use git::{Author, Error, Limits, Refused, Snapshot, Start, Why, Worktree};
use rustix::fs::{CWD, FileType, Mode, mkfifoat, mknodat};

use crate::harness::{Ground, diff, empty, git};

/// A script that leaves a mark when it is started.
struct Trap {
    folder: PathBuf,
}

impl Trap {
    fn new(folder: &Path) -> Self {
        let trap = Self { folder: folder.to_owned() };
        let text = format!("#!/bin/sh\ntouch {}\ncat 2>/dev/null\nexit 0\n", trap.mark().display());
        fs::write(trap.script(), text).unwrap();
        fs::set_permissions(trap.script(), fs::Permissions::from_mode(0o755)).unwrap();
        trap
    }

    fn script(&self) -> PathBuf {
        self.folder.join("trap.sh")
    }

    fn mark(&self) -> PathBuf {
        self.folder.join("sprung")
    }

    /// Whether it was started since the last time.
    fn sprung(&self) -> bool {
        fs::remove_file(self.mark()).is_ok()
    }

    /// Sets it in the repository that the tree holds.
    fn set(&self, tree: &Path, bait: &Bait) {
        for name in bait.config {
            assert!(git(tree, &["config", name, self.script().to_str().unwrap()]).status.success());
        }
        if bait.signs {
            git(tree, &["config", "commit.gpgSign", "true"]);
        }
        let mut hooks = tree.join(".git/hooks");
        if bait.hooks_elsewhere {
            hooks = self.folder.clone();
            git(tree, &["config", "core.hooksPath", hooks.to_str().unwrap()]);
        }
        if let Some(hook) = bait.hook {
            fs::create_dir_all(&hooks).unwrap();
            fs::copy(self.script(), hooks.join(hook)).unwrap();
        }
    }
}

/// One thing that git starts by itself, and the command that shows it.
struct Bait {
    config: &'static [&'static str],
    signs: bool,
    hooks_elsewhere: bool,
    hook: Option<&'static str>,
    control: &'static str,
}

const fn configured(config: &'static [&'static str], control: &'static str) -> Bait {
    Bait { config, signs: false, hooks_elsewhere: false, hook: None, control }
}

const fn hooked(hook: &'static str, control: &'static str) -> Bait {
    Bait { config: &[], signs: false, hooks_elsewhere: false, hook: Some(hook), control }
}

const BAITS: [Bait; 15] = [
    configured(&["core.fsmonitor"], "git status"),
    configured(&["filter.evil.clean"], "git add a"),
    configured(&["filter.evil.smudge"], "git checkout-index -f b"),
    configured(&["filter.evil.process"], "git add a"),
    configured(&["diff.external"], "git diff"),
    configured(&["diff.evil.command"], "git diff"),
    configured(&["diff.evil.textconv"], "git diff"),
    configured(&["credential.helper"], "printf 'protocol=https\nhost=x\n\n' | git credential fill"),
    Bait { signs: true, ..configured(&["gpg.program"], "git commit -qam x") },
    hooked("post-checkout", "git checkout -q -b x"),
    hooked("pre-commit", "git commit -qam x"),
    hooked("post-index-change", "git add a"),
    hooked("reference-transaction", "git update-ref refs/heads/x HEAD"),
    Bait { hooks_elsewhere: true, ..hooked("commit-msg", "git commit -qam x") },
    Bait { hooks_elsewhere: true, ..hooked("post-commit", "git commit -qam x") },
];

/// git itself falls for it.
fn control(tree: &Path, trap: &Trap, bait: &Bait) {
    let mut shell = Command::new("sh");
    shell.current_dir(tree).args(["-c", bait.control]).env("GIT_CONFIG_GLOBAL", "/dev/null");
    shell.env("GIT_TERMINAL_PROMPT", "0").output().unwrap();
    assert!(trap.sprung(), "the control: {:?} {:?} {}", bait.config, bait.hook, bait.control);
}

const ATTRIBUTES: &str = "* filter=evil diff=evil merge=evil text eol=crlf ident\n";

/// Everything that a worktree goes through, in a project that has changes of its own in `b`.
fn live(ground: &Ground, id: &str, spoil: &dyn Fn(&Worktree)) {
    let worktree = ground.start(id, Start { carry: true, copy: &["b".into()] }).unwrap();
    assert_eq!(fs::read(worktree.tree().join("a")).unwrap(), b"one $Id$\n", "neither line endings nor ident");
    fs::write(worktree.tree().join("a"), "agent $Id$\n").unwrap();
    spoil(&worktree);
    let seen = diff(&worktree);
    assert_eq!(seen.files.iter().map(|file| file.display()).collect::<Vec<_>>(), ["a"]);
    assert!(seen.patch.ends_with(b"-one $Id$\n+agent $Id$\n"));
    worktree.apply_as_commit(&ground.project(), id, "m", ME, || true, &Limits::default()).unwrap();
    worktree.apply_to_working_tree(&ground.project(), || true, &Limits::default()).unwrap();
    assert_eq!(fs::read(ground.at("a")).unwrap(), b"agent $Id$\n");
    worktree.size(&Limits::default()).unwrap();
}

/// Ends the test rather than waiting for ever.
fn bounded<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        let _ = done.send(work());
    });
    ended.recv_timeout(Duration::from_secs(20)).ok()
}

const ME: Author = Author { name: "Me", email: "me@example.org" };

fn project_with_attributes() -> Ground {
    let ground = Ground::new(&[("a", "one $Id$\n"), ("b", "two\n"), (".gitattributes", ATTRIBUTES)]);
    ground.git(&["config", "user.name", "Me"]);
    ground.git(&["config", "user.email", "me@example.org"]);
    ground.write("b", "mine\n");
    ground
}

#[test]
fn nothing_of_a_hostile_project_is_started() {
    for bait in &BAITS {
        let ground = project_with_attributes();
        let trap = Trap::new(ground.dir.path());
        trap.set(&ground.project(), bait);
        trap.sprung();
        live(&ground, "w", &|_| {});
        let trash = ground.dir.path().join("trash");
        fs::create_dir(&trash).unwrap();
        Worktree::open(&ground.dir.path().join("w")).unwrap().trash(&trash).unwrap();
        empty(&trash);
        assert!(!trap.sprung(), "{:?} {:?}", bait.config, bait.hook);
        control(&ground.project(), &trap, bait);
    }
}

#[test]
fn nothing_that_an_agent_writes_is_started_or_believed() {
    for bait in &BAITS {
        let ground = project_with_attributes();
        let trap = Trap::new(ground.dir.path());
        live(&ground, "w", &|worktree| {
            trap.set(&worktree.tree(), bait);
            trap.sprung();
        });
        assert!(!trap.sprung(), "{:?} {:?}", bait.config, bait.hook);
        control(&ground.dir.path().join("w/tree"), &trap, bait);
    }
}

/// Each of these leads plain git to another repository, or makes it blind.
#[test]
fn an_agents_git_folder_may_be_anything() {
    let ground = Ground::new(&[("a", "one\n")]);
    let other = Ground::new(&[("a", "agent\n")]);
    other.write("a", "another\n");
    let elsewhere = other.at(".git");
    let check = |id: &str, spoil: &dyn Fn(&Path)| {
        let worktree = ground.worktree(id);
        fs::write(worktree.tree().join("a"), "agent\n").unwrap();
        let before = diff(&worktree).patch;
        spoil(&worktree.tree().join(".git"));
        let control = git(&worktree.tree(), &["diff", "HEAD"]);
        assert!(!control.stdout.ends_with(b"-one\n+agent\n"), "the control: {id}");
        assert_eq!(diff(&worktree).patch, before, "{id}");
        assert!(before.ends_with(b"-one\n+agent\n"));
    };
    check("file", &|git| {
        fs::remove_dir_all(git).unwrap();
        fs::write(git, format!("gitdir: {}\n", elsewhere.display())).unwrap();
    });
    check("link", &|git| {
        fs::remove_dir_all(git).unwrap();
        symlink(&elsewhere, git).unwrap();
    });
    check("alternates", &|git| {
        let objects = elsewhere.join("objects");
        fs::write(git.join("objects/info/alternates"), objects.to_str().unwrap()).unwrap();
    });
    check("index", &|git| fs::write(git.join("index"), "DIRC").unwrap());
    check("gone", &|git| fs::remove_dir_all(git).unwrap());
    check("worktree", &|git| {
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {}\n",
            other.project().display()
        );
        fs::write(git.join("config"), config).unwrap();
    });
    check("pipe", &|git| {
        fs::remove_file(git.join("HEAD")).unwrap();
        mkfifoat(CWD, git.join("commondir"), Mode::RWXU).unwrap();
    });
}

#[test]
fn links_lead_nowhere() {
    let ground = Ground::new(&[("a", "one\n"), ("dir/x", "x\n")]);
    let secret = ground.dir.path().join("outside");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("x"), "SECRET\n").unwrap();
    fs::write(secret.join(".gitignore"), "*\n").unwrap();
    let worktree = ground.worktree("w");
    let tree = worktree.tree();
    fs::remove_dir_all(tree.join("dir")).unwrap();
    symlink(&secret, tree.join("dir")).unwrap();
    symlink(secret.join("x"), tree.join("b")).unwrap();
    symlink(secret.join(".gitignore"), tree.join(".gitignore")).unwrap();
    assert_eq!(fs::read(tree.join("dir/x")).unwrap(), b"SECRET\n", "the control: whoever follows gets there");
    let seen = diff(&worktree);
    assert!(!seen.patch.windows(6).any(|part| part == b"SECRET"));
    let names: Vec<_> = seen.files.iter().map(|file| file.display()).collect();
    assert_eq!(names, [".gitignore", "b", "dir", "dir/x"], "rules behind a link are none");

    // The whole tree turned into a link.
    fs::rename(&tree, worktree.folder().join("moved")).unwrap();
    symlink(&secret, &tree).unwrap();
    let error = worktree.diff(&Limits::default());
    assert!(matches!(error, Err(Error::Io { .. })), "{error:?}");
}

/// Whatever of git's own files an agent is given comes from the repository, which chooses where a link leads.
#[test]
fn nothing_is_handed_over_through_a_link_in_git_s_own_folder() {
    // In a form that git takes for an id of its own.
    const SECRET: &[u8] = b"5ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2\n";
    let check = |place: &str, spoil: &dyn Fn(&Ground, &Path)| {
        let ground = Ground::new(&[("a", "one\n")]);
        let secret = ground.dir.path().join("keys");
        fs::write(&secret, SECRET).unwrap();
        spoil(&ground, &secret);
        let read = fs::read(ground.at(".git").join(place));
        assert!(read.is_ok_and(|text| text == SECRET), "the control: whoever follows gets there: {place}");
        let refused = ground.start("w", Start::default());
        assert!(matches!(refused, Err(Error::Refused(Refused::GitLink(_)))), "{place}: {refused:?}");
        assert!(!ground.dir.path().join("w").exists());
        let folder = ground.dir.path().join("s");
        drop(Snapshot::take(&folder, "s", &ground.project(), false, &Limits::default()));
        let given = fs::read(folder.join("git/info/exclude")).unwrap_or_default();
        assert_eq!(given, b"", "{place}");
    };
    check("info/exclude", &|ground, secret| {
        fs::create_dir_all(ground.at(".git/info")).unwrap();
        symlink(secret, ground.at(".git/info/exclude")).unwrap();
    });
    check("info/exclude", &|ground, secret| {
        let folder = ground.dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        fs::copy(secret, folder.join("exclude")).unwrap();
        symlink(folder, ground.at(".git/info")).unwrap();
    });
    check("shallow", &|ground, secret| symlink(secret, ground.at(".git/shallow")).unwrap());
}

/// Agents may read the folder of objects, so it must be the repository's own.
#[test]
fn objects_that_lie_elsewhere_are_not_granted() {
    let (ground, private) = (Ground::new(&[("a", "one\n")]), Ground::new(&[("a", "private\n")]));
    let worktree = ground.worktree("w");
    assert_eq!(worktree.objects().unwrap(), ground.at(".git/objects").canonicalize().unwrap());
    fs::rename(ground.at(".git/objects"), ground.dir.path().join("objects")).unwrap();
    symlink(private.at(".git/objects"), ground.at(".git/objects")).unwrap();
    let reached = ground.at(".git/objects").canonicalize().unwrap();
    assert!(reached.starts_with(private.dir.path().canonicalize().unwrap()), "the control: it leads there");
    let refused = worktree.objects();
    assert!(matches!(refused, Err(Error::Refused(Refused::GitLink(_)))), "{refused:?}");
}

/// Uncommitted files are carried into a worktree: those of the project, not of a folder that its settings name.
#[test]
fn a_repository_that_names_other_folders_is_refused() {
    let check = |spoil: &dyn Fn(&Ground, &Ground)| {
        let (ground, private) = (Ground::new(&[("a", "one\n")]), Ground::new(&[("secret", "private\n")]));
        spoil(&ground, &private);
        let opened = git2::Repository::open(ground.project()).unwrap();
        let private = private.dir.path().canonicalize().unwrap();
        let reached = [opened.workdir().unwrap(), opened.commondir()];
        let is_led = |place: &&Path| place.canonicalize().unwrap().starts_with(&private);
        assert!(reached.iter().any(is_led), "the control: libgit2 goes there");
        let refused = ground.start("w", Start { carry: true, copy: &[] });
        assert!(matches!(refused, Err(Error::Refused(Refused::LeadsElsewhere { .. }))), "{refused:?}");
    };
    check(&|ground, private| {
        ground.git(&["config", "core.worktree", private.project().to_str().unwrap()]);
    });
    check(&|ground, private| {
        let common = format!("{}\n", private.at(".git").display());
        fs::write(ground.at(".git/commondir"), common).unwrap();
    });
    check(&|ground, private| {
        fs::remove_dir_all(ground.at(".git")).unwrap();
        fs::write(ground.at(".git"), format!("gitdir: {}\n", private.at(".git").display())).unwrap();
    });
    check(&|ground, private| {
        fs::remove_dir_all(ground.at(".git")).unwrap();
        symlink(private.at(".git"), ground.at(".git")).unwrap();
    });
    // As if it were a linked worktree that belongs to another folder.
    check(&|ground, private| {
        let linked = private.dir.path().join("linked");
        private.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        fs::remove_dir_all(ground.at(".git")).unwrap();
        fs::copy(linked.join(".git"), ground.at(".git")).unwrap();
    });
}

/// Both have a repository that lies elsewhere, and that knows of them.
#[test]
fn submodules_and_linked_worktrees_are_projects() {
    let (ground, inner) = (Ground::new(&[("a", "one\n")]), Ground::new(&[("b", "two\n")]));
    let from = inner.project();
    ground.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        from.to_str().unwrap(),
        "sub",
    ]);
    let linked = ground.dir.path().join("linked");
    ground.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    for (id, project) in [("s", ground.at("sub")), ("l", linked)] {
        assert!(project.join(".git").is_file(), "{id}");
        let folder = ground.dir.path().join(id);
        let made = Worktree::create(&folder, id, &project, Start::default(), &Limits::default());
        assert!(made.is_ok(), "{id}: {made:?}");
    }
}

#[test]
fn an_apply_writes_through_no_link() {
    let ground = Ground::new(&[("dir/x", "x\n")]);
    let outside = ground.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "x\n").unwrap();
    let worktree = ground.worktree("w");
    fs::write(worktree.tree().join("dir/x"), "agent\n").unwrap();
    fs::write(worktree.tree().join("dir/new"), "agent\n").unwrap();
    fs::remove_dir_all(ground.at("dir")).unwrap();
    symlink(&outside, ground.at("dir")).unwrap();
    fs::write(ground.at("dir/control"), "c").unwrap();
    assert!(outside.join("control").exists(), "the control: whoever follows writes there");
    let error = worktree.apply_to_working_tree(&ground.project(), || true, &Limits::default());
    assert!(matches!(&error, Err(Error::Conflicts(all)) if all.len() == 2), "{error:?}");
    assert_eq!(fs::read(outside.join("x")).unwrap(), b"x\n");
    assert!(!outside.join("new").exists());
}

#[test]
fn pipes_and_devices_are_told_and_never_waited_for() {
    let ground = Ground::new(&[("a", "one\n"), ("b", "two\n")]);
    let worktree = ground.worktree("w");
    let tree = worktree.tree();
    fs::remove_file(tree.join("a")).unwrap();
    for pipe in ["a", "pipe", ".gitignore", ".gitattributes"] {
        mkfifoat(CWD, tree.join(pipe), Mode::RWXU).unwrap();
    }
    // Only some may make a device.
    let device =
        mknodat(CWD, tree.join("zero"), FileType::CharacterDevice, Mode::RWXU, rustix::fs::makedev(1, 5));
    let _socket = std::os::unix::net::UnixListener::bind(tree.join("socket")).unwrap();
    let control = bounded_briefly({
        let pipe = tree.join("pipe");
        move || drop(fs::read(pipe))
    });
    assert!(!control, "the control: reading a pipe waits for its writer");
    let seen = bounded(move || worktree.diff(&Limits::default()).unwrap()).expect("it waits");
    let left_out: Vec<_> = seen.left_out.iter().map(|one| git::display(&one.path)).collect();
    let mut expected = vec![".gitattributes", ".gitignore", "a", "pipe", "socket"];
    if device.is_ok() {
        expected.push("zero");
    }
    assert_eq!(left_out, expected);
    assert!(seen.left_out.iter().all(|one| one.why == Why::Special));
    assert_eq!(seen.files.iter().map(|file| file.display()).collect::<Vec<_>>(), ["a"], "the file is gone");
    // Lets the control's thread end.
    drop(fs::OpenOptions::new().write(true).open(tree.join("pipe")));
}

fn bounded_briefly(work: impl FnOnce() + Send + 'static) -> bool {
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    ended.recv_timeout(Duration::from_millis(300)).is_ok()
}

/// Trees that only an attacker writes: git's own tools refuse to, so they are made of raw objects.
#[test]
fn trees_that_lead_outside_are_refused() {
    for name in ["..", ".git", ".GIT", ".", "git~1", ".git "] {
        let ground = Ground::new(&[("a", "one\n")]);
        let repository = git2::Repository::open(ground.project()).unwrap();
        let odb = repository.odb().unwrap();
        let blob = repository.blob(b"evil").unwrap();
        let inner = [b"100755 post-checkout\0", blob.as_bytes()].concat();
        let inner = odb.write(git2::ObjectType::Tree, &inner).unwrap();
        let tree = [format!("40000 {name}\0").as_bytes(), inner.as_bytes()].concat();
        let tree = odb.write(git2::ObjectType::Tree, &tree).unwrap();
        let id = ground.git(&["commit-tree", "-m", "evil", &tree.to_string()]);
        ground.git(&["update-ref", "refs/heads/main", String::from_utf8(id).unwrap().trim()]);
        let error = ground.start("w", Start::default());
        assert!(matches!(error, Err(Error::Refused(Refused::OddPath(_)))), "{name}: {error:?}");
        assert!(!ground.dir.path().join("post-checkout").exists());
    }
}

/// A link and a folder of one name in one tree: whoever writes the link first follows it with the folder's files.
#[test]
fn a_tree_with_a_link_and_a_folder_of_one_name_is_refused() {
    let ground = Ground::new(&[("a", "one\n")]);
    let outside = ground.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let repository = git2::Repository::open(ground.project()).unwrap();
    let odb = repository.odb().unwrap();
    let target = repository.blob(outside.to_str().unwrap().as_bytes()).unwrap();
    let inner = [b"100644 evil\0", repository.blob(b"evil").unwrap().as_bytes()].concat();
    let inner = odb.write(git2::ObjectType::Tree, &inner).unwrap();
    let tree = [b"120000 d\0", target.as_bytes(), b"40000 d\0", inner.as_bytes()].concat();
    let tree = odb.write(git2::ObjectType::Tree, &tree).unwrap();
    let id = ground.git(&["commit-tree", "-m", "evil", &tree.to_string()]);
    ground.git(&["update-ref", "refs/heads/main", String::from_utf8(id).unwrap().trim()]);
    assert!(ground.start("w", Start::default()).is_err());
    assert!(!outside.join("evil").exists() && !ground.dir.path().join("w").exists());
}

#[test]
fn a_tree_of_any_depth_is_refused_and_removed() {
    let ground = Ground::new(&[("a", "one\n")]);
    let worktree: Worktree = ground.worktree("w");
    let mut folder =
        rustix::fs::openat(CWD, worktree.tree(), rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..3000 {
        rustix::fs::mkdirat(&folder, "deeper", Mode::RWXU).unwrap();
        folder = rustix::fs::openat(&folder, "deeper", rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let error = worktree.diff(&Limits::default());
    assert!(matches!(error, Err(Error::TooLarge { .. })), "{error:?}");
    assert!(worktree.size(&Limits::default()).is_err());
    let trash = ground.dir.path().join("trash");
    fs::create_dir(&trash).unwrap();
    worktree.trash(&trash).unwrap();
    assert_eq!(empty(&trash), 1);
}
