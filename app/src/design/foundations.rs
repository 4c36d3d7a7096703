//! Colours, type and icons.

use leptos::prelude::*;

use super::{section, specimen};
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
};

const SURFACES: [&str; 6] = ["sunken", "canvas", "raised", "tint", "hover", "pressed"];
const INKS: [&str; 8] =
    ["text", "text-soft", "text-muted", "line", "line-strong", "line-control", "accent", "accent-tint"];
const STATUSES: [&str; 5] = ["running", "waiting", "needed", "done", "failed"];
const TYPE: [(&str, &str); 7] = [
    ("size-2xl", "Projects and the chats in them"),
    ("size-xl", "A title of a page’s part"),
    ("size-l", "A title of a dialog"),
    ("size-body", "What is read: an answer, a report, a question."),
    ("size-m", "What is pressed and chosen: buttons, menus, tabs."),
    ("size-xs", "What explains: hints, figures, times. 1,024 tokens · 41.9 tokens/s"),
    ("size-2xs", "Badges and keys"),
];

#[component]
pub fn Foundations() -> impl IntoView {
    let colours = view! {
        <div class="swatches">{swatches(&SURFACES)}</div>
        <div class="swatches">{swatches(&INKS)}</div>
        <div class="swatches">{swatches(&STATUSES)}</div>
    };
    let sizes: Vec<_> = TYPE
        .iter()
        .map(|(size, words)| view! { <p class=format!("type-{size}")><code>{*size}</code> {*words}</p> })
        .collect();
    let icons: Vec<_> =
        Icon::ALL.iter().map(|icon| view! { <li data-tip=format!("{icon:?}")>{icon.view()}</li> }).collect();
    let content = view! {
        {specimen("Colour", colours.erase())}
        {specimen("Type", view! { <div class="type-scale">{sizes}</div> }.erase())}
        {specimen("Icons", view! { <ul class="icon-sheet">{icons}</ul> }.erase())}
    };
    section("foundations", "Foundations", content.erase())
}

/// Drawn, because the page's policy forbids `style` attributes.
fn swatches(names: &[&'static str]) -> Vec<Erased> {
    let swatch = |name: &&'static str| {
        view! {
            <figure class="swatch">
                <svg viewBox="0 0 64 32" aria-hidden="true">
                    <rect width="64" height="32" rx="4" fill=format!("var(--{name})")></rect>
                </svg>
                <figcaption>{*name}</figcaption>
            </figure>
        }
        .erase()
    };
    names.iter().map(swatch).collect()
}
