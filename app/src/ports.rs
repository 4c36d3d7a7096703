use crate::error::AppError;
use domain::catalogue::{self, ModelRef};
use futures::future::BoxFuture;
pub trait Catalogue: Send + Sync {
    fn catalogue(&self) -> catalogue::Catalogue;
    fn refresh(&self) -> BoxFuture<'_, ()>;
    fn default_model(&self) -> Option<ModelRef>;
}
pub enum FolderCheck {
    Repository { path: String },
    NotARepository { path: String },
}
pub trait Folders: Send + Sync {
    fn check(&self, typed: String) -> BoxFuture<'_, Result<FolderCheck, AppError>>;
    fn make_repository(&self, typed: String) -> BoxFuture<'_, Result<String, AppError>>;
}
