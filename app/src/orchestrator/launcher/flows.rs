//! The 22 flows to choose from, each with a line, and what it does and when to use it for who wants to know.

use domain::flow::{Flow, FlowId, Kind};
use leptos::prelude::*;

use crate::{
    erased::{Erase, Erased},
    ui::{Badge, Tone},
};

#[component]
pub fn Flows(id: String, flow: RwSignal<FlowId>) -> impl IntoView {
    let group = |kind: Kind, title: &'static str, about: &'static str| {
        let of_kind = FlowId::ALL.into_iter().map(FlowId::flow).filter(|flow| flow.kind == kind);
        let lines: Vec<_> = of_kind.map(|card| line(&id, card, flow)).collect();
        view! {
            <div class="flow-group" role="group" aria-label=title>
                <h3 class="flow-group-title">{title} <span>{about}</span></h3>
                <ul>{lines}</ul>
            </div>
        }
        .erase()
    };
    let analysis = group(Kind::Analysis, "Analysis", "reads and reports");
    let drafts = group(Kind::Draft, "Planning and writing", "a draft for you to go on with");
    view! {
        <fieldset class="flows">
            <legend class="field-label">"Flow"</legend>
            <div class="flows-scroll" tabindex="0" role="region" aria-label="Flows">{analysis} {drafts}</div>
        </fieldset>
    }
    .erase()
}

fn line(id: &str, card: &'static Flow, flow: RwSignal<FlowId>) -> Erased {
    let Flow { id: own, name, title, kind, line, what, when, .. } = card;
    let (own, radio) = (*own, format!("{id}-{name}"));
    let tone = if *kind == Kind::Analysis { Tone::Neutral } else { Tone::Accent };
    let more = format!("More about {title}");
    view! {
        <li class="flow">
            <input
                type="radio"
                id=radio.clone()
                name="draft[flow]"
                value=*name
                checked=untrack(|| flow.get()) == own
                prop:checked=move || flow.get() == own
                on:change=move |_| flow.set(own)
            />
            <label for=radio>
                <span class="flow-title">{*title} <Badge tone text=kind.pill().to_owned() /></span>
                <span class="flow-line">{*line}</span>
            </label>
            <details class="flow-more">
                <summary aria-label=more.clone() title=more></summary>
                <p>{*what}</p>
                <p>{*when}</p>
            </details>
        </li>
    }
    .erase()
}
