//! The way from an agent behind its wall to its model server: a door on loopback that opens with a word of its own
//! for each task.
//!
//! So an agent never holds a provider's key, needs no names resolved, reaches no server but its task's, and asks no
//! model but the one that was chosen.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{live::guard, models::Endpoint};

const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A model may have to be loaded before the first byte comes.
const HEADERS_WAIT_MAX: Duration = Duration::from_secs(15 * 60);

#[derive(Clone)]
pub struct Relay {
    port: u16,
    client: Client,
    doors: Arc<Mutex<HashMap<String, Door>>>,
}

#[derive(Clone)]
struct Door {
    endpoint: Endpoint,
    model: String,
}

/// Open for as long as it is held.
pub struct Passage {
    relay: Relay,
    word: String,
}

impl Relay {
    pub async fn start(client: Client, shutdown: CancellationToken) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let relay = Self { port: listener.local_addr()?.port(), client, doors: Arc::default() };
        let routes = Router::new()
            .route("/{word}/v1/chat/completions", post(complete))
            .route("/{word}/v1/models", get(models))
            .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
            .with_state(relay.clone());
        let serving = axum::serve(listener, routes)
            .with_graceful_shutdown(async move { shutdown.cancelled().await })
            .into_future();
        tokio::spawn(serving);
        Ok(relay)
    }

    pub fn open(&self, endpoint: Endpoint, model: &str) -> Passage {
        let word = Uuid::new_v4().simple().to_string();
        guard(&self.doors).insert(word.clone(), Door { endpoint, model: model.to_owned() });
        Passage { relay: self.clone(), word }
    }

    fn door(&self, word: &str) -> Option<Door> {
        guard(&self.doors).get(word).cloned()
    }
}

impl Passage {
    pub fn port(&self) -> u16 {
        self.relay.port
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/v1", self.relay.port, self.word)
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        guard(&self.relay.doors).remove(&self.word);
    }
}

/// Passes a question on, and the answer back as it comes.
async fn complete(State(relay): State<Relay>, Path(word): Path<String>, body: Bytes) -> Response {
    let Some(door) = relay.door(&word) else { return StatusCode::NOT_FOUND.into_response() };
    let Ok(mut question) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    // Whatever the agent would rather ask: this is the one that was chosen, and that has the place.
    question["model"] = json!(door.model);
    let url = format!("{}/chat/completions", door.endpoint.api_url.trim_end_matches('/'));
    let mut asked = relay.client.post(url).json(&question);
    if let Some(key) = &door.endpoint.api_key {
        asked = asked.bearer_auth(key.expose());
    }
    match tokio::time::timeout(HEADERS_WAIT_MAX, asked.send()).await {
        Ok(Ok(answer)) => passed_on(answer),
        Ok(Err(error)) => {
            tracing::debug!(%error, "an agent's model server did not answer");
            refusal("The model server does not answer.")
        }
        Err(_) => refusal("The model server did not begin to answer in time."),
    }
}

async fn models(State(relay): State<Relay>, Path(word): Path<String>) -> Response {
    let Some(door) = relay.door(&word) else { return StatusCode::NOT_FOUND.into_response() };
    let list = json!({ "object": "list", "data": [{ "id": door.model, "object": "model" }] });
    axum::Json(list).into_response()
}

fn passed_on(answer: reqwest::Response) -> Response {
    let status = answer.status();
    let mut headers = HeaderMap::new();
    for name in [header::CONTENT_TYPE, header::RETRY_AFTER] {
        if let Some(value) = answer.headers().get(&name) {
            headers.insert(name, value.clone());
        }
    }
    (status, headers, Body::from_stream(answer.bytes_stream())).into_response()
}

fn refusal(words: &str) -> Response {
    (StatusCode::BAD_GATEWAY, axum::Json(json!({ "error": { "message": words } }))).into_response()
}
