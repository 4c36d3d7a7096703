//! A question of an agent, made ours: asked at the chosen server, of the chosen model, with that server's key.

use axum::http::{HeaderMap, HeaderName};
use domain::protocol::Protocol;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use crate::models::Endpoint;

/// What of the agent's own headers means something to the server.
const PASSED_ON: [HeaderName; 2] =
    [HeaderName::from_static("anthropic-version"), HeaderName::from_static("anthropic-beta")];
const GEMINI_VERBS: [&str; 3] = ["generateContent", "streamGenerateContent", "countTokens"];

/// Which page of a model server is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Chat,
    Messages,
    CountTokens,
    Responses,
    Gemini { verb: &'static str },
}

/// What may be asked of a model in Gemini's API.
pub fn verb(written: &str) -> Option<&'static str> {
    GEMINI_VERBS.into_iter().find(|verb| *verb == written)
}

impl Page {
    /// Whether a model works for it.
    pub fn generates(self) -> bool {
        !matches!(self, Self::CountTokens | Self::Gemini { verb: "countTokens" })
    }

    pub fn protocol(self) -> Protocol {
        match self {
            Self::Chat => Protocol::Chat,
            Self::Messages | Self::CountTokens => Protocol::Messages,
            Self::Responses => Protocol::Responses,
            Self::Gemini { .. } => Protocol::Gemini,
        }
    }

    fn url(self, endpoint: &Endpoint, model: &str) -> String {
        let api = endpoint.api_url.trim_end_matches('/');
        match self {
            Self::Chat => format!("{api}/chat/completions"),
            Self::Messages => format!("{api}/messages"),
            Self::CountTokens => format!("{api}/messages/count_tokens"),
            Self::Responses => format!("{api}/responses"),
            Self::Gemini { verb } => {
                // Google has chat completions below its own API.
                let root = endpoint.base_url.trim_end_matches('/');
                let root = root.trim_end_matches("/openai").trim_end_matches("/v1beta");
                let model = utf8_percent_encode(model, NON_ALPHANUMERIC);
                format!("{root}/v1beta/models/{model}:{verb}")
            }
        }
    }
}

pub struct Question {
    page: Page,
    query: Option<String>,
    headers: HeaderMap,
    model: String,
    body: Value,
}

impl Question {
    pub fn new(
        page: Page,
        query: Option<String>,
        headers: &HeaderMap,
        body: &[u8],
        model: &str,
    ) -> serde_json::Result<Self> {
        let mut body: Value = serde_json::from_slice(body)?;
        // Whatever the agent would rather ask: this is the one that was chosen, and that has the place.
        if page.protocol() != Protocol::Gemini
            && let Some(fields) = body.as_object_mut()
        {
            fields.insert("model".to_owned(), json!(model));
        }
        let mut kept = HeaderMap::new();
        for name in PASSED_ON {
            if let Some(value) = headers.get(&name) {
                kept.insert(name, value.clone());
            }
        }
        Ok(Self { page, query, headers: kept, model: model.to_owned(), body })
    }

    pub fn page(&self) -> Page {
        self.page
    }

    pub fn body(&mut self) -> &mut Value {
        &mut self.body
    }

    pub fn ask(self, client: &Client, endpoint: &Endpoint) -> RequestBuilder {
        let mut url = self.page.url(endpoint, &self.model);
        if let Some(query) = self.query {
            url = format!("{url}?{query}");
        }
        let asked = client.post(url).headers(self.headers).json(&self.body);
        let Some(key) = endpoint.api_key.as_ref().map(|key| key.expose()) else { return asked };
        match self.page.protocol() {
            Protocol::Chat | Protocol::Responses => asked.bearer_auth(key),
            Protocol::Messages => asked.header("x-api-key", key),
            Protocol::Gemini => asked.header("x-goog-api-key", key),
        }
    }
}
