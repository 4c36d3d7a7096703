//! What a folder holds against what it began with. The folder may be an agent's: its `.git` is never looked
//! into, no filter is applied, and what was left out is said.

mod new;

use std::{io::ErrorKind, mem};

use git2::{ObjectType, Oid};
use rustix::fs::{FileType, Stat};

use crate::{
    Error, LeftOut, Limits, Why,
    beneath::{self, Folder, split},
    entry::{self, Blob, Entry, LINK, SUBMODULE, Seen},
    error::at,
    ignore::Rules,
};
use new::{Gone, New};

const DEPTH_MAX: usize = 200;

/// The files that a folder began with, in git's order, as they were seen then.
pub struct Tracked {
    pub entries: Vec<Entry>,
    /// When that was. What changed at this very moment may have changed twice in it.
    pub stamp: (i32, u32),
}

#[derive(Clone, Debug)]
pub struct Change {
    pub path: Vec<u8>,
    pub old: Option<Blob>,
    pub new: Option<Blob>,
}

/// Where contents go that were not there at the beginning.
pub trait Keep {
    fn keep(&mut self, content: &[u8]) -> Result<Oid, Error>;
}

/// Brings a list up to date with what changed since.
pub fn take_in(entries: &mut Vec<Entry>, changes: &[Change]) {
    for change in changes {
        let new = change.new.map(|new| Entry::new(change.path.clone(), new));
        match (entry::find(entries, &change.path), new) {
            (Ok(at), Some(new)) => entries[at] = new,
            (Ok(at), None) => drop(entries.remove(at)),
            (Err(at), Some(new)) => entries.insert(at, new),
            (Err(_), None) => {}
        }
    }
}

pub struct Scan<'a> {
    tracked: &'a Tracked,
    seen: Vec<bool>,
    rules: Rules,
    limits: &'a Limits,
    keep: &'a mut dyn Keep,
    changes: Vec<Change>,
    left_out: Vec<LeftOut>,
    entries: usize,
    bytes: u64,
    new: New,
    gone: Gone,
}

impl<'a> Scan<'a> {
    pub fn new(tracked: &'a Tracked, rules: Rules, limits: &'a Limits, keep: &'a mut dyn Keep) -> Self {
        let seen = vec![false; tracked.entries.len()];
        let (changes, left_out, new, gone) = Default::default();
        Self { tracked, seen, rules, limits, keep, changes, left_out, entries: 0, bytes: 0, new, gone }
    }

    /// In the order of their paths.
    pub fn run(mut self, top: &Folder) -> Result<(Vec<Change>, Vec<LeftOut>), Error> {
        self.folder(top, &mut Vec::new(), 0, false)?;
        for (entry, is_seen) in self.tracked.entries.iter().zip(&self.seen) {
            if !is_seen && !entry.is_sparse {
                self.changes.push(Change { path: entry.path.clone(), old: Some(entry.blob), new: None });
            }
        }
        self.limits.changed(self.changes.len())?;
        self.gone = self.gone();
        self.take_new(top)?;
        self.changes.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok((self.changes, self.left_out))
    }

