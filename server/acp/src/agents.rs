//! The agents that are known, one a file.

pub mod goose;
pub mod qwen;

use crate::agent::Agent;

pub static ALL: [&Agent; 2] = [&qwen::QWEN, &goose::GOOSE];

pub fn find(name: &str) -> Option<&'static Agent> {
    ALL.into_iter().find(|agent| agent.name == name)
}
