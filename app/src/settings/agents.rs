//! The agents, and installing those that are not there.

use domain::{
    backend::{Offer, State},
    settings::{AgentSettings, Shown},
};
use leptos::prelude::*;

use super::pane::Data;
use crate::{
    coder::api::InstallBackend,
    erased::{Erase, Erased, effect},
    form::{Form, Submission},
    notice::Failure,
};

pub fn view(data: Data) -> Erased {
    let install = Submission::new::<InstallBackend>();
    data.reload_when_done(install);
    let shown = Memo::new(move |_| {
        data.with(|shown| match shown {
            Shown::Agents(agents) => Some(Some(agents.clone())),
            _ => None,
        })
    });
    // Whoever waits for an installation looks more often.
    effect(move || {
        let is_installing =
            |agents: &AgentSettings| agents.offers.iter().any(|it| it.state == State::Installing);
        if data.now_ms.get().is_some()
            && shown.with_untracked(|shown| shown.as_ref().is_some_and(is_installing))
        {
            data.reload();
        }
    });
    let rows = move || {
        let offers = shown.get().map(|agents: AgentSettings| agents.offers).unwrap_or_default();
        offers.into_iter().map(|offer| row(offer, install).erase()).collect::<Vec<_>>().erase()
    };
    let wall = move || shown.get().map(|agents| agents.wall).unwrap_or_default();
    view! {
        <Failure error=Signal::derive(move || install.failure()) />
        <ul class="rows settings-rows">{rows}</ul>
        <p class="settings-note">"The wall on this machine is " {wall} "."</p>
    }
    .erase()
}

fn row(offer: Offer, install: Submission) -> impl IntoView {
    let Offer { backend, title, about, state } = offer;
    let (dot, words, by_hand) = match &state {
        State::Ready { version } => ("dot done", format!("Ready, version {version}"), None),
        State::Missing { install } => ("dot waiting", "Not installed".to_owned(), Some(install.clone())),
        State::Installing => ("dot running", "Being installed…".to_owned(), None),
        State::Unusable { reason } => ("dot failed", reason.clone(), None),
    };
    let can_install = matches!(state, State::Missing { .. } | State::Unusable { .. }) && !backend.is_native();
    let label = format!("Install {title}");
    let button = can_install.then(|| {
        view! {
            <Form to=install>
                <input type="hidden" name="backend" value=backend.to_string() />
                <button class="button small" type="submit" aria-label=label disabled=move || install.is_pending()>
                    "Install"
                </button>
            </Form>
        }
    });
    view! {
        <li class="row">
            <span class=dot aria-hidden="true"></span>
            <div class="row-words">
                <span class="row-title">{title}</span>
                <span class="row-state">{words}</span>
                <span class="row-about">{about}</span>
                {by_hand.map(|command| view! { <code class="row-about">{command}</code> })}
            </div>
            <div class="row-end">{button}</div>
        </li>
    }
}
