//! What the pages need from the server beyond the database. The server implements these and provides each as
//! a Leptos context in an `Arc`.

use std::sync::Arc;

use domain::catalogue::{self, ModelRef};
use futures::future::BoxFuture;
use leptos::prelude::use_context;
use serde::{Deserialize, Serialize};

use crate::error::AppError;

pub trait Catalogue: Send + Sync {
    fn catalogue(&self) -> catalogue::Catalogue;
    /// Asks the model servers again; the catalogue is up to date when it returns.
    fn refresh(&self) -> BoxFuture<'_, ()>;
    fn default_model(&self) -> Option<ModelRef>;
}

pub trait Folders: Send + Sync {
    /// Whether what a person typed may become a project. Refusals are in words for that person.
    fn check(&self, typed: String) -> BoxFuture<'_, Result<FolderCheck, AppError>>;
    /// Makes the folder a git repository and returns its path.
    fn make_repository(&self, typed: String) -> BoxFuture<'_, Result<String, AppError>>;
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FolderCheck {
    Repository { path: String, name: String },
    NotARepository { path: String },
}

#[derive(Debug, thiserror::Error)]
#[error("the server does not provide {0} to its pages")]
struct NotProvided(&'static str);

pub(crate) fn db() -> Result<store::Db, AppError> {
    provided("the database")
}

pub(crate) fn models() -> Result<Arc<dyn Catalogue>, AppError> {
    provided("the catalogue")
}

pub(crate) fn folders() -> Result<Arc<dyn Folders>, AppError> {
    provided("the folders")
}

fn provided<T: Clone + 'static>(what: &'static str) -> Result<T, AppError> {
    use_context::<T>().ok_or_else(|| AppError::internal(&NotProvided(what)))
}
