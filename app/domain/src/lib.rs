//! The rules of BooCode. Pure: no clock, no randomness, no I/O. The server and the browser compile the same
//! code, so both fold the same events into the same state.

pub mod id;
pub mod markdown;
pub mod output;
