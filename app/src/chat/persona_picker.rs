//! The choice of a persona: as whom the model is asked to work.

use domain::{
    id::ChatId,
    persona::{Offer, Problem},
};
use leptos::{prelude::*, task::spawn_local};

use super::{Pane, api};
use crate::{
    erased::{Erase, Erased, effect},
    icon::Icon,
};

#[component]
pub fn PersonaPicker() -> impl IntoView {
    let Pane { chat, chosen, .. } = expect_context::<Pane>();
    let persona = chosen.persona;
    let offer = RwSignal::new(Offer::default());
    effect(move || ask_again(chat, offer));
    view! {
        <span class="picker" data-chosen=move || persona.with(|name| !name.is_empty()).then_some("")>
            {Icon::Persona.view()}
            <select
                class="select ghost"
                name="persona"
                aria-label="Persona"
                data-tip="As whom the model works"
                on:focus=move |_| ask_again(chat, offer)
                on:change:target=move |change| chosen.choose_persona(change.target().value())
            >
                {options(offer, persona)}
            </select>
        </span>
    }
    .erase()
}

/// Every persona that a project has, and what is wrong with its own.
pub fn options(offer: RwSignal<Offer>, persona: RwSignal<String>) -> Erased {
    // One that a project no longer has stays chosen until another is; the server says so when it is asked.
    let missing = move || {
        let chosen = persona.get();
        let is_offered = offer.with(|offer| offer.personas.iter().any(|offered| offered.name == chosen));
        (!chosen.is_empty() && !is_offered).then(|| option(chosen, None, persona))
    };
    let offered = move || {
        let offered = offer.with(|offer| offer.personas.clone());
        let options = offered.into_iter().map(|it| option(it.name, Some(it.description), persona));
        options.collect::<Vec<_>>().erase()
    };
    let left_out = move || offer.with(|offer| left_out(&offer.problems));
    view! {
        <option value="" prop:selected=move || persona.with(String::is_empty)>"No persona"</option>
        {missing}
        {offered}
        {left_out}
    }
    .erase()
}

fn option(name: String, description: Option<String>, chosen: RwSignal<String>) -> Erased {
    let is_chosen_first = chosen.with_untracked(|chosen| *chosen == name);
    let (value, shown) = (name.clone(), name.clone());
    let is_chosen = move || chosen.with(|chosen| *chosen == name);
    view! {
        <option value=value title=description selected=is_chosen_first prop:selected=is_chosen>{shown}</option>
    }
    .erase()
}

/// Whoever wrote the file finds here what is wrong with it.
fn left_out(problems: &[Problem]) -> Option<Erased> {
    if problems.is_empty() {
        return None;
    }
    let line = |Problem { line, words, .. }: &Problem| {
        view! { <option disabled value="">{format!("Line {line}: {words}")}</option> }
    };
    let lines: Vec<_> = problems.iter().map(line).collect();
    Some(view! { <optgroup label="Left out of .boocode/AGENTS.md">{lines}</optgroup> }.erase())
}

/// A file that changed holds at once for whoever opens the list.
fn ask_again(chat: ChatId, offer: RwSignal<Offer>) {
    spawn_local(async move {
        if let Ok(fresh) = api::offered_personas(chat).await
            && offer.try_with_untracked(|shown| *shown != fresh) == Some(true)
        {
            offer.set(fresh);
        }
    });
}
