//! What is shown and not changed here.

use domain::settings::{Fact, Shown};
use leptos::prelude::*;

use super::pane::Data;
use crate::erased::{Erase, Erased};

pub fn view(data: Data) -> Erased {
    let facts = move || {
        let facts: Vec<Fact> = data.with(|shown| match shown {
            Shown::About(facts) => Some(facts.clone()),
            _ => None,
        });
        facts.into_iter().map(|fact| row(fact).erase()).collect::<Vec<_>>().erase()
    };
    view! { <dl class="rows settings-facts">{facts}</dl> }.erase()
}

fn row(fact: Fact) -> impl IntoView {
    let origin =
        fact.origin.map(|origin| view! { <span class="settings-origin">{origin.to_string()}</span> });
    view! {
        <div class="row">
            <dt class="row-words">
                <span class="row-title">{fact.name}</span>
                <span class="row-about">{fact.help}</span>
            </dt>
            <dd>
                <code>{fact.value}</code>
                {origin}
            </dd>
        </div>
    }
}
