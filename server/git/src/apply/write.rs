//! Carries a plan out. New contents are written aside first, so that a full disk is met before anything
//! changes; what is replaced is moved aside and comes back if a later step fails.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{ErrorKind, Result as IoResult, Write as _},
    mem,
    os::fd::AsFd,
    path::Path,
};

use rustix::fs::{FileType, Gid, Mode, Stat, Uid, fchmod, fchown, fstat};

use super::{
    Applied,
    journal::{Journal, Move, Stamp, State, new, old},
    plan::{Plan, Step},
};
use crate::{
    Conflict, Error, Reason, Refused,
    beneath::{self, Folder, split},
    checkout::write_file,
    entry::{LINK, PROGRAM},
    error::{at, from_io, io},
};

/// `folder` is the worktree's, where the journal lies.
pub fn carry_out(plan: Plan, project: &Path, folder: &Path, id: &str) -> Result<Applied, Error> {
    let Plan { steps, unchanged, record } = plan;
    let aside = project.join(format!(".boocode-apply-{id}"));
    if aside.symlink_metadata().is_ok() {
        return Err(Refused::Exists(aside).into());
    }
    let mut journal =
        Journal { aside, project: project.to_owned(), state: State::Preparing, record: Some(record) };
    journal.write(folder)?;
    if let Err(cause) = run(&steps, &mut journal, folder) {
        return Err(match journal.settle(folder) {
            Ok(()) => cause,
            Err(failed) => failed.after(cause),
        });
    }
    // Its files are in place. What is left to clear up is cleared up by whoever comes next, if not now.
    let _ = journal.settle(folder);
    let changed = steps.into_iter().map(|step| step.path).collect();
    Ok(Applied { changed, unchanged, left_out: Vec::new() })
}

fn run(steps: &[Step], journal: &mut Journal, folder: &Path) -> Result<(), Error> {
    fs::create_dir(&journal.aside).map_err(|cause| from_io(&journal.aside, cause))?;
    let top = Folder::open(&journal.project).map_err(io(&journal.project))?;
    let aside = Folder::open(&journal.aside).map_err(io(&journal.aside))?;
    let work = Work { top: &top, aside: &aside };
    let mut moves = Vec::with_capacity(steps.len());
    for (number, step) in steps.iter().enumerate() {
        let new = work.write_aside(number, step).map_err(at(&step.path))?;
        moves.push(Move { path: step.path.clone(), has_old: step.old.is_some(), new });
    }
    journal.state = State::Moving { moves, made: work.missing_folders(steps) };
    journal.write(folder)?;
    for (number, step) in steps.iter().enumerate() {
        if let Some(seen) = &step.old {
            work.move_aside(number, step, seen)?;
        }
    }
    for step in steps.iter().filter(|step| step.new.is_none()) {
        work.remove_empty_folders(split(&step.path).0);
    }
    for (number, step) in steps.iter().enumerate().filter(|(_, step)| step.new.is_some()) {
        work.put(number, step)?;
    }
    // Once that is written it counts. Until then all of it can be taken back.
    let moving = mem::replace(&mut journal.state, State::Done);
    journal.write(folder).inspect_err(|_| journal.state = moving)
}

struct Work<'a> {
    top: &'a Folder,
    aside: &'a Folder,
}

impl Work<'_> {
    fn write_aside(&self, number: usize, step: &Step) -> IoResult<Option<Stamp>> {
        let Some((mode, content)) = &step.new else { return Ok(None) };
        let replaced = step.old.as_ref().filter(|old| beneath::kind(old) == FileType::RegularFile);
        // What it replaces is deleted in the end, and must not be gone before this is on the disk.
        let stat = match replaced {
            Some(old) if *mode != LINK => self.write_like(&new(number), *mode, content, old)?,
            _ => write_file(self.aside, &new(number), *mode, content)?,
        };
        Ok(Some(Stamp::of(&stat)))
    }

    /// git knows of a file only whether it is a program. Who may read it stays as it was, and whose it is.
    fn write_like(&self, name: &[u8], mode: u32, content: &[u8], old: &Stat) -> IoResult<Stat> {
        let mut file: File = self.aside.create(name, 0o600)?;
        file.write_all(content)?;
        file.sync_data()?;
        let was = old.st_mode & 0o777;
        let programs = if mode == PROGRAM { 0o100 | (was & 0o444) >> 2 } else { 0 };
        let own = fstat(file.as_fd())?;
        if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid) {
            // Only some may give a file away; it is then the server's, as everything that it writes.
            let _ = fchown(file.as_fd(), Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
        }
        fchmod(file.as_fd(), Mode::from_raw_mode(was & !0o111 | programs))?;
        Ok(fstat(file.as_fd())?)
    }

    /// The folders that new files need and that are none yet, the outer ones first.
    fn missing_folders(&self, steps: &[Step]) -> Vec<Vec<u8>> {
        let mut folders = BTreeSet::new();
        for step in steps.iter().filter(|step| step.new.is_some()) {
            let mut folder = split(&step.path).0;
            while !folder.is_empty() && folders.insert(folder) {
                folder = split(folder).0;
            }
        }
        let is_missing = |folder: &&[u8]| self.top.descend(folder).is_err();
        folders.into_iter().filter(is_missing).map(<[u8]>::to_vec).collect()
    }

    fn move_aside(&self, number: usize, step: &Step, seen: &Stat) -> Result<(), Error> {
        let (folder, file) = split(&step.path);
        let parent = self.top.descend(folder).map_err(at(&step.path))?;
        let aside = old(number);
        parent.rename(file, self.aside, &aside).map_err(at(&step.path))?;
        // Only now nobody can change it under its name.
        let now = self.aside.stat(&aside).map_err(at(&step.path))?;
        let is_same = now.is_some_and(|now| Stamp::of(&now) == Stamp::of(seen));
        if is_same { Ok(()) } else { Err(meanwhile(&step.path)) }
    }

    fn remove_empty_folders(&self, folder: &[u8]) {
        let mut path = folder;
        while !path.is_empty() {
            let (parent, name) = split(path);
            let removed = self.top.descend(parent).and_then(|parent| parent.remove_folder(name));
            if removed.is_err() {
                // Gone already, or somebody's files are in it.
                return;
            }
            path = parent;
        }
    }

    fn put(&self, number: usize, step: &Step) -> Result<(), Error> {
        let (folder, file) = split(&step.path);
        let mut parent = self.top.descend(b"").map_err(at(&step.path))?;
        for part in folder.split(|byte| *byte == b'/').filter(|_| !folder.is_empty()) {
            parent.make(part).map_err(at(&step.path))?;
            parent = parent.enter(part).map_err(at(&step.path))?;
        }
        // Fails where something is there by now.
        self.aside.rename_new(&new(number), &parent, file).map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists => meanwhile(&step.path),
            _ => at(&step.path)(cause),
        })
    }
}

fn meanwhile(path: &[u8]) -> Error {
    Error::Conflicts(vec![Conflict { path: path.to_vec(), reason: Reason::ChangedMeanwhile }])
}

#[cfg(test)]
mod tests;
