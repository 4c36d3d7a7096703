//! A commit on a new branch, made of objects alone: no hook runs and no file is touched.

use std::path::Path;

use git2::{ErrorCode, Index, IndexEntry, MergeOptions, Oid, Reference, Repository, Signature};

use super::{Author, Commit};
use crate::{
    Conflict, Error, Reason, Refused,
    entry::{Entry, SUBMODULE},
    gitdir, project,
    worktree::Look,
};

pub struct Named<'a> {
    pub branch: &'a str,
    pub message: &'a str,
    pub author: Author<'a>,
}

pub fn make(look: &Look, base: Oid, project: &Path, named: Named) -> Result<Commit, Error> {
    let target = project::open(project)?;
    let name = format!("refs/heads/{}", named.branch);
    if !Reference::is_valid_name(&name) || named.branch.starts_with('-') || named.branch == "HEAD" {
        return Err(Refused::BranchName(named.branch.to_owned()).into());
    }
    let exists = || Error::from(Refused::BranchExists(named.branch.to_owned()));
    if target.find_reference(&name).is_ok() {
        return Err(exists());
    }
    let mut index = merged(look, base)?;
    let tree = copy_tree(&look.repository, &mut index, &target)?;
    let who = match project::user(&target)? {
        Some(user) => user,
        None => Signature::now(named.author.name, named.author.email)?,
    };
    let parent = target.find_commit(base)?;
    if parent.tree_id() == tree {
        return Err(Refused::NothingToApply.into());
    }
    let commit = target.commit(None, &who, &who, named.message, &target.find_tree(tree)?, &[&parent])?;
    // Not by force: somebody else may have taken the name by now.
    target.reference(&name, commit, false, "commit: from a worktree").map_err(|cause| {
        match cause.code() {
            ErrorCode::Exists => exists(),
            _ => cause.into(),
        }
    })?;
    Ok(Commit { id: commit.to_string(), branch: named.branch.to_owned(), left_out: Vec::new() })
}

/// The base with the agent's changes, and without what was carried in besides.
fn merged(look: &Look, base: Oid) -> Result<Index, Error> {
    let repository = &look.repository;
    let start = repository.find_tree(look.start)?;
    let mut after = Index::new()?;
    after.read_tree(&start)?;
    for change in &look.changes {
        if change.new.is_none() {
            after.remove(&crate::beneath::to_path(&change.path), 0)?;
        }
    }
    for change in &look.changes {
        if let Some(new) = change.new {
            after.add(&Entry::new(change.path.clone(), new).to_index())?;
        }
    }
    let committed = repository.find_commit(base)?.tree()?;
    if committed.id() == start.id() {
        return Ok(after);
    }
    let after = repository.find_tree(after.write_tree_to(repository)?)?;
    let mut options = MergeOptions::new();
    options.find_renames(false);
    let index = repository.merge_trees(&start, &committed, &after, Some(&options))?;
    if index.has_conflicts() {
        return Err(Error::Conflicts(conflicts(repository, &index)?));
    }
    Ok(index)
}

fn conflicts(repository: &Repository, index: &Index) -> Result<Vec<Conflict>, Error> {
    let mut conflicts = Vec::new();
    for conflict in index.conflicts()? {
        let conflict = conflict?;
        let reason = match (&conflict.our, &conflict.their) {
            (None, _) => Reason::GoneThere,
            (_, None) => Reason::ChangedThere,
            _ if conflict.ancestor.is_none() => Reason::AlreadyThere,
            (Some(ours), Some(theirs)) if [ours, theirs].iter().any(|side| is_binary(repository, side)) => {
                Reason::NotText
            }
            _ => Reason::SameLines,
        };
        let side = conflict.our.or(conflict.their).or(conflict.ancestor);
        conflicts.push(Conflict { path: side.map(|entry| entry.path).unwrap_or_default(), reason });
    }
    Ok(conflicts)
}

fn is_binary(repository: &Repository, entry: &IndexEntry) -> bool {
    repository.find_blob(entry.id).is_ok_and(|blob| blob.is_binary())
}

/// Writes what the project does not have yet: contents first, then the folders.
fn copy_tree(from: &Repository, index: &mut Index, to: &Repository) -> Result<Oid, Error> {
    let (source, target) = (from.odb()?, to.odb()?);
    for entry in index.iter().filter(|entry| entry.mode != SUBMODULE) {
        if !target.exists(entry.id) {
            let object = source.read(entry.id).map_err(|cause| crate::checkout::missing(cause, entry.id))?;
            target.write(object.kind(), object.data())?;
        }
    }
    // A fresh one: the other remembers folders that only its own repository has.
    let entries: Vec<_> = index.iter().filter_map(Entry::from_index).collect();
    Ok(gitdir::index_of(&entries)?.write_tree_to(to)?)
}
