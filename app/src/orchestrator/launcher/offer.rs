//! Who will work, and what stands against it.

use domain::run::Offer;
use leptos::{prelude::*, task::spawn_local};

use super::super::api;
use crate::erased::{Erase, effect};

#[component]
pub fn OfferLine() -> impl IntoView {
    let offer = RwSignal::new(None::<Offer>);
    effect(move || {
        spawn_local(async move {
            if let Ok(fresh) = api::flow_offer().await {
                offer.try_set(Some(fresh));
            }
        });
    });
    let words = move || {
        offer.get().map(|Offer { backend, model, hindrance }| match (hindrance, model) {
            (Some(why), _) => view! { <p class="field-error">{why}</p> }.erase(),
            (None, Some(model)) => {
                view! { <p class="field-hint">{format!("{backend} works, with {model}. It can read and not write.")}</p> }
                    .erase()
            }
            (None, None) => ().erase(),
        })
    };
    view! { <div class="orchestrator-offer">{words}</div> }.erase()
}
