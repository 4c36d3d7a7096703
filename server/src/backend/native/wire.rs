//! Requests as they are put on the wire, and answers that are not streams.

use domain::persona::Sampling;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde::Serialize;
use tokio::time::{self, Duration};

use crate::{
    backend::{Error, LimitName, Message, Request, Tool},
    secret::Secret,
};

const TEXT_BYTES_MAX: usize = 64 * 1024;
const TEXT_LIMIT: Duration = Duration::from_secs(5);

pub(super) fn ask(client: &Client, request: &Request) -> Result<RequestBuilder, Error> {
    let (max_tokens, max_completion_tokens) = match request.limit_name {
        LimitName::MaxTokens => (request.max_tokens, None),
        LimitName::MaxCompletionTokens => (None, request.max_tokens),
    };
    let body = Body {
        model: &request.model,
        messages: &request.messages,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens,
        max_completion_tokens,
        sampling: request.sampling,
        tools: &request.tools,
        response_format: request.schema.as_ref().map(|schema| ResponseFormat {
            kind: "json_schema",
            json_schema: JsonSchema { name: "answer", strict: true, schema },
        }),
    };
    let asked =
        client.post(completions_url(&request.base_url)).header(ACCEPT, "text/event-stream").json(&body);
    authorized(asked, request.api_key.as_ref())
}

pub(super) fn ask_running(
    client: &Client,
    base_url: &Url,
    key: Option<&Secret>,
) -> Result<RequestBuilder, Error> {
    authorized(client.get(running_url(base_url)), key)
}

/// The body of a short answer. What is longer or slower than any explanation is cut.
pub(crate) async fn text(mut response: Response) -> String {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(bytes)) = response.chunk().await {
            let room = TEXT_BYTES_MAX - body.len();
            body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if body.len() == TEXT_BYTES_MAX {
                break;
            }
        }
    };
    let _ = time::timeout(TEXT_LIMIT, read).await;
    String::from_utf8_lossy(&body).into_owned()
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message],
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(flatten)]
    sampling: Sampling,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: &'a [Tool],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a serde_json::Value,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

fn authorized(asked: RequestBuilder, key: Option<&Secret>) -> Result<RequestBuilder, Error> {
    let Some(key) = key else { return Ok(asked) };
    let bearer = format!("Bearer {}", key.expose().trim());
    let mut value = HeaderValue::from_str(&bearer).map_err(|_| Error::UnusableKey)?;
    value.set_sensitive(true);
    Ok(asked.header(AUTHORIZATION, value))
}

fn completions_url(base: &Url) -> Url {
    let path = match base.path().trim_end_matches('/') {
        "" => "/v1",
        path => path,
    };
    with_path(base, &format!("{path}/chat/completions"))
}

fn running_url(base: &Url) -> Url {
    let path = base.path().trim_end_matches('/');
    with_path(base, &format!("{}/running", path.strip_suffix("/v1").unwrap_or(path)))
}

fn with_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_from_the_base() {
        for (base, completions, running) in [
            ("http://h:1", "http://h:1/v1/chat/completions", "http://h:1/running"),
            ("http://h:1/", "http://h:1/v1/chat/completions", "http://h:1/running"),
            ("http://h:1/v1", "http://h:1/v1/chat/completions", "http://h:1/running"),
            ("http://h:1/v1/", "http://h:1/v1/chat/completions", "http://h:1/running"),
            ("https://h/api/v1", "https://h/api/v1/chat/completions", "https://h/api/running"),
            (
                "https://h/v1beta/openai/",
                "https://h/v1beta/openai/chat/completions",
                "https://h/v1beta/openai/running",
            ),
        ] {
            let base = Url::parse(base).unwrap();
            assert_eq!(completions_url(&base).as_str(), completions);
            assert_eq!(running_url(&base).as_str(), running);
        }
    }
}
