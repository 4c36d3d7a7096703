//! Makes a worktree, or leaves nothing behind.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use git2::{Oid, Repository};

use super::{
    Look, Start, Worktree,
    marker::{Copied, Marker, check_id},
    trash::remove_marked,
};
use crate::{
    Error, Limits, Refused,
    beneath::{self, Folder, split},
    checkout,
    entry::{Blob, Entry, SUBMODULE, find, plain_mode},
    error::{at as at_path, from_io, io as failed},
    gitdir::{self, Objects},
    ignore::Rules,
    project,
    scan::{Keep as _, Scan, take_in},
};

pub fn create(
    folder: &Path,
    id: &str,
    project: &Path,
    start: Start,
    limits: &Limits,
) -> Result<Worktree, Error> {
    let repository = project::open(project)?;
    let base = project::head(&repository)?.id();
    let contents = if start.carry { Contents::Uncommitted } else { Contents::Committed };
    make(Making { folder, project: &repository, base, limits }, id, project, |making, marker| {
        making.worktree(marker, contents, Copies::Paths(start.copy))
    })
}

/// A worktree that begins with what is in `look`, and not with what the project holds by now.
pub fn from_look(
    folder: &Path,
    id: &str,
    of: &Marker,
    look: &Look,
    copies: Vec<Copy>,
    limits: &Limits,
) -> Result<Worktree, Error> {
    let repository = project::open(&of.project)?;
    let base = Oid::from_str(&of.base)?;
    make(Making { folder, project: &repository, base, limits }, id, &of.project, |making, marker| {
        making.worktree(marker, Contents::Look(look), Copies::Read(copies))
    })
}

/// What the project holds now, without a tree to work in. Its mark tells which.
pub fn snapshot(
    folder: &Path,
    id: &str,
    project: &Path,
    start: Start,
    limits: &Limits,
) -> Result<Marker, Error> {
    let repository = project::open(project)?;
    let base = project::head(&repository)?.id();
    make(Making { folder, project: &repository, base, limits }, id, project, |making, mut marker| {
        let own = making.own()?;
        let excludes = gitdir::share_excludes(making.project, &[&making.gitdir()])?;
        let contents = if start.carry { Contents::Uncommitted } else { Contents::Committed };
        let committed = making.committed()?;
        let entries = making.entries(&own, contents, &committed, &excludes)?;
        let tree = gitdir::index_of(&entries)?.write_tree_to(&Repository::open(making.gitdir())?)?;
        for Copy { path, mode, content, is_ignored } in making.copies(start.copy, &excludes)? {
            let (path, blob) = (crate::display(&path), Objects(&own).keep(&content)?.to_string());
            marker.copied.push(Copied { path, mode, blob, is_ignored });
        }
        marker.start = Some(tree.to_string());
        marker.write(making.folder)?;
        Ok(marker)
    })
}

/// Whatever is made, or nothing.
fn make<T>(
    making: Making,
    id: &str,
    project: &Path,
    fill: impl FnOnce(&Making, Marker) -> Result<T, Error>,
) -> Result<T, Error> {
    check_id(id)?;
    let folder = making.folder;
    fs::create_dir(folder).map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => Refused::Exists(folder.to_owned()).into(),
        _ => from_io(folder, cause),
    })?;
    let made = making.begin(id, project).and_then(|marker| fill(&making, marker));
    if made.is_err() {
        // Why it failed matters more than why this does; what stays has our mark.
        let _ = project::unpin(project, id);
        let _ = remove_marked(folder);
    }
    made
}

/// What there is at the beginning.
enum Contents<'a> {
    Committed,
    /// The project's files as they lie there.
    Uncommitted,
    /// What somebody else's folder holds.
    Look(&'a Look),
}

/// What comes along.
enum Copies<'a> {
    /// Of the project, as it lies there.
    Paths(&'a [PathBuf]),
    Read(Vec<Copy>),
}

impl Copies<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Paths(paths) => paths.is_empty(),
            Self::Read(copies) => copies.is_empty(),
        }
    }
}

struct Making<'a> {
    folder: &'a Path,
    project: &'a Repository,
    base: Oid,
    limits: &'a Limits,
}

