//! Why there is no whole turn, in words for the person who asked for it.

use std::fmt;
use std::time::Duration;

use agent_client_protocol as protocol;
use serde_json::Value;
use thiserror::Error;

/// More of an agent's own words is cut.
pub const WORDS_BYTES_MAX: usize = 2_000;

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Error {
    #[error("{agent} ended while it was to {step}.{}", quoted(.said))]
    Gone { agent: &'static str, step: Step, said: String },
    #[error("{agent} did not {step} within {} seconds.", .limit.as_secs_f32())]
    Slow { agent: &'static str, step: Step, limit: Duration },
    #[error("{agent} would not {step}.{}", quoted(.said))]
    Refused { agent: &'static str, step: Step, said: String },
    #[error("{agent} wants to be signed in.{}", quoted(.said))]
    SignedOut { agent: &'static str, said: String },
    #[error("{agent} does not speak the Agent Client Protocol.{}", quoted(.said))]
    Garbage { agent: &'static str, said: String },
    #[error("{agent} sent more than {what}, and was stopped.")]
    Flood { agent: &'static str, what: String },
    #[error("{agent} has no mode {wanted:?}. It has {offered}.")]
    NoMode { agent: &'static str, wanted: &'static str, offered: String },
    #[error("{agent} left its read-only mode for {now:?}, and was stopped.")]
    LeftMode { agent: &'static str, now: String },
    #[error("The model failed.{}", quoted(.said))]
    Model { said: String },
    #[error("{agent} ended its turn without a word.")]
    Wordless { agent: &'static str },
    #[error("{agent} was stopped before it was asked.")]
    Cancelled { agent: &'static str },
}

/// What an agent was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Start,
    Open,
    Resume,
    SetMode,
    Answer,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Open => "open a session",
            Self::Resume => "resume its session",
            Self::SetMode => "change its mode",
            Self::Answer => "answer",
        })
    }
}

/// What the agent said of an error. Its data is often more telling than its message.
pub fn words(error: &protocol::Error) -> String {
    let detail = match &error.data {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(fields)) => match fields.get("details").or_else(|| fields.get("message")) {
            Some(Value::String(text)) => text.clone(),
            _ => Value::Object(fields.clone()).to_string(),
        },
        _ => return shortened(&error.message),
    };
    shortened(&format!("{}: {detail}", error.message))
}

pub fn shortened(text: &str) -> String {
    let text = text.trim();
    text[..text.floor_char_boundary(WORDS_BYTES_MAX)].to_owned()
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(" It said: {said}") }
}
