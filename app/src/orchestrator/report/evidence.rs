//! What a claim rests on, and what is wrong with it.

use domain::{
    flow::{evidence::Flag, report::Citation},
    layout::Content,
    page::Wanted,
};
use leptos::{ev::MouseEvent, prelude::*};

use super::Links;
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
    panes::Panes,
};

pub fn citations(links: &Links, citations: &[Citation]) -> Erased {
    if citations.is_empty() {
        return ().erase();
    }
    let lines: Vec<_> = citations.iter().map(|one| citation(links, one)).collect();
    view! { <ul class="citations" aria-label="Evidence">{lines}</ul> }.erase()
}

fn citation(links: &Links, citation: &Citation) -> Erased {
    let words = citation.place.to_string();
    let artifact = links.artifact(&citation.place).filter(|_| citation.holds);
    let place = match artifact {
        Some(artifact) => {
            let panes = use_context::<Panes>();
            let open = move |click: MouseEvent| {
                let is_plain = !(click.meta_key() || click.ctrl_key() || click.shift_key());
                if let Some(panes) = panes.filter(|_| is_plain) {
                    click.prevent_default();
                    panes.open_beside(Content::Artifact(artifact));
                }
            };
            view! {
                <a class="citation-place" href=Wanted::Artifact(artifact).path() on:click=open>{words}</a>
            }
            .erase()
        }
        None if citation.holds => view! { <code class="citation-place">{words}</code> }.erase(),
        None => view! {
            <span class="citation-place broken">
                {Icon::Alert.view()}
                {words}
                <span class="visually-hidden">" does not hold"</span>
            </span>
        }
        .erase(),
    };
    let quote = (!citation.quote.trim().is_empty())
        .then(|| view! { <code class="citation-quote">{citation.quote.trim().to_owned()}</code> });
    view! { <li>{place} {quote}</li> }.erase()
}

pub fn flags(flags: &[Flag]) -> Erased {
    if flags.is_empty() {
        return ().erase();
    }
    let lines = flags.iter().map(|flag| {
        view! { <li>{Icon::Alert.view()} <span>{flag.words.clone()}</span></li> }
    });
    let lines = lines.collect_view();
    view! { <ul class="flags" aria-label="Failed checks">{lines}</ul> }.erase()
}
