//! Who will work, and what stands against it.

use domain::run::Offer;
use leptos::{prelude::*, task::spawn_local};

use super::super::api;
use crate::erased::{Erase, effect};

/// Asks who would work.
pub fn ask() -> RwSignal<Option<Offer>> {
    let offer = RwSignal::new(None);
    effect(move || {
        spawn_local(async move {
            if let Ok(fresh) = api::flow_offer().await {
                offer.try_set(Some(fresh));
            }
        });
    });
    offer
}

/// Why nobody can work, and where that is changed.
#[component]
pub fn Hindrance(offer: RwSignal<Option<Offer>>) -> impl IntoView {
    let words = move || {
        offer.get().and_then(|offer| offer.hindrance).map(|why| {
            view! {
                <p class="notice error" role="alert">
                    <span>{why} " " <a href="/settings/models">"Choose who works in flows, or add a model server."</a></span>
                </p>
            }
        })
    };
    words.erase()
}

#[component]
pub fn OfferLine(offer: RwSignal<Option<Offer>>) -> impl IntoView {
    let words = move || match offer.get() {
        Some(Offer { backend, model: Some(model), hindrance: None }) => {
            let words = format!("{backend} works, with {model}. It can read and not write.");
            view! { <p class="field-hint">{words}</p> }.erase()
        }
        _ => ().erase(),
    };
    view! { <div class="orchestrator-offer">{words}</div> }.erase()
}
