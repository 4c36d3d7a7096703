//! One connection to a page: every event after its cursor, and the streams it watches.
//!
//! The connection is a pull: the socket asks for the next bytes, and only then is something read, from memory
//! where it is there and from Postgres where it is not. So a slow page costs its own time and nobody's memory.

use std::{collections::BTreeMap, pin::Pin, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Query, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use bytes::{Bytes, BytesMut};
use domain::feed::{Cursor, Delta, Envelope, Frame, Seq, StreamId, Truncate};
use serde::Deserialize;
use store::Db;
use time::OffsetDateTime;
use tokio::{
    sync::Notify,
    time::{Instant, Sleep, sleep_until},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::{
    auth::{BrowserSession, LiveConnection},
    http::guard::Gate,
    live::{Kept, Live, Recent, Stream, encode},
};

/// A page takes a silence of nearly two of these for a dead connection.
const BEAT: Duration = Duration::from_secs(2);
const EVENTS_READ_MAX: i64 = 500;
const BYTES_READ_MAX: usize = 64 * 1024;

#[derive(Clone)]
pub struct Feed {
    pub db: Db,
    pub live: Arc<Live>,
    pub gate: Arc<Gate>,
    pub shutdown: CancellationToken,
}

pub fn routes(feed: Feed) -> Router {
    Router::new().route("/api/feed", get(connect)).with_state(feed)
}

#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    after: Seq,
    #[serde(default)]
    watch: String,
}

async fn connect(
    State(feed): State<Feed>,
    Extension(session): Extension<BrowserSession>,
    Query(place): Query<Place>,
) -> Response {
    let cursor = match Cursor::parse(place.after, &place.watch) {
        Ok(cursor) => cursor,
        Err(reason) => return (StatusCode::BAD_REQUEST, reason).into_response(),
    };
    let held = match feed.gate.auth.hold(&session, OffsetDateTime::now_utc()).await {
        Ok(Some(held)) => held,
        Ok(None) => return StatusCode::UNAUTHORIZED.into_response(),
        Err(error) => return (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response(),
    };
    let connection = Connection::new(feed, held, cursor);
    let body = futures::stream::unfold(connection, |mut connection| async move {
        let bytes = connection.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), connection))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // nginx and those like it would hold the stream back until their buffer is full.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(body)).into_response()
}

struct Connection {
    feed: Feed,
    held: LiveConnection,
    after: Seq,
    watched: BTreeMap<StreamId, Watched>,
    bell: Arc<Notify>,
    waits: Waits,
    over: bool,
}

/// What a connection waits for besides its bell. Kept from one wait to the next: with many viewers and many
/// deltas, entering it anew into the lists that all share would cost more than the deltas themselves.
struct Waits {
    beat: Pin<Box<Sleep>>,
    shutdown: CancellationToken,
    shut_down: Pin<Box<WaitForCancellationFutureOwned>>,
    revoked: Pin<Box<WaitForCancellationFutureOwned>>,
}

struct Watched {
    stream: Arc<Stream>,
    offset: u64,
}

impl Connection {
    /// Listens first and reads afterwards, so that nothing falls between.
    fn new(feed: Feed, held: LiveConnection, cursor: Cursor) -> Self {
        let bell = Arc::new(Notify::new());
        feed.live.log.listen(&bell);
        let watched = cursor.watch.into_iter().map(|(id, offset)| {
            let stream = feed.live.stream(id);
            stream.listen(&bell);
            (id, Watched { stream, offset })
        });
        let watched = watched.collect();
        // A token of its own, so that connections do not queue up at the one they share.
        let shutdown = feed.shutdown.child_token();
        let waits = Waits {
            // The first beat comes at once: it tells the page that it is connected.
            beat: Box::pin(sleep_until(Instant::now())),
            shut_down: Box::pin(shutdown.clone().cancelled_owned()),
            revoked: Box::pin(held.revoked()),
            shutdown,
        };
        Self { feed, held, after: cursor.after, watched, bell, waits, over: false }
    }

    /// The next bytes to send; `None` ends the connection.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.over || self.waits.shutdown.is_cancelled() || self.held.is_revoked() {
                return None;
            }
            let mut out = BytesMut::new();
            if let Err(error) = self.fill(&mut out).await {
                // The page connects again and resumes from where it stands.
                tracing::warn!(%error, "a feed connection ended because the database did not answer");
                return None;
            }
            if self.waits.beat.is_elapsed() {
                self.beat(&mut out);
            }
            if !out.is_empty() {
                return Some(out.freeze());
            }
            tokio::select! {
                biased;
                () = &mut self.waits.beat => {
                    self.beat(&mut out);
                    return Some(out.freeze());
                }
                () = self.bell.notified() => {}
                () = &mut self.waits.shut_down => return None,
                () = &mut self.waits.revoked => return None,
            }
        }
    }

    fn beat(&mut self, out: &mut BytesMut) {
        out.extend_from_slice(&encode(&Frame::Beat));
        self.waits.beat.as_mut().reset(Instant::now() + BEAT);
    }

    async fn fill(&mut self, out: &mut BytesMut) -> store::Result<()> {
        self.fill_events(out).await?;
        let mut elsewhere = Vec::new();
        for (id, watched) in &mut self.watched {
            if self.over || out.len() >= BYTES_READ_MAX {
                break;
            }
            match watched.stream.read(watched.offset, BYTES_READ_MAX, out) {
                Kept::Nothing => {}
                Kept::Until(offset) => watched.offset = offset,
                Kept::Elsewhere => elsewhere.push(*id),
            }
        }
        for id in elsewhere {
            if out.len() >= BYTES_READ_MAX {
                break;
            }
            self.fill_from_tables(id, out).await?;
        }
        Ok(())
    }

    async fn fill_events(&mut self, out: &mut BytesMut) -> store::Result<()> {
        match self.feed.live.log.read(self.after) {
            Recent::Nothing => {}
            Recent::Frames(frames, last) => {
                frames.iter().for_each(|frame| out.extend_from_slice(frame));
                self.after = last;
            }
            Recent::Elsewhere => {
                match store::feed::read_after(&self.feed.db, self.after, EVENTS_READ_MAX).await? {
                    Some(events) => self.send_events(events, out),
                    None => {
                        out.extend_from_slice(&encode(&Frame::Reset));
                        self.over = true;
                    }
                }
            }
        }
        Ok(())
    }

    fn send_events(&mut self, events: Vec<Envelope>, out: &mut BytesMut) {
        for envelope in events {
            self.after = envelope.seq;
            out.extend_from_slice(&encode(&Frame::Event(Box::new(envelope))));
        }
    }

    async fn fill_from_tables(&mut self, id: StreamId, out: &mut BytesMut) -> store::Result<()> {
        let Some(watched) = self.watched.get_mut(&id) else { return Ok(()) };
        let db = &self.feed.db;
        let text = store::streams::read(db, id, watched.offset, BYTES_READ_MAX as u64).await?;
        if !text.is_empty() {
            let delta = Delta { stream: id, offset: watched.offset, text };
            watched.offset += delta.text.len() as u64;
            out.extend_from_slice(&encode(&Frame::Delta(delta)));
            return Ok(());
        }
        match store::streams::extent(db, id).await? {
            Some(extent) if extent.ended => {
                if extent.len < watched.offset {
                    let cut = Truncate { stream: id, len: extent.len };
                    out.extend_from_slice(&encode(&Frame::Truncate(cut)));
                }
                if extent.len <= watched.offset {
                    self.unwatch(id);
                }
            }
            // Still written somewhere, or not there yet: a wake-up comes when there is more.
            _ => {}
        }
        Ok(())
    }

    fn unwatch(&mut self, id: StreamId) {
        if let Some(watched) = self.watched.remove(&id) {
            watched.stream.leave(&self.bell);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.feed.live.log.leave(&self.bell);
        for watched in self.watched.values() {
            watched.stream.leave(&self.bell);
        }
    }
}
