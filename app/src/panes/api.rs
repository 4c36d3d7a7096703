//! What can be asked of a session's panes. What is allowed is decided in `domain`.

use domain::{id::SessionId, layout::Kind};
#[cfg(feature = "ssr")]
use domain::{
    layout::{Content, Input, Opens, Target},
    page::Wanted,
};
use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::ports;
use crate::{error::AppError, wire::Wire};

/// Opens, closes, moves, resizes. The input travels as JSON: it is deeper than a form.
#[server(endpoint = "arrange", protocol = Wire)]
pub async fn arrange(session: SessionId, input: String) -> Result<(), AppError> {
    store::commit::layout(&ports::db()?, session, parse::<Input>(&input)?).await?;
    Ok(())
}

/// Brings back what was closed last and answers with its address.
#[server(endpoint = "reopen", protocol = Wire)]
pub async fn reopen(session: SessionId) -> Result<String, AppError> {
    let content = store::commit::reopen(&ports::db()?, session).await?;
    Ok(content.map_or(Wanted::Session(session), |content| Wanted::to_content(session, content)).path())
}

/// Opens something new and answers with its address.
#[server(endpoint = "open_new", protocol = Wire)]
pub async fn open_new(session: SessionId, kind: Kind, target: String) -> Result<String, AppError> {
    let (db, target) = (ports::db()?, parse::<Target>(&target)?);
    let content = match kind.opens() {
        Opens::Chat(kind) => Content::Chat(store::commit::open_chat(&db, session, kind, target).await?.id),
        Opens::Content(content) => {
            store::commit::layout(&db, session, Input::Open { content, target }).await?;
            content
        }
    };
    Ok(Wanted::to_content(session, content).path())
}

#[cfg(feature = "ssr")]
fn parse<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, AppError> {
    serde_json::from_str(json)
        .map_err(|error| AppError::Invalid(format!("What was asked cannot be read: {error}.")))
}
