//! The frame around everything: sidebar, what is open, and the feed that keeps both up to date.

mod add_project;
pub mod api;
mod drawer;
mod sidebar;
mod welcome;

use domain::{feed::Snapshot, id::ChatId, page::Page};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::{components::Outlet, hooks::use_location};
use uuid::Uuid;

use crate::{
    chat::{
        ChatPane,
        api::{Models, offered_models},
    },
    device,
    error::AppError,
    feed::{self, Feed, line::Shown},
    notice::{Failure, LoginLink},
};
use api::page_snapshot;
use drawer::Drawer;
pub use drawer::{DrawerToggle, HeadConnection};
use sidebar::Sidebar;
use welcome::Welcome;

/// The browser's time, once a second; none on the server, whose page must not depend on it.
#[derive(Clone, Copy)]
pub struct Clock(pub RwSignal<Option<i64>>);

/// What the model picker offers, shared by all chats.
#[derive(Clone, Copy)]
pub struct Offered(pub RwSignal<Models>);

#[component]
pub fn Workspace() -> impl IntoView {
    let path = use_location().pathname;
    let wanted = Memo::new(move |_| chat_in(&path.read()));
    let chat = wanted.get_untracked();
    // Only the first page is loaded this way; from then on the feed follows the address.
    let first = OnceResource::new_blocking(async move {
        let snapshot = page_snapshot(chat).await?;
        Ok::<_, AppError>((snapshot, offered_models(false).await.unwrap_or_default()))
    });
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                match first.await {
                    Ok((snapshot, models)) => view! { <Frame snapshot models wanted /> }.into_any(),
                    Err(error) => view! { <Problem error /> }.into_any(),
                }
            })}
        </Suspense>
        <Outlet />
    }
    .into_any()
}

/// Where a chat is.
pub fn chat_path(chat: ChatId) -> String {
    format!("/chat/{chat}")
}

/// The page that is asked for does not exist, which programs read from the status.
pub fn say_not_found() {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(axum::http::StatusCode::NOT_FOUND);
    }
}

#[component]
fn Frame(snapshot: Snapshot<Page>, models: Models, wanted: Memo<Option<ChatId>>) -> impl IntoView {
    let feed = Feed::new(snapshot);
    provide_context(feed);
    provide_context(Offered(RwSignal::new(models)));
    provide_context(clock());
    feed::keep(feed, wanted);

    let is_drawer_open = RwSignal::new(false);
    provide_context(Drawer(is_drawer_open));
    // On a phone the drawer covers the page that was just chosen in it.
    Effect::new(move || {
        wanted.track();
        is_drawer_open.set(false);
    });
    let shown = Memo::new(move |_| feed.shown_chat());
    let title = Memo::new(move |_| feed.chat(|chat| chat.title.clone()));
    let problem = move || feed.problem.get();
    view! {
        <Title text=move || title.get().unwrap_or_default() />
        <a class="skip-link" href="#main">"Skip to content"</a>
        <div class="app" data-drawer=move || is_drawer_open.get().then_some("open") on:keydown=move |key| {
            if key.key() == "Escape" {
                is_drawer_open.set(false);
            }
        }>
            <p class="visually-hidden" role="status">{move || feed.connection.get().words()}</p>
            <Sidebar />
            <a class="scrim" href="#" aria-label="Close the list" on:click=move |click| {
                click.prevent_default();
                is_drawer_open.set(false);
            }></a>
            <main class="main" id="main" tabindex="-1">
                <Show when=move || shown.get().is_none()>
                    <header class="topbar">
                        <DrawerToggle />
                        <span class="topbar-title">"BooCode"</span>
                        <HeadConnection />
                    </header>
                </Show>
                <SignedOut />
                <Failure error=Signal::derive(problem) />
                {move || match shown.get() {
                    Some(chat) => view! { <ChatPane chat /> }.into_any(),
                    None => view! { <Welcome /> }.into_any(),
                }}
            </main>
        </div>
    }
    .into_any()
}

#[component]
fn SignedOut() -> impl IntoView {
    let feed = expect_context::<Feed>();
    move || {
        (feed.connection.get() == Shown::SignedOut).then(|| {
            view! {
                <div class="notice error" role="alert">
                    <p class="notice-title">"You are signed out"</p>
                    <p>"What you see is no longer up to date. What you wrote is kept in this browser."</p>
                    <div class="notice-actions"><LoginLink /></div>
                </div>
            }
        })
    }
}

/// In place of the page, when there was nothing to start from.
#[component]
fn Problem(error: AppError) -> impl IntoView {
    if matches!(error, AppError::Rejected(domain::Rejected::Missing { .. })) {
        say_not_found();
    }
    view! {
        <Title text="Not shown" />
        <main class="page" id="main">
            <h1>"This page cannot be shown"</h1>
            <p class="page-lead">{error.to_string()}</p>
            <p><a class="button" href="/" rel="external">"To the start page"</a></p>
        </main>
    }
    .into_any()
}

fn clock() -> Clock {
    let now_ms = RwSignal::new(None);
    Effect::new(move || {
        now_ms.set(device::now_ms());
        set_interval(move || now_ms.set(device::now_ms()), std::time::Duration::from_secs(1));
    });
    Clock(now_ms)
}

/// The chat that an address names. What is no id names a chat that does not exist, which is then said.
fn chat_in(path: &str) -> Option<ChatId> {
    let id = path.strip_prefix("/chat/")?;
    Some(id.trim_end_matches('/').parse().unwrap_or(ChatId(Uuid::nil())))
}

#[cfg(test)]
#[cfg(feature = "ssr")]
mod tests;