impl Making<'_> {
    /// First of all, so that what a crash leaves is known as ours.
    fn begin(&self, id: &str, project: &Path) -> Result<Marker, Error> {
        let marker = Marker::new(id, project, self.base.to_string());
        marker.write(self.folder)?;
        self.project.reference(&project::pin_name(id), self.base, true, "worktree")?;
        Ok(marker)
    }

    fn gitdir(&self) -> PathBuf {
        self.folder.join("git")
    }

    /// Our own repository. It does not borrow yet as it is returned, so whatever is kept in it is really there.
    fn own(&self) -> Result<Repository, Error> {
        let own = gitdir::init_ours(&self.gitdir())?;
        own.odb()?;
        gitdir::borrow(&own, self.project)?;
        Ok(own)
    }

    fn committed(&self) -> Result<Vec<Entry>, Error> {
        let mut committed = Vec::new();
        let tree = self.project.find_commit(self.base)?.tree()?;
        gitdir::flatten(self.project, &tree, &mut committed)?;
        Ok(committed)
    }

    fn entries(
        &self,
        own: &Repository,
        contents: Contents,
        committed: &[Entry],
        excludes: &[u8],
    ) -> Result<Vec<Entry>, Error> {
        match contents {
            Contents::Committed => Ok(committed.to_vec()),
            Contents::Uncommitted => self.carried(own, committed, excludes),
            Contents::Look(look) => self.taken(own, look),
        }
    }

    fn worktree(&self, mut marker: Marker, contents: Contents, copies: Copies) -> Result<Worktree, Error> {
        for name in ["tree", "home", "tmp"] {
            let path = self.folder.join(name);
            fs::create_dir(&path).map_err(failed(&path))?;
        }
        let (tree, gitdir) = (self.folder.join("tree"), self.gitdir());
        gitdir::check_own_objects(self.project)?;
        let own = self.own()?;
        gitdir::init_agents(&tree, self.project, self.base)?;
        let excludes = gitdir::share_excludes(self.project, &[&gitdir, &tree.join(".git")])?;

        let is_as_committed = matches!(contents, Contents::Committed) && copies.is_empty();
        let committed = self.committed()?;
        let mut entries = self.entries(&own, contents, &committed, &excludes)?;
        let copies = match copies {
            Copies::Paths(paths) => self.copies(paths, &excludes)?,
            Copies::Read(copies) => copies,
        };
        let mut ignored = Vec::new();
        for Copy { path, mode, content, is_ignored } in copies {
            let entry = Entry::new(path, Blob { mode, id: Objects(&own).keep(&content)? });
            match find(&entries, &entry.path) {
                Ok(at) => entries[at] = entry,
                Err(_) if is_ignored => ignored.push(entry),
                Err(at) => entries.insert(at, entry),
            }
        }
        let start_tree = if is_as_committed {
            self.project.find_commit(self.base)?.tree_id()
        } else {
            gitdir::index_of(&entries)?.write_tree_to(&Repository::open(&gitdir)?)?
        };

        let tracked = entries.len();
        entries.append(&mut ignored);
        checkout::fill(&tree, &gitdir, &mut entries, self.limits)?;
        entries.truncate(tracked);
        let (ours, agents) = (gitdir.join("index"), tree.join(".git/index"));
        gitdir::write_index(&ours, &entries)?;
        gitdir::settle(&ours, &entries)?;
        if is_as_committed {
            fs::copy(&ours, &agents).map_err(failed(&agents))?;
        } else {
            gitdir::write_index(&agents, &as_committed(committed, &entries))?;
        }
        marker.start = Some(start_tree.to_string());
        marker.write(self.folder)?;
        Ok(Worktree { folder: self.folder.to_owned(), marker })
    }

    /// The project's files as they lie there, rather than as they are committed. Their contents are kept in
    /// `own`: the project may forget what was never committed.
    fn carried(&self, own: &Repository, committed: &[Entry], excludes: &[u8]) -> Result<Vec<Entry>, Error> {
        let workdir = self.workdir();
        let mut tracked = gitdir::tracked(self.project)?;
        let mut rules = Rules::default();
        rules.push(excludes, 0);
        let top = Folder::open(workdir).map_err(failed(workdir))?;
        let mut objects = Objects(own);
        let (changes, left_out) = Scan::new(&tracked, rules, self.limits, &mut objects).run(&top)?;
        // Whoever works on needs all of it.
        if let Some(one) = left_out.iter().find(|one| one.why.is_of_size()) {
            return Err(self.limits.exceeded_by(&one.path));
        }
        for entry in &tracked.entries {
            let is_committed = find(committed, &entry.path).is_ok_and(|at| committed[at].blob == entry.blob);
            let is_changed = changes.binary_search_by(|change| change.path.cmp(&entry.path)).is_ok();
            if !is_committed && !is_changed && entry.blob.mode != SUBMODULE {
                objects.keep(self.project.find_blob(entry.blob.id)?.content())?;
            }
        }
        take_in(&mut tracked.entries, &changes);
        Ok(tracked.entries)
    }

    /// What is in another's folder. Its contents are kept in `own`, where the project does not have them.
    fn taken(&self, own: &Repository, look: &Look) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        gitdir::flatten(&look.repository, &look.repository.find_tree(look.start)?, &mut entries)?;
        take_in(&mut entries, &look.changes);
        let (project, mut objects) = (self.project.odb()?, Objects(own));
        for entry in entries.iter().filter(|entry| entry.blob.mode != SUBMODULE) {
            if !project.exists(entry.blob.id) {
                objects.keep(look.repository.find_blob(entry.blob.id)?.content())?;
            }
        }
        Ok(entries)
    }

    fn copies(&self, paths: &[PathBuf], excludes: &[u8]) -> Result<Vec<Copy>, Error> {
        let workdir = self.workdir();
        let top = Folder::open(workdir).map_err(failed(workdir))?;
        let mut copies: Vec<Copy> = Vec::new();
        for path in paths {
            let copy = self.copy(&top, path, excludes)?;
            if !copies.iter().any(|other| other.path == copy.path) {
                copies.push(copy);
            }
        }
        Ok(copies)
    }

    fn copy(&self, top: &Folder, path: &Path, excludes: &[u8]) -> Result<Copy, Error> {
        let refused = || Error::from(Refused::Copy(path.to_owned()));
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(refused());
        }
        let bytes = path.as_os_str().as_encoded_bytes().to_vec();
        if !beneath::is_plain(&bytes) {
            return Err(refused());
        }
        let (folder, name) = split(&bytes);
        let mut rules = Rules::default();
        rules.push(excludes, 0);
        let mut is_ignored = false;
        let mut at = top.descend(b"").map_err(failed(path))?;
        rules.enter(&at, 0).map_err(failed(path))?;
        let mut done = 0;
        for part in folder.split(|byte| *byte == b'/').filter(|_| !folder.is_empty()) {
            done += part.len();
            is_ignored |= rules.ignore(&bytes[..done], true, self.limits)?;
            done += 1;
            at = at.enter(part).map_err(|_| refused())?;
            rules.enter(&at, done).map_err(failed(path))?;
        }
        is_ignored |= rules.ignore(&bytes, false, self.limits)?;
        let found = at.read(name, self.limits.file_bytes).map_err(at_path(&bytes))?;
        let (content, stat) = found.ok_or_else(refused)?;
        self.limits.file(&bytes, content.len() as u64)?;
        Ok(Copy { path: bytes, mode: plain_mode(stat.st_mode), content, is_ignored })
    }

    fn workdir(&self) -> &Path {
        self.project.workdir().unwrap_or_else(|| self.project.path())
    }
}

pub struct Copy {
    path: Vec<u8>,
    mode: u32,
    content: Vec<u8>,
    pub is_ignored: bool,
}

/// What a snapshot keeps to come along.
pub fn kept(copied: &[Copied], repository: &Repository) -> Result<Vec<Copy>, Error> {
    let read = |Copied { path, mode, blob, is_ignored }: &Copied| {
        let content = repository.find_blob(Oid::from_str(blob)?)?.content().to_vec();
        Ok(Copy { path: path.clone().into_bytes(), mode: *mode, content, is_ignored: *is_ignored })
    };
    copied.iter().map(read).collect()
}

/// The commit's entries, with what is known of the files that are as committed.
fn as_committed(mut committed: Vec<Entry>, written: &[Entry]) -> Vec<Entry> {
    for entry in &mut committed {
        if let Some(file) =
            find(written, &entry.path).ok().map(|at| &written[at]).filter(|file| file.blob == entry.blob)
        {
            entry.seen = file.seen;
        }
    }
    committed
}
