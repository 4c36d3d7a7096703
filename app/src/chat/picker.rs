//! The choice of a model, grouped by server.

use domain::{
    backend::Offer,
    catalogue::{Lane, ModelRef, ModelServer, ServerState},
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    Pane,
    api::{self, Models},
};
use crate::{
    erased::{Erase, Erased, effect},
    icon::Icon,
    later::{CHUNK, Part},
    workspace::{Clock, Offered},
};

/// More than these are searched.
const FEW_MAX: usize = 15;

#[component]
pub fn ModelPicker() -> impl IntoView {
    let Offered(models) = expect_context::<Offered>();
    let Pane { chat, chosen, worker, .. } = expect_context::<Pane>();
    let model = chosen.model;
    let Clock(now_ms) = expect_context::<Clock>();
    // A model server may come up after the page did.
    effect(move || {
        if !model.with(String::is_empty) {
            return;
        }
        if let Some(default) = models.with(|models| models.default.clone()) {
            model.set(default.to_string());
        } else if now_ms.get().is_some_and(|now_ms| now_ms / 1_000 % 3 == 0) {
            ask_again(models, false);
        }
    });
    let is_searched = RwSignal::new(false);
    // The list in somebody's hands is not taken out of them.
    let is_held = RwSignal::new(false);
    let is_replaced = Memo::new(move |_| is_searched.get() && !is_held.get());
    let is_long = Memo::new(move |_| models.with(|models| models.count() > FEW_MAX));
    effect(move || {
        if is_long.get() {
            spawn_local(async move {
                if CHUNK.fetch().await {
                    is_searched.try_set(true);
                }
            });
        }
    });
    // Until that is here, and without scripts, the browser's own list does.
    let list = move || {
        if is_replaced.get() {
            return CHUNK.view(Part::Models(chat));
        }
        view! {
            <select
                class="select ghost"
                name="model"
                aria-label="Model"
                data-tip="Which model answers"
                on:focus=move |_| {
                    is_held.set(true);
                    ask_again(models, true);
                }
                on:blur=move |_| is_held.set(false)
                on:change:target=move |change| chosen.choose_model(change.target().value())
            >
                {options(models, model, worker.into())}
            </select>
        }
        .erase()
    };
    view! { <span class="picker">{Icon::Server.view()} {list}</span> }.erase()
}

/// Every model by its server, and the chosen one even where nobody offers it.
/// `agent` is who would ask it; nobody is there for a model that answers by itself.
pub fn options(models: RwSignal<Models>, model: RwSignal<String>, agent: Signal<Option<Offer>>) -> Erased {
    let missing = move || {
        let chosen = model.get();
        let is_missing = models.with(|models| !models.offers(&chosen));
        is_missing.then(|| {
            let words = if chosen.is_empty() {
                "No model found".to_owned()
            } else {
                format!("{chosen} (not offered now)")
            };
            view! { <option value=chosen selected prop:selected=true>{words}</option> }
        })
    };
    let groups = move || {
        let agent = agent.get();
        models.with(|models| {
            let servers = models.catalogue.servers.iter();
            // An agent's own login is of no use without the agent.
            let usable = servers.filter(|server| agent.is_some() || server.check_chat().is_ok());
            usable.map(|server| group(server, agent.as_ref(), model)).collect_view()
        })
    };
    (missing, groups).erase()
}

/// Whoever opens the list wants to see what is there now.
pub fn ask_again(models: RwSignal<Models>, refresh: bool) {
    spawn_local(async move {
        if let Ok(fresh) = api::offered_models(refresh).await
            && models.try_with_untracked(|shown| *shown != fresh) == Some(true)
        {
            models.set(fresh);
        }
    });
}

fn group(server: &ModelServer, agent: Option<&Offer>, chosen: RwSignal<String>) -> impl IntoView + use<> {
    let mismatch = agent.and_then(|offer| offer.mismatch(server));
    let is_out = mismatch.is_some() || matches!(server.state, ServerState::Unreachable { .. });
    let options = server.models.iter().map(|model| {
        let value = ModelRef { server: server.name.clone(), model: model.id.clone() }.to_string();
        let is_chosen = {
            let value = value.clone();
            move || chosen.with(|chosen| *chosen == value)
        };
        let shortage = agent.and_then(|offer| offer.shortage(model)).filter(|_| !is_out);
        // The browser would leave a chosen but disabled model out of the form.
        let is_barred = {
            let (is_chosen, is_out) = (is_chosen.clone(), is_out || shortage.is_some());
            move || is_out && !is_chosen()
        };
        let words = match shortage {
            Some(why) => format!("{} ({why})", model.shown()),
            None => model.shown().to_owned(),
        };
        let is_chosen_first = chosen.with_untracked(|chosen| *chosen == value);
        view! {
            <option value=value selected=is_chosen_first prop:selected=is_chosen disabled=is_barred>
                {words}
            </option>
        }
    });
    let reason = match &server.state {
        _ if mismatch.is_some() => mismatch,
        ServerState::Unreachable { reason } => Some(reason.clone()),
        ServerState::Starting if server.models.is_empty() => Some("starting…".to_owned()),
        _ if server.models.is_empty() => Some("no models".to_owned()),
        _ => None,
    };
    view! {
        <optgroup label=label(server)>
            {options.collect_view()} {reason.map(|reason| view! { <option disabled value="">{reason}</option> })}
        </optgroup>
    }
    .erase()
}

pub fn label(server: &ModelServer) -> String {
    let lane = match server.lane {
        Lane::Local => "local",
        Lane::Cloud => "cloud",
    };
    let state = match server.state {
        ServerState::Reachable => "",
        ServerState::Starting => ", starting",
        ServerState::Unreachable { .. } => ", unreachable",
    };
    format!("{} ({lane}{state})", server.name)
}
