use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
    process::{Command, Output},
};

use git::{Diff, Limits, Start, Worktree};
use proptest::prelude::ProptestConfig;
use tempfile::TempDir;

/// A project with one commit, and room for worktrees beside it.
pub struct Ground {
    pub dir: TempDir,
}

/// What lies at a path: its mode as git has it, and its bytes or where it leads.
pub type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

impl Ground {
    pub fn empty() -> Self {
        let ground = Self { dir: room() };
        fs::create_dir(ground.project()).unwrap();
        ground.git(&["init", "-q", "--template=", "-b", "main"]);
        ground
    }

    pub fn new(files: &[(&str, &str)]) -> Self {
        let ground = Self::empty();
        for (path, text) in files {
            ground.write(path, text);
        }
        ground.commit("first");
        ground
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.project().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        write(&self.project(), path.as_bytes(), text.as_bytes());
    }

    pub fn git(&self, arguments: &[&str]) -> Vec<u8> {
        let output = git(&self.project(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub fn worktree(&self, id: &str) -> Worktree {
        self.start(id, Start::default()).unwrap()
    }

    pub fn start(&self, id: &str, start: Start) -> Result<Worktree, git::Error> {
        Worktree::create(&self.dir.path().join(id), id, &self.project(), start, &Limits::default())
    }

    /// A checkout of the base by git itself, with the patch applied by git itself.
    pub fn applied(&self, base: &str, patch: &[u8]) -> Files {
        let at = self.dir.path().join("applied");
        self.git(&["worktree", "add", "-q", "--force", "--detach", at.to_str().unwrap(), base]);
        if !patch.is_empty() {
            let file = self.dir.path().join("patch");
            fs::write(&file, patch).unwrap();
            let output = git(&at, &["apply", "--binary", "--whitespace=nowarn", file.to_str().unwrap()]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(patch));
        }
        let files = files(&at);
        self.git(&["worktree", "remove", "--force", at.to_str().unwrap()]);
        files
    }
}

/// In memory where that is to be had: thousands of files come and go, which a disk may take minutes for.
fn room() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Deletes every worktree in a trash, and tells how many.
pub fn empty(trash: &Path) -> usize {
    let all = git::list(trash).unwrap();
    let count = all.len();
    all.into_iter().for_each(|worktree| worktree.remove().unwrap());
    count
}

pub fn diff(worktree: &Worktree) -> Diff {
    worktree.diff(&Limits::default()).unwrap()
}

/// git as on a machine of its own: no settings but the repository's.
pub fn git(folder: &Path, arguments: &[&str]) -> Output {
    let mut git = Command::new("git");
    // What a test writes need not survive the machine.
    git.current_dir(folder).args(["-c", "core.fsync=none"]).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Somebody").env(format!("GIT_{who}_EMAIL"), "s@example.org");
    }
    git.output().unwrap()
}

pub fn path(folder: &Path, path: &[u8]) -> PathBuf {
    folder.join(OsStr::from_bytes(path))
}

pub fn write(folder: &Path, name: &[u8], content: &[u8]) {
    let file = path(folder, name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, content).unwrap();
}

/// Puts exactly these files into the folder, whatever was there besides `.git`.
pub fn fill(folder: &Path, files: &Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() == ".git" {
            continue;
        }
        match entry.file_type().unwrap().is_dir() {
            true => fs::remove_dir_all(entry.path()).unwrap(),
            false => fs::remove_file(entry.path()).unwrap(),
        }
    }
    for (name, (mode, content)) in files {
        let file = path(folder, name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        match mode {
            0o120000 => symlink(OsStr::from_bytes(content), &file).unwrap(),
            _ => {
                fs::write(&file, content).unwrap();
                fs::set_permissions(&file, fs::Permissions::from_mode(mode & 0o777)).unwrap();
            }
        }
    }
}

/// All files beneath, without what is git's.
pub fn files(folder: &Path) -> Files {
    fn walk(top: &Path, folder: &Path, into: &mut Files) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(top).unwrap().as_os_str().as_bytes().to_vec();
            let data = path.symlink_metadata().unwrap();
            if path.file_name().unwrap() == ".git" {
                continue;
            } else if data.is_dir() {
                walk(top, &path, into);
            } else if data.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                into.insert(name, (0o120000, target.as_os_str().as_bytes().to_vec()));
            } else {
                let mode = if data.mode() & 0o100 == 0 { 0o100644 } else { 0o100755 };
                into.insert(name, (mode, fs::read(&path).unwrap()));
            }
        }
    }
    let mut found = Files::new();
    walk(folder, folder, &mut found);
    found
}

/// Each case starts git several times, so both the cases and the search for the smallest are few.
pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() }
}
