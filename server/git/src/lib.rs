//! The one place that touches git: worktrees for agents, what they changed, and how it goes into the project.
//!
//! A worktree is a folder of ours:
//!
//! | in it | is |
//! |---|---|
//! | `tree/` | what the agent sees: a clone of its own that borrows the project's objects |
//! | `git/` | our own list of what the tree began with. Diffs are taken by it and never through `tree/.git`, so nothing that an agent writes configures us |
//! | `home/`, `tmp/` | the agent's |
//! | `applied.json` | what applies brought to the project: the next one goes on from that |
//! | `owner.json` | our mark. A folder without it is never deleted |
//!
//! libgit2 starts no program. Of a tree's files only plain ones and links are read, from one open folder to the
//! next, without following a link; no filter and no line ending conversion is applied, in neither direction. Only what
//! is applied to a file of the project ends its lines as that one does.
//!
//! Everything here reads the disk: call it from `spawn_blocking`.

mod apply;
mod beneath;
mod checkout;
mod diff;
mod entry;
mod error;
mod gitdir;
mod ignore;
mod limits;
mod project;
mod scan;
mod snapshot;
mod worktree;

pub use apply::{Applied, Author, Commit, Left};
pub use diff::{Diff, FileChange, LeftOut, Status, Why};
pub use error::{Conflict, Error, Reason, Refused};
pub use limits::Limits;
pub use snapshot::{Reader, Snapshot};
pub use worktree::{Start, Worktree, clear_half_made, list, remove_folder, size_of};

/// A path's bytes for people. What is not UTF-8 is replaced.
pub fn display(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
