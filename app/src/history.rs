//! The history: a page of links and one form. It is rendered on the server and stands still, so none of it is in
//! the module that browsers load; all that a browser adds is its clock.

pub mod api;
mod filters;
mod kinds;
mod list;
#[cfg(test)]
mod tests;

use axum::http::request::Parts;
use domain::{
    history::{Filter, PATH},
    page::Wanted,
};
use leptos::{
    nonce::{provide_nonce, use_nonce},
    prelude::*,
};

use crate::{
    address::Address,
    document,
    error::AppError,
    feed::Feed,
    icon::Icon,
    workspace::{ShowSidebar, Sidebar},
};
use api::Shown;
use filters::{Conditions, FilterForm};
use list::List;

/// Says times as the reader's clock does.
const TIMES: &str = include_str!("history/times.js");

pub struct Document {
    pub html: String,
    /// What its one script is allowed by.
    pub nonce: String,
}

impl Document {
    /// The page as whoever sent `request` gets it.
    pub fn render(request: Parts, shown: Result<Shown, AppError>) -> Self {
        Owner::new_root(None).with(|| {
            provide_nonce();
            let nonce = use_nonce().map(|nonce| nonce.to_string()).unwrap_or_default();
            provide_context(request);
            let head = view! {
                <link rel="stylesheet" href="/pkg/history.css" />
                <title>"History · BooCode"</title>
            };
            let body = view! {
                {match shown {
                    Ok(shown) => view! { <Frame shown /> }.into_any(),
                    Err(error) => view! { <Problem error /> }.into_any(),
                }}
                <script nonce=nonce.clone() inner_html=TIMES></script>
            };
            Self { html: document(None, Some(head.into_any()), body.into_any()).to_html(), nonce }
        })
    }
}

/// Like the frame around everything else.
#[component]
fn Frame(shown: Shown) -> impl IntoView {
    let Shown { filter, faults, listing, snapshot } = shown;
    let workspace = snapshot.state.workspace.clone();
    provide_context(Feed::new(snapshot));
    provide_context(Address::follow(Wanted::Start));
    let is_empty = listing.entries.is_empty();
    // Where there is nothing, there is nothing to choose from.
    let form = (!is_empty || filter != Filter::default() || !faults.is_empty())
        .then(|| view! { <FilterForm filter=filter.clone() faults workspace=workspace.clone() /> });
    // An empty list says itself what to let go of.
    let conditions =
        (!is_empty).then(|| view! { <Conditions filter=filter.clone() workspace=workspace.clone() /> });
    view! {
        <a class="skip-link" href="#main">"Skip to content"</a>
        <div class="app still">
            <Sidebar here=PATH />
            <a class="scrim" href="#" aria-label="Close the list"></a>
            <main class="main" id="main" tabindex="-1">
                <header class="topbar">
                    <a class="icon-button drawer-toggle" href="#sidebar" aria-label="Projects and chats">
                        {Icon::Menu.view()}
                    </a>
                    <ShowSidebar />
                    <span class="topbar-title" aria-hidden="true">"History"</span>
                </header>
                <div class="page history">
                    <h1>"History"</h1>
                    {form}
                    {conditions}
                    <List filter listing workspace />
                </div>
            </main>
        </div>
    }
    .into_any()
}

#[component]
fn Problem(error: AppError) -> impl IntoView {
    view! {
        <main class="page" id="main">
            <h1>"The history cannot be shown"</h1>
            <p class="page-lead">{error.to_string()}</p>
            <p><a class="button" href="/">"To the start page"</a></p>
        </main>
    }
    .into_any()
}
