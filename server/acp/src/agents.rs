//! The agents that are known, one a file.

pub mod claude;
pub mod codex;
pub mod gemini;
pub mod goose;
pub mod opencode;
pub mod qwen;

use crate::agent::Agent;

pub static ALL: [&Agent; 6] =
    [&qwen::QWEN, &goose::GOOSE, &claude::CLAUDE, &codex::CODEX, &opencode::OPENCODE, &gemini::GEMINI];

/// Those that every run of the tests has.
pub static TESTED_ALWAYS: [&Agent; 2] = [&qwen::QWEN, &goose::GOOSE];
