//! Worktrees on real repositories, with git itself as the reference.

// A test that cannot go on says so by panicking; the harness around the tests is test code too.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod again;
mod apply;
mod commit;
mod crash;
mod create;
mod diff;
mod harness;
mod hostile;
mod property;
mod result;
mod sides;
mod trash;
