//! What a project holds at one moment, kept apart from it: the same beginning for everybody who starts from it, and
//! something to look things up in that does not change.

use std::path::{Path, PathBuf};

use git2::{DiffFormat, DiffOptions, Oid, Repository, Tree};

use crate::{
    Error, Limits, Start, Worktree, beneath,
    entry::{Entry, SUBMODULE},
    gitdir, project,
    worktree::{
        Look,
        create::{self, Copy, from_look},
        marker::Marker,
        text_in,
    },
};

#[derive(Clone, Debug)]
pub struct Snapshot {
    folder: PathBuf,
    marker: Marker,
}

/// What the main branch of a project may be called.
const MAIN: [&str; 4] = ["main", "master", "trunk", "develop"];

/// The files of a snapshot.
pub struct Reader(Look);

impl Reader {
    /// None where there was no such text.
    pub fn text(&self, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        text_in(&self.0.repository, self.0.start, path, bytes_max)
    }
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
        Self::take_with(folder, id, project, Start { carry, copy: &[] }, limits)
    }

    /// The same with files that come along with every worktree that begins with it, as they are now.
    pub fn take_with(
        folder: &Path,
        id: &str,
        project: &Path,
        start: Start,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let marker = create::snapshot(folder, id, project, start, limits)?;
        Ok(Self { folder: folder.to_owned(), marker })
    }

    pub fn open(folder: &Path) -> Result<Self, Error> {
        Ok(Self { marker: Marker::read(folder)?, folder: folder.to_owned() })
    }

    /// The project's commit at that moment.
    pub fn base(&self) -> &str {
        &self.marker.base
    }

    /// Names its content: the same content has the same name.
    pub fn content(&self) -> Option<&str> {
        self.marker.start.as_deref()
    }

    /// The commit since which something was changed within `target`, a path that is empty for all of it: the current one
    /// where its files were changed, else the one at which its branch left the main one. None where nothing was.
    pub fn since(&self, target: &str) -> Result<Option<String>, Error> {
        let look = self.look()?;
        let base = Oid::from_str(&self.marker.base)?;
        let differs = |commit: Oid| -> Result<bool, Error> {
            let (before, after) =
                (look.repository.find_commit(commit)?.tree()?, look.repository.find_tree(look.start)?);
            Ok(named(&before, target) != named(&after, target))
        };
        if differs(base)? {
            return Ok(Some(base.to_string()));
        }
        let project = project::open(&self.marker.project)?;
        for main in main_branches(&project) {
            // Histories that have nothing in common have no change between them.
            let left = project.merge_base(base, main).ok().filter(|left| *left != base);
            if let Some(left) = left
                && differs(left)?
            {
                return Ok(Some(left.to_string()));
            }
        }
        Ok(None)
    }

    /// What was changed since a commit within `target`, as git writes it, and no more of it than `bytes_max` and a line.
    pub fn patch_since(&self, commit: &str, target: &str, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let look = self.look()?;
        let before = look.repository.find_commit(Oid::from_str(commit)?)?.tree()?;
        let after = look.repository.find_tree(look.start)?;
        let mut options = DiffOptions::new();
        if !target.is_empty() {
            options.pathspec(target).disable_pathspec_match(true);
        }
        let diff = look.repository.diff_tree_to_tree(Some(&before), Some(&after), Some(&mut options))?;
        let mut patch = Vec::new();
        let printed = diff.print(DiffFormat::Patch, |_, _, line| {
            if matches!(line.origin(), '+' | '-' | ' ') {
                patch.push(line.origin() as u8);
            }
            patch.extend_from_slice(line.content());
            patch.len() <= bytes_max
        });
        match printed {
            Err(_) if patch.len() > bytes_max => Ok(patch),
            printed => printed.map(|()| patch).map_err(Error::from),
        }
    }

    /// A file as it was in a commit of the project; none where there was no such text.
    pub fn text_in(&self, commit: &str, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        let look = self.look()?;
        let tree = look.repository.find_commit(Oid::from_str(commit)?)?.tree_id();
        text_in(&look.repository, tree, path, bytes_max)
    }

    /// The files that are not in both, or not the same in both.
    pub fn differing(&self, other: &Self) -> Result<Vec<Vec<u8>>, Error> {
        let (one, other) = (self.entries()?, other.entries()?);
        let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
        let mut paths = Vec::new();
        while let Some(next) = one.peek().into_iter().chain(other.peek()).map(|entry| &entry.path).min() {
            let next = next.clone();
            let (left, right) =
                (one.next_if(|entry| entry.path == next), other.next_if(|entry| entry.path == next));
            if left.map(|entry| entry.blob) != right.map(|entry| entry.blob) {
                paths.push(next);
            }
        }
        Ok(paths)
    }

    /// Opened once, for whoever reads many files.
    pub fn reader(&self) -> Result<Reader, Error> {
        Ok(Reader(self.look()?))
    }

    /// A file as it was; none where there was no such text.
    pub fn text(&self, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        self.reader()?.text(path, bytes_max)
    }

    /// Every file, by path.
    pub fn paths(&self) -> Result<Vec<Vec<u8>>, Error> {
        let files = self.entries()?.into_iter().filter(|entry| entry.blob.mode != SUBMODULE);
        Ok(files.map(|entry| entry.path).collect())
    }

    /// By path.
    fn entries(&self) -> Result<Vec<Entry>, Error> {
        let look = self.look()?;
        let mut entries = Vec::new();
        gitdir::flatten(&look.repository, &look.repository.find_tree(look.start)?, &mut entries)?;
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    }

    /// Makes `folder` a worktree that begins with it.
    pub fn worktree(&self, folder: &Path, id: &str, limits: &Limits) -> Result<Worktree, Error> {
        from_look(folder, id, &self.marker, &self.look()?, self.copies()?, limits)
    }

    pub(crate) fn copies(&self) -> Result<Vec<Copy>, Error> {
        if self.marker.copied.is_empty() {
            return Ok(Vec::new());
        }
        create::kept(&self.marker.copied, &Repository::open(self.folder.join("git"))?)
    }

    fn look(&self) -> Result<Look, Error> {
        let start = self.marker.start.as_ref().ok_or_else(|| Error::NotOurs(self.folder.clone()))?;
        let repository = Repository::open(self.folder.join("git"))?;
        Ok(Look { start: Oid::from_str(start)?, repository, changes: Vec::new(), left_out: Vec::new() })
    }
}

/// Where the main branch is here, and where it was when somebody last asked the server that the project came from: a
/// clone may have no copy of its own, or one with commits that nobody else has yet.
fn main_branches(project: &Repository) -> impl Iterator<Item = Oid> {
    let commit = |name: String| Some(project.find_reference(&name).ok()?.peel_to_commit().ok()?.id());
    let here = MAIN.iter().find_map(|name| commit(format!("refs/heads/{name}")));
    let names = std::iter::once("HEAD").chain(MAIN);
    let there = names.map(|name| format!("refs/remotes/origin/{name}")).find_map(commit);
    here.into_iter().chain(there)
}

/// What stands at a path, all of the tree where it is empty: the same content has the same name.
fn named(tree: &Tree, path: &str) -> Option<(i32, Oid)> {
    if path.is_empty() {
        return Some((0, tree.id()));
    }
    let entry = tree.get_path(&beneath::to_path(path.as_bytes())).ok()?;
    Some((entry.filemode(), entry.id()))
}
