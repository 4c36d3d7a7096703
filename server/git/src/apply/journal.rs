//! What an apply is about to do, kept beside the worktree before the project is touched. Whoever comes after a crash
//! takes back by it what was begun.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::record::Record;
use crate::{
    Error, Refused,
    beneath::{Folder, split},
    error::io as failed,
};

/// In the worktree's folder, which is out of an agent's reach.
const NAME: &str = "apply.json";

#[derive(Debug, Serialize, Deserialize)]
pub struct Journal {
    /// In the project: only within one file system a file moves whole or not at all.
    pub aside: PathBuf,
    pub project: PathBuf,
    pub state: State,
    /// What counts as applied once it is done. A journal of an earlier version tells nothing of it.
    #[serde(default)]
    pub record: Option<Record>,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum State {
    /// New contents are written aside. Nothing of the project's is touched.
    Preparing,
    /// Files may have moved.
    Moving {
        moves: Vec<Move>,
        /// Folders that come with the new files, the outer ones first.
        made: Vec<Vec<u8>>,
    },
    /// All of it is in place, and what was replaced is not needed any more.
    Done,
}

/// One path: the file that lies there goes aside, or a new one comes, or both.
#[derive(Debug, Serialize, Deserialize)]
pub struct Move {
    pub path: Vec<u8>,
    pub has_old: bool,
    /// By which the new file is known once it lies there.
    pub new: Option<Stamp>,
}

/// A file that has the same one is the same, unchanged, whatever its name is by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    ino: u64,
    size: i64,
    mode: u32,
    modified: (i64, i64),
}

impl Stamp {
    pub fn of(stat: &Stat) -> Self {
        let modified = (stat.st_mtime, stat.st_mtime_nsec as i64);
        Self { ino: stat.st_ino, size: stat.st_size, mode: stat.st_mode, modified }
    }
}

pub fn old(number: usize) -> Vec<u8> {
    format!("old-{number}").into_bytes()
}

pub fn new(number: usize) -> Vec<u8> {
    format!("new-{number}").into_bytes()
}

impl Journal {
    /// None where no apply was begun, or none that did not come to its end.
    pub fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(NAME);
        let text = match fs::read(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(failed(&path))?,
        };
        Ok(Some(serde_json::from_slice(&text).map_err(|cause| failed(&path)(cause.into()))?))
    }

    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        write_whole(self, folder, NAME)
    }

    /// Takes back what was begun, or clears up behind what was finished. The journal goes last, so that what fails is
    /// tried again.
    pub fn settle(&self, folder: &Path) -> Result<(), Error> {
        let top = self.open_project()?;
        if let (State::Done, Some(record)) = (&self.state, &self.record) {
            record.write(folder)?;
        }
        match Folder::open(&self.aside) {
            Ok(aside) => {
                if let State::Moving { moves, made } = &self.state
                    && !take_back(&top, &aside, moves, made)
                {
                    return Err(Error::HalfDone { cause: None, aside: self.aside.clone() });
                }
                fs::remove_dir_all(&self.aside).map_err(failed(&self.aside))?;
            }
            // Somebody took the folder away; there is nothing left to put back.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(failed(&self.aside)(cause)),
        }
        let path = folder.join(NAME);
        fs::remove_file(&path).map_err(failed(&path))
    }

    /// One that is not there may come back, from a disk that is not mounted, with what lies aside in it.
    fn open_project(&self) -> Result<Folder, Error> {
        let top = Folder::open(&self.project).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Refused::Missing(self.project.clone()).into(),
            _ => failed(&self.project)(cause),
        })?;
        match top.stat(b".git").map_err(failed(&self.project))? {
            Some(_) => Ok(top),
            None => Err(Refused::NotARepository(self.project.clone()).into()),
        }
    }
}

/// Whole or not at all, and on the disk before anything is done by it.
pub fn write_whole(content: &impl Serialize, folder: &Path, name: &str) -> Result<(), Error> {
    let (path, new) = (folder.join(name), folder.join(format!("{name}.new")));
    let text = serde_json::to_vec(content).map_err(|cause| failed(&path)(cause.into()))?;
    let written = fs::File::create(&new).and_then(|mut file| {
        file.write_all(&text)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&new, &path));
    placed.and_then(|()| fs::File::open(folder)?.sync_all()).map_err(failed(&path))
}

/// Tells whether every file of the project's is where it was. It looks at what lies there rather than at what was
/// noted on the way, so it can be done again from wherever it was interrupted.
fn take_back(top: &Folder, aside: &Folder, moves: &[Move], made: &[Vec<u8>]) -> bool {
    for (number, step) in moves.iter().enumerate() {
        let is_put = step.new.is_some() && matches!(aside.stat(&new(number)), Ok(None));
        if is_put {
            // A file that was changed since is somebody's.
            let is_ours = |stat: &Stat| Some(Stamp::of(stat)) == step.new;
            drop(at(top, &step.path, |folder, name| match folder.stat(name)? {
                Some(stat) if is_ours(&stat) => folder.remove(name),
                _ => Ok(()),
            }));
        }
    }
    // One that stays, since somebody put a file into it, is no loss.
    for path in made.iter().rev() {
        drop(at(top, path, |folder, name| folder.remove_folder(name)));
    }
    let mut is_whole = true;
    for (number, step) in moves.iter().enumerate().filter(|(_, step)| step.has_old) {
        let kept = old(number);
        is_whole &= match aside.stat(&kept) {
            Ok(None) => true,
            Ok(Some(_)) => put_back(top, &step.path, aside, &kept).is_ok(),
            Err(_) => false,
        };
    }
    is_whole
}

fn put_back(top: &Folder, path: &[u8], aside: &Folder, kept: &[u8]) -> io::Result<()> {
    let (folder, name) = split(path);
    let mut parent = top.descend(b"")?;
    for part in folder.split(|byte| *byte == b'/').filter(|_| !folder.is_empty()) {
        parent.make(part)?;
        parent = parent.enter(part)?;
    }
    aside.rename_new(kept, &parent, name)
}

fn at(top: &Folder, path: &[u8], act: impl Fn(&Folder, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let (folder, name) = split(path);
    act(&top.descend(folder)?, name)
}
