//! Directives in a prompt, `[[name arguments]]`, by which a test chooses what the server does. Pure.
//!
//! Said, in the order written: `say TEXT` · `markdown` · `tokens N` · `count N` · `stamp N` ·
//! `bytes N [chunk M]` · `reasoning TEXT` · `tool NAME {JSON}` and `shell COMMAND`, which takes the tool that the agent
//! offers for commands (each ends the answer; its result brings the next part). `on MODEL` makes what follows that
//! model's alone, until `on any`.
//! How: `limit N` (the model has no more tokens) · `rate N` · `split-utf8` · `loading MS` · `fake-reasoning N` · `error-shape SHAPE`.
//! Faults: `truncate after N` · `cut after N` · `hang [after N]` · `die` · `status CODE [retry-after S]` ·
//! `overflow` · `blind` (refuses images) · `crash-line` · `fault-seed N`. `loading` and every fault take `times N`: only the first N requests
//! with that same conversation meet it. Every fault takes `step N`: only the request after N tool results meets it.

use serde_json::Value;
use thiserror::Error;

use self::arguments::Arguments;
use crate::seed::mix;

mod arguments;

#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    Say(String),
    Markdown,
    Tokens(u64),
    Count(u64),
    Stamp(u64),
    Bytes {
        total: u64,
        chunk: u64,
    },
    Reasoning(String),
    Tool {
        name: String,
        arguments: Value,
    },
    /// A command for whatever tool the agent offers for that.
    Shell(String),
    /// What follows is for this model alone; for all again after `on any`.
    On(String),
    /// The model says no more than so many tokens, whatever it is allowed.
    Limit(u64),
    Rate(f64),
    SplitUtf8,
    Loading {
        ms: u64,
        times: Option<u64>,
    },
    FakeReasoning(u32),
    ErrorShape(Shape),
    Fault {
        fault: Fault,
        times: Option<u64>,
        step: Option<u64>,
    },
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A clean end of the answer without any end marker.
    Truncate {
        after: u64,
    },
    /// The connection breaks in the middle of the body.
    Cut {
        after: u64,
    },
    /// Nothing more comes, and the connection stays open.
    Hang {
        after: u64,
    },
    Die,
    Status {
        code: u16,
        retry_after: Option<u64>,
    },
    Overflow,
    /// The model takes no images; without any it answers.
    Blind,
    /// The loading banner, then a bare JSON line, as llama-swap does when the process dies while it loads.
    CrashLine,
}

/// How an error body is written; real servers differ by version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{"error": {…, "code": 500}}`
    Object,
    /// `{"error": {…, "code": "server_error"}}`
    ObjectStringCode,
    /// `{"error": "…"}`
    Text,
    Plain,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("scripted: cannot read the directive [[{directive}]]: {problem}")]
pub struct Malformed {
    pub directive: String,
    pub problem: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    pub directives: Vec<Directive>,
    /// The prompt without its directives.
    pub rest: String,
}

const BYTES_CHUNK_DEFAULT: u64 = 1024;

/// Reads a prompt. Brackets with a name we do not know stay text: shells and TOML write them too.
pub fn parse(prompt: &str) -> Result<Parsed, Malformed> {
    let mut parsed = Parsed::default();
    let mut left = prompt;
    while let Some(start) = left.find("[[") {
        let inside = &left[start + 2..];
        let name_end =
            inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(inside.len());
        let (name, after) = inside.split_at(name_end);
        let known = NAMES.contains(&name) && (after.starts_with(' ') || after.starts_with("]]"));
        let end = if known { end_of(name, after) } else { None };
        let Some(end) = end else {
            parsed.rest.push_str(&left[..start + 2]);
            left = inside;
            continue;
        };
        let arguments = after[..end].trim();
        let directive = one(name, arguments).map_err(|problem| Malformed {
            directive: format!("{name} {arguments}").trim().to_owned(),
            problem,
        })?;
        parsed.directives.push(directive);
        parsed.rest.push_str(&left[..start]);
        left = &after[end + 2..];
    }
    parsed.rest.push_str(left);
    parsed.rest = parsed.rest.trim().to_owned();
    Ok(parsed)
}

/// The fault that a seed stands for. A hang is left out: it would only cost the test its patience.
pub fn fault_of_seed(seed: u64) -> Directive {
    let after = mix(seed, 1) % 20;
    let fault = match mix(seed, 0) % 8 {
        0 => Fault::Truncate { after },
        1 => Fault::Cut { after },
        2 => Fault::Die,
        3 => Fault::Status { code: 429, retry_after: Some(1) },
        4 => Fault::Overflow,
        5 => Fault::CrashLine,
        6 => return Directive::SplitUtf8,
        _ => return Directive::FakeReasoning(3),
    };
    Directive::Fault { fault, times: None, step: None }
}

