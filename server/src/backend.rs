//! What runs a task. A backend is given a request, sends what it hears as [`Output`] and returns what it measured.

mod client;
pub mod native;

use std::time::Duration;

use domain::completion::{Called, Fault, Refusal};
use domain::output::Outcome;
use domain::persona::Sampling;
use reqwest::Url;
use serde::Serialize;
use thiserror::Error;

use crate::secret::Secret;

pub use client::http_client;

/// One conversation to be continued by one model.
#[derive(Clone, Debug)]
pub struct Request {
    /// As other clients are given it, with or without the final `/v1`.
    pub base_url: Url,
    pub api_key: Option<Secret>,
    pub model: String,
    pub messages: Vec<Message>,
    pub max_tokens: Option<u32>,
    pub limit_name: LimitName,
    pub sampling: Sampling,
    /// What the model may call for.
    pub tools: Vec<Tool>,
    /// The shape that the answer must have, as a JSON schema, where the server can hold the model to one.
    pub schema: Option<serde_json::Value>,
    pub flavour: Flavour,
    pub limits: Limits,
}

/// What a server calls the limit of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitName {
    #[default]
    MaxTokens,
    MaxCompletionTokens,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    pub role: Role,
    pub content: Content,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that this is the result of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self::with(role, Content::Text(text.into()))
    }

    pub fn with(role: Role, content: Content) -> Self {
        Self { role, content, tool_calls: Vec::new(), tool_call_id: None }
    }

    /// What a model said, and called for.
    pub fn calling(text: impl Into<String>, calls: &[Called]) -> Self {
        let call = |call: &Called| ToolCall {
            id: call.id.clone(),
            kind: Function::Function,
            function: CalledFunction { name: call.name.clone(), arguments: call.arguments.clone() },
        };
        Self { tool_calls: calls.iter().map(call).collect(), ..Self::new(Role::Assistant, text) }
    }

    /// What came of a call.
    pub fn result(call: &Called, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call.id.clone()), ..Self::new(Role::Tool, text) }
    }

    fn has_images(&self) -> bool {
        matches!(&self.content, Content::Parts(parts) if parts.iter().any(|part| part.text().is_none()))
    }

    fn without_images(&self) -> Self {
        let Content::Parts(parts) = &self.content else { return self.clone() };
        let mut texts: Vec<_> = parts.iter().filter_map(Part::text).collect();
        texts.push("[Here was a picture, which this model cannot see.]");
        Self::new(self.role, texts.join("\n\n"))
    }
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tool {
    #[serde(rename = "type")]
    pub kind: Function,
    pub function: ToolFunction,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolFunction {
    pub name: &'static str,
    pub description: &'static str,
    /// JSON Schema.
    pub parameters: serde_json::Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCall {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Function,
    pub function: CalledFunction,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CalledFunction {
    pub name: String,
    pub arguments: String,
}

/// The one kind of tool that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    Function,
}

/// What is said. A text alone is sent as a string: not every server takes parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
}

impl Part {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::ImageUrl { .. } => None,
        }
    }
}

/// The image itself, as a data URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImageUrl {
    pub url: String,
}

impl Request {
    pub fn has_images(&self) -> bool {
        self.messages.iter().any(Message::has_images)
    }

    /// The same question with the images of earlier messages only named, for a model that refused them. `None`
    /// where that changes nothing, or where the question itself has one: without it, it is another question.
    pub fn without_old_images(&self) -> Option<Self> {
        let asks_about_one = self.messages.last().is_some_and(Message::has_images);
        (self.has_images() && !asks_about_one).then(|| Self {
            messages: self.messages.iter().map(Message::without_images).collect(),
            ..self.clone()
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// What a model server can be asked besides completions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// `GET /running` tells whether a model is being loaded.
    LlamaSwap,
    #[default]
    Plain,
}

/// How long a model server may take. The deadline of the whole task is its owner's.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until the first token, loading included.
    pub start: Duration,
    /// Between two pieces of an answer that has begun.
    pub idle: Duration,
    /// One wait that the server asked for.
    pub wait: Duration,
    pub waits: u32,
    /// Between two looks at a server that is loading.
    pub poll: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(15 * 60),
            idle: Duration::from_secs(120),
            wait: Duration::from_secs(60),
            waits: 3,
            poll: Duration::from_millis(500),
        }
    }
}

