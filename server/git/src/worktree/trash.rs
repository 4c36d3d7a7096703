//! Room on the disk: how much a worktree takes, and how it goes away. Only what has our mark is removed.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, RenameFlags, renameat_with},
    io::Errno,
};

use super::{Worktree, marker};
use crate::{
    Error, Limits, Refused,
    beneath::{self, Folder},
    error::{at, from_io, io},
    project,
};

const DEPTH_MAX: usize = 400;

impl Worktree {
    /// Bytes on the disk, without what it borrows.
    pub fn size(&self, limits: &Limits) -> Result<u64, Error> {
        let top = Folder::open(&self.folder).map_err(io(&self.folder))?;
        size(&top, limits, &mut 0, 0)
    }

    /// Moves it into `trash`, from where it can be restored until that is emptied.
    pub fn trash(self, trash: &Path) -> Result<Self, Error> {
        let to = trash.join(self.id());
        self.move_to(&to)
    }

    /// Moves it from the trash to `folder`, where nothing may be.
    pub fn restore(self, folder: &Path) -> Result<Self, Error> {
        self.move_to(folder)
    }

    fn move_to(mut self, to: &Path) -> Result<Self, Error> {
        match renameat_with(CWD, &self.folder, CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.folder = to.to_owned();
                Ok(self)
            }
            Err(Errno::EXIST | Errno::NOTEMPTY) => Err(Refused::Exists(to.to_owned()).into()),
            Err(cause) => Err(from_io(&self.folder, cause.into())),
        }
    }

    /// Deletes it for good: from a trash, or where nobody has worked in it yet. What a crash leaves of it is still
    /// known as ours.
    pub fn remove(self) -> Result<(), Error> {
        // What it replaced in the project is still to be put back.
        self.take_back_apply()?;
        project::unpin(self.project(), self.id())?;
        remove_marked(&self.folder)
    }
}

/// Its mark goes last, if it has one by now.
pub fn remove_marked(path: &Path) -> Result<(), Error> {
    let folder = Folder::open(path).map_err(io(path))?;
    let mut is_marked = false;
    for (name, _) in folder.names().map_err(io(path))? {
        if is_folder(&folder, &name).map_err(at(&name))? {
            remove_in(&folder, &name).map_err(io(path))?;
        } else if name == marker::NAME.as_bytes() {
            is_marked = true;
        } else {
            folder.remove(&name).map_err(at(&name))?;
        }
    }
    if is_marked {
        folder.remove(marker::NAME.as_bytes()).map_err(io(path))?;
    }
    fs::remove_dir(path).map_err(io(path))
}

/// Bytes on the disk of all these folders together.
pub fn size_of(folders: &[PathBuf], limits: &Limits) -> Result<u64, Error> {
    let mut entries = 0;
    let mut one = |path: &PathBuf| size(&Folder::open(path).map_err(io(path))?, limits, &mut entries, 0);
    folders.iter().try_fold(0, |sum, path| Ok(sum + one(path)?))
}

fn size(folder: &Folder, limits: &Limits, entries: &mut usize, depth: usize) -> Result<u64, Error> {
    const BLOCK: u64 = 512;
    limits.check()?;
    let mut bytes = 0;
    for (name, _) in folder.names().map_err(at(b"."))? {
        *entries += 1;
        limits.looked_at(*entries)?;
        let Some(stat) = folder.stat(&name).map_err(at(&name))? else { continue };
        bytes += stat.st_blocks as u64 * BLOCK;
        if beneath::kind(&stat) == FileType::Directory {
            if depth > DEPTH_MAX {
                let limit = format!("{DEPTH_MAX} folders");
                return Err(Error::TooLarge {
                    what: format!("the depth of {}", crate::display(&name)),
                    limit,
                });
            }
            match folder.enter(&name) {
                Ok(inner) => bytes += size(&inner, limits, entries, depth + 1)?,
                // What it holds cannot be told; it can still be removed. Or it is gone, or another file by now.
                Err(cause)
                    if matches!(
                        cause.kind(),
                        ErrorKind::PermissionDenied | ErrorKind::NotFound | ErrorKind::NotADirectory
                    ) => {}
                Err(cause) => return Err(from_io(&beneath::to_path(&name), cause)),
            }
        }
    }
    Ok(bytes)
}

/// Removes what is at `path`, if anything, however deep it is and whatever an agent locked in it.
pub fn remove_folder(path: &Path) -> std::io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let (parent, name) = (Folder::open(parent)?, name.as_encoded_bytes());
    match parent.stat(name)? {
        None => Ok(()),
        Some(stat) if beneath::kind(&stat) == FileType::Directory => remove_in(&parent, name),
        Some(_) => parent.remove(name),
    }
}

/// What lies deeper is moved up first, so that only a few folders are open at a time.
fn remove_in(parent: &Folder, name: &[u8]) -> std::io::Result<()> {
    let top = enter(parent, name)?;
    let mut moved = 0u64;
    loop {
        let names = top.names()?;
        if names.is_empty() {
            return parent.remove_folder(name);
        }
        for (name, _) in names {
            if !is_folder(&top, &name)? {
                top.remove(&name)?;
                continue;
            }
            let folder = enter(&top, &name)?;
            for (inner, _) in folder.names()? {
                if is_folder(&folder, &inner)? {
                    folder.unlock(&inner)?;
                    while top.stat(&up(moved))?.is_some() {
                        moved += 1;
                    }
                    folder.rename(&inner, &top, &up(moved))?;
                } else {
                    folder.remove(&inner)?;
                }
            }
            top.remove_folder(&name)?;
        }
    }
}

fn enter(parent: &Folder, name: &[u8]) -> std::io::Result<Folder> {
    parent.unlock(name)?;
    parent.enter(name)
}

fn is_folder(parent: &Folder, name: &[u8]) -> std::io::Result<bool> {
    Ok(parent.stat(name)?.is_some_and(|stat| beneath::kind(&stat) == FileType::Directory))
}

fn up(number: u64) -> Vec<u8> {
    format!(".up-{number}").into_bytes()
}
