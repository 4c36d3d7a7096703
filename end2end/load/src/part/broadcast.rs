//! The plainest way to tell many pages the same: a channel and axum's own SSE. Nothing is kept, nobody can
//! resume, and whoever is slow loses messages.

use std::{convert::Infallible, sync::Arc, time::Duration};

use anyhow::Result;
use axum::{
    Router,
    extract::{Query, State},
    response::sse::{Event, KeepAlive, Sse},
    routing::{get, post},
};
use domain::{
    feed::{Delta, Frame, StreamId},
    id::{Attempt, TaskId},
};
use futures::{Stream, StreamExt as _};
use serde::Deserialize;
use tokio::{
    sync::broadcast,
    time::{Instant, sleep_until},
};

use crate::{Goal, stream::stamp};

/// So many that nobody is too slow: what is lost would count as delivered quickly.
const MESSAGES_KEPT: usize = 1 << 16;

type Messages = broadcast::Sender<Arc<str>>;

pub async fn serve() -> Result<Vec<Goal>> {
    let listener = super::announced().await?;
    let router = Router::new()
        .route("/feed", get(feed))
        .route("/go", post(go))
        .with_state(broadcast::channel(MESSAGES_KEPT).0);
    axum::serve(listener, router).await?;
    Ok(Vec::new())
}

async fn feed(State(messages): State<Messages>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let frames = futures::stream::unfold(messages.subscribe(), |mut messages| async move {
        let message = messages.recv().await.ok()?;
        Some((Ok(Event::default().event("delta").data(&*message)), messages))
    });
    // The first words tell the viewer that it is connected, as a beat does.
    let connected = futures::stream::iter([Ok(Event::default().event("beat").data("{}"))]);
    Sse::new(connected.chain(frames)).keep_alive(KeepAlive::default())
}

#[derive(Deserialize)]
struct Wanted {
    count: u32,
    rate: u32,
}

async fn go(State(messages): State<Messages>, Query(wanted): Query<Wanted>) {
    let stream = StreamId { task: TaskId(uuid::Uuid::now_v7()), attempt: Attempt(1) };
    let (begun, mut offset) = (Instant::now(), 0);
    for number in 0..wanted.count {
        sleep_until(begun + Duration::from_secs(1) * number / wanted.rate).await;
        let text = stamp::now();
        let length = text.len() as u64;
        let frame = Frame::Delta(Delta { stream, offset, text });
        if let Ok(data) = frame.data() {
            // Nobody listens any more: then nobody misses it.
            let _ = messages.send(data.into());
        }
        offset += length;
    }
}
