//! Files that nobody tracks, and what a change takes of them: an agent may leave gigabytes behind that nothing tells
//! git to ignore.

use std::collections::BTreeSet;

use crate::{Error, LeftOut, Limits, Why, beneath::split};

const PATHS_BYTES_MAX: usize = 128 * 1024 * 1024;

#[derive(Default)]
pub struct New {
    files: Vec<File>,
    /// The outermost folders in which nothing is tracked.
    folders: Vec<Folder>,
    is_in_folder: bool,
    /// Of all paths together.
    bytes: usize,
}

struct File {
    path: Vec<u8>,
    bytes: u64,
    /// Which of the folders it lies in.
    folder: Option<usize>,
}

#[derive(Default)]
struct Folder {
    path: Vec<u8>,
    files: usize,
    bytes: u64,
    /// Not to be left out.
    stays: bool,
    is_left_out: bool,
}

/// What was tracked and is not there any more. It may have moved to where nothing is tracked, and must not get lost on
/// the way.
#[derive(Default)]
pub struct Gone {
    /// Without their folders.
    pub names: BTreeSet<Vec<u8>>,
    /// The largest.
    pub bytes: u64,
}

impl Gone {
    pub fn has(&self, path: &[u8]) -> bool {
        self.names.contains(split(path).1)
    }
}

impl New {
    /// Tells whether this one is outermost. Then it has to be left again.
    pub fn enter(&mut self, path: &[u8]) -> bool {
        if self.is_in_folder {
            return false;
        }
        self.is_in_folder = true;
        self.folders.push(Folder { path: path.to_vec(), ..Folder::default() });
        true
    }

    pub fn leave(&mut self) {
        self.is_in_folder = false;
    }

    /// An agent may make files that cost its disk nothing, under paths that cost us memory.
    pub fn file(&mut self, path: &[u8], bytes: u64) -> Result<(), Error> {
        self.bytes += path.len();
        if self.bytes > PATHS_BYTES_MAX {
            let what = format!("{} new files", self.files.len());
            return Err(Error::TooLarge { what, limit: format!("{PATHS_BYTES_MAX} bytes of paths") });
        }
        let folder = self.is_in_folder.then(|| self.folders.len() - 1);
        self.files.push(File { path: path.to_vec(), bytes, folder });
        Ok(())
    }

    /// The files that there is room for besides so much else, and what is left out for it: the largest folders. Where
    /// no folder is the reason, all files are told.
    pub fn fit(
        mut self,
        changed: usize,
        bytes: u64,
        gone: &Gone,
        limits: &Limits,
    ) -> Result<(Vec<Vec<u8>>, Vec<LeftOut>), Error> {
        let (mut changed, mut bytes) = (changed, bytes);
        // What is too large by itself is left out by itself.
        for file in self.files.iter().filter(|file| file.bytes <= limits.file_bytes) {
            changed += 1;
            bytes += file.bytes;
            if let Some(at) = file.folder {
                self.folders[at].files += 1;
                self.folders[at].bytes += file.bytes;
                self.folders[at].stays |= gone.has(&file.path);
            }
        }
        let mut left_out = Vec::new();
        let mut others: Vec<_> =
            self.folders.iter_mut().filter(|folder| !folder.stays && folder.files > 0).collect();
        // First there are few enough, then they are small enough.
        for is_number in [true, false] {
            others.sort_by_key(|folder| if is_number { folder.files as u64 } else { folder.bytes });
            while if is_number { changed > limits.files } else { bytes > limits.total_bytes } {
                let Some(largest) = others.pop() else { break };
                largest.is_left_out = true;
                changed -= largest.files;
                bytes -= largest.bytes;
                left_out.push(LeftOut { path: largest.path.clone(), why: Why::TooMuch });
            }
        }
        limits.check()?;
        let stays = |file: &File| !file.folder.is_some_and(|at| self.folders[at].is_left_out);
        Ok((self.files.into_iter().filter(stays).map(|file| file.path).collect(), left_out))
    }
}
