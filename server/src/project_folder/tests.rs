use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::*;

/// `allowed/` is the root: `repo` is a repository with `inner`, `plain` is none, `file` a file. `outside` is a
/// repository beside the root.
struct Disk {
    folder: TempDir,
    roots: AllowedRoots,
}

fn disk() -> Disk {
    let folder = tempfile::tempdir().unwrap();
    for name in ["allowed/repo/inner", "allowed/plain", "allowed-not", "outside"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    for name in ["allowed/repo", "allowed-not", "outside"] {
        Repository::init(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("allowed/file"), "").unwrap();
    let roots = AllowedRoots::new(&[folder.path().join("allowed")]).unwrap();
    Disk { folder, roots }
}

impl Disk {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn check(&self, typed: &str) -> Result<Checked, Refused> {
        check(typed, Some(&self.at("allowed")), &self.roots)
    }

    /// `typed` with `@` for the temporary folder; `expected` is the outcome's name and last path component.
    fn expect(&self, typed: &str, expected: &str) {
        let typed = typed.replace('@', self.folder.path().to_str().unwrap());
        let found = match self.check(&typed) {
            Ok(Checked::Repository(folder)) => format!("repository {}", name(folder.path())),
            Ok(Checked::NotARepository(folder)) => format!("plain {}", name(folder.path())),
            Err(Refused::InsideRepository(top)) => format!("inside {}", name(&top)),
            Err(Refused::LeadsElsewhere { elsewhere, .. }) => format!("elsewhere {}", name(&elsewhere)),
            Err(refused) => format!("{refused:?}").split([' ', '(']).next().unwrap().to_owned(),
        };
        assert_eq!(found, expected, "{typed}");
    }
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn rules() {
    let disk = disk();
    for (typed, expected) in [
        ("@/allowed/repo", "repository repo"),
        ("  @/allowed/repo/  ", "repository repo"),
        ("@/allowed/plain/../repo", "repository repo"),
        ("~/repo", "repository repo"),
        ("~//repo", "repository repo"),
        ("@/allowed/plain", "plain plain"),
        ("~", "plain allowed"),
        ("@/allowed/repo/inner", "inside repo"),
        ("@/allowed/repo/.git", "inside repo"),
        ("@/allowed/file", "NotADirectory"),
        ("@/allowed/file/x", "NotADirectory"),
        ("@/allowed/missing", "Missing"),
        ("@/outside", "OutsideRoots"),
        ("@/allowed/../outside", "OutsideRoots"),
        ("~/../outside", "OutsideRoots"),
        ("@/allowed-not", "OutsideRoots"),
        ("@", "OutsideRoots"),
        ("/", "FileSystemRoot"),
        ("/..", "FileSystemRoot"),
        ("", "NotAbsolute"),
        ("repo", "NotAbsolute"),
        ("./repo", "NotAbsolute"),
        ("~user/repo", "NotAbsolute"),
        ("@/allowed/re\0po", "Io"),
        (&format!("/{}", "a".repeat(10_000)), "Io"),
    ] {
        disk.expect(typed, expected);
    }
    assert!(matches!(check("~/repo", None, &disk.roots), Err(Refused::HomeUnknown)));
}

#[test]
fn symlinks_do_not_lead_out() {
    let disk = disk();
    for (link, target) in
        [("way-out", "outside"), ("within", "allowed/repo"), ("loop", "allowed/loop"), ("dead", "none")]
    {
        symlink(disk.at(target), disk.at("allowed").join(link)).unwrap();
    }
    let typed = disk.at("allowed/way-out");
    assert!(
        typed.starts_with(disk.at("allowed")) && Repository::open(&typed).is_ok(),
        "control: by name it is allowed"
    );
    disk.expect("@/allowed/way-out", "OutsideRoots");
    disk.expect("@/allowed/within", "repository repo");
    disk.expect("@/allowed/loop", "Io");
    disk.expect("@/allowed/dead", "Missing");
}

#[test]
fn repositories_do_not_lead_out() {
    let disk = disk();
    // Its files elsewhere, by its own configuration.
    let evil = Repository::init(disk.at("allowed/worktree-out")).unwrap();
    evil.config().unwrap().set_str("core.worktree", disk.at("outside").to_str().unwrap()).unwrap();
    // Its objects elsewhere, by a link and by a file.
    fs::create_dir(disk.at("allowed/link-out")).unwrap();
    symlink(disk.at("outside/.git"), disk.at("allowed/link-out/.git")).unwrap();
    fs::create_dir(disk.at("allowed/file-out")).unwrap();
    fs::write(disk.at("allowed/file-out/.git"), format!("gitdir: {}\n", disk.at("outside/.git").display()))
        .unwrap();

    let control = Repository::open(disk.at("allowed/worktree-out")).unwrap();
    assert!(control.workdir().unwrap().ends_with("outside"), "control: opened as it is, it leads out");
    disk.expect("@/allowed/worktree-out", "elsewhere outside");
    disk.expect("@/allowed/link-out", "elsewhere .git");
    disk.expect("@/allowed/file-out", "elsewhere .git");
}

#[test]
fn a_broken_repository_is_not_offered_to_be_made_anew() {
    let disk = disk();
    fs::write(disk.at("allowed/repo/.git/config"), "[core\nbroken").unwrap();
    disk.expect("@/allowed/repo", "Git");
}

#[test]
fn bare_repositories_are_named_as_such() {
    let disk = disk();
    Repository::init_bare(disk.at("allowed/bare.git")).unwrap();
    disk.expect("@/allowed/bare.git", "Bare");
}

#[test]
fn an_unreadable_folder_says_so() {
    let disk = disk();
    fs::set_permissions(disk.at("allowed/plain"), fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything, so for root the folder is as good as any.
    let root = rustix::process::geteuid().is_root();
    disk.expect("@/allowed/plain", if root { "plain plain" } else { "Unreadable" });
    fs::set_permissions(disk.at("allowed/plain"), fs::Permissions::from_mode(0o700)).unwrap();

    let denied = refused_by_disk("/x".into(), io::ErrorKind::PermissionDenied.into());
    assert_eq!(denied.to_string(), "BooCode may not read /x; give its user access to that folder");
}

#[test]
fn a_plain_folder_becomes_a_repository_once() {
    let disk = disk();
    let Ok(Checked::NotARepository(plain)) = disk.check("~/plain") else { panic!("plain") };
    let made = init_repository(&plain).unwrap();
    assert_eq!(made.path(), plain.path());
    disk.expect("~/plain", "repository plain");
    let hooks = disk.at("allowed/plain/.git/hooks").read_dir().unwrap();
    let hooks: Vec<_> = hooks.map(|hook| hook.unwrap().file_name()).collect();
    assert_eq!(hooks, ["README.sample"], "nothing that git would run");
    assert!(init_repository(&plain).is_err(), "a repository made meanwhile is not touched");
}

#[test]
fn roots_must_exist() {
    let disk = disk();
    assert!(matches!(AllowedRoots::new(&[disk.at("none")]), Err(Refused::Missing(_))));
    assert!(matches!(AllowedRoots::new(&[disk.at("allowed/file")]), Err(Refused::NotADirectory(_))));
    let none = AllowedRoots::new(&[]).unwrap();
    assert!(matches!(
        check(disk.at("outside").to_str().unwrap(), None, &none),
        Err(Refused::OutsideRoots { .. })
    ));
}
