//! What is put away is named by a word and an id: `chat.<id>`.

#[cfg(feature = "ssr")]
use domain::archive::Of;
use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::ports;
use crate::{error::AppError, wire::Wire};

#[server(endpoint = "archive", protocol = Wire)]
pub async fn archive(of: String) -> Result<(), AppError> {
    store::archive::archive(&ports::db()?, parse(&of)?).await?;
    Ok(())
}

#[server(endpoint = "restore", protocol = Wire)]
pub async fn restore(of: String) -> Result<(), AppError> {
    store::archive::restore(&ports::db()?, parse(&of)?).await?;
    Ok(())
}

#[server(endpoint = "rename")]
pub async fn rename(of: String, name: String) -> Result<(), AppError> {
    store::archive::rename(&ports::db()?, parse(&of)?, &name).await?;
    Ok(())
}

#[cfg(feature = "ssr")]
fn parse(of: &str) -> Result<Of, AppError> {
    of.parse().map_err(AppError::Invalid)
}
