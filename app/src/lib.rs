//! The pages of BooCode: Leptos components and the server functions they call. Rendered on the server first,
//! then taken over by the browser.

// A view is a type as deep as its markup.
#![recursion_limit = "256"]

pub mod chat;
mod device;
pub mod error;
pub mod feed;
mod icon;
pub mod markdown;
mod notice;
#[cfg(feature = "ssr")]
pub mod ports;
pub mod workspace;

use leptos::prelude::*;
use leptos_meta::{MetaTags, Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{ParentRoute, Route, Router, Routes},
    path,
};

use workspace::Workspace;

/// The document around the app, on the server only.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta
                    name="viewport"
                    content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"
                />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <link rel="stylesheet" href="/pkg/boocode.css" />
                <HydrationScripts options />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
    .into_any()
}

#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    // What is shown follows from the state that the address asks for, so the routes themselves are empty. The
    // whole page is rendered before it is sent: then it can be read without scripts.
    view! {
        <Title formatter=|title: String| {
            if title.is_empty() { "BooCode".to_owned() } else { format!("{title} · BooCode") }
        } />
        <Router>
            <Routes fallback=NotFound>
                <ParentRoute path=path!("") view=Workspace ssr=SsrMode::Async>
                    <Route path=path!("/") view=|| () ssr=SsrMode::Async />
                    <Route path=path!("/chat/:id") view=|| () ssr=SsrMode::Async />
                </ParentRoute>
            </Routes>
        </Router>
    }
    .into_any()
}

#[component]
fn NotFound() -> impl IntoView {
    workspace::say_not_found();
    view! {
        <Title text="Not found" />
        <main class="page" id="main">
            <h1>"There is nothing here"</h1>
            <p>"The address leads nowhere. " <a href="/">"To the start page"</a></p>
        </main>
    }
    .into_any()
}
