//! The choice of who does the work.

use domain::{
    backend::{NATIVE, Offer},
    chat::Chat,
};
use leptos::{html::Input, prelude::*, task::spawn_local};

use super::api;
use crate::{
    chat::Pane,
    erased::{Erase, Erased, Show, effect, effect_first},
    feed::Feed,
    icon::Icon,
};

#[component]
pub fn BackendPicker() -> impl IntoView {
    let Pane { chosen, worker, .. } = expect_context::<Pane>();
    let backend = chosen.backend;
    let offers = RwSignal::new(Vec::<Offer>::new());
    effect(move || ask_again(offers));
    effect(move || {
        worker.set(chosen_backend(offers, backend));
    });
    view! {
        <span class="picker">
            {Icon::Terminal.view()}
            <select
                class="select ghost"
                name="coder[backend]"
                aria-label="Agent"
                data-tip="Who does the work"
                on:focus=move |_| ask_again(offers)
                on:change:target=move |change| chosen.choose_backend(change.target().value())
            >
                {move || options(offers, backend)}
            </select>
        </span>
    }
    .erase()
}

/// What is known of the chosen one.
pub fn chosen_backend(offers: RwSignal<Vec<Offer>>, backend: RwSignal<String>) -> Option<Offer> {
    let name = backend.get();
    offers.with(|all| all.iter().find(|offer| offer.backend.0 == name).cloned())
}

/// Every agent, those that cannot work now with the reason.
pub fn options(offers: RwSignal<Vec<Offer>>, backend: RwSignal<String>) -> Erased {
    let all = offers.get();
    if all.is_empty() {
        // Until the server has told, what is chosen stands alone.
        return vec![option(backend.get(), None, None, backend)].erase();
    }
    let (ready, others): (Vec<_>, Vec<_>) = all.into_iter().partition(Offer::is_ready);
    let option = |offer: Offer| {
        let hindrance = offer.hindrance();
        option(offer.backend.to_string(), Some(offer), hindrance, backend)
    };
    ready.into_iter().chain(others).map(option).collect::<Vec<_>>().erase()
}

fn option(name: String, offer: Option<Offer>, hindrance: Option<String>, chosen: RwSignal<String>) -> Erased {
    let title = offer.as_ref().map_or_else(|| shown(&name), |offer| offer.title.clone());
    let words = match &hindrance {
        Some(why) => format!("{title} ({why})"),
        None => title,
    };
    let about = offer.map(|offer| offer.about);
    let is_chosen_first = chosen.with_untracked(|chosen| *chosen == name);
    let value = name.clone();
    let is_chosen = move || chosen.with(|chosen| *chosen == name);
    // The browser would leave a chosen but disabled one out of the form.
    let is_barred = {
        let is_chosen = is_chosen.clone();
        move || hindrance.is_some() && !is_chosen()
    };
    view! {
        <option value=value title=about selected=is_chosen_first prop:selected=is_chosen disabled=is_barred>
            {words}
        </option>
    }
    .erase()
}

fn shown(name: &str) -> String {
    if name == NATIVE { "BooCode".to_owned() } else { name.to_owned() }
}

pub fn ask_again(offers: RwSignal<Vec<Offer>>) {
    spawn_local(async move {
        if let Ok(fresh) = api::offered_backends().await
            && offers.try_with_untracked(|shown| *shown != fresh) == Some(true)
        {
            offers.set(fresh);
        }
    });
}

/// The same choice for a turn that is tried again.
#[component]
pub fn WorkAgain() -> impl IntoView {
    let Pane { chat, chosen, .. } = expect_context::<Pane>();
    let backend = chosen.backend;
    let feed = expect_context::<Feed>();
    let asks = untrack(|| feed.chat(chat, last_asks)).unwrap_or_default();
    view! {
        <input type="hidden" name="coder[backend]" value=backend.get_untracked() prop:value=backend />
        <input type="hidden" name="coder[asks]" value=asks.to_string() />
    }
    .erase()
}

/// A task goes on as its last turn did.
fn last_asks(chat: &Chat) -> bool {
    let last = chat.branch().into_iter().rev().find_map(|message| chat.task_of(message));
    last.and_then(|task| task.coder.as_ref()).is_some_and(|coder| coder.asks)
}

/// How the work is done: whether the agent asks, and whether its worktree begins with what is not committed, which
/// is settled once there is one.
#[component]
pub fn WorkOptions() -> impl IntoView {
    let Pane { chosen, worker, .. } = expect_context::<Pane>();
    let gap = move || worker.with(|worker| worker.as_ref()?.gap.clone());
    view! {
        <div class="composer-options">
            <Tick name="coder[asks]" words="Ask before changes" on=chosen.asks />
            <Show when=move || !chosen.has_worktree.get()>
                <Tick name="coder[carry]" words="With my uncommitted changes" on=chosen.carry />
            </Show>
            {move || gap().map(|gap| view! { <p class="composer-option" role="note">{gap}</p> })}
        </div>
    }
    .erase()
}

#[component]
fn Tick(name: &'static str, words: &'static str, on: RwSignal<bool>) -> impl IntoView {
    let Pane { chosen, .. } = expect_context::<Pane>();
    let choose = move |is_on| {
        on.set(is_on);
        chosen.note();
    };
    let input = NodeRef::<Input>::new();
    effect_first(move |is_first| {
        let is_on = on.get();
        let Some(input) = input.get() else { return };
        // Somebody may have pressed it before the page came alive.
        if is_first && input.checked() != input.default_checked() {
            choose(input.checked());
        } else {
            input.set_checked(is_on);
        }
    });
    view! {
        <label class="composer-option">
            <input
                type="checkbox"
                name=name
                value="true"
                checked=on.get_untracked()
                node_ref=input
                on:change:target=move |change| choose(change.target().checked())
            />
            {words}
        </label>
    }
    .erase()
}
