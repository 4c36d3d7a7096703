//! The wall on the real kernel, in both of its forms, as this user and (where that is root) as another.

// A test that cannot go on says so by panicking; the fixture is test code too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attacks;
mod fixture;
mod other_user;
mod processes;
mod uses;