    /// `path` is empty or ends with a slash. In an ignored folder only what is tracked counts.
    fn folder(
        &mut self,
        folder: &Folder,
        path: &mut Vec<u8>,
        depth: usize,
        ignored: bool,
    ) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            let what = format!("the depth of {}", crate::display(path));
            return Err(Error::TooLarge { what, limit: format!("{DEPTH_MAX} folders") });
        }
        self.limits.check()?;
        let mut names = folder.names().map_err(at(path))?;
        names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        self.entries += names.len();
        self.limits.looked_at(self.entries)?;
        self.rules.enter(folder, path.len()).map_err(at(path))?;
        for (name, _) in names {
            let before = path.len();
            path.extend_from_slice(&name);
            if name != b".git" {
                self.entry(folder, &name, path, depth, ignored)?;
            } else if depth > 0 {
                self.left_out.push(LeftOut { path: path.clone(), why: Why::NestedRepository });
            }
            path.truncate(before);
        }
        self.rules.leave();
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &Folder,
        name: &[u8],
        path: &mut Vec<u8>,
        depth: usize,
        ignored: bool,
    ) -> Result<(), Error> {
        if beneath::is_gits_own(name) {
            self.left_out.push(LeftOut { path: path.clone(), why: Why::Name });
            return Ok(());
        }
        self.limits.check()?;
        let Some(stat) = folder.stat(name).map_err(at(path))? else { return Ok(()) };
        let known = self.find(path);
        match beneath::kind(&stat) {
            FileType::Directory => self.enter(folder, name, path, depth, ignored, known),
            FileType::RegularFile | FileType::Symlink => {
                match known {
                    Some(known) if self.is_unchanged(known, &stat) => self.seen[known] = true,
                    Some(known) => self.read(folder, name, path, &stat, Some(known))?,
                    None if ignored || self.rules.ignore(path, false, self.limits)? => {}
                    // Read once it is known how much there is of it.
                    None => self.new.file(path, stat.st_size as u64)?,
                }
                Ok(())
            }
            _ => {
                if known.is_some() || !(ignored || self.rules.ignore(path, false, self.limits)?) {
                    self.left_out.push(LeftOut { path: path.clone(), why: Why::Special });
                }
                Ok(())
            }
        }
    }

    fn enter(
        &mut self,
        parent: &Folder,
        name: &[u8],
        path: &mut Vec<u8>,
        depth: usize,
        ignored: bool,
        known: Option<usize>,
    ) -> Result<(), Error> {
        let ignored = ignored || self.rules.ignore(path, true, self.limits)?;
        let holds_tracked = self.holds_tracked(&[path.as_slice(), b"/"].concat());
        let is_submodule = known.is_some_and(|known| self.tracked.entries[known].blob.mode == SUBMODULE);
        if ignored && !holds_tracked && !is_submodule {
            return Ok(());
        }
        let folder = parent.enter(name).map_err(at(path))?;
        if let Some(known) = known.filter(|_| is_submodule) {
            self.seen[known] = true;
            if !folder.names().map_err(at(path))?.is_empty() {
                self.left_out.push(LeftOut { path: path.clone(), why: Why::Submodule });
            }
            return Ok(());
        }
        let is_outermost = !holds_tracked && self.new.enter(path);
        path.push(b'/');
        self.folder(&folder, path, depth + 1, ignored)?;
        if is_outermost {
            self.new.leave();
        }
        Ok(())
    }

    fn gone(&self) -> Gone {
        let removed = self.changes.iter().filter(|change| change.new.is_none());
        let names = removed.map(|change| split(&change.path).1.to_vec()).collect();
        let entries = self.tracked.entries.iter().zip(&self.seen).filter(|(_, is_seen)| !**is_seen);
        let bytes = entries.map(|(entry, _)| entry.seen.bytes()).max().unwrap_or_default();
        Gone { names, bytes }
    }

    /// What is new, but for what is too much of it: that blocks nothing else.
    fn take_new(&mut self, top: &Folder) -> Result<(), Error> {
        let new = mem::take(&mut self.new);
        let (files, left_out) = new.fit(self.changes.len(), self.bytes, &self.gone, self.limits)?;
        self.left_out.extend(left_out);
        let mut last: Option<(Vec<u8>, Folder)> = None;
        for path in files {
            let (inner, name) = split(&path);
            let folder = match last.take() {
                Some((known, folder)) if known == inner => folder,
                _ => match top.descend(inner) {
                    Ok(folder) => folder,
                    // It went away.
                    Err(cause) if cause.kind() == ErrorKind::NotFound => continue,
                    Err(cause) => return Err(at(&path)(cause)),
                },
            };
            if let Some(stat) = folder.stat(name).map_err(at(&path))? {
                self.read(&folder, name, &path, &stat, None)?;
            }
            last = Some((inner.to_vec(), folder));
        }
        Ok(())
    }

    fn read(
        &mut self,
        folder: &Folder,
        name: &[u8],
        path: &[u8],
        stat: &Stat,
        known: Option<usize>,
    ) -> Result<(), Error> {
        self.limits.check()?;
        let is_link = beneath::kind(stat) == FileType::Symlink;
        let (content, mode) = if is_link {
            (folder.link(name).map_err(at(path))?, LINK)
        } else {
            if let Err(error) = self.limits.file(path, stat.st_size as u64) {
                return self.too_large(path, known, error);
            }
            match folder.read(name, self.limits.file_bytes).map_err(at(path))? {
                Some((content, stat)) => (content, entry::plain_mode(stat.st_mode)),
                None => {
                    let cause = std::io::Error::other("it turned into something else while it was read");
                    return Err(Error::Io { path: beneath::to_path(path), cause });
                }
            }
        };
        if let Err(error) = self.limits.file(path, content.len() as u64) {
            return self.too_large(path, known, error);
        }
        let id = Oid::hash_object(ObjectType::Blob, &content)?;
        let (old, new) = (known.map(|known| self.tracked.entries[known].blob), Blob { mode, id });
        if let Some(known) = known {
            self.seen[known] = true;
        }
        if old == Some(new) {
            return Ok(());
        }
        if old.is_none_or(|old| old.id != id) {
            self.bytes += content.len() as u64;
            self.limits.total(self.bytes)?;
            self.keep.keep(&content)?;
        }
        self.changes.push(Change { path: path.to_vec(), old, new: Some(new) });
        self.limits.changed(self.changes.len())
    }

    /// A new file can stay behind. Without one that the project has, or had elsewhere, the change would be another one.
    fn too_large(&mut self, path: &[u8], known: Option<usize>, error: Error) -> Result<(), Error> {
        if known.is_some() || self.gone.has(path) || self.gone.bytes > self.limits.file_bytes {
            return Err(error);
        }
        self.left_out.push(LeftOut { path: path.to_vec(), why: Why::TooLarge });
        Ok(())
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
        entry::find(&self.tracked.entries, path).ok()
    }

    /// The folder's path ends with a slash.
    fn holds_tracked(&self, folder: &[u8]) -> bool {
        let entries = &self.tracked.entries;
        let from = entries.partition_point(|entry| entry.path.as_slice() < folder);
        entries.get(from).is_some_and(|entry| entry.path.starts_with(folder))
    }

    fn is_unchanged(&self, known: usize, stat: &Stat) -> bool {
        let entry = &self.tracked.entries[known];
        entry.blob.mode == entry::plain_mode(stat.st_mode)
            && entry.seen == Seen::of(stat)
            && entry.seen.changed < self.tracked.stamp
    }
}
