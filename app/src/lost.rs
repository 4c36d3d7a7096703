//! In place of a page, where there is none to show.

use leptos::prelude::*;

use crate::erased::Erase;

#[component]
pub fn Lost(title: &'static str, words: String) -> impl IntoView {
    view! {
        <main class="login" id="main">
            <p class="brand">"BooCode"</p>
            <div class="card">
                <h1>{title}</h1>
                <p>{words}</p>
                <a class="button primary" href="/" rel="external">"To the start page"</a>
            </div>
        </main>
    }
    .erase()
}
