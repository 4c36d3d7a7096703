//! The server as its clients see it.

// Helpers of tests fail by panicking, as tests do; the lint's own exception covers only test functions.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod apis;
mod client;
mod faults;
mod loading;
mod log;
