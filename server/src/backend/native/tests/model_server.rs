//! A model server that answers each request with the next of its replies.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use bytes::Bytes;
use futures::{StreamExt, stream};
use reqwest::Url;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};

pub enum Reply {
    Stream(Vec<Part>),
    /// Headers come only when `/running` has been asked this often.
    AfterLooks(u32, Vec<Part>),
    Status(u16, &'static [(&'static str, &'static str)], &'static str),
}

#[derive(Clone)]
pub enum Part {
    Say(String),
    /// The connection breaks.
    Break,
    /// Nothing more comes, and the connection stays.
    Hang,
    /// Text without end.
    Flood,
}

pub struct ModelServer {
    pub base_url: Url,
    seen: Arc<Seen>,
}

struct Seen {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<(HeaderMap, Value)>>,
    looks: Semaphore,
    has_looked: AtomicBool,
    gone: Arc<Notify>,
}

impl ModelServer {
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = Url::parse(&format!("http://{}/v1", listener.local_addr().unwrap())).unwrap();
        let seen = Arc::new(Seen {
            replies: Mutex::new(replies.into_iter().collect()),
            asked: Mutex::default(),
            looks: Semaphore::new(0),
            has_looked: AtomicBool::new(false),
            gone: Arc::default(),
        });
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/running", get(running))
            .with_state(Arc::clone(&seen));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base_url, seen }
    }

    pub fn asked(&self) -> Vec<(HeaderMap, Value)> {
        self.seen.asked.lock().unwrap().clone()
    }

    /// Returns when the client has let go of a stream.
    pub async fn let_go(&self) {
        self.seen.gone.notified().await;
    }
}

async fn complete(State(seen): State<Arc<Seen>>, headers: HeaderMap, body: axum::Json<Value>) -> Response {
    seen.asked.lock().unwrap().push((headers, body.0));
    let reply = seen.replies.lock().unwrap().pop_front().unwrap();
    match reply {
        Reply::Stream(parts) => streamed(parts, &seen),
        Reply::AfterLooks(looks, parts) => {
            seen.looks.acquire_many(looks).await.unwrap().forget();
            streamed(parts, &seen)
        }
        Reply::Status(status, headers, body) => {
            let response = Response::builder().status(StatusCode::from_u16(status).unwrap());
            let response =
                headers.iter().fold(response, |response, (name, value)| response.header(*name, *value));
            response.body(Body::from(body)).unwrap()
        }
    }
}

/// Says `starting` to the first look and `ready` to every later one.
async fn running(State(seen): State<Arc<Seen>>) -> String {
    let state = if seen.has_looked.swap(true, Ordering::SeqCst) { "ready" } else { "starting" };
    seen.looks.add_permits(1);
    format!(r#"{{"running":[{{"model":"other name","state":"{state}"}}]}}"#)
}

fn streamed(parts: Vec<Part>, seen: &Seen) -> Response {
    let told_when_dropped = ToldWhenDropped(Arc::clone(&seen.gone));
    let body = stream::iter(parts).flat_map(move |part| {
        let _ = &told_when_dropped;
        match part {
            Part::Say(text) => stream::iter([Ok(Bytes::from(text))]).boxed(),
            Part::Break => stream::iter([Err(io::Error::other("broken"))]).boxed(),
            Part::Hang => stream::pending().boxed(),
            Part::Flood => {
                let text = Bytes::from(super::text("flood "));
                stream::repeat_with(move || Ok(text.clone())).boxed()
            }
        }
    });
    Response::builder().header("content-type", "text/event-stream").body(Body::from_stream(body)).unwrap()
}

struct ToldWhenDropped(Arc<Notify>);

impl Drop for ToldWhenDropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
