//! Files beneath one open folder and nowhere else: each part of a path is looked up in the folder before it,
//! and no link is followed. A pipe or a device is never opened to be read.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _},
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::Path,
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat, chmodat, fstat, mkdirat, openat,
        readlinkat, renameat, renameat_with, statat, symlinkat, unlinkat,
    },
    io::Errno,
};

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::RDONLY).union(OFlags::CLOEXEC);
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
const CREATE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open folder. Names are single parts of a path.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// The last part of `path` is not followed either.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    pub fn enter(&self, name: &[u8]) -> io::Result<Self> {
        Ok(Self(openat(&self.0, part(name)?, FOLDER, Mode::empty())?))
    }

    /// The folder at `path`, which has parts between slashes and may be empty.
    pub fn descend(&self, path: &[u8]) -> io::Result<Self> {
        let mut at = Self(self.0.try_clone()?);
        for name in path.split(|byte| *byte == b'/').filter(|_| !path.is_empty()) {
            at = at.enter(name)?;
        }
        Ok(at)
    }

    /// Makes the folder where it is not there yet, and tells whether it did.
    pub fn make(&self, name: &[u8]) -> io::Result<bool> {
        match mkdirat(&self.0, part(name)?, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// `None` where there is nothing.
    pub fn stat(&self, name: &[u8]) -> io::Result<Option<Stat>> {
        match statat(&self.0, part(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub fn names(&self) -> io::Result<Vec<(Vec<u8>, FileType)>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push((name.to_vec(), entry.file_type()));
            }
        }
        Ok(names)
    }

    /// At most `max` bytes of a regular file, and one more where it is longer. `None` where it is something
    /// else by now.
    pub fn read(&self, name: &[u8], max: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
        let file = match openat(&self.0, part(name)?, READ, Mode::empty()) {
            Ok(file) => file,
            // A link, a socket, or nothing.
            Err(Errno::LOOP | Errno::NXIO | Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(stat.st_size.clamp(0, max as i64) as usize + 1);
        File::from(file).take(max.saturating_add(1)).read_to_end(&mut content)?;
        Ok(Some((content, stat)))
    }

    /// Where a link leads to, as it is written in it.
    pub fn link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(readlinkat(&self.0, part(name)?, Vec::new())?.into_bytes())
    }

    pub fn create(&self, name: &[u8], mode: u32) -> io::Result<File> {
        Ok(openat(&self.0, part(name)?, CREATE, Mode::from_raw_mode(mode))?.into())
    }

    pub fn create_link(&self, name: &[u8], target: &[u8]) -> io::Result<()> {
        Ok(symlinkat(OsStr::from_bytes(target), &self.0, part(name)?)?)
    }

    pub fn rename(&self, name: &[u8], to: &Folder, to_name: &[u8]) -> io::Result<()> {
        Ok(renameat(&self.0, part(name)?, &to.0, part(to_name)?)?)
    }

    /// Fails where something has the new name.
    pub fn rename_new(&self, name: &[u8], to: &Folder, to_name: &[u8]) -> io::Result<()> {
        match renameat_with(&self.0, part(name)?, &to.0, part(to_name)?, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            // Not every file system can.
            Err(Errno::INVAL) if to.stat(to_name)?.is_none() => self.rename(name, to, to_name),
            Err(error) => Err(error.into()),
        }
    }

    pub fn remove(&self, name: &[u8]) -> io::Result<()> {
        Ok(unlinkat(&self.0, part(name)?, AtFlags::empty())?)
    }

    pub fn remove_folder(&self, name: &[u8]) -> io::Result<()> {
        Ok(unlinkat(&self.0, part(name)?, AtFlags::REMOVEDIR)?)
    }

    /// Lets the owner of the folder of this name change it.
    pub fn unlock(&self, name: &[u8]) -> io::Result<()> {
        Ok(chmodat(&self.0, part(name)?, Mode::RWXU, AtFlags::empty())?)
    }
}

pub fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The folder's path and the name in it.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&[], path),
    }
}

pub fn to_path(path: &[u8]) -> std::path::PathBuf {
    OsString::from_vec(path.to_vec()).into()
}

/// Whether git would keep such a path, and it leads nowhere but down.
pub fn is_plain(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').all(|name| part(name).is_ok() && !is_gits_own(name))
}

/// Names that are `.git` to some file system, none of which git keeps.
pub fn is_gits_own(name: &[u8]) -> bool {
    [&b".git"[..], b"git~1"].iter().any(|own| {
        let Some((start, rest)) = name.split_at_checked(own.len()) else { return false };
        let ends = rest.iter().all(|byte| matches!(byte, b' ' | b'.'));
        start.eq_ignore_ascii_case(own) && (ends || matches!(rest[0], b'\\' | b':'))
    })
}

fn part(name: &[u8]) -> io::Result<&OsStr> {
    match name {
        b"" | b"." | b".." => Err(io::ErrorKind::InvalidInput.into()),
        _ if name.contains(&b'/') || name.contains(&0) => Err(io::ErrorKind::InvalidInput.into()),
        _ => Ok(OsStr::from_bytes(name)),
    }
}
