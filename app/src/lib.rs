//! The pages of BooCode: Leptos components and the server functions they call. Rendered on the server first,
//! then taken over by the browser.

// A view is a type as deep as its markup.
#![recursion_limit = "256"]

mod actions;
mod address;
mod archive;
pub mod arena;
pub mod chat;
mod chunk;
pub mod coder;
mod cookie;
pub mod design;
mod device;
pub mod diff;
mod erased;
pub mod error;
pub mod feed;
pub mod files;
mod first;
mod form;
#[cfg(feature = "ssr")]
pub mod history;
pub mod icon;
#[cfg(feature = "ssr")]
mod installable;
mod later;
mod launching;
mod lost;
pub mod markdown;
mod notice;
// The server renders once and has nobody to tell.
#[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
mod notifications;
pub mod orchestrator;
pub mod panes;
#[cfg(feature = "ssr")]
pub mod ports;
pub mod settings;
pub mod theme;
mod title;
pub mod ui;
mod wire;
pub mod workspace;

use leptos::prelude::*;

use erased::Erase;
pub use first::{First, REFUSAL_FIELD};
#[cfg(feature = "ssr")]
use lost::Lost;
use ui::{Toaster, Tooltips};
use workspace::Workspace;

/// The document around the app, or around the news that the address leads nowhere. `files_of` names the files of a
/// chunk.
#[cfg(feature = "ssr")]
pub fn shell(options: LeptosOptions, first: Option<First>, files_of: fn(&str) -> Vec<String>) -> AnyView {
    let title = title::PageTitle::provide();
    let chunks: Vec<_> =
        first.as_ref().map(First::chunks).unwrap_or_default().into_iter().flat_map(files_of).collect();
    let options = first.is_some().then_some(options);
    let body = match first {
        Some(first) => {
            let data = first.script();
            view! { <App first /> {data} }.into_any()
        }
        None => NotFound().into_any(),
    };
    // By now whatever is shown has named the page.
    let chunks = chunks.into_iter().map(|file| {
        view! {
            <link rel="preload" href=file r#as="fetch" type="application/wasm" crossorigin="anonymous" />
        }
    });
    let head = view! { <title>{title.text()}</title> {chunks.collect_view()} };
    document(options, Some(head.into_any()), body)
}

/// Without `options` no script takes it over.
#[cfg(feature = "ssr")]
fn document(options: Option<LeptosOptions>, head: Option<AnyView>, body: AnyView) -> AnyView {
    let theme = theme::of_this_page();
    let sidebar = workspace::Fold::of_this_page().attribute();
    let scripts = options.map(|options| view! { <HydrationScripts options /> });
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=theme.attribute() data-sidebar=sidebar>
            <head>
                <meta charset="utf-8" />
                <meta
                    name="viewport"
                    content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"
                />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <link
                    rel="preload"
                    href="/pkg/fonts/geist.woff2"
                    r#as="font"
                    type="font/woff2"
                    crossorigin="anonymous"
                />
                <link rel="stylesheet" href="/pkg/boocode.css" />
                {installable::head(theme)}
                {head}
                {scripts}
            </head>
            <body>{body}</body>
        </html>
    }
    .into_any()
}

#[component]
pub fn App(first: First) -> impl IntoView {
    ui::provide();
    view! {
        <Workspace first />
        <Toaster />
        <Tooltips />
    }
    .erase()
}

/// Makes the page alive in one go, so what it shows must be there first: its code, and the data that came with it.
#[cfg(feature = "hydrate")]
pub fn take_over(first: First) {
    wasm_bindgen_futures::spawn_local(async move {
        let chunks = first.chunks();
        let (chat, arena) = (&chat::code::CHUNK, &arena::code::CHUNK);
        let (coder, orchestrator) = (&coder::code::CHUNK, &orchestrator::code::CHUNK);
        let is_needed = |name| chunks.contains(&name);
        if is_needed(chat.name) {
            chat.fetch_for_sure().await;
        }
        if is_needed(coder.name) {
            coder.fetch_for_sure().await;
        }
        if is_needed(arena.name) {
            arena.fetch_for_sure().await;
        }
        if is_needed(orchestrator.name) {
            orchestrator.fetch_for_sure().await;
        }
        leptos::mount::hydrate_body(|| view! { <App first /> });
        // Most go on to a chat.
        if !is_needed(chat.name) {
            chat.fetch().await;
        }
        later::CHUNK.fetch().await;
    });
}

#[cfg(feature = "ssr")]
#[component]
fn NotFound() -> impl IntoView {
    workspace::say_not_found();
    title::call_page(|| "Not found".to_owned(), || 0);
    view! { <Lost title="There is nothing here" words="The address leads nowhere.".to_owned() /> }
}
