//! Files on their way into a message, and back to whoever looks at it.
//!
//! What is kept came from anywhere, so a browser must never take it for a page of ours: images alone are shown
//! in place, under the type that their content has, and everything else is a plain text to be saved.

use std::time::Duration;

use app::error::AppError;
use axum::{
    Json, Router,
    body::Body,
    extract::{Path, Query, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use domain::{
    Rejected,
    attachment::{self, Attachment, Media},
    id::{AttachmentId, ChatId},
};
use futures::StreamExt as _;
use serde::Deserialize;
use store::{Db, attachments::NewFile};
use tokio::time::timeout;

/// The largest file there can be; which kind may have how much is said when it is known what it is.
const BODY_BYTES_MAX: usize = attachment::IMAGE_BYTES_MAX;
/// How much of a file that is too large is listened to.
const HEARD_BYTES_MAX: usize = 64 << 20;
const BODY_WAIT_MAX: Duration = Duration::from_secs(120);

pub fn routes(db: Db) -> Router {
    Router::new()
        .route("/api/chats/{chat}/attachments", post(add))
        .route("/api/attachments/{id}", get(read))
        .with_state(db)
}

#[derive(Deserialize)]
struct Called {
    #[serde(default)]
    name: String,
}

/// The body is the file itself.
async fn add(
    State(db): State<Db>,
    Path(chat): Path<ChatId>,
    Query(Called { name }): Query<Called>,
    request: Request,
) -> Response {
    let name = attachment::name(&name);
    let body = match timeout(BODY_WAIT_MAX, received(&name, request.into_body())).await {
        Ok(Ok(body)) => body,
        Ok(Err(NotReceived::TooLarge(words))) => {
            return refused(StatusCode::PAYLOAD_TOO_LARGE, &AppError::Rejected(words));
        }
        Ok(Err(NotReceived::Broken)) => {
            return refused(StatusCode::BAD_REQUEST, &invalid(format!("{name} did not arrive whole.")));
        }
        Err(_) => {
            let words = format!("{name} did not arrive in time. Try again.");
            return refused(StatusCode::REQUEST_TIMEOUT, &invalid(words));
        }
    };
    let file = NewFile { name, body, is_mention: false };
    match store::attachments::add(&db, chat, file).await {
        Ok(added) => Json(added).into_response(),
        Err(error) => failed(error),
    }
}

async fn read(State(db): State<Db>, Path(id): Path<AttachmentId>) -> Response {
    match store::attachments::read(&db, id).await {
        Ok((file, body)) => shown(&file, body),
        Err(error) => failed(error),
    }
}

fn shown(file: &Attachment, body: Vec<u8>) -> Response {
    let (kind, disposition) = match file.media {
        Media::Image { mime } => (mime.mime(), "inline".to_owned()),
        Media::Text => {
            // Quoted names differ from browser to browser; this form has one meaning.
            let name: String = form_urlencoded::byte_serialize(file.name.as_bytes()).collect();
            let name = name.replace('+', "%20").replace('*', "%2A");
            ("text/plain; charset=utf-8", format!("attachment; filename*=UTF-8''{name}"))
        }
    };
    let disposition =
        HeaderValue::from_str(&disposition).unwrap_or_else(|_| HeaderValue::from_static("attachment"));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, disposition),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox"),
        ),
        // What is under an id never changes.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable")),
    ];
    (headers, Body::from(body)).into_response()
}

enum NotReceived {
    TooLarge(Rejected),
    Broken,
}

/// The whole body. Of one that is too large the rest is listened to as well, up to a limit: whoever is answered
/// in the middle of sending sees a broken connection instead of the answer.
async fn received(name: &str, body: Body) -> Result<Vec<u8>, NotReceived> {
    let mut pieces = body.into_data_stream();
    let (mut kept, mut bytes) = (Vec::new(), 0);
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| NotReceived::Broken)?;
        bytes += piece.len();
        if bytes <= BODY_BYTES_MAX {
            kept.extend_from_slice(&piece);
        } else if bytes <= HEARD_BYTES_MAX {
            kept = Vec::new();
        } else {
            break;
        }
    }
    attachment::check_arriving(name, bytes as u64, 0).map_err(NotReceived::TooLarge)?;
    Ok(kept)
}

fn invalid(words: String) -> AppError {
    AppError::Rejected(Rejected::Invalid(words))
}

fn failed(error: store::Error) -> Response {
    let error = AppError::from(error);
    let status = match &error {
        AppError::Rejected(Rejected::Missing { .. }) => StatusCode::NOT_FOUND,
        AppError::Rejected(_) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refused(status, &error)
}

/// In the words that the server functions have too, so that a page reads both the same way.
fn refused(status: StatusCode, error: &AppError) -> Response {
    (status, Json(error)).into_response()
}
