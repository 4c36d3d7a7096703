//! The shape of what is about to come.

use leptos::prelude::*;

use crate::erased::Erase;

#[component]
pub fn Skeleton(
    #[prop(default = 3)] lines: usize,
    /// What is loaded, for those who do not see the shape.
    #[prop(into)]
    label: String,
) -> impl IntoView {
    let shape: Vec<_> = (0..lines).map(|_| view! { <span class="skeleton-line"></span> }).collect();
    view! {
        <div class="skeleton" role="status">
            <span class="visually-hidden">{label}</span>
            {shape}
        </div>
    }
    .erase()
}
