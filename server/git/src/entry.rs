//! A file as git lists it, with how it looked on the disk.

use git2::{IndexEntry, IndexTime, Oid};
use rustix::fs::Stat;

pub const FILE: u32 = 0o100644;
pub const PROGRAM: u32 = 0o100755;
pub const LINK: u32 = 0o120000;
pub const SUBMODULE: u32 = 0o160000;

/// What git keeps of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob {
    pub mode: u32,
    pub id: Oid,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub path: Vec<u8>,
    pub blob: Blob,
    pub seen: Seen,
    /// A sparse checkout leaves it out on purpose.
    pub is_sparse: bool,
}

/// How a file looked. While it does not change, nor does the file: whoever writes cannot set `changed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    modified: (i32, u32),
    pub changed: (i32, u32),
    dev: u32,
    ino: u32,
    uid: u32,
    gid: u32,
    size: u32,
}

/// Bits of an index entry: its side in a merge, and that a sparse checkout skips it.
const STAGE: u16 = 0x3000;
const SKIP: u16 = 0x4000;

impl Entry {
    pub fn new(path: Vec<u8>, blob: Blob) -> Self {
        Self { path, blob, seen: Seen::default(), is_sparse: false }
    }

    /// `None` in the middle of a merge: then a file has several versions, and none that it is known by.
    pub fn from_index(entry: IndexEntry) -> Option<Self> {
        let time = |time: IndexTime| (time.seconds(), time.nanoseconds());
        let seen = Seen {
            modified: time(entry.mtime),
            changed: time(entry.ctime),
            dev: entry.dev,
            ino: entry.ino,
            uid: entry.uid,
            gid: entry.gid,
            size: entry.file_size,
        };
        let blob = Blob { mode: plain_mode(entry.mode), id: entry.id };
        let is_sparse = entry.flags_extended & SKIP != 0;
        (entry.flags & STAGE == 0).then_some(Self { path: entry.path, blob, seen, is_sparse })
    }

    pub fn to_index(&self) -> IndexEntry {
        let time = |(seconds, nanoseconds)| IndexTime::new(seconds, nanoseconds);
        IndexEntry {
            ctime: time(self.seen.changed),
            mtime: time(self.seen.modified),
            dev: self.seen.dev,
            ino: self.seen.ino,
            mode: self.blob.mode,
            uid: self.seen.uid,
            gid: self.seen.gid,
            file_size: self.seen.size,
            id: self.blob.id,
            flags: 0,
            flags_extended: 0,
            path: self.path.clone(),
        }
    }
}

impl Seen {
    pub fn bytes(self) -> u64 {
        self.size.into()
    }

    /// Cut to what an index has room for.
    pub fn of(stat: &Stat) -> Self {
        Self {
            modified: (stat.st_mtime as i32, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime as i32, stat.st_ctime_nsec as u32),
            dev: stat.st_dev as u32,
            ino: stat.st_ino as u32,
            uid: stat.st_uid,
            gid: stat.st_gid,
            size: stat.st_size as u32,
        }
    }
}

/// Where the path is, or where it would be, in a list in git's order.
pub fn find(entries: &[Entry], path: &[u8]) -> Result<usize, usize> {
    entries.binary_search_by(|entry| entry.path.as_slice().cmp(path))
}

/// Old repositories have modes that git no longer writes.
pub fn plain_mode(mode: u32) -> u32 {
    match mode & 0o170000 {
        0o100000 if mode & 0o100 != 0 => PROGRAM,
        0o100000 => FILE,
        other => other,
    }
}
