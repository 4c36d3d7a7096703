//! Turns with an agent that a test plays, and with the real ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad;
mod fake;
mod permits;
mod real;
mod rules;
mod traps;
