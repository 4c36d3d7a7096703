//! The server as its clients see it.

mod apis;
mod client;
mod faults;
mod loading;
mod log;
