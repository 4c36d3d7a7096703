//! Words as elements.

use domain::markdown::Inline;
use leptos::prelude::*;

use crate::erased::{Erase, Erased};

pub(super) fn inlines(content: &[Inline]) -> Erased {
    content.iter().map(inline).collect_view().erase()
}

fn inline(node: &Inline) -> Erased {
    match node {
        Inline::Text(text) => text.clone().erase(),
        Inline::Strong(content) => view! { <strong>{inlines(content)}</strong> }.erase(),
        Inline::Emphasis(content) => view! { <em>{inlines(content)}</em> }.erase(),
        Inline::Strike(content) => view! { <del>{inlines(content)}</del> }.erase(),
        Inline::Code(text) => view! { <code>{text.clone()}</code> }.erase(),
        Inline::Link { href, content } => view! {
            <a href=href.to_string() rel="noopener noreferrer nofollow" target="_blank">
                {inlines(content)}
            </a>
        }
        .erase(),
        Inline::SoftBreak => "\n".erase(),
        Inline::HardBreak => view! { <br/> }.erase(),
    }
}
