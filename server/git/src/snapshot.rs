//! What a project holds at one moment, kept apart from it: the same beginning for everybody who starts from it, and
//! something to look things up in that does not change.

use std::path::{Path, PathBuf};

use git2::{Oid, Repository};

use crate::{
    Error, Limits, Worktree,
    entry::SUBMODULE,
    gitdir,
    worktree::{
        Look,
        create::{self, from_look},
        marker::Marker,
        text_in,
    },
};

#[derive(Clone, Debug)]
pub struct Snapshot {
    folder: PathBuf,
    marker: Marker,
}

impl Snapshot {
    /// Makes `folder`, which must not be there, a snapshot of the project: of its current commit, or with `carry` of
    /// its files as they lie there. What git ignores is not part of it.
    pub fn take(
        folder: &Path,
        id: &str,
        project: &Path,
        carry: bool,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let marker = create::snapshot(folder, id, project, carry, limits)?;
        Ok(Self { folder: folder.to_owned(), marker })
    }

    pub fn open(folder: &Path) -> Result<Self, Error> {
        Ok(Self { marker: Marker::read(folder)?, folder: folder.to_owned() })
    }

    /// The project's commit at that moment.
    pub fn base(&self) -> &str {
        &self.marker.base
    }

    /// A file as it was; none where there was no such text.
    pub fn text(&self, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        let look = self.look()?;
        text_in(&look.repository, look.start, path, bytes_max)
    }

    /// Every file, by path.
    pub fn paths(&self) -> Result<Vec<Vec<u8>>, Error> {
        let look = self.look()?;
        let mut entries = Vec::new();
        gitdir::flatten(&look.repository, &look.repository.find_tree(look.start)?, &mut entries)?;
        let files = entries.into_iter().filter(|entry| entry.blob.mode != SUBMODULE);
        Ok(files.map(|entry| entry.path).collect())
    }

    /// Makes `folder` a worktree that begins with it.
    pub fn worktree(
        &self,
        folder: &Path,
        id: &str,
        copy: &[PathBuf],
        limits: &Limits,
    ) -> Result<Worktree, Error> {
        from_look(folder, id, &self.marker, &self.look()?, copy, limits)
    }

    fn look(&self) -> Result<Look, Error> {
        let start = self.marker.start.as_ref().ok_or_else(|| Error::NotOurs(self.folder.clone()))?;
        let repository = Repository::open(self.folder.join("git"))?;
        Ok(Look { start: Oid::from_str(start)?, repository, changes: Vec::new(), left_out: Vec::new() })
    }
}
