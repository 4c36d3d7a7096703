//! What a worktree held when its work was done. It stays as it was, whoever goes on in the folder.

use git2::{Oid, Repository};

use super::{Look, Worktree, text_in};
use crate::{
    Diff, Error, Limits, Refused, diff,
    entry::{Entry, find},
    gitdir,
    scan::{Change, take_in},
};

impl Worktree {
    /// Keeps what the tree holds now as its result, and tells what differs from the beginning.
    pub fn seal(&mut self, limits: &Limits) -> Result<Diff, Error> {
        let look = self.look(limits)?;
        let taken = diff::take(&look, limits)?;
        self.keep_contents(&look, look.changes.iter().filter_map(|change| Some(change.new?.id)))?;
        let kept = Repository::open(self.gitdir())?;
        let mut entries = contents(&look.repository, look.start)?;
        take_in(&mut entries, &look.changes);
        let tree = gitdir::index_of(&entries)?.write_tree_to(&kept)?;
        self.marker.result = Some(tree.to_string());
        self.marker.write(&self.folder)?;
        Ok(taken)
    }

    /// Keeps what a look has only in memory.
    pub(crate) fn keep_contents(&self, look: &Look, ids: impl Iterator<Item = Oid>) -> Result<(), Error> {
        // Another opening: in the one of the look new contents stay in memory.
        let kept = Repository::open(self.gitdir())?;
        let known = kept.odb()?;
        for id in ids {
            if !known.exists(id) {
                kept.blob(look.repository.find_blob(id)?.content())?;
            }
        }
        Ok(())
    }

    /// A file of the result; none where there is no such text.
    pub fn result_text(&self, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        text_in(&Repository::open(self.gitdir())?, self.result()?, path, bytes_max)
    }

    /// What two results differ in.
    pub fn compare(&self, other: &Self, limits: &Limits) -> Result<Diff, Error> {
        let repository = Repository::open(self.gitdir())?;
        let others = other.gitdir().join("objects");
        let others = others.to_str().ok_or_else(|| Error::NotOurs(other.folder.clone()))?;
        repository.odb()?.add_disk_alternate(others)?;
        let (ours, theirs) = (self.result()?, other.result()?);
        let changes = changes(&contents(&repository, ours)?, &contents(&repository, theirs)?);
        diff::take(&Look { start: ours, repository, changes, left_out: Vec::new() }, limits)
    }

    /// The result as if it had just been looked at.
    pub(crate) fn look_at_result(&self) -> Result<Look, Error> {
        let unfinished = || Refused::Unfinished(self.folder.clone());
        let start = Oid::from_str(self.marker.start.as_ref().ok_or_else(unfinished)?)?;
        let repository = Repository::open(self.gitdir())?;
        let changes = changes(&contents(&repository, start)?, &contents(&repository, self.result()?)?);
        Ok(Look { start, repository, changes, left_out: Vec::new() })
    }

    fn result(&self) -> Result<Oid, Error> {
        let result = self.marker.result.as_ref().ok_or_else(|| Refused::Unfinished(self.folder.clone()))?;
        Ok(Oid::from_str(result)?)
    }
}

pub(super) fn contents(repository: &Repository, tree: Oid) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    gitdir::flatten(repository, &repository.find_tree(tree)?, &mut entries)?;
    Ok(entries)
}

/// Both are in the order of an index.
pub(super) fn changes(old: &[Entry], new: &[Entry]) -> Vec<Change> {
    let mut changes = Vec::new();
    for before in old {
        let after = find(new, &before.path).ok().map(|at| new[at].blob);
        if after != Some(before.blob) {
            changes.push(Change { path: before.path.clone(), old: Some(before.blob), new: after });
        }
    }
    let added = new.iter().filter(|entry| find(old, &entry.path).is_err());
    changes.extend(added.map(|entry| Change { path: entry.path.clone(), old: None, new: Some(entry.blob) }));
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    changes
}
