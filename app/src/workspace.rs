//! The frame around everything: sidebar, what is open, and the feed that keeps both up to date.

mod add_project;
pub mod api;
mod drawer;
mod fold;
mod sidebar;
mod welcome;

use domain::{
    feed::Snapshot,
    page::{Page, Wanted},
};
use leptos::prelude::*;

use crate::{
    actions::{self, Hands, HelpSheet, Palette, PaletteButton},
    address::{Address, Go},
    archive::RenameDialog,
    arena::ArenaLauncherDialog,
    chat::{AttachedByChat, api::Models},
    device,
    erased::{Erase, Show, effect},
    error::AppError,
    feed::{self, Feed, line::Shown},
    first::{First, Refusal},
    lost::Lost,
    notice::{Failure, LoginLink},
    notifications::Notifications,
    orchestrator::FlowLauncherDialog,
    panes::{self, PaneTree, Panes},
    settings::SettingsPage,
    theme::ThemeChoice,
    title::call_page,
};
use drawer::Drawer;
pub use drawer::{DrawerToggle, HeadConnection};
#[cfg(feature = "ssr")]
pub(crate) use fold::Fold;
pub(crate) use fold::KEYS as FOLD_KEYS;
pub use fold::{ShowSidebar, SidebarFold};
pub(crate) use sidebar::Sidebar;
use welcome::Welcome;

/// The browser's time, once a second; none on the server, whose page must not depend on it.
#[derive(Clone, Copy)]
pub struct Clock(pub RwSignal<Option<i64>>);

impl Clock {
    /// How many milliseconds something took from `began` on, or has taken by now.
    pub fn taken(self, (began, ended): (i64, Option<i64>)) -> Option<u64> {
        let until = ended.or_else(|| self.0.get())?;
        Some((until - began).max(0) as u64)
    }
}

/// What the model picker offers, shared by all chats.
#[derive(Clone, Copy)]
pub struct Offered(pub RwSignal<Models>);

/// What fills the page beside the sidebar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Front {
    Start,
    Settings,
    Panes,
}

#[component]
pub fn Workspace(first: First) -> impl IntoView {
    let address = Address::follow(first.wanted);
    provide_context(address);
    Refusal::provide(first.refused);
    #[cfg(feature = "ssr")]
    {
        if let Some(settings) = first.settings {
            provide_context(settings);
        }
        provide_context(first.read);
    }
    match first.page {
        Ok((snapshot, models)) => view! { <Frame snapshot models address /> }.erase(),
        Err(error) => view! { <Problem error /> }.erase(),
    }
}

/// The page that is asked for does not exist, which programs read from the status.
pub fn say_not_found() {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(axum::http::StatusCode::NOT_FOUND);
    }
}

#[component]
fn Frame(snapshot: Snapshot<Page>, models: Models, address: Address) -> impl IntoView {
    let Address(wanted) = address;
    let feed = Feed::new(snapshot);
    provide_context(feed);
    provide_context(Offered(RwSignal::new(models)));
    provide_context(clock());
    AttachedByChat::provide();
    let panes = Panes::follow(feed, address);
    provide_context(panes);
    let notifications = Notifications::follow(feed, address, panes);
    provide_context(notifications);
    feed::keep(feed, wanted, panes.fronts);
    let is_drawer_open = RwSignal::new(false);
    provide_context(Drawer(is_drawer_open));
    Drawer(is_drawer_open).follow();
    let hands = Hands {
        panes,
        feed,
        go: Go::new(),
        theme: expect_context::<ThemeChoice>(),
        is_palette_open: RwSignal::new(false),
        is_help_open: RwSignal::new(false),
        renaming: RwSignal::new(None),
        launching: RwSignal::new(None),
        orchestrating: RwSignal::new(None),
        sidebar: SidebarFold::provide(),
        is_drawer_open,
    };
    provide_context(hands);
    actions::listen(hands);
    device::stay_above_keyboard();
    // On a phone the drawer covers the page that was just chosen in it.
    effect(move || {
        wanted.track();
        is_drawer_open.set(false);
    });
    let front = Memo::new(move |_| match wanted.get() {
        Wanted::Start => Front::Start,
        Wanted::SettingsPage(_) => Front::Settings,
        Wanted::Session(_)
        | Wanted::Chat(_)
        | Wanted::Arena(_)
        | Wanted::Battle(_)
        | Wanted::Orchestrator(_)
        | Wanted::Run(_)
        | Wanted::Artifact(_)
        | Wanted::Settings(_) => Front::Panes,
    });
    let name = move || match front.get() {
        Front::Start => String::new(),
        Front::Settings => "Settings".to_owned(),
        Front::Panes => panes::front(feed, panes).unwrap_or_default(),
    };
    call_page(name, move || notifications.missed.get());
    let problem = move || feed.problem.get();
    view! {
        <a class="skip-link" href="#main" inert=is_drawer_open>"Skip to content"</a>
        <div class="app" data-drawer=move || is_drawer_open.get().then_some("open")>
            <p class="visually-hidden" role="status">{move || feed.connection.get().words()}</p>
            <Sidebar />
            <a class="scrim" href="#" aria-label="Close the list" on:click=move |click| {
                click.prevent_default();
                is_drawer_open.set(false);
            }></a>
            <main class="main" id="main" tabindex="-1" inert=is_drawer_open>
                <Show when=move || front.get() != Front::Panes || panes.layout.read().root.is_none()>
                    <header class="topbar">
                        <DrawerToggle />
                        <ShowSidebar />
                        <span class="topbar-title">
                            {move || if front.get() == Front::Settings { "Settings" } else { "BooCode" }}
                        </span>
                        <HeadConnection />
                        <PaletteButton />
                    </header>
                </Show>
                <SignedOut />
                <Failure error=Signal::derive(problem) />
                {move || match front.get() {
                    Front::Start => view! { <Welcome /> }.erase(),
                    Front::Settings => view! { <SettingsPage wanted /> }.erase(),
                    Front::Panes => view! { <PaneTree /> }.erase(),
                }}
            </main>
        </div>
        <Palette hands />
        <HelpSheet open=hands.is_help_open />
        <RenameDialog renaming=hands.renaming />
        <ArenaLauncherDialog />
        <FlowLauncherDialog />
    }
    .erase()
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
    call_page(|| "Not shown".to_owned(), || 0);
    view! { <Lost title="This page cannot be shown" words=error.to_string() /> }.erase()
}

fn clock() -> Clock {
    let now_ms = RwSignal::new(None);
    effect(move || {
        now_ms.set(device::now_ms());
        set_interval(move || now_ms.set(device::now_ms()), std::time::Duration::from_secs(1));
    });
    Clock(now_ms)
}

#[cfg(test)]
#[cfg(feature = "ssr")]
mod tests;
