//! A patch that `git apply` takes, and what it does to each file.

use std::{collections::BTreeSet, ops::Range};

use git2::{Delta, DiffFindOptions, DiffOptions, Index, Patch};

use crate::{
    Error, Limits,
    entry::{Blob, Entry, SUBMODULE},
    scan::Change,
    worktree::Look,
};

#[derive(Clone, Debug, Default)]
pub struct Diff {
    pub files: Vec<FileChange>,
    /// As git writes it, with binary files in full.
    pub patch: Vec<u8>,
    /// What lies in the tree and is not in the patch. Ignored files are not told.
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: Vec<u8>,
    /// Of a renamed file.
    pub old_path: Option<Vec<u8>>,
    pub status: Status,
    /// 0 where there is no file.
    pub old_mode: u32,
    pub new_mode: u32,
    pub is_binary: bool,
    /// Lines.
    pub added: usize,
    pub deleted: usize,
    /// Where it stands in the patch.
    pub patch: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Added,
    Deleted,
    Modified,
    Renamed,
    /// A file became a link, or the other way round.
    TypeChanged,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub path: Vec<u8>,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("the history of a repository inside; its files are in the patch")]
    NestedRepository,
    #[error("changes inside a submodule")]
    Submodule,
    #[error("a pipe, a socket or a device")]
    Special,
    #[error("git keeps no file of this name")]
    Name,
    #[error("a new file that is larger than a change may be")]
    TooLarge,
    #[error("a new folder with more in it than a change may have")]
    TooMuch,
}

impl Why {
    pub(crate) fn is_of_size(self) -> bool {
        matches!(self, Self::TooLarge | Self::TooMuch)
    }
}

impl FileChange {
    pub fn display(&self) -> String {
        crate::display(&self.path)
    }
}

/// Pairs of files that are compared for a rename: each of the one side with each of the other.
const RENAMES_MAX: usize = 400;

/// What is compared line by line. What is more goes along whole, as what is no text does: each line takes many times
/// its length while it is compared.
struct Bounds {
    file_bytes: usize,
    file_lines: usize,
    /// Of the patch.
    lines: usize,
}

const BOUNDS: Bounds = Bounds { file_bytes: 8 << 20, file_lines: 400_000, lines: 4_000_000 };

pub(crate) fn take(look: &Look, limits: &Limits) -> Result<Diff, Error> {
    take_within(look, limits, &BOUNDS)
}

fn take_within(look: &Look, limits: &Limits, bounds: &Bounds) -> Result<Diff, Error> {
    let mut taking = Taking {
        look,
        limits,
        taken: Diff { left_out: look.left_out.clone(), ..Diff::default() },
        long: long(look, limits, bounds)?,
        lines: 0,
    };
    taking.add(Some(bounds.lines))?;
    if !taking.long.is_empty() {
        taking.add(None)?;
    }
    Ok(taking.taken)
}

/// The paths of what is too long to be compared.
fn long(look: &Look, limits: &Limits, bounds: &Bounds) -> Result<BTreeSet<Vec<u8>>, Error> {
    let objects = look.repository.odb()?;
    let is_long = |blob: Blob| {
        if blob.mode == SUBMODULE {
            return Ok(false);
        }
        let missing = |cause| crate::checkout::missing(cause, blob.id);
        let (bytes, _) = objects.read_header(blob.id).map_err(missing)?;
        if bytes <= bounds.file_lines || bytes > bounds.file_bytes {
            return Ok(bytes > bounds.file_bytes);
        }
        let lines =
            objects.read(blob.id).map_err(missing)?.data().iter().filter(|byte| **byte == b'\n').count();
        Ok::<_, Error>(lines > bounds.file_lines)
    };
    let mut found = BTreeSet::new();
    for change in &look.changes {
        limits.check()?;
        for blob in [change.old, change.new].into_iter().flatten() {
            if is_long(blob)? {
                found.insert(change.path.clone());
            }
        }
    }
    Ok(found)
}

struct Taking<'a> {
    look: &'a Look,
    limits: &'a Limits,
    taken: Diff,
    long: BTreeSet<Vec<u8>>,
    lines: usize,
}

