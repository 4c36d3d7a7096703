//! One contestant to be.

use domain::{
    backend::Offer,
    battle::{Kind, letter},
    catalogue::Lane,
    persona::Offer as Personas,
};
use leptos::prelude::*;

use super::{lines::Lines, refused::Refused};
use crate::{
    chat::{api::Models, ask_for_models, model_options, persona_options},
    coder::{ask_for_backends, backend_options, chosen_backend},
    erased::Erase,
    icon::Icon,
};

#[component]
pub fn LineView(
    id: String,
    key: u32,
    lines: Lines,
    offers: RwSignal<Vec<Offer>>,
    personas: RwSignal<Personas>,
    models: RwSignal<Models>,
    refused: Refused,
) -> impl IntoView {
    let Some(line) = lines.get(key) else { return ().erase() };
    let place = Memo::new(move |_| lines.place(key));
    let name = move || letter(place.get()).to_string();
    let field = move |what: &str| format!("draft[contestants][{}][{what}]", place.get());
    let lane = move || {
        lines.lane(line).map(|lane| match lane {
            Lane::Local => ("badge lane-local", "local"),
            Lane::Cloud => ("badge lane-cloud", "cloud"),
        })
    };
    let who = move || match lines.kind.get() {
        Kind::Coding => view! {
            <select
                class="select"
                name=move || field("identity")
                aria-label=move || format!("Agent of {}", name())
                on:focus=move |_| ask_for_backends(offers)
                on:change:target=move |change| line.identity.set(change.target().value())
            >
                {move || backend_options(offers, line.identity)}
            </select>
        }
        .erase(),
        Kind::Qa => view! {
            <select
                class="select"
                name=move || field("identity")
                aria-label=move || format!("Persona of {}", name())
                on:change:target=move |change| line.identity.set(change.target().value())
            >
                {persona_options(personas, line.identity)}
            </select>
        }
        .erase(),
    };
    let why = move || refused.at(&name()).map(|why| view! { <p class="field-error" role="alert">{why}</p> });
    let agent = Signal::derive(move || match lines.kind.get() {
        Kind::Coding => chosen_backend(offers, line.identity),
        Kind::Qa => None,
    });
    view! {
        <li class="arena-line" id=id>
            <span class="arena-letter" data-letter=name>{name}</span>
            {who}
            <select
                class="select"
                name=move || field("model")
                aria-label=move || format!("Model of {}", name())
                on:focus=move |_| ask_for_models(models, true)
                on:change:target=move |change| line.model.set(change.target().value())
            >
                {model_options(models, line.model, agent)}
            </select>
            {move || lane().map(|(class, words)| view! { <span class=class>{words}</span> })}
            <button
                class="icon-button"
                type="button"
                aria-label=move || format!("Remove {}", name())
                disabled=move || !lines.may_remove()
                on:click=move |_| {
                    // What was said of one by its letter would be read of whoever has that letter then.
                    refused.0.forget();
                    lines.remove(key);
                }
            >
                {Icon::Close.view()}
            </button>
            {why}
        </li>
    }
    .erase()
}
