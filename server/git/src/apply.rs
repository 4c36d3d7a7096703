//! How an agent's work goes into the project: onto the files as they lie there, or as a commit on a branch of its
//! own. All of it or nothing, and never over something of the user's.

mod commit;
mod decide;
mod journal;
mod plan;
mod record;
mod returns;
mod write;

use std::{fs::File, path::Path};

use git2::Oid;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::{
    Error, LeftOut, Limits, Refused, Worktree,
    error::{from_io, io},
    worktree::Look,
};
use journal::{Journal, State};
use record::Record;

/// What went onto the project's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Paths that were written or removed.
    pub changed: Vec<Vec<u8>>,
    /// Paths that were that way already.
    pub unchanged: Vec<Vec<u8>>,
    /// What was too much to be brought along.
    pub left_out: Vec<LeftOut>,
}

/// What was left of an apply by a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Nothing,
    /// The project's files are as before it.
    TakenBack,
    /// It had come to its end, and only what it replaced was still to be cleared away.
    Finished,
}

/// Who a commit is by, where the project does not say it: as `git commit` would have it.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub name: &'a str,
    pub email: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    pub branch: String,
    /// What was too much to be brought along.
    pub left_out: Vec<LeftOut>,
}

/// The lock of whoever applies. It is given back by word: a child that is just being started elsewhere in this process
/// holds every open file for a moment, and a lock that only went with its file would seem to be somebody else's.
struct Alone(File);

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl Worktree {
    /// Brings the changes onto the project's files. Its index and its branches stay as they are. `is_still` tells,
    /// after the look, whether nobody worked during it.
    pub fn apply_to_working_tree(
        &self,
        project: &Path,
        is_still: impl FnOnce() -> bool,
        limits: &Limits,
    ) -> Result<Applied, Error> {
        self.onto_files(|| self.still_look(is_still, limits), Some(&self.tree()), project, limits)
    }

    /// The same with its result, whatever became of its files since.
    pub fn adopt_to_working_tree(&self, project: &Path, limits: &Limits) -> Result<Applied, Error> {
        self.onto_files(|| self.look_at_result(), None, project, limits)
    }

    /// Makes a new branch in the project, from the commit that the worktree began at. What is checked out there
    /// stays as it is.
    pub fn apply_as_commit(
        &self,
        project: &Path,
        branch: &str,
        message: &str,
        author: Author,
        is_still: impl FnOnce() -> bool,
        limits: &Limits,
    ) -> Result<Commit, Error> {
        let look = self.still_look(is_still, limits)?;
        self.as_commit(look, project, commit::Named { branch, message, author })
    }

    /// The same with its result, whatever became of its files since.
    pub fn adopt_as_commit(
        &self,
        project: &Path,
        branch: &str,
        message: &str,
        author: Author,
    ) -> Result<Commit, Error> {
        self.as_commit(self.look_at_result()?, project, commit::Named { branch, message, author })
    }

    /// Whether the project's files have something of it.
    pub fn is_applied(&self) -> Result<bool, Error> {
        Ok(!Record::read(self.folder())?.is_empty())
    }

    /// Takes back what a crash left half applied, and tells what there was.
    pub fn take_back_apply(&self) -> Result<Left, Error> {
        let _alone = self.apply_alone()?;
        let Some(left) = Journal::read(self.folder())? else { return Ok(Left::Nothing) };
        left.settle(self.folder())?;
        Ok(match left.state {
            State::Preparing | State::Moving { .. } => Left::TakenBack,
            State::Done => Left::Finished,
        })
    }

    fn still_look(&self, is_still: impl FnOnce() -> bool, limits: &Limits) -> Result<Look, Error> {
        let look = self.look(limits)?;
        if is_still() { Ok(look) } else { Err(Refused::WorkedIn.into()) }
    }

    /// Nobody else applies or takes back while it is held; it goes with its process.
    fn apply_alone(&self) -> Result<Alone, Error> {
        let folder = File::open(self.folder()).map_err(io(self.folder()))?;
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Alone(folder)),
            Err(Errno::WOULDBLOCK) => Err(Refused::Applying.into()),
            Err(cause) => Err(from_io(self.folder(), cause.into())),
        }
    }

    /// `tree` is what was looked at, where that is not the result.
    fn onto_files(
        &self,
        look: impl FnOnce() -> Result<Look, Error>,
        tree: Option<&Path>,
        project: &Path,
        limits: &Limits,
    ) -> Result<Applied, Error> {
        crate::project::open(project)?;
        let _alone = self.apply_alone()?;
        if let Some(left) = Journal::read(self.folder())? {
            left.settle(self.folder())?;
        }
        let (look, before) = (look()?, Record::read(self.folder())?);
        if look.changes.is_empty() && before.is_empty() {
            return Err(Refused::NothingToApply.into());
        }
        let plan = plan::make(&look, &before, tree, project, limits)?;
        // What is brought there now is put together with the user's changes by the next one.
        self.keep_contents(&look, plan.record.contents())?;
        let applied = write::carry_out(plan, project, self.folder(), self.id())?;
        Ok(Applied { left_out: too_much(look), ..applied })
    }

    fn as_commit(&self, look: Look, project: &Path, named: commit::Named) -> Result<Commit, Error> {
        if look.changes.is_empty() {
            return Err(Refused::NothingToApply.into());
        }
        let commit = commit::make(&look, Oid::from_str(self.base())?, project, named)?;
        Ok(Commit { left_out: too_much(look), ..commit })
    }
}

/// The rest of what was left out could not be brought anywhere.
fn too_much(look: Look) -> Vec<LeftOut> {
    look.left_out.into_iter().filter(|one| one.why.is_of_size()).collect()
}
