//! Writes many files at once into a new folder. Making a file is mostly waiting for the file system, so several
//! threads do it.

use std::{
    io::Write as _,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use git2::{Oid, Repository};
use rustix::fs::{Stat, fstat};

use crate::{
    Error, Limits,
    beneath::{Folder, split},
    entry::{Entry, LINK, PROGRAM, SUBMODULE, Seen},
    error::{at, io},
};

const THREADS_MAX: usize = 8;
/// Neighbours mostly lie in one folder, which is then opened once.
const CHUNK: usize = 128;

/// Fills the new folder `top` with the entries, whose contents are found in `gitdir`, and notes in each how its
/// file looks on the disk.
pub fn fill(top: &Path, gitdir: &Path, entries: &mut [Entry], limits: &Limits) -> Result<(), Error> {
    let folder = Folder::open(top).map_err(io(top))?;
    make_folders(&folder, entries)?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let next = AtomicUsize::new(0);
    let shared: &[Entry] = entries;
    let results: Vec<Result<Vec<_>, Error>> = thread::scope(|scope| {
        let work = || Writer::new(&folder, gitdir, limits)?.write(shared, &next);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let lost = |_| Err(Error::from(git2::Error::from_str("a thread that wrote files was lost")));
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(lost)).collect()
    });
    for result in results {
        for (place, stat) in result? {
            entries[place].seen = Seen::of(&stat);
        }
    }
    Ok(())
}

/// All folders come first, so that a link of the same name cannot come before one.
fn make_folders(top: &Folder, entries: &[Entry]) -> Result<(), Error> {
    // The folders on the way to the last entry, each with its path.
    let mut open: Vec<(Vec<u8>, Folder)> = Vec::new();
    for entry in entries {
        let wanted = if entry.blob.mode == SUBMODULE { &entry.path[..] } else { split(&entry.path).0 };
        while open.last().is_some_and(|(path, _)| !is_in(wanted, path)) {
            open.pop();
        }
        let mut done = open.last().map_or(0, |(path, _)| path.len());
        while done < wanted.len() {
            let start = if done == 0 { 0 } else { done + 1 };
            let end = wanted[start..]
                .iter()
                .position(|byte| *byte == b'/')
                .map_or(wanted.len(), |slash| start + slash);
            let parent = open.last().map_or(top, |(_, folder)| folder);
            parent.make(&wanted[start..end]).map_err(at(&wanted[..end]))?;
            let folder = parent.enter(&wanted[start..end]).map_err(at(&wanted[..end]))?;
            open.push((wanted[..end].to_vec(), folder));
            done = end;
        }
    }
    Ok(())
}

fn is_in(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}

struct Writer<'a> {
    top: &'a Folder,
    repository: Repository,
    limits: &'a Limits,
}

impl<'a> Writer<'a> {
    fn new(top: &'a Folder, gitdir: &Path, limits: &'a Limits) -> Result<Self, Error> {
        Ok(Self { top, repository: Repository::open(gitdir)?, limits })
    }

    fn write(self, entries: &[Entry], next: &AtomicUsize) -> Result<Vec<(usize, Stat)>, Error> {
        let objects = self.repository.odb()?;
        let mut written = Vec::with_capacity(entries.len() / 2);
        let mut parent: (&[u8], Folder) = (b"", self.top.descend(b"").map_err(io(Path::new("")))?);
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= entries.len() {
                return Ok(written);
            }
            self.limits.check()?;
            let end = entries.len().min(start + CHUNK);
            for (offset, entry) in entries[start..end].iter().enumerate() {
                if entry.blob.mode == SUBMODULE {
                    continue;
                }
                let (folder, name) = split(&entry.path);
                if parent.0 != folder {
                    parent = (folder, self.top.descend(folder).map_err(at(&entry.path))?);
                }
                let content = objects.read(entry.blob.id).map_err(|cause| missing(cause, entry.blob.id))?;
                let stat =
                    write_file(&parent.1, name, entry.blob.mode, content.data()).map_err(at(&entry.path))?;
                written.push((start + offset, stat));
            }
        }
    }
}

/// A new file or link, and how it then looks.
pub fn write_file(folder: &Folder, name: &[u8], mode: u32, content: &[u8]) -> std::io::Result<Stat> {
    if mode == LINK {
        folder.create_link(name, content)?;
        return folder.stat(name)?.ok_or_else(|| std::io::ErrorKind::NotFound.into());
    }
    let mut file = folder.create(name, if mode == PROGRAM { 0o777 } else { 0o666 })?;
    file.write_all(content)?;
    Ok(fstat(&file)?)
}

pub fn missing(cause: git2::Error, id: Oid) -> Error {
    match cause.code() {
        git2::ErrorCode::NotFound => Error::MissingObject(id.to_string()),
        _ => cause.into(),
    }
}
