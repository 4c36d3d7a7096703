//! Carries a plan out. New contents are written aside first, so that a full disk is met before anything
//! changes; what is replaced is moved aside and comes back if a later step fails.

use std::{
    fs,
    io::{ErrorKind, Result as IoResult},
    path::Path,
};

use rustix::fs::Stat;

use super::{
    Applied,
    plan::{Plan, Step},
};
use crate::{
    Conflict, Error, Reason, Refused,
    beneath::{Folder, split},
    checkout::write_file,
    error::{at, from_io, io},
};

pub fn carry_out(plan: Plan, project: &Path, id: &str) -> Result<Applied, Error> {
    // In the project itself: only within one file system a file moves whole or not at all.
    let path = project.join(format!(".boocode-apply-{id}"));
    fs::create_dir(&path).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => Refused::Exists(path.clone()).into(),
        _ => from_io(&path, cause),
    })?;
    let result = Folder::open(&path).map_err(io(&path)).and_then(|aside| {
        let top = Folder::open(project).map_err(io(project))?;
        let mut work = Work { top: &top, aside: &aside, done: Vec::new() };
        work.run(&plan.steps).map_err(|cause| match work.undo() {
            true => cause,
            false => Error::HalfDone { cause: Box::new(cause), aside: path.clone() },
        })
    });
    if !matches!(result, Err(Error::HalfDone { .. })) {
        // Nothing in it is needed any more.
        let _ = fs::remove_dir_all(&path);
    }
    result?;
    let changed = plan.steps.into_iter().map(|step| step.path).collect();
    Ok(Applied { changed, unchanged: plan.unchanged })
}

struct Work<'a> {
    top: &'a Folder,
    aside: &'a Folder,
    done: Vec<Done>,
}

/// What was done, to be taken back.
enum Done {
    Moved { path: Vec<u8>, aside: Vec<u8> },
    Written { path: Vec<u8> },
    Made { path: Vec<u8> },
    Removed { path: Vec<u8> },
}

impl Work<'_> {
    fn run(&mut self, steps: &[Step]) -> Result<(), Error> {
        for (number, step) in steps.iter().enumerate() {
            if let Some((mode, content)) = &step.new {
                write_file(self.aside, &name("new", number), *mode, content).map_err(at(&step.path))?;
            }
        }
        for (number, step) in steps.iter().enumerate() {
            if let Some(seen) = &step.old {
                self.move_aside(number, step, seen)?;
            }
        }
        for step in steps.iter().filter(|step| step.new.is_none()) {
            self.remove_empty_folders(split(&step.path).0)?;
        }
        for (number, step) in steps.iter().enumerate().filter(|(_, step)| step.new.is_some()) {
            self.put(number, step)?;
        }
        Ok(())
    }

    fn move_aside(&mut self, number: usize, step: &Step, seen: &Stat) -> Result<(), Error> {
        let (folder, file) = split(&step.path);
        let parent = self.top.descend(folder).map_err(at(&step.path))?;
        let aside = name("old", number);
        parent.rename(file, self.aside, &aside).map_err(at(&step.path))?;
        self.done.push(Done::Moved { path: step.path.clone(), aside: aside.clone() });
        // Only now nobody can change it under its name.
        let now = self.aside.stat(&aside).map_err(at(&step.path))?;
        let same = |now: Stat| {
            (now.st_ino, now.st_size, now.st_mode, now.st_mtime, now.st_mtime_nsec)
                == (seen.st_ino, seen.st_size, seen.st_mode, seen.st_mtime, seen.st_mtime_nsec)
        };
        if now.is_some_and(same) { Ok(()) } else { Err(meanwhile(&step.path)) }
    }

    fn remove_empty_folders(&mut self, folder: &[u8]) -> Result<(), Error> {
        let mut path = folder;
        while !path.is_empty() {
            let (parent, file) = split(path);
            // Gone already, or somebody's files are in it.
            let Ok(parent) = self.top.descend(parent) else { return Ok(()) };
            if parent.remove_folder(file).is_err() {
                return Ok(());
            }
            self.done.push(Done::Removed { path: path.to_vec() });
            path = split(path).0;
        }
        Ok(())
    }

    fn put(&mut self, number: usize, step: &Step) -> Result<(), Error> {
        let (folder, file) = split(&step.path);
        let mut parent = self.top.descend(b"").map_err(at(&step.path))?;
        let mut end = 0;
        for part in folder.split(|byte| *byte == b'/').filter(|_| !folder.is_empty()) {
            end += part.len();
            if parent.make(part).map_err(at(&step.path))? {
                self.done.push(Done::Made { path: folder[..end].to_vec() });
            }
            parent = parent.enter(part).map_err(at(&step.path))?;
            end += 1;
        }
        // Fails where something is there by now.
        self.aside.rename_new(&name("new", number), &parent, file).map_err(|cause| match cause.kind() {
            ErrorKind::AlreadyExists => meanwhile(&step.path),
            _ => at(&step.path)(cause),
        })?;
        self.done.push(Done::Written { path: step.path.clone() });
        Ok(())
    }

    /// Takes everything back, and tells whether every file of the project's is where it was.
    fn undo(&mut self) -> bool {
        let mut is_whole = true;
        for done in std::mem::take(&mut self.done).into_iter().rev() {
            // A folder of ours that stays, since somebody put a file into it, is no loss.
            match done {
                Done::Moved { path, aside } => is_whole &= self.back(&path, &aside).is_ok(),
                Done::Written { path } => {
                    is_whole &= self.at(&path, |folder, name| folder.remove(name)).is_ok()
                }
                Done::Made { path } => drop(self.at(&path, |folder, name| folder.remove_folder(name))),
                Done::Removed { path } => drop(self.at(&path, |folder, name| folder.make(name).map(drop))),
            }
        }
        is_whole
    }

    fn back(&self, path: &[u8], aside: &[u8]) -> IoResult<()> {
        self.at(path, |folder, name| self.aside.rename_new(aside, folder, name))
    }

    fn at(&self, path: &[u8], act: impl Fn(&Folder, &[u8]) -> IoResult<()>) -> IoResult<()> {
        let (folder, name) = split(path);
        act(&self.top.descend(folder)?, name)
    }
}

fn name(kind: &str, number: usize) -> Vec<u8> {
    format!("{kind}-{number}").into_bytes()
}

fn meanwhile(path: &[u8]) -> Error {
    Error::Conflicts(vec![Conflict { path: path.to_vec(), reason: Reason::ChangedMeanwhile }])
}

#[cfg(test)]
mod tests;
