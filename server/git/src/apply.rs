//! How an agent's work goes into the project: onto the files as they lie there, or as a commit on a branch of its
//! own. All of it or nothing, and never over something of the user's.

mod commit;
mod plan;
mod write;

use std::path::Path;

use git2::Oid;

use crate::{Error, Limits, Refused, Worktree};

/// What went onto the project's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Paths that were written or removed.
    pub changed: Vec<Vec<u8>>,
    /// Paths that were that way already.
    pub unchanged: Vec<Vec<u8>>,
}

/// Who a commit is by.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub name: &'a str,
    pub email: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    pub branch: String,
}

impl Worktree {
    /// Brings the changes onto the project's files. Its index and its branches stay as they are.
    pub fn apply_to_working_tree(&self, project: &Path, limits: &Limits) -> Result<Applied, Error> {
        crate::project::open(project)?;
        let look = self.look(limits)?;
        if look.changes.is_empty() {
            return Err(Refused::NothingToApply.into());
        }
        let plan = plan::make(&look, project, limits)?;
        write::carry_out(plan, project, self.id())
    }

    /// Makes a new branch in the project, from the commit that the worktree began at. What is checked out there
    /// stays as it is.
    pub fn apply_as_commit(
        &self,
        project: &Path,
        branch: &str,
        message: &str,
        author: Author,
        limits: &Limits,
    ) -> Result<Commit, Error> {
        let look = self.look(limits)?;
        if look.changes.is_empty() {
            return Err(Refused::NothingToApply.into());
        }
        commit::make(&look, Oid::from_str(self.base())?, project, commit::Named { branch, message, author })
    }
}
