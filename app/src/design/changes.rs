//! A diff, of one of the samples that a debug build has.

use domain::diff::{Comment, Of, Sample};
use leptos::prelude::*;

use super::section;
use crate::{
    diff::{DiffView, First},
    erased::Erase,
};

/// As the address names it: `/design?diff=many`.
pub fn sample(query: &str) -> Of {
    let named = |name: &str| query.split('&').any(|field| field.strip_prefix("diff=") == Some(name));
    let samples = [("many", Sample::Many), ("long", Sample::Long), ("huge", Sample::Huge)];
    let sample = samples.into_iter().find(|(name, _)| named(name)).map(|(_, sample)| sample);
    Of::Sample(sample.unwrap_or(Sample::Files))
}

#[component]
pub fn Changes() -> impl IntoView {
    let sent = RwSignal::new(String::new());
    let on_comments = Some(Callback::new(move |comments: Vec<Comment>| {
        let line = |comment: &Comment| format!("{}:{} {}", comment.path, comment.line, comment.text);
        sent.set(comments.iter().map(line).collect::<Vec<_>>().join("; "));
    }));
    let first = use_context::<First>();
    let content = view! {
        <div class="changes-sample">
            <DiffView of=of_this_page() first on_comments />
        </div>
        <output class="changes-sent">{sent}</output>
    };
    section("changes", "Changes", content.erase())
}

#[cfg(feature = "ssr")]
fn of_this_page() -> Of {
    let request = use_context::<axum::http::request::Parts>();
    sample(request.as_ref().and_then(|request| request.uri.query()).unwrap_or_default())
}

#[cfg(not(feature = "ssr"))]
fn of_this_page() -> Of {
    let query = window().location().search().unwrap_or_default();
    sample(query.trim_start_matches('?'))
}
