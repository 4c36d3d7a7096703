//! Decides for each changed file what becomes of the project's: before anything is written.

use std::path::Path;

use rustix::fs::{FileType, Stat};

use super::{decide::Decision, record::Record};
use crate::{
    Conflict, Error, Limits, Reason,
    beneath::{self, Folder, split},
    error::{at, io},
    scan::Change,
    worktree::{Look, blob_in},
};

#[derive(Debug, Default)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub unchanged: Vec<Vec<u8>>,
    /// What counts as brought there once the plan is carried out.
    pub record: Record,
}

/// One path: what lies there now, and what is to lie there.
#[derive(Debug)]
pub struct Step {
    pub path: Vec<u8>,
    pub old: Option<Stat>,
    pub new: Option<(u32, Vec<u8>)>,
}

/// `before` is what an earlier apply brought there.
pub fn make(
    look: &Look,
    before: &Record,
    tree: Option<&Path>,
    project: &Path,
    limits: &Limits,
) -> Result<Plan, Error> {
    let top = Folder::open(project).map_err(io(project))?;
    let (mut plan, mut conflicts) = (Plan::default(), Vec::new());
    let taken_back = taken_back(look, before, tree, &mut plan.record)?;
    for change in look.changes.iter().chain(&taken_back) {
        limits.check()?;
        let last = before.get(&change.path);
        let decided = Decision { look, top: &top, limits, change, last }.decide()?;
        // What was the user's own already is not ours to take back one day.
        let is_ours = matches!(decided, Ok(Some(_))) || last.is_some();
        if is_ours && change.new != change.old {
            plan.record.put(change.path.clone(), change.new);
        }
        match decided {
            Ok(Some(step)) => plan.steps.push(step),
            Ok(None) => plan.unchanged.push(change.path.clone()),
            Err(reason) => conflicts.push(Conflict { path: change.path.clone(), reason }),
        }
    }
    find_obstacles(&plan, &top, &mut conflicts)?;
    if conflicts.is_empty() { Ok(plan) } else { Err(Error::Conflicts(conflicts)) }
}

/// What was brought there and the agent has as at the beginning by now: it goes back to that. What is still in the
/// tree and only does not come along, being too much or ignored by now, was not taken back.
fn taken_back(
    look: &Look,
    before: &Record,
    tree: Option<&Path>,
    record: &mut Record,
) -> Result<Vec<Change>, Error> {
    let (top, mut found) = (tree.and_then(|tree| Folder::open(tree).ok()), Vec::new());
    for path in before.paths() {
        if look.changes.binary_search_by(|change| change.path.as_slice().cmp(path)).is_err() {
            let start = blob_in(&look.repository, look.start, path)?;
            let (folder, name) = split(path);
            let there = top.as_ref().and_then(|top| top.descend(folder).ok()?.stat(name).ok()?);
            let stays = there.is_some_and(|stat| beneath::kind(&stat) != FileType::Directory);
            if let Some(last) = before.get(path).filter(|_| start.is_none() && stays) {
                record.put(path.to_vec(), last);
                continue;
            }
            found.push(Change { path: path.to_vec(), old: start, new: start });
        }
    }
    Ok(found)
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
