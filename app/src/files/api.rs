//! Searching a project's files.

use domain::id::ProjectId;
use leptos::prelude::*;

use super::FilesFound;
#[cfg(feature = "ssr")]
use crate::ports;
use crate::{error::AppError, wire::Wire};

/// More than a list under a cursor ever shows.
#[cfg(feature = "ssr")]
const FOUND_MAX: usize = 100;

/// The files that fit best to what was typed after an `@`.
#[server(endpoint = "find_files", protocol = Wire)]
pub async fn find_files(
    project: ProjectId,
    #[server(default)] query: String,
    limit: usize,
) -> Result<FilesFound, AppError> {
    let project = store::workspace::project(&ports::db()?, project).await?;
    ports::files()?.find(project.path, query, limit.min(FOUND_MAX)).await
}
