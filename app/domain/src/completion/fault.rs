//! What goes wrong with a model server, told apart by what can be done about it.

use serde_json::Value;
use thiserror::Error;

/// Why a streamed answer is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    #[error("the answer was cut off: the model's process probably died, or ran out of memory")]
    Truncated,
    #[error("the model server reported an error: {message}")]
    Server { message: String },
    #[error(transparent)]
    ContextOverflow(Overflow),
    #[error("the model server sent a line longer than any answer needs")]
    LineTooLong,
    #[error("the model server sent something that is no chat completion: {excerpt}")]
    Malformed { excerpt: String },
}

/// Why a model server did not begin to answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("the model server does not serve this model: {message}")]
    UnknownModel { message: String },
    #[error("the model could not be run, its process failed: {message}")]
    Died { message: String },
    #[error("the model server has too many requests: {message}")]
    Busy { message: String },
    #[error("the model server is loading the model")]
    Loading,
    #[error(transparent)]
    ContextOverflow(Overflow),
    #[error("this model does not take images: send it without them, or choose a model that sees ({message})")]
    NoImages { message: String },
    #[error("the model server did not accept the API key, or needs one: {message}")]
    Key { message: String },
    #[error("the model server cannot serve now ({status}): {message}")]
    Unavailable { status: u16, message: String },
    #[error("the model server refused the request ({status}): {message}")]
    Other { status: u16, message: String },
}

/// The conversation does not fit. The numbers are tokens, where the server tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the conversation is too long for this model{}: shorten it, start a new one, or give the model a larger context", self.numbers())]
pub struct Overflow {
    pub prompt: Option<u64>,
    pub context: Option<u64>,
}

/// Reads the answer to a request that was refused. The body is an object, a string in an object, or plain text,
/// depending on the server and its version.
pub fn error_body(status: u16, body: &str) -> Refusal {
    let said = match serde_json::from_str(body) {
        Ok(value) => Said::in_value(&value).unwrap_or_default(),
        Err(_) => Said::in_text(body),
    };
    if let Some(overflow) = said.overflow() {
        return Refusal::ContextOverflow(overflow);
    }
    let is_loading = said.message.to_ascii_lowercase().contains("loading");
    let message = said.message_or("it gave no reason");
    match status {
        401 | 403 => Refusal::Key { message },
        404 => Refusal::UnknownModel { message },
        429 => Refusal::Busy { message },
        500 => Refusal::Died { message },
        503 if is_loading => Refusal::Loading,
        501.. => Refusal::Unavailable { status, message },
        _ => Refusal::Other { status, message },
    }
}

impl Refusal {
    /// The refusal of a request that has images. Servers refuse them with any status, so their words tell.
    pub fn of_images(self) -> Self {
        const WORDS: [&str; 5] = ["image", "multimodal", "mmproj", "vision", "content type"];
        let speaks_of_them = |message: &str| {
            let message = message.to_ascii_lowercase();
            WORDS.iter().any(|word| message.contains(word))
        };
        match self {
            Self::UnknownModel { message }
            | Self::Died { message }
            | Self::Unavailable { message, .. }
            | Self::Other { message, .. }
                if speaks_of_them(&message) =>
            {
                Self::NoImages { message }
            }
            other => other,
        }
    }
}

impl Fault {
    pub(super) fn malformed(text: &str) -> Self {
        Self::Malformed { excerpt: short(text) }
    }

    /// The fault that an event of the stream reports, if it does.
    pub(super) fn said_in(event: &Value) -> Option<Self> {
        let is_error = event.get("error").is_some_and(|error| !error.is_null()) || event["object"] == "error";
        if !is_error {
            return None;
        }
        let said = Said::in_value(event).unwrap_or_default();
        Some(match said.overflow() {
            Some(overflow) => Self::ContextOverflow(overflow),
            None => Self::Server { message: said.message_or("it gave no reason") },
        })
    }
}

impl Overflow {
    fn numbers(self) -> String {
        match (self.prompt, self.context) {
            (Some(prompt), Some(context)) => format!(" ({prompt} tokens, and it takes {context})"),
            (None, Some(context)) => format!(" (it takes {context} tokens)"),
            _ => String::new(),
        }
    }
}

/// Short enough for a line of an error, without control characters.
pub(super) fn short(text: &str) -> String {
    const CHARACTERS_MAX: usize = 300;
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    let mut short: String = text.trim().chars().take(CHARACTERS_MAX).map(printable).collect();
    if text.trim().chars().nth(CHARACTERS_MAX).is_some() {
        short.push('…');
    }
    short
}

#[derive(Default)]
struct Said {
    message: String,
    code: String,
    kind: String,
    prompt: Option<u64>,
    context: Option<u64>,
}

impl Said {
    fn in_text(body: &str) -> Self {
        // A proxy's HTML page explains nothing.
        let message = if body.trim_start().starts_with('<') { String::new() } else { short(body) };
        Self { message, ..Self::default() }
    }

    fn in_value(value: &Value) -> Option<Self> {
        if let Some(message) = value.as_str().or_else(|| value["error"].as_str()) {
            return Some(Self::in_text(message));
        }
        let error = value.get("error").filter(|error| error.is_object()).unwrap_or(value);
        let text = |key: &str| match &error[key] {
            Value::String(text) => short(text),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let message = [text("message"), text("detail")].into_iter().find(|message| !message.is_empty());
        error.is_object().then(|| Self {
            message: message.unwrap_or_default(),
            code: text("code"),
            kind: text("type"),
            prompt: error["n_prompt_tokens"].as_u64(),
            context: error["n_ctx"].as_u64(),
        })
    }

    fn overflow(&self) -> Option<Overflow> {
        const PHRASES: [&str; 3] =
            ["exceeds the available context size", "maximum context length", "context length exceeded"];
        let message = self.message.to_ascii_lowercase();
        let is_overflow = self.kind == "exceed_context_size_error"
            || self.code == "context_length_exceeded"
            || PHRASES.iter().any(|phrase| message.contains(phrase));
        is_overflow.then_some(Overflow { prompt: self.prompt, context: self.context })
    }

    /// A code without words is still better than nothing.
    fn message_or(self, nothing: &str) -> String {
        [self.message, self.kind, self.code]
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_else(|| nothing.to_owned())
    }
}
