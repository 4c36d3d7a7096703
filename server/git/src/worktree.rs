//! A worktree's life: made, opened, measured, thrown away, brought back.

mod anew;
pub(crate) mod create;
pub(crate) mod marker;
mod result;
mod sides;
mod trash;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use git2::{ErrorCode, ObjectType, Oid, Repository};

use crate::{
    Diff, Error, Limits, Refused, Snapshot,
    beneath::{self, Folder},
    diff,
    entry::{Blob, plain_mode},
    error::{at, from_io, io},
    gitdir::{self, Objects},
    ignore::Rules,
    project,
    scan::{Change, Scan, Tracked},
};
use marker::Marker;

pub use trash::{remove_folder, size_of};

/// What a worktree begins with, besides the project's current commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'a> {
    /// The project's changes that are not committed, and its untracked files.
    pub carry: bool,
    /// Files that git ignores and work needs, such as `.env`: paths in the project.
    pub copy: &'a [PathBuf],
}

#[derive(Clone, Debug)]
pub struct Worktree {
    folder: PathBuf,
    marker: Marker,
}

impl Worktree {
    /// Makes `folder`, which must not be there, a worktree of the project.
    pub fn create(
        folder: &Path,
        id: &str,
        project: &Path,
        start: Start,
        limits: &Limits,
    ) -> Result<Self, Error> {
        create::create(folder, id, project, start, limits)
    }

    pub fn open(folder: &Path) -> Result<Self, Error> {
        let folder = folder.to_owned();
        Ok(Self { marker: Marker::read(&folder)?, folder })
    }

    pub fn id(&self) -> &str {
        &self.marker.id
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn project(&self) -> &Path {
        &self.marker.project
    }

    /// The project's commit that it began at.
    pub fn base(&self) -> &str {
        &self.marker.base
    }

    /// Whether its making came to an end. Where it did not, it can only be thrown away.
    pub fn is_ready(&self) -> bool {
        self.marker.start.is_some()
    }

    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub fn tmp(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Where the objects lie that the tree borrows. Asked of the project, because what the tree says is the agent's.
    pub fn objects(&self) -> Result<PathBuf, Error> {
        gitdir::objects(&project::open(self.project())?)
    }

    /// What differs from the beginning.
    pub fn diff(&self, limits: &Limits) -> Result<Diff, Error> {
        let look = self.look(limits)?;
        diff::take(&look, limits)
    }

    /// A file as the worktree began with it; none where it had no such text.
    pub fn before(&self, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some(start) = &self.marker.start else { return Err(Error::NotOurs(self.folder.clone())) };
        text_in(&Repository::open(self.gitdir())?, Oid::from_str(start)?, path, bytes_max)
    }

    /// Makes `folder` a worktree that begins with this one's result, and with what the snapshot that this one began
    /// with lets come along and git does not see: that is no part of a result.
    pub fn copy_result(
        &self,
        folder: &Path,
        id: &str,
        began_with: &Snapshot,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let mut copies = began_with.copies()?;
        copies.retain(|copy| copy.is_ignored);
        create::from_look(folder, id, &self.marker, &self.look_at_result()?, copies, limits)
    }

    /// The same file as it is now.
    pub fn after(&self, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        plain_file(&self.tree(), path, bytes_max)
    }

    pub(crate) fn look(&self, limits: &Limits) -> Result<Look, Error> {
        let unfinished = || Refused::Unfinished(self.folder.clone());
        let start = self.marker.start.as_ref().ok_or_else(unfinished)?;
        let repository = Repository::open(self.gitdir())?;
        // New contents stay in memory: a look leaves nothing behind.
        repository.odb()?.add_new_mempack_backend(MEMORY_FIRST)?;
        let Scanned { changes, left_out, .. } = self.scan(&repository, limits)?;
        Ok(Look { start: Oid::from_str(start)?, repository, changes, left_out })
    }

    /// What the tree holds, with its new contents kept in `repository`.
    fn scan(&self, repository: &Repository, limits: &Limits) -> Result<Scanned, Error> {
        let tracked = gitdir::read_index(&self.gitdir().join("index"))?;
        let mut rules = Rules::default();
        let excludes = self.gitdir().join("info/exclude");
        rules.push(&fs::read(&excludes).map_err(io(&excludes))?, 0);
        let tree = self.tree();
        let top = Folder::open(&tree).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Refused::Missing(tree.clone()).into(),
            _ => from_io(&tree, cause),
        })?;
        let mut objects = Objects(repository);
        let (changes, left_out) = Scan::new(&tracked, rules, limits, &mut objects).run(&top)?;
        Ok(Scanned { tracked, changes, left_out })
    }