const NAMES: [&str; 25] = [
    "shell",
    "on",
    "say",
    "markdown",
    "tokens",
    "count",
    "stamp",
    "bytes",
    "reasoning",
    "tool",
    "limit",
    "rate",
    "split-utf8",
    "loading",
    "fake-reasoning",
    "error-shape",
    "truncate",
    "cut",
    "hang",
    "die",
    "status",
    "overflow",
    "blind",
    "crash-line",
    "fault-seed",
];

/// Where `]]` closes the directive. A tool's JSON may hold `]]` itself, so it is read as JSON first.
fn end_of(name: &str, after: &str) -> Option<usize> {
    let mut from = 0;
    if name == "tool"
        && let Some(brace) = after.find('{')
        && brace < after.find("]]").unwrap_or(after.len())
    {
        let mut values = serde_json::Deserializer::from_str(&after[brace..]).into_iter::<Value>();
        if let Some(Ok(_)) = values.next() {
            from = brace + values.byte_offset();
        }
    }
    after[from..].find("]]").map(|at| from + at)
}

fn one(name: &str, text: &str) -> Result<Directive, String> {
    match name {
        "say" => return Ok(Directive::Say(text.to_owned())),
        "reasoning" => return Ok(Directive::Reasoning(text.to_owned())),
        "tool" => return tool(text),
        "shell" => return Ok(Directive::Shell(text.to_owned())),
        "on" => return Ok(Directive::On(text.to_owned())),
        _ => {}
    }
    let mut arguments = Arguments::new(text);
    let times = arguments.named("times")?;
    let step = arguments.named("step")?;
    let faulty = |fault| Directive::Fault { fault, times, step };
    let directive = match name {
        "markdown" => Directive::Markdown,
        "tokens" => Directive::Tokens(arguments.first()?),
        "count" => Directive::Count(arguments.first()?),
        "stamp" => Directive::Stamp(arguments.first()?),
        "bytes" => {
            let chunk = arguments.named("chunk")?.unwrap_or(BYTES_CHUNK_DEFAULT).max(1);
            Directive::Bytes { total: arguments.first()?, chunk }
        }
        "limit" => Directive::Limit(arguments.first()?),
        "rate" => Directive::Rate(arguments.first()? as f64),
        "split-utf8" => Directive::SplitUtf8,
        "loading" => Directive::Loading { ms: arguments.first()?, times },
        "fake-reasoning" => Directive::FakeReasoning(arguments.first()?.min(1000) as u32),
        "error-shape" => Directive::ErrorShape(shape(&arguments.word()?)?),
        "truncate" => faulty(Fault::Truncate { after: arguments.required("after")? }),
        "cut" => faulty(Fault::Cut { after: arguments.required("after")? }),
        "hang" => faulty(Fault::Hang { after: arguments.named("after")?.unwrap_or(0) }),
        "die" => faulty(Fault::Die),
        "status" => {
            let retry_after = arguments.named("retry-after")?;
            let code = arguments.first()?;
            if !(400..600).contains(&code) {
                return Err("the status is an error, 400 to 599".to_owned());
            }
            faulty(Fault::Status { code: code as u16, retry_after })
        }
        "overflow" => faulty(Fault::Overflow),
        "blind" => faulty(Fault::Blind),
        "crash-line" => faulty(Fault::CrashLine),
        "fault-seed" => match fault_of_seed(arguments.number()?) {
            Directive::Fault { fault, .. } => faulty(fault),
            harmless => harmless,
        },
        _ => return Err("there is no such directive".to_owned()),
    };
    arguments.finish()?;
    Ok(directive)
}

fn tool(text: &str) -> Result<Directive, String> {
    let (name, json) = text.split_once(char::is_whitespace).unwrap_or((text, "{}"));
    if name.is_empty() {
        return Err("the tool has no name".to_owned());
    }
    let arguments: Value =
        serde_json::from_str(json).map_err(|e| format!("the arguments are not JSON: {e}"))?;
    Ok(Directive::Tool { name: name.to_owned(), arguments })
}

fn shape(word: &str) -> Result<Shape, String> {
    match word {
        "object" => Ok(Shape::Object),
        "object-string-code" => Ok(Shape::ObjectStringCode),
        "string" => Ok(Shape::Text),
        "plain" => Ok(Shape::Plain),
        _ => Err("the shape is object, object-string-code, string or plain".to_owned()),
    }
}

#[cfg(test)]
mod tests;
