//! The way from an agent behind its wall to its model server: a door on loopback that opens with a word of its own
//! for each task.
//!
//! So an agent never holds a provider's key, needs no names resolved, reaches no server but its task's, and asks no
//! model but the one that was chosen, whichever of the APIs it speaks.

mod allowance;
mod answer;
mod meter;
mod places;
mod question;
mod used;

use std::{
    collections::HashMap,
    io,
    pin::pin,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody as _, to_bytes},
    extract::{Path, RawQuery, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get, post},
};
use domain::{
    catalogue::Flavour,
    flow::plan::Limits,
    output::{Measured, Output},
};
use reqwest::Client;
use serde_json::json;
use tokio::{
    net::TcpListener,
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{health::Health, native::IN_FORM};
use crate::{
    backend::{
        self,
        native::loading::{self, Loading},
    },
    live::guard,
    models::Endpoint,
};
use allowance::{Allowance, Next};
use places::Places;
use question::{Page, Question};
use used::Used;

/// A whole conversation, pictures and all.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Questions of one task that are held at once, each whole; the next one waits before it is read.
const QUESTIONS_MAX: usize = 8;
/// More than any agent holds open.
const CONNECTIONS_MAX: usize = 64;
/// The same where tasks have no network of their own.
const SHARED_CONNECTIONS_MAX: usize = 512;
/// A model may have to be loaded before the first byte comes.
const HEADERS_WAIT_MAX: Duration = Duration::from_secs(15 * 60);
/// Between two looks at a server that does not answer yet.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A server that is there takes a connection at once; one that thinks about it is left to the agent.
const CHECK_WAIT_MAX: Duration = Duration::from_secs(5);

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
    health: Arc<Health>,
    used: Arc<Used>,
    /// How much it may ask, where that is not free.
    allowance: Option<Arc<Allowance>>,
    places: Arc<Semaphore>,
}

impl Door {
    /// Waits for an answer to begin, and sees meanwhile whether, and for how long, the model is being loaded.
    async fn waiting(
        &self,
        client: &Client,
        answer: impl Future<Output = reqwest::Result<reqwest::Response>>,
    ) -> reqwest::Result<(reqwest::Response, Duration)> {
        let flavour = match self.endpoint.flavour {
            Flavour::LlamaSwap => backend::Flavour::LlamaSwap,
            _ => backend::Flavour::Plain,
        };
        let mut answer = pin!(answer);
        let mut loading = Loading::default();
        let Ok(base_url) = self.endpoint.base_url.parse() else {
            return answer.await.map(|answer| (answer, Duration::ZERO));
        };
        let (api_key, poll) = (self.endpoint.api_key.as_ref(), LOOK_EVERY);
        loop {
            let place = loading::Place { client, base_url: &base_url, api_key, flavour, poll };
            tokio::select! {
                answer = &mut answer => {
                    loading.ended();
                    return answer.map(|answer| (answer, loading.total()));
                }
                sight = loading::look(place) => {
                    loading.told_by(sight);
                    guard(&self.used.loading).told_by(sight);
                }
            }
        }
    }
}

/// Open for as long as it is held.
pub struct Passage {
    relay: Relay,
    word: String,
    endpoint: Endpoint,
    health: Arc<Health>,
    used: Arc<Used>,
    /// What is heard in the task's own network.
    serving: JoinSet<io::Result<()>>,
}

