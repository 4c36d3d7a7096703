//! A beginning that is taken again, once the project's own setup ran in the tree.

use std::fs;

use git2::Repository;

use super::{Scanned, Worktree};
use crate::{
    Error, Limits,
    beneath::{Folder, split},
    entry::{SUBMODULE, Seen},
    error::{at, io},
    gitdir,
    scan::take_in,
};

impl Worktree {
    /// Takes what the tree holds now for what it began with, so that it counts as nobody's change. Nobody may be at
    /// work in it.
    pub fn begin_anew(mut self, limits: &Limits) -> Result<Self, Error> {
        let repository = Repository::open(self.gitdir())?;
        let Scanned { tracked, changes, .. } = self.scan(&repository, limits)?;
        if changes.is_empty() {
            return Ok(self);
        }
        let mut entries = tracked.entries;
        take_in(&mut entries, &changes);
        let tree = self.tree();
        let top = Folder::open(&tree).map_err(io(&tree))?;
        let is_new = |seen: Seen| seen == Seen::default();
        for entry in entries.iter_mut().filter(|entry| is_new(entry.seen) && entry.blob.mode != SUBMODULE) {
            let (folder, name) = split(&entry.path);
            let stat = top.descend(folder).and_then(|folder| folder.stat(name)).map_err(at(&entry.path))?;
            entry.seen = stat.as_ref().map(Seen::of).unwrap_or_default();
        }
        let start = gitdir::index_of(&entries)?.write_tree_to(&repository)?;
        let (index, new) = (self.gitdir().join("index"), self.gitdir().join("index.new"));
        gitdir::write_index(&new, &entries)?;
        fs::rename(&new, &index).map_err(io(&index))?;
        gitdir::settle(&index, &entries)?;
        self.marker.start = Some(start.to_string());
        self.marker.write(&self.folder)?;
        Ok(self)
    }
}
