//! What can be asked of a Coder besides what can be asked of any chat.

use domain::{
    backend::{Backend, Offer},
    id::{Attempt, ChatId, TaskId},
    tool::Permit,
    worktree::Changes,
};
#[cfg(feature = "ssr")]
use domain::{chat::Input, worktree::Destination};
use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::ports;
use crate::{error::AppError, wire::Wire};

/// Who could do the work.
#[server(endpoint = "backends", protocol = Wire)]
pub async fn offered_backends() -> Result<Vec<Offer>, AppError> {
    Ok(ports::coders()?.offers().await)
}

#[server(endpoint = "install_backend")]
pub async fn install_backend(backend: Backend) -> Result<(), AppError> {
    ports::coders()?.install(backend).await
}

/// Whether an agent may use its own login.
#[server(endpoint = "use_login")]
pub async fn use_login(backend: Backend, is_used: bool) -> Result<(), AppError> {
    ports::coders()?.use_login(backend, is_used).await
}

/// A person's word on what the agent asked.
#[server(endpoint = "answer_ask")]
pub async fn answer_ask(
    chat: ChatId,
    task: TaskId,
    attempt: Attempt,
    number: u32,
    permit: Permit,
) -> Result<(), AppError> {
    store::commit::chat(&ports::db()?, chat, Input::Answer { task, attempt, number, permit }).await?;
    Ok(())
}

/// What is different in the worktree; nothing where there is none yet.
#[server(endpoint = "changes", protocol = Wire)]
pub async fn seen_changes(chat: ChatId) -> Result<Option<Changes>, AppError> {
    ports::coders()?.changes(chat).await
}

/// Brings the changes into the project and says how: as a commit on a new branch where one is named.
#[server(endpoint = "apply_changes", protocol = Wire)]
pub async fn apply_changes(chat: ChatId, #[server(default)] branch: String) -> Result<String, AppError> {
    let to = match branch.trim() {
        "" => Destination::Files,
        branch => Destination::Branch(branch.to_owned()),
    };
    ports::coders()?.apply(chat, to).await
}

/// Puts the worktree in the trash.
#[server(endpoint = "discard_changes")]
pub async fn discard_changes(chat: ChatId) -> Result<(), AppError> {
    ports::coders()?.discard(chat).await
}

/// Takes the worktree out of the trash.
#[server(endpoint = "restore_changes")]
pub async fn restore_changes(chat: ChatId) -> Result<(), AppError> {
    ports::coders()?.restore(chat).await
}
