//! Errors before the first byte of an answer, in the many shapes that real servers give them.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::directive::Shape;
use crate::setup::Flavour;
use crate::wire::Dialect;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    BadJson(String),
    BadDirective(String),
    UnknownModel(String),
    UnknownRoute,
    Unauthorized,
    TooMany { retry_after: u64 },
    Died,
    Loading,
    Overflow { prompt_tokens: u64, context_tokens: u64 },
    NoImages,
    Status { code: u16, retry_after: Option<u64> },
}

impl Refusal {
    pub fn status(&self, flavour: Flavour) -> u16 {
        match self {
            // llama-swap looks for the model first, so it does not find one in what it cannot read.
            Refusal::BadJson(_) if flavour == Flavour::LlamaSwap => 404,
            Refusal::BadJson(_) | Refusal::BadDirective(_) | Refusal::Overflow { .. } => 400,
            Refusal::UnknownModel(_) | Refusal::UnknownRoute => 404,
            Refusal::Unauthorized => 401,
            Refusal::TooMany { .. } => 429,
            // llama.cpp calls it its own fault.
            Refusal::Died | Refusal::NoImages => 500,
            Refusal::Loading => 503,
            Refusal::Status { code, .. } => *code,
        }
    }

    pub fn respond(&self, flavour: Flavour, dialect: Option<Dialect>, shape: Option<Shape>) -> Response {
        let status = self.status(flavour);
        let (kind, body) = match shape {
            None => ("application/json", self.usual(flavour, dialect).to_string()),
            Some(Shape::Object) => ("application/json", self.object(json!(status)).to_string()),
            Some(Shape::ObjectStringCode) => {
                ("application/json", self.object(json!(self.code())).to_string())
            }
            Some(Shape::Text) => ("application/json", self.proxied().to_string()),
            Some(Shape::Plain) => ("text/plain; charset=utf-8", format!("llama-swap: {}", self.message())),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, [(header::CONTENT_TYPE, kind)], body).into_response();
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    /// The line that llama-swap leaves in a stream whose headers are gone already.
    pub fn proxied(&self) -> Value {
        json!({"error": self.message(), "src": "llama-swap"})
    }

    fn usual(&self, flavour: Flavour, dialect: Option<Dialect>) -> Value {
        let status = self.status(flavour);
        match (flavour, dialect) {
            // What the model process itself said goes through llama-swap as it is.
            (Flavour::LlamaSwap, _) if !matches!(self, Refusal::Overflow { .. } | Refusal::NoImages) => {
                self.proxied()
            }
            (Flavour::LlamaSwap | Flavour::LlamaCpp, _) => self.object(json!(status)),
            (Flavour::Ollama, _) => self.object(Value::Null),
            (Flavour::Cloud, Some(Dialect::Messages)) => {
                json!({"type": "error", "error": {"type": self.anthropic_kind(), "message": self.message()}})
            }
            (Flavour::Cloud, Some(Dialect::Gemini)) => {
                json!({"error": {"code": status, "message": self.message(), "status": self.google_status()}})
            }
            (Flavour::Cloud, _) => self.object(json!(self.code())),
        }
    }

    fn object(&self, code: Value) -> Value {
        let mut error = json!({"code": code, "message": self.message(), "type": self.kind()});
        if let (Refusal::Overflow { prompt_tokens, context_tokens }, Some(object)) =
            (self, error.as_object_mut())
        {
            object.insert("n_prompt_tokens".into(), json!(prompt_tokens));
            object.insert("n_ctx".into(), json!(context_tokens));
        }
        json!({"error": error})
    }

    fn message(&self) -> String {
        match self {
            Refusal::BadJson(why) => format!("could not read the request: {why}"),
            Refusal::BadDirective(why) => why.clone(),
            Refusal::UnknownModel(model) => format!("model {model} not found"),
            Refusal::UnknownRoute => "File Not Found".to_owned(),
            Refusal::Unauthorized => "unauthorized: invalid or missing API key".to_owned(),
            Refusal::TooMany { .. } => "Too many requests".to_owned(),
            Refusal::Died => "unspecific error: upstream command exited prematurely".to_owned(),
            Refusal::Loading => "Loading model".to_owned(),
            Refusal::Overflow { prompt_tokens, context_tokens } => format!(
                "request ({prompt_tokens} tokens) exceeds the available context size ({context_tokens} tokens), \
                 try increasing it"
            ),
            Refusal::NoImages => {
                "image input is not supported - hint: if this is unexpected, you may need to \
                                  provide the mmproj"
                    .to_owned()
            }
            Refusal::Status { code, .. } => format!("scripted status {code}"),
        }
    }

    /// llama.cpp's `type`.
    fn kind(&self) -> &'static str {
        match self {
            Refusal::BadJson(_) | Refusal::BadDirective(_) => "invalid_request_error",
            Refusal::UnknownModel(_) | Refusal::UnknownRoute => "not_found_error",
            Refusal::Unauthorized => "authentication_error",
            Refusal::TooMany { .. } | Refusal::Status { code: 429, .. } => "rate_limit_error",
            Refusal::Died | Refusal::NoImages | Refusal::Status { .. } => "server_error",
            Refusal::Loading => "unavailable_error",
            Refusal::Overflow { .. } => "exceed_context_size_error",
        }
    }

    /// OpenAI's `code`.
    fn code(&self) -> &'static str {
        match self {
            Refusal::UnknownModel(_) => "model_not_found",
            Refusal::Unauthorized => "invalid_api_key",
            Refusal::TooMany { .. } | Refusal::Status { code: 429, .. } => "rate_limit_exceeded",
            Refusal::Overflow { .. } => "context_length_exceeded",
            other => other.kind(),
        }
    }

    fn anthropic_kind(&self) -> &'static str {
        match self.kind() {
            "server_error" | "unavailable_error" => "api_error",
            "exceed_context_size_error" => "invalid_request_error",
            same => same,
        }
    }

    fn google_status(&self) -> &'static str {
        match self.kind() {
            "not_found_error" => "NOT_FOUND",
            "authentication_error" => "UNAUTHENTICATED",
            "rate_limit_error" => "RESOURCE_EXHAUSTED",
            "server_error" => "INTERNAL",
            "unavailable_error" => "UNAVAILABLE",
            _ => "INVALID_ARGUMENT",
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Refusal::TooMany { retry_after } => Some(*retry_after),
            Refusal::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
