//! Streaming chat completions, read as model servers really send them. Bytes go in, cut anywhere; pieces come
//! out. The parser is incremental and bounded: it holds one line and never a whole answer.
//!
//! A stream that ends without `finish_reason` and without `[DONE]` was cut, however cleanly the connection closed:
//! that is how a model process that dies in the middle looks from outside.

mod banner;
mod calls;
mod fault;
#[cfg(test)]
mod tests;

use std::mem;

use serde_json::Value;

use crate::output::{Timings, Usage};
use banner::{Banner, Heard};
pub use calls::CallPart;
pub use calls::{Called, Calls};
pub use fault::{Fault, Overflow, Refusal, error_body};

/// One line, and one event of several lines, is at most this long. Real chunks are a few hundred bytes.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// One thing the stream said.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(String),
    Reasoning(String),
    /// A part of a call of a tool.
    Call(CallPart),
    /// The proxy talks about loading, in the model's name. Neither text nor the first token.
    LoadingBanner,
    Usage(Usage),
    Timings(Timings),
    Finish(Finish),
    Done,
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    Stop,
    /// The limit on tokens or the context was reached: the answer is cut short.
    Length,
    ToolCalls,
    ContentFilter,
    Other(String),
    /// The stream said `[DONE]` and never why.
    Unsaid,
}

/// Reads one streamed answer.
#[derive(Debug, Default)]
pub struct Parser {
    /// The line that has begun and not ended.
    line: Vec<u8>,
    /// The `data:` lines so far of an event that takes several.
    data: String,
    banner: Banner,
    finish: Option<Finish>,
    done: bool,
    /// The last line that is no event stream at all: a crash message, if nothing better explains the end.
    stray: Option<String>,
    fault: Option<Fault>,
}

impl Parser {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes. What comes after a fault or after `[DONE]` is ignored.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while !self.is_over() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > LINE_BYTES_MAX {
                self.fail(Fault::LineTooLong);
                break;
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            bytes = &bytes[end + 1..];
            let mut line = mem::take(&mut self.line);
            self.take_line(&line, &mut pieces);
            line.clear();
            self.line = line;
        }
        pieces
    }

    /// Whether reading on is pointless: `[DONE]` has come, or a fault.
    pub fn is_over(&self) -> bool {
        self.done || self.fault.is_some()
    }

    /// The connection has ended. The last line may lack its line end, so it can still hold pieces.
    pub fn end(mut self) -> (Vec<Piece>, Result<Finish, Fault>) {
        let mut pieces = Vec::new();
        if !self.is_over() {
            let line = mem::take(&mut self.line);
            self.take_last_line(&line, &mut pieces);
        }
        self.release_held(&mut pieces);
        let ending = match (self.fault, self.finish, self.stray) {
            (Some(fault), _, _) => Err(fault),
            (None, Some(finish), _) => Ok(finish),
            (None, None, _) if self.done => Ok(Finish::Unsaid),
            (None, None, Some(message)) => Err(Fault::Server { message }),
            (None, None, None) => Err(Fault::Truncated),
        };
        (pieces, ending)
    }

    fn take_line(&mut self, line: &[u8], pieces: &mut Vec<Piece>) {
        let line = String::from_utf8_lossy(line);
        match Line::of(&line) {
            Line::Blank => self.end_event(pieces),
            Line::Data(data) => self.take_data(data, pieces),
            Line::Bare(json) => match serde_json::from_str(json) {
                Ok(value) => self.take_event(&value, pieces),
                Err(_) => self.fail(Fault::malformed(json)),
            },
            Line::Stray(text) => self.stray = Some(fault::short(text)),
            Line::Ignored => {}
        }
    }

    /// A half line is no evidence of anything but the cut, so only what is complete counts.
    fn take_last_line(&mut self, line: &[u8], pieces: &mut Vec<Piece>) {
        let line = String::from_utf8_lossy(line);
        let json = match Line::of(&line) {
            Line::Data(data) if self.data.is_empty() => return self.take_data(data, pieces),
            Line::Data(data) => format!("{}\n{data}", self.data),
            Line::Bare(json) => json.to_owned(),
            Line::Blank => mem::take(&mut self.data),
            Line::Stray(text) if !Line::may_become_field(text) => {
                self.stray = Some(fault::short(text));
                return;
            }
            Line::Stray(_) | Line::Ignored => return,
        };
        if let Ok(value) = serde_json::from_str(&json) {
            self.take_event(&value, pieces);
        }
    }

    /// A chunk is one JSON object and nearly always one line, so it is taken as soon as it is complete; servers
    /// that leave out the blank line between events are understood too.
    fn take_data(&mut self, data: &str, pieces: &mut Vec<Piece>) {
        if !self.data.is_empty() {
            if self.data.len() + data.len() >= LINE_BYTES_MAX {
                return self.fail(Fault::LineTooLong);
            }
            self.data.push('\n');
            self.data.push_str(data);
            return;
        }
        match data.trim() {
            "" => {}
            "[DONE]" => {
                self.release_held(pieces);
                self.done = true;
                pieces.push(Piece::Done);
            }
            data => match serde_json::from_str(data) {
                Ok(value) => self.take_event(&value, pieces),
                Err(_) => self.data.push_str(data),
            },
        }
    }

    fn end_event(&mut self, pieces: &mut Vec<Piece>) {
        if self.data.is_empty() {
            return;
        }
        let data = mem::take(&mut self.data);
        match serde_json::from_str(&data) {
            Ok(value) => self.take_event(&value, pieces),
            Err(_) => self.fail(Fault::malformed(&data)),
        }
    }

    /// Fields of an unexpected type are passed over: odd metadata must not cost an answer.
    fn take_event(&mut self, value: &Value, pieces: &mut Vec<Piece>) {
        if !value.is_object() {
            return self.fail(Fault::malformed(&value.to_string()));
        }
        if let Some(fault) = Fault::said_in(value) {
            return self.fail(fault);
        }
        let choice = &value["choices"][0];
        // A server that ignores `stream` answers with one whole message.
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        if let Some(text) = words(&delta["reasoning_content"]).or_else(|| words(&delta["reasoning"])) {
            match self.banner.hear(text, is_signed(value)) {
                Heard::Nothing => {}
                Heard::Banner => pieces.push(Piece::LoadingBanner),
                Heard::Model(text) => pieces.push(Piece::Reasoning(text)),
            }
        }
        if let Some(text) = words(&delta["content"]) {
            self.release_held(pieces);
            pieces.push(Piece::Text(text.to_owned()));
        }
        for (place, part) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
            self.release_held(pieces);
            pieces.push(Piece::Call(calls::part(part, place)));
        }
        if let Some(usage) = usage(&value["usage"]) {
            pieces.push(Piece::Usage(usage));
        }
        if let Some(timings) = timings(&value["timings"]) {
            pieces.push(Piece::Timings(timings));
        }
        if let Some(reason) = words(&choice["finish_reason"]) {
            self.take_finish(reason, pieces);
        }
    }

    fn take_finish(&mut self, reason: &str, pieces: &mut Vec<Piece>) {
        self.release_held(pieces);
        let finish = match reason {
            "stop" => Finish::Stop,
            "length" => Finish::Length,
            "tool_calls" | "function_call" => Finish::ToolCalls,
            "content_filter" => Finish::ContentFilter,
            "error" => {
                return self.fail(Fault::Server { message: "it gave no reason".to_owned() });
            }
            other => Finish::Other(fault::short(other)),
        };
        self.finish = Some(finish.clone());
        pieces.push(Piece::Finish(finish));
    }

    fn release_held(&mut self, pieces: &mut Vec<Piece>) {
        pieces.extend(self.banner.close().map(Piece::Reasoning));
    }

    fn fail(&mut self, fault: Fault) {
        self.line = Vec::new();
        self.data = String::new();
        self.fault = Some(fault);
    }
}

