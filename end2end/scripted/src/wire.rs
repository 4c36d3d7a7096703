//! The four APIs, each a writer of one answer, streamed or whole.

use serde_json::{Value, json};

use crate::ask::Ask;

pub mod chat;
pub mod gemini;
pub mod messages;
pub mod responses;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI chat completions.
    Chat,
    /// Anthropic messages.
    Messages,
    /// OpenAI responses.
    Responses,
    /// Gemini generateContent.
    Gemini,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Stop,
    Length,
    Calls,
}

/// What stands on every answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Sixteen hexadecimal digits; each API puts its own prefix before them.
    pub id: String,
    pub model: String,
    pub include_usage: bool,
    pub prompt_tokens: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct End {
    pub finish: Finish,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub timings: Option<Value>,
}

/// A whole answer, for a client that did not ask for a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<Call>,
    pub end: End,
}

/// Writes one answer; each method adds the bytes of one event to `out`.
pub trait Wire: Send {
    fn open(&mut self, out: &mut String);
    fn reasoning(&mut self, piece: &str, out: &mut String);
    fn text(&mut self, piece: &str, out: &mut String);
    fn call(&mut self, call: &Call, out: &mut String);
    fn close(&mut self, end: &End, out: &mut String);
    fn whole(&self, answer: &Answer) -> Value;
}

impl Dialect {
    pub fn read(self, body: &Value) -> Ask {
        match self {
            Dialect::Chat => chat::read(body),
            Dialect::Messages => messages::read(body),
            Dialect::Responses => responses::read(body),
            Dialect::Gemini => gemini::read(body),
        }
    }

    pub fn wire(self, head: Head) -> Box<dyn Wire> {
        match self {
            Dialect::Chat => Box::new(chat::Chat::new(head)),
            Dialect::Messages => Box::new(messages::Messages::new(head)),
            Dialect::Responses => Box::new(responses::Responses::new(head)),
            Dialect::Gemini => Box::new(gemini::Gemini::new(head)),
        }
    }
}

/// Fixed, so that the same request gives the same bytes.
pub const CREATED: u64 = 1_760_000_000;

/// llama.cpp's timings, computed from the asked rate: a measured time would differ from run to run.
pub fn timings(prompt_n: u64, cache_n: u64, predicted_n: u64, rate: f64) -> Value {
    const PROMPT_PER_SECOND: f64 = 2000.0;
    const UNLIMITED_PER_SECOND: f64 = 10_000.0;
    let per_second = if rate > 0.0 { rate } else { UNLIMITED_PER_SECOND };
    json!({
        "cache_n": cache_n,
        "prompt_n": prompt_n,
        "prompt_ms": prompt_n as f64 * 1000.0 / PROMPT_PER_SECOND,
        "prompt_per_token_ms": 1000.0 / PROMPT_PER_SECOND,
        "prompt_per_second": PROMPT_PER_SECOND,
        "predicted_n": predicted_n,
        "predicted_ms": predicted_n as f64 * 1000.0 / per_second,
        "predicted_per_token_ms": 1000.0 / per_second,
        "predicted_per_second": per_second,
    })
}

fn data(value: &Value, out: &mut String) {
    out.push_str("data: ");
    out.push_str(&value.to_string());
    out.push_str("\n\n");
}

fn named(event: &str, value: &Value, out: &mut String) {
    out.push_str("event: ");
    out.push_str(event);
    out.push('\n');
    data(value, out);
}

/// A tool's arguments in a few pieces, because real models never send them at once.
fn pieces(arguments: &str) -> Vec<&str> {
    const PIECE_CHARS: usize = 12;
    let mut pieces = Vec::new();
    let mut left = arguments;
    while let Some((at, _)) = left.char_indices().nth(PIECE_CHARS) {
        let (piece, rest) = left.split_at(at);
        pieces.push(piece);
        left = rest;
    }
    pieces.push(left);
    pieces
}
