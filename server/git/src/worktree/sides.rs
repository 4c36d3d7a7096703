//! Two sides that have nothing to do with where a worktree began: two worktrees as they are now, or the project as its
//! files lie there now.

use git2::Repository;

use super::{Look, Worktree, result};
use crate::{
    Diff, Error, LeftOut, Limits,
    beneath::Folder,
    diff,
    entry::Entry,
    error::io,
    gitdir::{self, Objects},
    ignore::Rules,
    project,
    scan::{Scan, take_in},
};

impl Worktree {
    /// What leads from this one's files to another's of the same project, both as they are now.
    pub fn diff_to(&self, other: &Self, limits: &Limits) -> Result<Diff, Error> {
        let (look, theirs) = (self.look(limits)?, other.look(limits)?);
        let objects = other.gitdir().join("objects");
        let objects = objects.to_str().ok_or_else(|| Error::NotOurs(other.folder.clone()))?;
        look.repository.odb()?.add_disk_alternate(objects)?;
        // What is new there is in the memory of that look alone.
        for new in theirs.changes.iter().filter_map(|change| change.new) {
            look.repository.blob(theirs.repository.find_blob(new.id)?.content())?;
        }
        let (before, after) = (entries(&look)?, entries(&theirs)?);
        between(look, &before, &after, theirs.left_out, limits)
    }

    /// What leads from the project's files to this one's, both as they are now.
    pub fn diff_from_project(&self, limits: &Limits) -> Result<Diff, Error> {
        let look = self.look(limits)?;
        let (before, left_out) = self.project_now(&look.repository, limits)?;
        let after = entries(&look)?;
        between(look, &before, &after, left_out, limits)
    }

    /// A file of the project as it lies there now; none where there is no such text.
    pub fn in_project(&self, path: &[u8], bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        super::plain_file(self.project(), path, bytes_max)
    }

    fn project_now(&self, kept: &Repository, limits: &Limits) -> Result<(Vec<Entry>, Vec<LeftOut>), Error> {
        let project = project::open(self.project())?;
        let mut tracked = gitdir::tracked(&project)?;
        let mut rules = Rules::default();
        rules.push(&gitdir::excludes(&project)?, 0);
        let top = Folder::open(self.project()).map_err(io(self.project()))?;
        let (changes, left_out) = Scan::new(&tracked, rules, limits, &mut Objects(kept)).run(&top)?;
        take_in(&mut tracked.entries, &changes);
        Ok((tracked.entries, left_out))
    }
}

/// What a look saw, file by file.
fn entries(look: &Look) -> Result<Vec<Entry>, Error> {
    let mut entries = result::contents(&look.repository, look.start)?;
    take_in(&mut entries, &look.changes);
    Ok(entries)
}

fn between(
    look: Look,
    before: &[Entry],
    after: &[Entry],
    also_left_out: Vec<LeftOut>,
    limits: &Limits,
) -> Result<Diff, Error> {
    let mut left_out = look.left_out;
    left_out.extend(also_left_out.into_iter().filter(|one| !left_out.contains(one)).collect::<Vec<_>>());
    diff::take(&Look { changes: result::changes(before, after), left_out, ..look }, limits)
}