enum Line<'a> {
    Blank,
    Data(&'a str),
    /// JSON without `data:`, as llama-swap writes an error into a stream it has already begun.
    Bare(&'a str),
    /// A comment or a field that says nothing to us.
    Ignored,
    Stray(&'a str),
}

impl<'a> Line<'a> {
    const FIELDS: [&'static str; 5] = ["data:", "event:", "id:", "retry:", ":"];

    fn of(line: &'a str) -> Self {
        let line = line.trim_start_matches('\u{feff}').trim_end_matches('\r');
        if let Some(data) = line.strip_prefix("data:") {
            return Self::Data(data.strip_prefix(' ').unwrap_or(data));
        }
        if Self::FIELDS.iter().any(|field| line.starts_with(field)) {
            return Self::Ignored;
        }
        match line.trim() {
            "" if line.is_empty() => Self::Blank,
            "" => Self::Ignored,
            json if json.starts_with('{') => Self::Bare(json),
            text => Self::Stray(text),
        }
    }

    fn may_become_field(text: &str) -> bool {
        Self::FIELDS.iter().any(|field| field.starts_with(text))
    }
}

/// A model server signs its chunks; the loading banner is unsigned.
fn is_signed(chunk: &Value) -> bool {
    ["id", "object", "model"].iter().any(|key| words(&chunk[*key]).is_some())
}

fn words(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn usage(value: &Value) -> Option<Usage> {
    value.is_object().then(|| Usage {
        prompt_tokens: value["prompt_tokens"].as_u64(),
        completion_tokens: value["completion_tokens"].as_u64(),
    })
}

/// As llama.cpp tells them.
pub fn timings(value: &Value) -> Option<Timings> {
    let count = |key: &str| value[key].as_u64().unwrap_or_default();
    let number = |key: &str| value[key].as_f64().unwrap_or_default();
    value.is_object().then(|| Timings {
        prompt_n: count("prompt_n"),
        prompt_ms: number("prompt_ms"),
        predicted_n: count("predicted_n"),
        predicted_ms: number("predicted_ms"),
        predicted_per_second: number("predicted_per_second"),
        cache_n: count("cache_n"),
    })
}
