//! Which files a project has: what git tracks, and what it would not ignore. Git's own list and rules are
//! read through libgit2, which starts nothing that a repository names.
//!
//! The folders themselves are walked from one open folder to the next without following a link, so a folder
//! that turns into a link on the way leads nowhere.

use std::{
    fs,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use git2::Repository;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use super::listing::Listing;
use crate::project_folder::ProjectFolder;

const DEPTH_MAX: usize = 64;
/// A list of some 700,000 tracked files. A longer one is not read; git's rules then speak for its files too.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Rules that take for ever cost one list, not the server.
const WALK_TIME_MAX: Duration = Duration::from_secs(20);

/// Reads the disk: call it from `spawn_blocking`.
pub fn list(folder: &ProjectFolder) -> Result<Listing, git2::Error> {
    let repository = Repository::open(folder.path())?;
    let tracked = tracked(&repository).unwrap_or_else(|error| {
        tracing::debug!(%error, "the list of tracked files cannot be read");
        Vec::new()
    });
    let mut walk = Walk {
        repository: &repository,
        tracked,
        old_answers: tools::old_answers(folder.path()),
        until: Instant::now() + WALK_TIME_MAX,
        paths: Vec::new(),
        bytes: 0,
        is_cut: false,
    };
    match openat(CWD, folder.path(), FOLDER, Mode::empty()) {
        Ok(top) => walk.folder(top, &mut String::new(), 0, true),
        Err(error) => tracing::debug!(%error, "a project's folder cannot be read"),
    }
    let Walk { mut paths, is_cut, .. } = walk;
    paths.sort_unstable();
    Ok(Listing::new(&paths, is_cut))
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::RDONLY).union(OFlags::CLOEXEC);

/// The paths in git's list, in its order.
fn tracked(repository: &Repository) -> Result<Vec<Vec<u8>>, git2::Error> {
    let is_long =
        fs::metadata(repository.path().join("index")).is_ok_and(|file| file.len() > INDEX_BYTES_MAX);
    if is_long {
        return Ok(Vec::new());
    }
    Ok(repository.index()?.iter().map(|entry| entry.path).collect())
}

struct Walk<'a> {
    repository: &'a Repository,
    tracked: Vec<Vec<u8>>,
    /// From the project's folder on.
    old_answers: Vec<PathBuf>,
    until: Instant,
    paths: Vec<String>,
    bytes: usize,
    is_cut: bool,
}

impl Walk<'_> {
    /// Takes in what lies in `folder`, whose path is empty or ends with a slash. `asks` is whether git's
    /// rules can be asked for what it does not track.
    fn folder(&mut self, folder: OwnedFd, path: &mut String, depth: usize, asks: bool) {
        let Ok(entries) = Dir::read_from(&folder) else { return };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            match entry.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                // Another repository: its files are not this one's.
                Ok(".git") if depth > 0 => return,
                Ok(".git") => {}
                Ok(name)
                    if self.old_answers.iter().any(|old| *old == Path::new(path.as_str()).join(name)) => {}
                Ok(name) => found.push((name.to_owned(), kind(&folder, entry.file_type(), name))),
            }
        }
        // Rules that are a pipe would be waited for, and rules that are a link are not this project's.
        let odd_rules =
            |(name, kind): &(String, FileType)| name == ".gitignore" && *kind != FileType::RegularFile;
        let asks = asks && !found.iter().any(odd_rules);
        for (name, kind) in found {
            if self.is_over() {
                return;
            }
            let before = path.len();
            path.push_str(&name);
            match kind {
                FileType::RegularFile if self.is_listed(path, asks) => {
                    self.bytes += path.len();
                    self.paths.push(path.clone());
                }
                FileType::Directory => {
                    path.push('/');
                    if self.is_listed(path, asks) {
                        self.enter(&folder, &name, path, depth + 1, asks);
                    }
                }
                _ => {}
            }
            path.truncate(before);
        }
    }

    fn enter(&mut self, parent: &OwnedFd, name: &str, path: &mut String, depth: usize, asks: bool) {
        if depth > DEPTH_MAX {
            self.is_cut = true;
        } else if let Ok(folder) = openat(parent, name, FOLDER, Mode::empty()) {
            self.folder(folder, path, depth, asks);
        }
    }

    /// A folder's path ends with a slash.
    fn is_listed(&self, path: &str, asks: bool) -> bool {
        let bytes = path.as_bytes();
        let next = self.tracked.partition_point(|tracked| tracked.as_slice() < bytes);
        let is_tracked = self.tracked.get(next).is_some_and(|tracked| match path.ends_with('/') {
            true => tracked.starts_with(bytes),
            false => tracked == bytes,
        });
        is_tracked || (asks && !self.repository.is_path_ignored(Path::new(path)).unwrap_or(true))
    }

    fn is_over(&mut self) -> bool {
        self.is_cut |= self.paths.len() >= super::PATHS_MAX
            || self.bytes >= super::PATH_BYTES_MAX
            || Instant::now() >= self.until;
        self.is_cut
    }
}

/// Some file systems do not say it with the name.
fn kind(folder: &impl AsFd, said: FileType, name: &str) -> FileType {
    if said != FileType::Unknown {
        return said;
    }
    let looked = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    looked.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}
