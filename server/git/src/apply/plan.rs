//! Decides for each changed file what becomes of the project's: before anything is written.

use std::path::Path;

use git2::{MergeFileInput, MergeFileOptions, ObjectType, Oid};
use rustix::fs::{FileType, Stat};

use crate::{
    Conflict, Error, Limits, Reason,
    beneath::{self, Folder, split},
    entry::{Blob, LINK, SUBMODULE, plain_mode},
    error::{at, io},
    scan::Change,
    worktree::Look,
};

#[derive(Debug, Default)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub unchanged: Vec<Vec<u8>>,
}

/// One path: what lies there now, and what is to lie there.
#[derive(Debug)]
pub struct Step {
    pub path: Vec<u8>,
    pub old: Option<Stat>,
    pub new: Option<(u32, Vec<u8>)>,
}

pub fn make(look: &Look, project: &Path, limits: &Limits) -> Result<Plan, Error> {
    let top = Folder::open(project).map_err(io(project))?;
    let (mut plan, mut conflicts) = (Plan::default(), Vec::new());
    for change in &look.changes {
        limits.check()?;
        match (Decision { look, top: &top, limits, change }).decide()? {
            Ok(Some(step)) => plan.steps.push(step),
            Ok(None) => plan.unchanged.push(change.path.clone()),
            Err(reason) => conflicts.push(Conflict { path: change.path.clone(), reason }),
        }
    }
    find_obstacles(&plan, &top, &mut conflicts)?;
    if conflicts.is_empty() { Ok(plan) } else { Err(Error::Conflicts(conflicts)) }
}

struct Decision<'a> {
    look: &'a Look,
    top: &'a Folder,
    limits: &'a Limits,
    change: &'a Change,
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

impl Decision<'_> {
    /// `None` where the project has it that way already.
    fn decide(&self) -> Result<Result<Option<Step>, Reason>, Error> {
        let Change { path, old, new } = self.change;
        // Not our files: their own repository has them.
        if [old, new].iter().any(|side| side.is_some_and(|blob| blob.mode == SUBMODULE)) {
            return Ok(Err(Reason::InTheWay));
        }
        let step = |old: Option<Stat>, new| Ok(Ok(Some(Step { path: path.clone(), old, new })));
        match (self.there()?, old, new) {
            (There::InTheWay, _, None) => Ok(Ok(None)),
            // Whether the folder makes room is known once all steps are.
            (There::InTheWay, None, Some(new)) => step(None, Some((new.mode, self.content(new.id)?))),
            (There::InTheWay, Some(_), Some(_)) => Ok(Err(Reason::InTheWay)),
            (There::Nothing, _, None) => Ok(Ok(None)),
            (There::Nothing, None, Some(new)) => step(None, Some((new.mode, self.content(new.id)?))),
            (There::Nothing, Some(_), Some(_)) => Ok(Err(Reason::GoneThere)),
            (There::File(mut file), old, new) => {
                let has_returns = self.take_returns(&mut file)?;
                let step = |old: Option<Stat>, new: Option<(u32, Vec<u8>)>| {
                    let put_back = |content| if has_returns { with_returns(content) } else { content };
                    step(old, new.map(|(mode, content)| (mode, put_back(content))))
                };
                let id = Oid::hash_object(ObjectType::Blob, &file.content)?;
                let there = Blob { mode: file.mode, id };
                if *new == Some(there) {
                    Ok(Ok(None))
                } else if *old == Some(there) {
                    let new = new.map(|new| Ok::<_, Error>((new.mode, self.content(new.id)?))).transpose()?;
                    step(Some(file.stat), new)
                } else {
                    match (old, new) {
                        (None, _) => Ok(Err(Reason::AlreadyThere)),
                        (Some(_), None) => Ok(Err(Reason::ChangedThere)),
                        (Some(old), Some(new)) => match self.merge(&file, *old, *new)? {
                            Ok(merged) => step(Some(file.stat), Some(merged)),
                            Err(reason) => Ok(Err(reason)),
                        },
                    }
                }
            }
        }
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

/// None where there is a line that does not end in CR LF, or no line at all.
fn without_returns(content: &[u8]) -> Option<Vec<u8>> {
    let mut without = Vec::with_capacity(content.len());
    for byte in content {
        if *byte == b'\n' && without.pop() != Some(b'\r') {
            return None;
        }
        without.push(*byte);
    }
    (without.len() < content.len()).then_some(without)
}

/// Ends in CR LF whatever ends in LF alone.
fn with_returns(content: Vec<u8>) -> Vec<u8> {
    if is_binary(&content) {
        return content;
    }
    let mut with = Vec::with_capacity(content.len() + content.len() / 16);
    for byte in content {
        if byte == b'\n' && with.last() != Some(&b'\r') {
            with.push(b'\r');
        }
        with.push(byte);
    }
    with
}

/// As git tells it.
fn is_binary(content: &[u8]) -> bool {
    content.iter().take(8000).any(|byte| *byte == 0)
}

/// What a new file needs out of its way must be removed by the plan itself: a file where it needs a folder, or
/// all of a folder where it comes to lie.
fn find_obstacles(plan: &Plan, top: &Folder, conflicts: &mut Vec<Conflict>) -> Result<(), Error> {
    let is_removed = |path: &[u8]| plan.steps.iter().any(|step| step.path == path && step.new.is_none());
    for step in plan.steps.iter().filter(|step| step.new.is_some() && step.old.is_none()) {
        let mut parent = top.descend(b"").map_err(at(&step.path))?;
        let ends = step.path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        let mut start = 0;
        for end in ends.chain([step.path.len()]) {
            let Some(stat) = parent.stat(&step.path[start..end]).map_err(at(&step.path))? else { break };
            let is_folder = beneath::kind(&stat) == FileType::Directory;
            let is_free = if end == step.path.len() {
                is_folder
                    && is_emptied(
                        &parent.enter(&step.path[start..]).map_err(at(&step.path))?,
                        &step.path,
                        &is_removed,
                    )?
            } else {
                is_folder || is_removed(&step.path[..end])
            };
            if !is_free {
                conflicts.push(Conflict { path: step.path.clone(), reason: Reason::InTheWay });
            }
            if !is_free || !is_folder || end == step.path.len() {
                break;
            }
            parent = parent.enter(&step.path[start..end]).map_err(at(&step.path))?;
            start = end + 1;
        }
    }
    Ok(())
}

fn is_emptied(folder: &Folder, path: &[u8], is_removed: &dyn Fn(&[u8]) -> bool) -> Result<bool, Error> {
    for (name, _) in folder.names().map_err(at(path))? {
        let beneath = [path, b"/", &name[..]].concat();
        let stat = folder.stat(&name).map_err(at(path))?;
        let is_folder = stat.is_some_and(|stat| beneath::kind(&stat) == FileType::Directory);
        let is_gone = if is_folder {
            is_emptied(&folder.enter(&name).map_err(at(path))?, &beneath, is_removed)?
        } else {
            is_removed(&beneath)
        };
        if !is_gone {
            return Ok(false);
        }
    }
    Ok(true)
}