    fn gitdir(&self) -> PathBuf {
        self.folder.join("git")
    }
}

/// A file beneath a folder; none where there is no such text.
fn plain_file(folder: &Path, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
    if !beneath::is_plain(path) {
        return Ok(None);
    }
    let (inner, name) = beneath::split(path);
    let Ok(inner) = Folder::open(folder).and_then(|top| top.descend(inner)) else { return Ok(None) };
    let read = inner.read(name, bytes_max).map_err(at(path))?;
    Ok(read.map(|(content, _)| content).filter(|content| content.len() as u64 <= bytes_max))
}

/// A file of a tree; none where there is no such text.
pub(crate) fn text_in(
    repository: &Repository,
    tree: Oid,
    path: &[u8],
    bytes_max: u64,
) -> Result<Option<Vec<u8>>, Error> {
    let tree = repository.find_tree(tree)?;
    let Ok(entry) = tree.get_path(&beneath::to_path(path)) else { return Ok(None) };
    let (length, kind) = repository.odb()?.read_header(entry.id())?;
    if kind != ObjectType::Blob || length as u64 > bytes_max {
        return Ok(None);
    }
    Ok(Some(repository.find_blob(entry.id())?.content().to_vec()))
}

/// What a tree has at a path.
pub(crate) fn blob_in(repository: &Repository, tree: Oid, path: &[u8]) -> Result<Option<Blob>, Error> {
    match repository.find_tree(tree)?.get_path(&beneath::to_path(path)) {
        Ok(entry) if entry.kind() == Some(ObjectType::Tree) => Ok(None),
        Ok(entry) => Ok(Some(Blob { mode: plain_mode(entry.filemode() as u32), id: entry.id() })),
        Err(cause) if cause.code() == ErrorCode::NotFound => Ok(None),
        Err(cause) => Err(cause.into()),
    }
}

/// What a tree holds by now, with the repository that has every content of it.
pub(crate) struct Look {
    pub start: Oid,
    pub repository: Repository,
    pub changes: Vec<Change>,
    pub left_out: Vec<crate::LeftOut>,
}

struct Scanned {
    tracked: Tracked,
    changes: Vec<Change>,
    left_out: Vec<crate::LeftOut>,
}

const MEMORY_FIRST: i32 = 1000;

/// The worktrees in `dir`, by id; none where it is not there. What has no mark of ours is not among them.
pub fn list(dir: &Path) -> Result<Vec<Worktree>, Error> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(dir) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries.map_err(io(dir))?,
    };
    for entry in entries {
        let entry = entry.map_err(io(dir))?;
        if let Ok(worktree) = Worktree::open(&entry.path()) {
            found.push(worktree);
        }
    }
    found.sort_by(|one, other| one.id().cmp(other.id()));
    Ok(found)
}

/// Removes folders in `dir` that have one of our names and no mark, because they were cut off before they had it, or
/// after it had gone: nothing is in them but the beginning of one. For a time when nobody makes or removes any.
pub fn clear_half_made(dir: &Path, is_our_name: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let folder = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !entry.file_name().to_str().is_some_and(&is_our_name) {
            continue;
        }
        let Ok(mut inside) = fs::read_dir(&folder) else { continue };
        if inside.all(|one| one.is_ok_and(|one| one.file_name() == marker::NEW)) {
            // What stays is looked at again by the next start. Whatever else came to lie there stays for good.
            let _ = fs::remove_file(folder.join(marker::NEW));
            let _ = fs::remove_dir(&folder);
        }
    }
}
