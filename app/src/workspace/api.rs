//! Projects, sessions and chats, and the snapshot that a page starts from.

use domain::{
    feed::Snapshot,
    id::{ChatId, ProjectId, SessionId},
    page::Page,
};
use leptos::prelude::*;

use crate::error::AppError;
#[cfg(feature = "ssr")]
use crate::ports::{self, FolderCheck};

#[server(endpoint = "page_snapshot")]
pub async fn page_snapshot(chat: Option<ChatId>) -> Result<Snapshot<Page>, AppError> {
    Ok(store::snapshot::page(&ports::db()?, chat).await?)
}

/// Adds the folder and opens a first chat in it. `init` makes it a git repository where it is none.
#[server(endpoint = "add_project")]
pub async fn add_project(path: String, #[server(default)] init: bool) -> Result<(), AppError> {
    let folders = ports::folders()?;
    let (path, name) = match folders.check(path).await? {
        FolderCheck::Repository { path, name } => (path, name),
        FolderCheck::NotARepository { path } if !init => return Err(AppError::NotARepository { path }),
        FolderCheck::NotARepository { path } => {
            let path = folders.make_repository(path).await?;
            let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&path).to_owned();
            (path, name)
        }
    };
    let db = ports::db()?;
    let (_, session) = store::workspace::add_project(&db, &name, &path).await?;
    open_chat(&db, session.id).await
}

#[server(endpoint = "add_session")]
pub async fn add_session(project: ProjectId, name: String) -> Result<(), AppError> {
    let db = ports::db()?;
    let session = store::workspace::add_session(&db, project, &name).await?;
    open_chat(&db, session.id).await
}

#[server(endpoint = "add_chat")]
pub async fn add_chat(session: SessionId) -> Result<(), AppError> {
    open_chat(&ports::db()?, session).await
}

#[cfg(feature = "ssr")]
async fn open_chat(db: &store::Db, session: SessionId) -> Result<(), AppError> {
    let chat = store::workspace::add_chat(db, session).await?;
    leptos_axum::redirect(&super::chat_path(chat.id));
    Ok(())
}
