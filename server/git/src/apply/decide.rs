//! Decides what becomes of one file of the project's.

use git2::{MergeFileInput, MergeFileOptions, ObjectType, Oid};
use rustix::fs::{FileType, Stat};

use super::{
    plan::Step,
    returns::{is_binary, with_returns, without_returns},
};
use crate::{
    Error, Limits, Reason,
    beneath::{self, Folder, split},
    entry::{Blob, LINK, SUBMODULE, plain_mode},
    error::at,
    scan::Change,
    worktree::Look,
};

pub struct Decision<'a> {
    pub look: &'a Look,
    pub top: &'a Folder,
    pub limits: &'a Limits,
    pub change: &'a Change,
    /// What an earlier apply brought to this path.
    pub last: Option<Option<Blob>>,
}

/// What the project has at a path.
enum There {
    Nothing,
    /// A folder, something else, or a link on the way.
    InTheWay,
    File(File),
}

struct File {
    mode: u32,
    content: Vec<u8>,
    stat: Stat,
}

impl File {
    fn blob(&self) -> Result<Blob, Error> {
        Ok(Blob { mode: self.mode, id: Oid::hash_object(ObjectType::Blob, &self.content)? })
    }
}

impl Decision<'_> {
    /// `None` where there is nothing to be done.
    pub fn decide(&self) -> Result<Result<Option<Step>, Reason>, Error> {
        let Change { path, old: start, new } = self.change;
        // Not our files: their own repository has them.
        if [start, new].iter().any(|side| side.is_some_and(|blob| blob.mode == SUBMODULE)) {
            return Ok(Err(Reason::InTheWay));
        }
        let there = self.there()?;
        let base = match there {
            There::File(file) => return self.decide_of_file(file),
            There::Nothing if start.is_none() => None,
            There::Nothing | There::InTheWay => self.last.unwrap_or(*start),
        };
        match (there, base, new) {
            (_, _, None) => Ok(Ok(None)),
            // The agent has nothing to bring, so the user's own way with the file stays.
            (_, Some(_), Some(_)) if base == *new || start == new => Ok(Ok(None)),
            // Whether the folder makes room is known once all steps are.
            (_, None, Some(new)) => {
                let new = Some((new.mode, self.content(new.id)?));
                Ok(Ok(Some(Step { path: path.clone(), old: None, new })))
            }
            (There::Nothing, Some(_), Some(_)) => Ok(Err(Reason::GoneThere)),
            (_, Some(_), Some(_)) => Ok(Err(Reason::InTheWay)),
        }
    }

    fn decide_of_file(&self, mut file: File) -> Result<Result<Option<Step>, Reason>, Error> {
        let Change { path, new, .. } = self.change;
        let (as_it_lies, stat) = (file.blob()?, file.stat);
        let step = |new| Ok(Ok(Some(Step { path: path.clone(), old: Some(stat), new })));
        let content = |new: Blob| Ok::<_, Error>((new.mode, self.content(new.id)?));
        if *new == Some(as_it_lies) {
            return Ok(Ok(None));
        }
        if self.last == Some(Some(as_it_lies)) {
            return step(new.map(content).transpose()?);
        }
        let has_returns = self.take_returns(&mut file)?;
        let put_back = |(mode, text)| (mode, if has_returns { with_returns(text) } else { text });
        let there = file.blob()?;
        let base = self.base(&file, there)?;
        // The second: the agent has nothing to bring, so what the user made of it stays.
        if *new == Some(there) || base == *new {
            return Ok(Ok(None));
        }
        if base == Some(there) {
            return step(new.map(content).transpose()?.map(put_back));
        }
        match (base, new) {
            (None, _) => Ok(Err(Reason::AlreadyThere)),
            (Some(_), None) => Ok(Err(Reason::ChangedThere)),
            (Some(base), Some(new)) => match self.merge(&file, base, *new)? {
                Ok(merged) => step(Some(put_back(merged))),
                Err(reason) => Ok(Err(reason)),
            },
        }
    }

    /// What the agent's changes are counted from: what was brought there last, unless the user took it back since.
    fn base(&self, file: &File, there: Blob) -> Result<Option<Blob>, Error> {
        let start = self.change.old;
        let Some(last) = self.last.filter(|_| start != Some(there)) else { return Ok(start) };
        let (Some(from), Some(to)) = (last, start) else { return Ok(last) };
        // Taken back it is where to take it back would change nothing.
        let without = self.merge(file, from, to)?;
        let is_without = without.is_ok_and(|(mode, text)| mode == file.mode && text == file.content);
        Ok(if is_without { start } else { last })
    }

    fn there(&self) -> Result<There, Error> {
        let path = &self.change.path;
        let (folder, name) = split(path);
        let mut parent = self.top.descend(b"").map_err(at(path))?;
        for part in folder.split(|byte| *byte == b'/').filter(|_| !folder.is_empty()) {
            match parent.stat(part).map_err(at(path))? {
                None => return Ok(There::Nothing),
                Some(stat) if beneath::kind(&stat) != FileType::Directory => return Ok(There::InTheWay),
                Some(_) => parent = parent.enter(part).map_err(at(path))?,
            }
        }
        let Some(stat) = parent.stat(name).map_err(at(path))? else { return Ok(There::Nothing) };
        match beneath::kind(&stat) {
            FileType::Symlink => {
                let content = parent.link(name).map_err(at(path))?;
                Ok(There::File(File { mode: LINK, content, stat }))
            }
            FileType::RegularFile => {
                self.limits.file(path, stat.st_size as u64)?;
                Ok(match parent.read(name, self.limits.file_bytes).map_err(at(path))? {
                    Some((content, stat)) => {
                        There::File(File { mode: plain_mode(stat.st_mode), content, stat })
                    }
                    None => There::InTheWay,
                })
            }
            _ => Ok(There::InTheWay),
        }
    }

    /// Git may have been told to end every line of a checked out file in CR LF, which the committed one does not have.
    /// Then they are no change of anybody's: they are left aside here, and put back into what is written.
    fn take_returns(&self, there: &mut File) -> Result<bool, Error> {
        let Some(old) = self.change.old.filter(|old| old.mode != LINK && there.mode != LINK) else {
            return Ok(false);
        };
        let Some(without) = without_returns(&there.content).filter(|_| !is_binary(&there.content)) else {
            return Ok(false);
        };
        if self.content(old.id)?.windows(2).any(|two| two == b"\r\n") {
            return Ok(false);
        }
        there.content = without;
        Ok(true)
    }

    /// The agent's changes on top of the user's.
    fn merge(&self, there: &File, old: Blob, new: Blob) -> Result<Result<(u32, Vec<u8>), Reason>, Error> {
        let kind = |mode: u32| mode & 0o170000;
        if kind(there.mode) != kind(old.mode) || kind(there.mode) != kind(new.mode) {
            return Ok(Err(Reason::SameLines));
        }
        let mode = if new.mode == old.mode { there.mode } else { new.mode };
        let (before, after) = (self.content(old.id)?, self.content(new.id)?);
        if there.content == before || there.content == after {
            return Ok(Ok((mode, after)));
        }
        if before == after {
            return Ok(Ok((mode, there.content.clone())));
        }
        if mode == LINK {
            return Ok(Err(Reason::SameLines));
        }
        if [&before, &after, &there.content].iter().any(|content| is_binary(content)) {
            return Ok(Err(Reason::NotText));
        }
        let input = |content| {
            let mut input = MergeFileInput::new();
            input.content(content);
            input
        };
        let (before, ours, theirs) = (input(&before), input(&there.content), input(&after));
        let merged = git2::merge_file(&before, &ours, &theirs, Some(&mut MergeFileOptions::new()))?;
        let is_merged = merged.is_automergeable();
        Ok(if is_merged { Ok((mode, merged.content().to_vec())) } else { Err(Reason::SameLines) })
    }

    fn content(&self, id: Oid) -> Result<Vec<u8>, Error> {
        let objects = self.look.repository.odb()?;
        let object = objects.read(id).map_err(|cause| crate::checkout::missing(cause, id))?;
        Ok(object.data().to_vec())
    }
}
