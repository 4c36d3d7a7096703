//! Projects, sessions and chats, and the snapshot that a page starts from.

#[cfg(feature = "ssr")]
use domain::{chat::Kind, layout::Content, page::Wanted};
use domain::{
    feed::Snapshot,
    id::{ProjectId, SessionId},
    page::Page,
};
use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::ports::{self, FolderCheck};
use crate::{error::AppError, wire::Wire};

/// What the address shows. `keep` has the paths, parted by commas, of what the page would like to go on with.
#[server(endpoint = "page_snapshot", protocol = Wire)]
pub async fn page_snapshot(
    #[server(default)] path: String,
    #[server(default)] keep: String,
) -> Result<Snapshot<Page>, AppError> {
    let keep: Vec<Content> = keep.split(',').filter_map(|path| Wanted::of(path)?.content()).collect();
    Ok(store::snapshot::page(&ports::db()?, Wanted::from_path(&path), &keep).await?)
}

/// Adds the folder and opens a first chat in it. `init` makes it a git repository where it is none.
#[server(endpoint = "add_project")]
pub async fn add_project(path: String, #[server(default)] init: bool) -> Result<(), AppError> {
    let folders = ports::folders()?;
    let checked = folders.check(path.clone()).await.map_err(|error| with_typed(error, path));
    let (path, name) = match checked? {
        FolderCheck::Repository { path, name } => (path, name),
        FolderCheck::NotARepository { path } if !init => return Err(AppError::NotARepository { path }),
        FolderCheck::NotARepository { path } => {
            let path = folders.make_repository(path).await?;
            let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&path).to_owned();
            (path, name)
        }
    };
    let db = ports::db()?;
    if let Some(session) = store::archive::restore_folder(&db, &path).await? {
        leptos_axum::redirect(&Wanted::Session(session).path());
        return Ok(());
    }
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

/// A refusal travels in an address, which has not room for everything.
#[cfg(feature = "ssr")]
const TYPED_BYTES_MAX: usize = 1024;

#[cfg(feature = "ssr")]
fn with_typed(error: AppError, typed: String) -> AppError {
    match error {
        AppError::Invalid(why) if typed.len() <= TYPED_BYTES_MAX => AppError::FolderRefused { typed, why },
        error => error,
    }
}

/// For a page without scripts; others remember it themselves.
#[server(endpoint = "fold_sidebar")]
pub async fn fold_sidebar(hidden: bool) -> Result<(), AppError> {
    let fold = if hidden { super::Fold::Hidden } else { super::Fold::Open };
    fold.send_cookie();
    Ok(())
}

#[cfg(feature = "ssr")]
async fn open_chat(db: &store::Db, session: SessionId) -> Result<(), AppError> {
    let chat = store::workspace::add_chat(db, session, Kind::Chat).await?;
    leptos_axum::redirect(&Wanted::Chat(chat.id).path());
    Ok(())
}
