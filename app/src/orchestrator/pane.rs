//! A run: how far it is, and who works on it.

use domain::{id::RunId, run::Shown};
use leptos::prelude::*;

use crate::feed::Feed;

#[component]
pub fn OrchestratorPane(run: RunId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let title = move || feed.run(run, Shown::title);
    let status = move || feed.run(run, |shown| shown.run.status.label());
    let words = move || feed.run(run, |shown| shown.run.words());
    view! {
        <section>
            <h2>{title}</h2>
            <p>{status} " · " {words}</p>
        </section>
    }
}
