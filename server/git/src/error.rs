//! What can go wrong, by who can do something about it, in words for the person who reads them.

use std::{
    io,
    path::{Path, PathBuf},
};

use git2::{ErrorClass, ErrorCode};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for cannot be done with this project.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Nothing was changed.
    #[error("{} would not go in without loss: {}", files(.0.len()), list(.0))]
    Conflicts(Vec<Conflict>),
    /// The journal of the apply is still there, so the next one tries again.
    #[error("{}; not all could be put back, and what was replaced lies in {aside}", began(.cause))]
    HalfDone { cause: Option<Box<Error>>, aside: PathBuf },
    #[error("{what} is more than the {limit} that a diff may have")]
    TooLarge { what: String, limit: String },
    #[error("it was cancelled")]
    Cancelled,
    #[error("it took longer than it may")]
    TooLong,
    #[error("the repository has no object {0}: it is damaged, or a partial clone")]
    MissingObject(String),
    #[error("the disk is full: {0} could not be written")]
    DiskFull(PathBuf),
    #[error("BooCode may not use {0}; give its user access to it")]
    Denied(PathBuf),
    #[error("{0} has no mark of BooCode's, or one that cannot be read, and is left alone")]
    NotOurs(PathBuf),
    #[error("{path}: {cause}")]
    Io { path: PathBuf, cause: io::Error },
    #[error("git: {}", .0.message())]
    Git(git2::Error),
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("there is no folder at {0}")]
    Missing(PathBuf),
    #[error("{0} is not a git repository")]
    NotARepository(PathBuf),
    #[error("{0} is a repository without working files (bare)")]
    Bare(PathBuf),
    #[error(
        "{0} belongs to another user; if you trust it, run: git config --global --add safe.directory {0}"
    )]
    OtherOwner(PathBuf),
    #[error("the repository in {folder} keeps its files elsewhere, in {elsewhere}; that is not allowed")]
    LeadsElsewhere { folder: PathBuf, elsewhere: PathBuf },
    #[error("{0} is a link, and BooCode follows none in a repository; put what it leads to in its place")]
    GitLink(PathBuf),
    #[error(
        "the project borrows objects of another repository, which an agent cannot read; \
         to give it its own, run git repack -a -d in it and then remove {0}"
    )]
    Borrows(PathBuf),
    #[error("the project at {0} has no commit yet; make a first one")]
    NoCommit(PathBuf),
    #[error("{0:?} cannot be the name of a worktree")]
    Id(String),
    #[error("objects cannot be borrowed from {0}: its path is not one line of UTF-8")]
    ProjectPath(PathBuf),
    #[error("there is something at {0} already")]
    Exists(PathBuf),
    #[error("the project has a file {0:?}, a path that would lead outside or into git's own files")]
    OddPath(String),
    #[error("{0} is to be copied into new worktrees, and is no file of the project")]
    Copy(PathBuf),
    #[error("{0:?} cannot be the name of a branch")]
    BranchName(String),
    #[error("the worktree at {0} was never finished; it can only be thrown away")]
    Unfinished(PathBuf),
    #[error("there is a branch {0} already")]
    BranchExists(String),
    #[error("its changes are being applied at this moment")]
    Applying,
    #[error("somebody began to work in it meanwhile; wait until they are done")]
    WorkedIn,
    #[error("there is nothing to apply: the worktree is as it began")]
    NothingToApply,
}

/// A file that an apply would have to overwrite or guess at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub path: Vec<u8>,
    pub reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Reason {
    #[error("both sides changed the same lines")]
    SameLines,
    #[error("both sides changed it, and it is not a text")]
    NotText,
    #[error("the project has another file there")]
    AlreadyThere,
    #[error("the project's own changes would be deleted with it")]
    ChangedThere,
    #[error("the project no longer has it")]
    GoneThere,
    #[error("the project has a folder, a link or something else in its way")]
    InTheWay,
    #[error("it changed in the project at this moment")]
    ChangedMeanwhile,
}

impl Error {
    /// What was the matter before this one came on top.
    pub(crate) fn after(self, before: Error) -> Self {
        match self {
            Self::HalfDone { aside, .. } => Self::HalfDone { cause: Some(Box::new(before)), aside },
            _ => before,
        }
    }
}

fn began(cause: &Option<Box<Error>>) -> String {
    cause.as_ref().map_or_else(|| "an apply was interrupted".to_owned(), ToString::to_string)
}

pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Error {
    |cause| from_io(path, cause)
}

pub fn at(path: &[u8]) -> impl FnOnce(io::Error) -> Error {
    |cause| from_io(&crate::beneath::to_path(path), cause)
}

pub fn from_io(path: &Path, cause: io::Error) -> Error {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::DiskFull(path),
        io::ErrorKind::PermissionDenied => Error::Denied(path),
        _ => Error::Io { path, cause },
    }
}

impl From<git2::Error> for Error {
    fn from(cause: git2::Error) -> Self {
        let message = cause.message();
        match (cause.code(), cause.class()) {
            (ErrorCode::NotFound, ErrorClass::Odb) => {
                let id = message.rsplit('(').next().unwrap_or_default().trim_end_matches(')');
                Error::MissingObject(id.to_owned())
            }
            // libgit2 passes the system's words on, not its number.
            _ if message.contains("No space left") || message.contains("Disk quota") => {
                Error::DiskFull(PathBuf::from("a git object"))
            }
            _ => Error::Git(cause),
        }
    }
}

fn files(count: usize) -> String {
    if count == 1 { "one file".to_owned() } else { format!("{count} files") }
}

/// More are counted: nobody reads them one by one.
const LISTED_MAX: usize = 500;

/// One on its line, where there are several.
fn list(conflicts: &[Conflict]) -> String {
    let words = |conflict: &Conflict| format!("{} ({})", crate::display(&conflict.path), conflict.reason);
    if let [only] = conflicts {
        return words(only);
    }
    let mut lines: Vec<_> = conflicts.iter().take(LISTED_MAX).map(words).collect();
    if let more @ 1.. = conflicts.len().saturating_sub(LISTED_MAX) {
        lines.push(format!("and {more} more"));
    }
    format!("\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: i32, expected: &str) {
        let error = from_io(Path::new("/data/x"), io::Error::from_raw_os_error(number));
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_the_system_says_is_told_in_words() {
        let (denied, full, quota) = (13, 28, 122);
        check(denied, "BooCode may not use /data/x; give its user access to it");
        check(full, "the disk is full: /data/x could not be written");
        check(quota, "the disk is full: /data/x could not be written");
        let said = git2::Error::from_str("failed to write file: No space left on device");
        assert!(matches!(Error::from(said), Error::DiskFull(_)));
    }

    #[test]
    fn every_conflict_is_told_on_its_line() {
        let one = |number: u8| Conflict { path: vec![b'a' + number], reason: Reason::SameLines };
        let error = |count: u8| Error::Conflicts((0..count).map(one).collect()).to_string();
        assert_eq!(error(1), "one file would not go in without loss: a (both sides changed the same lines)");
        let three = "3 files would not go in without loss: \na (both sides changed the same lines)\n";
        assert!(error(3).starts_with(three) && error(3).lines().count() == 4, "{}", error(3));
        let many = (0..LISTED_MAX + 7).map(|_| one(0)).collect();
        assert!(Error::Conflicts(many).to_string().ends_with("\nand 7 more"));
    }
}
