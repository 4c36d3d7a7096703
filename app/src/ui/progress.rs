//! How far something is.

use leptos::prelude::*;

use crate::erased::Erase;

/// A bar with what it measures above it. Without a value it says only that something goes on.
#[component]
pub fn Progress(
    #[prop(into)] label: Signal<String>,
    /// As "2 of 5", or what is waited for.
    #[prop(optional, into)]
    detail: Signal<String>,
    #[prop(into)] value: Signal<Option<u32>>,
    #[prop(default = 100)] max: u32,
) -> impl IntoView {
    view! {
        <div class="progress">
            <span class="progress-label">{label}</span>
            <span class="progress-detail">{detail}</span>
            <progress
                max=max.to_string()
                value=move || value.get().map(|value| value.to_string())
                aria-label=label
            ></progress>
        </div>
    }
    .erase()
}
