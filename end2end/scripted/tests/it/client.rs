//! A client in this process: most tests need no socket.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use futures::StreamExt;
use scripted::{Script, router};
use serde_json::{Value, json};
use tower::ServiceExt;

pub const BODY_BYTES_MAX: usize = 16 << 20;

pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

/// As fast as possible unless a test says otherwise.
pub fn quick() -> Script {
    Script { tokens_per_second: 0.0, ..Script::default() }
}

pub fn server(script: Script) -> Router {
    router(script)
}

pub async fn get(router: &Router, path: &str) -> Reply {
    send(router, Request::get(path).body(Body::empty()).expect("a request")).await
}

pub async fn post(router: &Router, path: &str, body: Value) -> Reply {
    send(router, request(path, body)).await
}

pub fn request(path: &str, body: Value) -> Request<Body> {
    Request::post(path).body(Body::from(body.to_string())).expect("a request")
}

pub async fn send(router: &Router, request: Request<Body>) -> Reply {
    let response = router.clone().oneshot(request).await.expect("infallible");
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, BODY_BYTES_MAX).await.expect("a whole body");
    let body = String::from_utf8(body.to_vec()).expect("UTF-8");
    Reply { status: parts.status, headers: parts.headers, body }
}

/// The pieces as they come, and whether the body ended cleanly.
pub async fn pieces(router: &Router, request: Request<Body>) -> (Vec<Vec<u8>>, bool) {
    let response = router.clone().oneshot(request).await.expect("infallible");
    let mut stream = response.into_body().into_data_stream();
    let mut pieces = Vec::new();
    while let Some(piece) = stream.next().await {
        match piece {
            Ok(piece) => pieces.push(piece.to_vec()),
            Err(_) => return (pieces, false),
        }
    }
    (pieces, true)
}

pub fn chat_body(prompt: &str) -> Value {
    json!({
        "model": "small",
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": prompt}],
    })
}

pub async fn chat(router: &Router, prompt: &str) -> Reply {
    post(router, "/v1/chat/completions", chat_body(prompt)).await
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect(&self.body)
    }

    /// The JSON of every `data:` line but the last marker.
    pub fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).expect(data)).collect()
    }

    /// The strings at one place of every event, joined.
    pub fn joined(&self, pointer: &str) -> String {
        self.events().iter().filter_map(|event| event.pointer(pointer)?.as_str().map(str::to_owned)).collect()
    }

    pub fn text(&self) -> String {
        self.joined("/choices/0/delta/content")
    }

    pub fn is_finished(&self) -> bool {
        !self.joined("/choices/0/finish_reason").is_empty()
    }
}
