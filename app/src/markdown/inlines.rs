//! Words as elements.

use domain::markdown::Inline;
use leptos::prelude::*;

pub(super) fn inlines(content: &[Inline]) -> AnyView {
    content.iter().map(inline).collect_view().into_any()
}

fn inline(node: &Inline) -> AnyView {
    match node {
        Inline::Text(text) => text.clone().into_any(),
        Inline::Strong(content) => view! { <strong>{inlines(content)}</strong> }.into_any(),
        Inline::Emphasis(content) => view! { <em>{inlines(content)}</em> }.into_any(),
        Inline::Strike(content) => view! { <del>{inlines(content)}</del> }.into_any(),
        Inline::Code(text) => view! { <code>{text.clone()}</code> }.into_any(),
        Inline::Link { href, content } => view! {
            <a href=href.to_string() rel="noopener noreferrer nofollow" target="_blank">
                {inlines(content)}
            </a>
        }
        .into_any(),
        Inline::SoftBreak => "\n".into_any(),
        Inline::HardBreak => view! { <br/> }.into_any(),
    }
}