/// Why a backend did not finish.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    #[error("the model server at {server} does not answer: start it, or correct its address in the settings")]
    Unreachable { server: String },
    #[error("the connection to the model server at {server} broke")]
    Disconnected { server: String },
    #[error("the model server at {server} did not begin to answer within {seconds} s")]
    Slow { server: String, seconds: u64 },
    #[error("the model server at {server} fell silent for {seconds} s in the middle of the answer")]
    Silent { server: String, seconds: u64 },
    #[error("the API key contains characters that cannot be sent: correct it in the settings")]
    UnusableKey,
    #[error(transparent)]
    Refused(Refusal),
    #[error("{fault}")]
    Broken { fault: Fault, answering: bool },
    #[error(
        "the model server at {server} ended the answer by its filter for contents; what came until then is kept"
    )]
    Filtered { server: String },
    /// An agent's program, or the model that it asked, failed.
    #[error("{words}")]
    Agent { words: String },
    /// Somebody killed an agent's program before it was asked anything: it is tried again.
    #[error("{words}")]
    Killed { words: String },
    /// It could not be asked at all.
    #[error("{0}")]
    Unprepared(String),
    /// The database was away, which is nobody's fault: it is tried again.
    #[error("{0}")]
    Away(String),
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    pub fn outcome(&self) -> Outcome {
        let reason = self.to_string();
        match self {
            Self::Cancelled => Outcome::Cancelled,
            Self::Away(_) | Self::Killed { .. } => Outcome::Lost,
            error if error.is_models_fault() => Outcome::Failed { reason },
            _ => Outcome::Void { reason },
        }
    }

    /// Whether the question is longer than what the model can take.
    pub fn is_overflow(&self) -> bool {
        matches!(
            self,
            Self::Refused(Refusal::ContextOverflow(_))
                | Self::Broken { fault: Fault::ContextOverflow(_), .. }
        )
    }

    /// A model answers for what it says, and for a request that it cannot take. A server that is down, overloaded,
    /// misconfigured or not to be understood is never a model's loss, nor is one that dies in the middle of an answer.
    fn is_models_fault(&self) -> bool {
        match self {
            Self::Refused(refusal) => matches!(
                refusal,
                Refusal::UnknownModel { .. }
                    | Refusal::ContextOverflow(_)
                    | Refusal::NoImages { .. }
                    | Refusal::Other { .. }
            ),
            Self::Broken { fault: Fault::ContextOverflow(_), .. }
            | Self::Filtered { .. }
            | Self::Agent { .. } => true,
            _ => false,
        }
    }
}

/// What a person is told of what the database refused: whoever can act on it reads why, and the rest is for the log.
pub fn told(error: &store::Error) -> String {
    match error {
        store::Error::Rejected(rejected) => rejected.to_string(),
        error => {
            tracing::error!(%error, "the database refused what an attempt needs");
            "The database refused it. The log says why.".to_owned()
        }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        if !error.is_away() {
            return Self::Unprepared(told(&error));
        }
        tracing::warn!(%error, "the database was away for an attempt, which is tried again");
        Self::Away(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{
        Rejected,
        completion::{Overflow, error_body},
    };

    #[test]
    fn who_is_at_fault() {
        let server = || "http://127.0.0.1:1".to_owned();
        let died = || Fault::Server { message: "died".to_owned() };
        let too_long = || Fault::ContextOverflow(Overflow { prompt: None, context: None });
        for (error, expected) in [
            (Error::Unreachable { server: server() }, "void"),
            (Error::Disconnected { server: server() }, "void"),
            (Error::Slow { server: server(), seconds: 1 }, "void"),
            (Error::Silent { server: server(), seconds: 1 }, "void"),
            (Error::UnusableKey, "void"),
            (Error::Filtered { server: server() }, "failed"),
            (Error::Agent { words: "it exited".to_owned() }, "failed"),
            (Error::Killed { words: "it was killed".to_owned() }, "lost"),
            (Error::Cancelled, "cancelled"),
            (store::Error::Sql(sqlx::Error::PoolTimedOut).into(), "lost"),
            (store::Error::Unknown("a task is nobody's".to_owned()).into(), "void"),
            (store::Error::from(Rejected::Stale).into(), "void"),
            (Error::Refused(error_body(400, "bad")), "failed"),
            (Error::Refused(error_body(404, "unknown")), "failed"),
            (Error::Refused(error_body(400, r#"{"error":{"type":"exceed_context_size_error"}}"#)), "failed"),
            (Error::Refused(error_body(401, "")), "void"),
            (Error::Refused(error_body(429, "")), "void"),
            (Error::Refused(error_body(500, "died")), "void"),
            (Error::Refused(error_body(503, "")), "void"),
            (Error::Broken { fault: Fault::Truncated, answering: true }, "void"),
            (Error::Broken { fault: Fault::Truncated, answering: false }, "void"),
            (Error::Broken { fault: died(), answering: true }, "void"),
            (Error::Broken { fault: died(), answering: false }, "void"),
            (Error::Broken { fault: too_long(), answering: true }, "failed"),
            (Error::Broken { fault: Fault::LineTooLong, answering: true }, "void"),
        ] {
            let outcome = match error.outcome() {
                Outcome::Failed { .. } => "failed",
                Outcome::Void { .. } => "void",
                Outcome::Cancelled => "cancelled",
                Outcome::Lost => "lost",
                Outcome::Done { .. } => "done",
            };
            assert_eq!(outcome, expected, "{error:?}");
        }
    }

    #[test]
    fn the_databases_own_words_stay_in_the_log() {
        let check =
            |error: store::Error, expected: &str| assert_eq!(Error::from(error).to_string(), expected);
        let refused = "The database refused it. The log says why.";
        check(store::Error::Sql(sqlx::Error::RowNotFound), refused);
        check(store::Error::Unknown("a task is nobody's".to_owned()), refused);
        check(Rejected::Invalid("Write less.".to_owned()).into(), "Write less.");
    }

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new("sk-12345");
        assert!(!format!("{secret:?}").contains("12345"));
        assert_eq!(secret.redact("wrong key sk-12345!"), "wrong key [API key]!");
        assert_eq!(Secret::new("").redact("as it was"), "as it was");
    }
}