impl Relay {
    pub async fn start(client: Client, shutdown: CancellationToken) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let relay = Self { port: listener.local_addr()?.port(), client, doors: Arc::default() };
        let serving = axum::serve(Places::new(listener, SHARED_CONNECTIONS_MAX), relay.routes())
            .with_graceful_shutdown(async move { shutdown.cancelled().await })
            .into_future();
        tokio::spawn(serving);
        Ok(relay)
    }

    fn routes(&self) -> Router {
        Router::new()
            .route("/{word}/v1/chat/completions", passing(Page::Chat))
            .route("/{word}/v1/messages", passing(Page::Messages))
            .route("/{word}/v1/messages/count_tokens", passing(Page::CountTokens))
            .route("/{word}/v1/responses", passing(Page::Responses))
            .route("/{word}/v1beta/models/{*target}", post(gemini))
            .route("/{word}/v1/models", get(models))
            .with_state(self.clone())
    }

    pub fn open(
        &self,
        endpoint: Endpoint,
        model: &str,
        limits: Option<Limits>,
        outputs: &mpsc::Sender<Output>,
    ) -> Passage {
        let word = Uuid::new_v4().simple().to_string();
        let health = Arc::<Health>::default();
        let used = Arc::new(Used::new(outputs));
        let door = Door {
            endpoint: endpoint.clone(),
            model: model.to_owned(),
            health: Arc::clone(&health),
            used: Arc::clone(&used),
            allowance: limits.map(|limits| Arc::new(Allowance::new(limits))),
            places: Arc::new(Semaphore::new(QUESTIONS_MAX)),
        };
        guard(&self.doors).insert(word.clone(), door);
        Passage { relay: self.clone(), word, endpoint, health, used, serving: JoinSet::new() }
    }

    fn door(&self, word: &str) -> Option<Door> {
        guard(&self.doors).get(word).cloned()
    }

    /// Passes a question on, and the answer back as it comes.
    async fn pass(
        &self,
        word: &str,
        page: Page,
        query: Option<String>,
        headers: HeaderMap,
        body: Body,
    ) -> Response {
        // Nothing is read of whoever does not know the word.
        let Some(door) = self.door(word) else { return StatusCode::NOT_FOUND.into_response() };
        let too_large = || StatusCode::PAYLOAD_TOO_LARGE.into_response();
        if body.size_hint().lower() > REQUEST_BYTES_MAX as u64 {
            return too_large();
        }
        let places = Arc::clone(&door.places);
        let Ok(_place) = places.acquire_owned().await else { return StatusCode::NOT_FOUND.into_response() };
        let Ok(body) = to_bytes(body, REQUEST_BYTES_MAX).await else { return too_large() };
        let Ok(mut question) = Question::new(page, query, &headers, &body, &door.model) else {
            return StatusCode::BAD_REQUEST.into_response();
        };
        let next = door.next(&mut question).await;
        if next == Next::Refuse {
            let words = json!({ "error": { "message": "This task may not ask any more." } });
            return (StatusCode::BAD_REQUEST, axum::Json(words)).into_response();
        }
        let asked_at = Instant::now();
        let asked = question.ask(&self.client, &door.endpoint).send();
        match tokio::time::timeout(HEADERS_WAIT_MAX, door.waiting(&self.client, asked)).await {
            Ok(Ok((answer, loaded))) => {
                if let Some(allowance) = door.allowance.as_ref().filter(|_| answer.status().is_success()) {
                    allowance.answered(&next);
                }
                // What a model does before it is there is its loading, and no part of its answering.
                answer::passed_on(answer, page, door, asked_at + loaded).await
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "an agent's model server did not answer");
                door.health.failed("The model server does not answer.");
                refusal("The model server does not answer.")
            }
            Err(_) => refusal("The model server did not begin to answer in time."),
        }
    }
}

impl Door {
    /// What becomes of a question. That of one who has worked as much as it may is made its last.
    async fn next(&self, question: &mut Question) -> Next {
        let Some(allowance) = &self.allowance else { return Next::PassOn };
        let page = question.page();
        let next = allowance.next(page, question.body());
        if let Next::LastWord { why, is_first } = next {
            allowance::end(page, question.body(), &format!("{} {IN_FORM}", why.words()));
            if is_first {
                self.used.tell(why).await;
            }
        }
        next
    }
}

impl Passage {
    pub fn port(&self) -> u16 {
        self.relay.port
    }

    /// Serves here too: in the task's own network, where it has one.
    pub fn answer_at(&mut self, door: std::net::TcpListener) -> io::Result<()> {
        let places = Places::new(TcpListener::from_std(door)?, CONNECTIONS_MAX);
        let serving = axum::serve(places, self.relay.routes());
        self.serving.spawn(serving.into_future());
        Ok(())
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/v1", self.relay.port, self.word)
    }

    /// Whether there is a model server at all: agents try a dead one for minutes.
    pub async fn check(&self) -> Result<(), backend::Error> {
        let url = format!("{}/models", self.endpoint.api_url.trim_end_matches('/'));
        match self.relay.client.get(url).timeout(CHECK_WAIT_MAX).send().await {
            Err(error) if error.is_connect() => {
                Err(backend::Error::Unreachable { server: self.endpoint.base_url.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Waits until the model server has failed so often in a row that there is no use in trying on.
    pub async fn given_up(&self) -> String {
        self.health.given_up().await
    }

    /// What all answers until now measured together, as far as the model server told of each.
    pub fn measured(&self) -> Measured {
        let load_ms = guard(&self.used.loading).total_ms();
        Measured { load_ms, ..guard(&self.used.sum).clone().total(0) }
    }

    pub fn has_counted(&self) -> bool {
        self.used.has_counted.load(Ordering::Relaxed)
    }

    /// What went wrong with the model server when it was asked last.
    pub fn trouble(&self) -> Option<String> {
        self.health.trouble()
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        guard(&self.relay.doors).remove(&self.word);
    }
}

/// A page that passes on what is asked of it.
fn passing(page: Page) -> MethodRouter<Relay> {
    post(
        move |State(relay): State<Relay>,
              Path(word): Path<String>,
              RawQuery(query): RawQuery,
              headers: HeaderMap,
              body: Body| async move { relay.pass(&word, page, query, headers, body).await },
    )
}

/// The model stands in the address, which may hold more colons and slashes; only the verb is taken from it.
async fn gemini(
    State(relay): State<Relay>,
    Path((word, target)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match target.rsplit(':').next().and_then(question::verb) {
        Some(verb) => relay.pass(&word, Page::Gemini { verb }, query, headers, body).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn models(State(relay): State<Relay>, Path(word): Path<String>) -> Response {
    let Some(door) = relay.door(&word) else { return StatusCode::NOT_FOUND.into_response() };
    let list = json!({ "object": "list", "data": [{ "id": door.model, "object": "model" }] });
    axum::Json(list).into_response()
}

fn refusal(words: &str) -> Response {
    (StatusCode::BAD_GATEWAY, axum::Json(json!({ "error": { "message": words } }))).into_response()
}

#[cfg(test)]
mod tests;
