//! Asking for a diff, piece by piece.

use domain::{
    diff::{Against, Found, Of, Options, Outline, Rows, Seek, Window},
    id::ChatId,
};
use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::ports;
use crate::{error::AppError, wire::Wire};

/// Its files. Takes the change as it is now.
#[server(endpoint = "diff_outline", protocol = Wire)]
pub async fn diff_outline(of: Of, options: Options) -> Result<Outline, AppError> {
    ports::diffs()?.outline(of, options).await
}

#[server(endpoint = "diff_rows", protocol = Wire)]
pub async fn diff_rows(of: Of, options: Options, window: Window) -> Result<Rows, AppError> {
    ports::diffs()?.rows(of, options, window).await
}

#[server(endpoint = "find_in_diff", protocol = Wire)]
pub async fn find_in_diff(
    of: Of,
    options: Options,
    #[server(default)] query: String,
) -> Result<Found, AppError> {
    ports::diffs()?.find(of, options, query).await
}

#[server(endpoint = "seek_in_diff", protocol = Wire)]
pub async fn seek_in_diff(of: Of, options: Options, from: u32, seek: Seek) -> Result<Option<u32>, AppError> {
    ports::diffs()?.seek(of, options, from, seek).await
}

/// What the changes of a Coder can be compared with; where it began first.
#[server(endpoint = "diff_sides", protocol = Wire)]
pub async fn diff_sides(chat: ChatId) -> Result<Vec<Against>, AppError> {
    ports::coders()?.sides(chat).await
}

/// The patch of one file, to be copied.
#[server(endpoint = "diff_patch", protocol = Wire)]
pub async fn diff_patch(of: Of, file: u32) -> Result<String, AppError> {
    ports::diffs()?.patch(of, file).await
}
