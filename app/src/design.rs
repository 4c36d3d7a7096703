//! Every part in every state, for whoever works on them.
//!
//! Only a server with debug assertions answers `/design`; any other says that there is nothing. In the browser the
//! page is a chunk of its own, which nothing else loads, so the tests see it with the same module that people get.

mod actions;
mod changes;
mod feedback;
mod foundations;
mod inputs;
mod overlays;
mod panes;

use leptos::prelude::*;

use crate::{
    erased::{Erase, Erased},
    theme::ThemePicker,
    ui::{self, Toaster, Tooltips},
};
use actions::Actions;
use changes::Changes;
#[cfg(feature = "ssr")]
pub use changes::sample;
use feedback::Feedback;
use foundations::Foundations;
use inputs::Inputs;
use overlays::Overlays;
use panes::Panes;

pub const PATH: &str = "/design";

/// The document around it, with the first rows of its diff.
#[cfg(feature = "ssr")]
pub fn shell(options: LeptosOptions, diff: Option<crate::diff::First>) -> AnyView {
    if let Some(diff) = diff {
        provide_context(diff);
    }
    let head = view! {
        <title>"Design · BooCode"</title>
        <link rel="stylesheet" href="/pkg/design.css" />
    };
    crate::document(Some(options), Some(head.into_any()), view! { <Design /> }.into_any())
}

#[cfg(feature = "hydrate")]
pub fn is_asked_for() -> bool {
    window().location().pathname().is_ok_and(|path| path == PATH)
}

#[cfg(feature = "hydrate")]
pub fn hydrate() {
    wasm_bindgen_futures::spawn_local(hydrate_page());
}

#[cfg(feature = "hydrate")]
#[lazy]
fn hydrate_page() {
    leptos::mount::hydrate_body(Design);
}

#[component]
fn Design() -> impl IntoView {
    ui::provide();
    view! {
        <main class="page design" id="main">
            <header class="page-head">
                <h1>"Design"</h1>
                <ThemePicker />
                <p class="page-lead">"Every part in every state. This page is there in debug builds only."</p>
            </header>
            <Foundations />
            <Actions />
            <Inputs />
            <Overlays />
            <Feedback />
            <Panes />
            <Changes />
        </main>
        <Toaster />
        <Tooltips />
    }
    .erase()
}

/// A part of the page with a heading.
fn section(id: &'static str, title: &'static str, content: Erased) -> Erased {
    view! {
        <section class="design-section" id=id aria-labelledby=format!("{id}-heading")>
            <h2 id=format!("{id}-heading")>{title}</h2>
            {content}
        </section>
    }
    .erase()
}

/// One part, with what it is called.
fn specimen(name: &'static str, content: Erased) -> Erased {
    view! {
        <div class="specimen">
            <h3>{name}</h3>
            <div class="specimen-body">{content}</div>
        </div>
    }
    .erase()
}