impl Taking<'_> {
    /// Up to so many lines: what comes after them is long too. None: what is long, as if it were no text.
    fn add(&mut self, lines_max: Option<usize>) -> Result<(), Error> {
        // Only what changed is compared, so it does not matter how large the project is.
        let is_in = |change: &&Change| self.long.contains(&change.path) == lines_max.is_none();
        let changes: Vec<_> = self.look.changes.iter().filter(is_in).collect();
        let (old, new) = (side(&changes, |change| change.old)?, side(&changes, |change| change.new)?);
        let mut options = DiffOptions::new();
        // Without its whole id git does not apply a binary file.
        options.show_binary(true).id_abbrev(40).max_size(self.limits.file_bytes as i64);
        options.force_binary(lines_max.is_none());
        let mut diff = self.look.repository.diff_index_to_index(&old, &new, Some(&mut options))?;
        if lines_max.is_some() {
            diff.find_similar(Some(DiffFindOptions::new().renames(true).rename_limit(RENAMES_MAX)))?;
        }
        for at in in_order(&diff) {
            self.limits.check()?;
            let patch = Patch::from_diff(&diff, at)?;
            let mut patch = patch.ok_or_else(|| git2::Error::from_str("a changed file gives no patch"))?;
            let start = self.taken.patch.len();
            self.taken.patch.extend_from_slice(&patch.to_buf()?);
            if is_same_binary(&patch) {
                drop_last_line(&mut self.taken.patch);
            }
            self.limits.total(self.taken.patch.len() as u64)?;
            let change = describe(&patch, start..self.taken.patch.len())?;
            let is_second = self.taken.files.last().is_some_and(|last| is_type_change(last, &change));
            let (context, added, deleted) = patch.line_stats()?;
            self.lines += context + added + deleted;
            // Of a file that became something else, both halves or none.
            let is_long = self.long.contains(&change.path);
            if lines_max.is_some_and(|max| is_long || self.lines > max) && !is_second {
                self.taken.patch.truncate(start);
                self.lines -= context + added + deleted;
                self.long.extend([Some(change.path), change.old_path].into_iter().flatten());
                continue;
            }
            match self.taken.files.last_mut().filter(|_| is_second) {
                // git writes it as a deletion and an addition.
                Some(last) => {
                    last.status = Status::TypeChanged;
                    last.new_mode = change.new_mode;
                    last.is_binary |= change.is_binary;
                    last.added += change.added;
                    last.deleted += change.deleted;
                    last.patch.end = change.patch.end;
                }
                None => self.taken.files.push(change),
            }
        }
        Ok(())
    }
}

/// By path. Where a file makes room for one of another type, git wants to read of its end first.
fn in_order(diff: &git2::Diff) -> Vec<usize> {
    let mut order: Vec<usize> = (0..diff.deltas().len()).collect();
    order.sort_by_key(|at| {
        let delta = diff.get_delta(*at)?;
        let path = delta.new_file().path_bytes().map(<[u8]>::to_vec);
        Some((path, delta.status() != Delta::Deleted))
    });
    order
}

fn side(changes: &[&Change], pick: impl Fn(&Change) -> Option<Blob>) -> Result<Index, Error> {
    let entries = changes.iter().filter_map(|change| Some(Entry::new(change.path.clone(), pick(change)?)));
    crate::gitdir::index_of(&entries.collect::<Vec<_>>())
}

fn describe(patch: &Patch, range: Range<usize>) -> Result<FileChange, Error> {
    let delta = patch.delta();
    let status = match delta.status() {
        Delta::Added => Status::Added,
        Delta::Deleted => Status::Deleted,
        Delta::Renamed => Status::Renamed,
        _ => Status::Modified,
    };
    let path = |file: git2::DiffFile| file.path_bytes().map(<[u8]>::to_vec);
    let (old, new) = (path(delta.old_file()), path(delta.new_file()));
    let (_, added, deleted) = patch.line_stats()?;
    Ok(FileChange {
        path: new.or_else(|| old.clone()).unwrap_or_default(),
        old_path: old.filter(|_| status == Status::Renamed),
        status,
        old_mode: delta.old_file().mode().into(),
        new_mode: delta.new_file().mode().into(),
        is_binary: delta.flags().is_binary(),
        added,
        deleted,
        patch: range,
    })
}

/// A binary file that is only moved or has another mode. libgit2 adds a line that it differs, which git then
/// takes for content that is not there.
fn is_same_binary(patch: &Patch) -> bool {
    let delta = patch.delta();
    delta.flags().is_binary() && delta.old_file().id() == delta.new_file().id()
}

fn drop_last_line(text: &mut Vec<u8>) {
    text.pop();
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    text.truncate(end);
}

fn is_type_change(before: &FileChange, change: &FileChange) -> bool {
    before.path == change.path && (before.status, change.status) == (Status::Deleted, Status::Added)
}

#[cfg(test)]
mod tests;
