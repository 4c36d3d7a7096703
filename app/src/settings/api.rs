//! What can be asked of Settings. Forms are posted and lead back to their page; the rest is called by the page.

use domain::{
    id::{BrowserId, ProjectId},
    settings::{Checked, Draft, Section, Shown, TypedKey},
    setup::Typed,
};
#[cfg(feature = "ssr")]
use domain::{settings::Budget, setup::Setup};
use leptos::prelude::*;
use uuid::Uuid;

use crate::{error::AppError, wire::Wire};
#[cfg(feature = "ssr")]
use crate::{ports, theme::Theme};

/// What a section shows. `checked` is what `check_model_server` left for a page without scripts.
#[server(endpoint = "show_settings", protocol = Wire)]
pub async fn show_settings(
    section: Section,
    #[server(default)] checked: Option<Uuid>,
) -> Result<Shown, AppError> {
    Ok(match section {
        Section::Models => Shown::Models(ports::settings()?.models(checked).await?),
        Section::Agents => Shown::Agents(ports::coders()?.settings().await),
        Section::Projects => Shown::Projects(store::setups::list(&ports::db()?).await?),
        Section::Worktrees => Shown::Worktrees(ports::coders()?.worktrees().await?),
        Section::Appearance => Shown::Appearance,
        Section::Notifications => Shown::Notifications,
        Section::Browsers => Shown::Browsers(ports::browsers()?.list(ports::this_browser()?).await?),
        Section::Phone => {
            keep_private();
            Shown::Phone(ports::browsers()?.pairing(ports::this_browser()?).await?)
        }
        Section::About => Shown::About(ports::settings()?.facts().await?),
    })
}

/// Tests a draft, or adds it: `intent` is the button that was pressed.
#[server(endpoint = "try_model_server", protocol = Wire)]
pub async fn try_model_server(
    draft: Draft,
    #[server(default)] key: TypedKey,
    intent: String,
) -> Result<Checked, AppError> {
    ports::settings()?.check(draft, key, intent == "add").await
}

/// The same for a browser without scripts. What is to be said about it waits for the next page.
#[server(endpoint = "check_model_server")]
pub async fn check_model_server(
    draft: Draft,
    #[server(default)] key: TypedKey,
    intent: String,
) -> Result<(), AppError> {
    let settings = ports::settings()?;
    let checked = settings.check(draft, key, intent == "add").await?;
    leptos_axum::redirect(&format!("/settings/models?checked={}#add", settings.keep(checked)));
    Ok(())
}

/// Asks every model server again.
#[server(endpoint = "look_again")]
pub async fn look_again() -> Result<(), AppError> {
    ports::models()?.refresh().await;
    Ok(())
}

/// `told` is how many tasks were said to wait for it.
#[server(endpoint = "remove_model_server")]
pub async fn remove_model_server(name: String, told: u32) -> Result<(), AppError> {
    ports::settings()?.remove_server(name, told).await
}

/// Keeps a key for a server that was added in Settings. It is never shown again.
#[server(endpoint = "set_server_key")]
pub async fn set_server_key(name: String, key: TypedKey) -> Result<(), AppError> {
    ports::settings()?.set_key(name, key).await
}

#[server(endpoint = "remove_server_key")]
pub async fn remove_server_key(name: String) -> Result<(), AppError> {
    ports::settings()?.remove_key(name).await
}

#[server(endpoint = "choose_default_model")]
pub async fn choose_default_model(#[server(default)] model: String) -> Result<(), AppError> {
    ports::settings()?.set_default_model(model).await
}

/// Who works in flows. What is set elsewhere is not sent.
#[server(endpoint = "choose_for_flows")]
pub async fn choose_for_flows(
    #[server(default)] backend: String,
    #[server(default)] model: String,
) -> Result<(), AppError> {
    ports::settings()?.set_flows(backend, model).await
}

/// Throws away what projects held when runs began that are over. Their reports stay.
#[server(endpoint = "free_recordings")]
pub async fn free_recordings() -> Result<(), AppError> {
    ports::coders()?.free_recordings().await
}

/// Deletes for good what was discarded.
#[server(endpoint = "empty_trash")]
pub async fn empty_trash() -> Result<(), AppError> {
    ports::coders()?.empty_trash().await
}

/// How much worktrees may take before that is worth a warning.
#[server(endpoint = "set_worktree_budget")]
pub async fn set_worktree_budget(budget: String) -> Result<(), AppError> {
    Ok(store::settings::set_worktree_budget(&ports::db()?, Budget::parse(&budget)?).await?)
}

/// What the worktrees of a project begin with.
#[server(endpoint = "save_setup")]
pub async fn save_setup(project: ProjectId, #[server(default)] setup: Typed) -> Result<(), AppError> {
    Ok(store::setups::save(&ports::db()?, project, &Setup::parse(&setup)?).await?)
}

/// For a browser without scripts; others remember it themselves.
#[server(endpoint = "choose_theme")]
pub async fn choose_theme(theme: String) -> Result<(), AppError> {
    Theme::named(&theme).send_cookie();
    Ok(())
}

#[server(endpoint = "revoke_browser")]
pub async fn revoke_browser(browser: BrowserId) -> Result<(), AppError> {
    ports::browsers()?.revoke(browser).await
}

#[server(endpoint = "revoke_other_browsers")]
pub async fn revoke_other_browsers() -> Result<(), AppError> {
    ports::browsers()?.revoke_others(ports::this_browser()?).await
}

#[server(endpoint = "make_pairing_code")]
pub async fn make_pairing_code() -> Result<(), AppError> {
    ports::browsers()?.pair(ports::this_browser()?).await.map(drop)
}

/// What holds a way in belongs into no cache.
#[cfg(feature = "ssr")]
fn keep_private() {
    use axum::http::{HeaderValue, header};
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}
