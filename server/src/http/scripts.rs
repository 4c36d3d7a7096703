//! What all routes for scripts share: how they refuse, and how somebody waits for news.

use std::{sync::Arc, time::Duration};

use app::error::AppError;
use axum::{
    Json,
    body::to_bytes,
    http::header,
    response::{IntoResponse, Response},
};
use domain::feed::{Envelope, Event, Seq};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Db;
use tokio::{sync::Notify, time::timeout};

use crate::live::Live;

/// How long somebody who waits for news is held.
const EVENTS_WAIT_MAX: Duration = Duration::from_secs(20);
const EVENTS_READ_MAX: i64 = 500;
const WORDS_BYTES_MAX: usize = 64 * 1024;

/// Everything that goes wrong, as a page is told it, under the status that it means.
pub struct Refused(AppError);

pub type Answer<T> = Result<T, Refused>;

impl<E: Into<AppError>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0.status(), Json(json!({ "error": self.0.to_string() }))).into_response()
    }
}

/// What is refused before any of our code sees it, such as a body that is no JSON, in the form of every refusal.
pub async fn in_our_form(answer: Response) -> Response {
    let status = answer.status();
    let is_ours = answer.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_ours || !(status.is_client_error() || status.is_server_error()) {
        return answer;
    }
    let allowed = answer.headers().get(header::ALLOW).cloned();
    let said = to_bytes(answer.into_body(), WORDS_BYTES_MAX).await.unwrap_or_default();
    let words = match String::from_utf8_lossy(&said) {
        words if words.trim().is_empty() => status.to_string(),
        words => words.into_owned(),
    };
    let mut answer = (status, Json(json!({ "error": words }))).into_response();
    if let Some(allowed) = allowed {
        answer.headers_mut().insert(header::ALLOW, allowed);
    }
    answer
}

/// The last event that somebody knows.
#[derive(Deserialize)]
pub struct After {
    #[serde(default)]
    after: Seq,
}

/// What happened after an event.
#[derive(Serialize)]
pub struct News {
    /// What to ask for next.
    after: Seq,
    events: Vec<Envelope>,
    /// Not all that happened can be told any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reset: bool,
}

impl After {
    /// What happened after it; waits a while where there is nothing yet.
    pub async fn news(self, db: &Db, live: &Live, is_own: impl Fn(&Event) -> bool) -> Answer<Json<News>> {
        let Self { mut after } = self;
        let listening = Listening::to(live);
        let found = timeout(EVENTS_WAIT_MAX, async {
            loop {
                let Some(events) = store::feed::read_after(db, after, EVENTS_READ_MAX).await? else {
                    // Some of them are no longer kept, so whoever asks has to look at the thing itself.
                    let now = store::feed::head(db).await?;
                    return Ok::<_, store::Error>(News { after: now, events: Vec::new(), reset: true });
                };
                after = events.last().map_or(after, |last| last.seq);
                let is_full = events.len() as i64 >= EVENTS_READ_MAX;
                let own: Vec<Envelope> =
                    events.into_iter().filter(|envelope| is_own(&envelope.event)).collect();
                if !own.is_empty() {
                    return Ok(News { after, events: own, reset: false });
                }
                // A full page of others' news says nothing about what comes after it.
                if !is_full {
                    listening.bell.notified().await;
                }
            }
        });
        Ok(Json(match found.await {
            Ok(found) => found?,
            Err(_) => News { after, events: Vec::new(), reset: false },
        }))
    }
}

/// Somebody who waits for news. Whoever gives up waiting takes the whole request along, so leaving is in the drop.
struct Listening<'a> {
    live: &'a Live,
    bell: Arc<Notify>,
}

impl<'a> Listening<'a> {
    fn to(live: &'a Live) -> Self {
        let bell = Arc::new(Notify::new());
        live.log.listen(&bell);
        Self { live, bell }
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.live.log.leave(&self.bell);
    }
}
