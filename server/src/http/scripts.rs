//! What all routes for scripts share: how they refuse, and how somebody waits for news.

use std::{sync::Arc, time::Duration};

use app::error::AppError;
use axum::{
    Json,
    response::{IntoResponse, Response},
};
use domain::feed::{Envelope, Event, Seq};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Db;
use tokio::{sync::Notify, time::timeout};

use crate::live::Live;

/// How long somebody who waits for news is held.
const EVENTS_WAIT_MAX: Duration = Duration::from_secs(20);
const EVENTS_READ_MAX: i64 = 500;

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

/// The last event that somebody knows.
#[derive(Deserialize)]
pub struct After {
    #[serde(default)]
    after: Seq,
}

impl After {
    /// What happened after it; waits a while where there is nothing yet.
    pub async fn news(self, db: &Db, live: &Live, is_own: impl Fn(&Event) -> bool) -> Answer<Json<Value>> {
        let Self { mut after } = self;
        let bell = Arc::new(Notify::new());
        live.log.listen(&bell);
        let found = timeout(EVENTS_WAIT_MAX, async {
            loop {
                let Some(events) = store::feed::read_after(db, after, EVENTS_READ_MAX).await? else {
                    // Too long ago to be told: whoever asks looks at the thing itself and goes on from now.
                    let now = store::feed::head(db).await?;
                    return Ok::<_, store::Error>((now, Vec::new()));
                };
                after = events.last().map_or(after, |last| last.seq);
                let is_full = events.len() as i64 >= EVENTS_READ_MAX;
                let own: Vec<Envelope> =
                    events.into_iter().filter(|envelope| is_own(&envelope.event)).collect();
                if !own.is_empty() {
                    return Ok((after, own));
                }
                // A full page of others' news says nothing about what comes after it.
                if !is_full {
                    bell.notified().await;
                }
            }
        });
        let found = found.await;
        live.log.leave(&bell);
        let (after, events) = match found {
            Ok(found) => found?,
            Err(_) => (after, Vec::new()),
        };
        Ok(Json(json!({ "after": after, "events": events })))
    }
}
