//! The agents, and installing those that are not there.

use domain::{
    backend::{Backend, Login, Offer, State},
    protocol::Protocol,
    settings::{AgentSettings, Shown},
};
use leptos::prelude::*;

use super::pane::Data;
use crate::{
    coder::api::{InstallBackend, UseLogin},
    erased::{Erase, Erased, effect},
    form::{Form, Submission},
    notice::Failure,
};

pub fn view(data: Data) -> Erased {
    let (install, login) = (Submission::new::<InstallBackend>(), Submission::new::<UseLogin>());
    data.reload_when_done(install);
    data.reload_when_done(login);
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
        offers.into_iter().map(|offer| row(offer, install, login).erase()).collect::<Vec<_>>().erase()
    };
    let wall = move || shown.get().map(|agents| agents.wall).unwrap_or_default();
    view! {
        <Failure error=Signal::derive(move || install.failure().or_else(|| login.failure())) />
        <ul class="rows settings-rows">{rows}</ul>
        <p class="settings-note">"The wall on this machine is " {wall} "."</p>
    }
    .erase()
}

fn row(offer: Offer, install: Submission, login: Submission) -> impl IntoView {
    let Offer { backend, title, about, state, speaks, login: own_login, is_installable, .. } = offer;
    let speaks =
        (speaks != Protocol::Chat).then(|| format!("Needs a model server that speaks {}.", speaks.title()));
    let own_login = own_login.map(|it| login_line(&backend, &title, it, login));
    let (dot, words, by_hand) = match &state {
        State::Ready { version } if version.is_empty() => ("dot done", "Ready".to_owned(), None),
        State::Ready { version } => ("dot done", format!("Ready, version {version}"), None),
        State::Missing { install, failure } if failure.is_empty() => {
            ("dot waiting", "Not installed".to_owned(), Some(install.clone()))
        }
        State::Missing { install, failure } => ("dot failed", failure.clone(), Some(install.clone())),
        State::Installing => ("dot running", "Being installed…".to_owned(), None),
        State::Unusable { reason } => ("dot failed", reason.clone(), None),
    };
    let can_install = matches!(state, State::Missing { .. } | State::Unusable { .. }) && is_installable;
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
                {speaks.map(|words| view! { <span class="row-about">{words}</span> })}
                {by_hand.map(|command| view! { <code class="row-about">{command}</code> })} {own_login}
            </div>
            <div class="row-end">{button}</div>
        </li>
    }
}

/// Whether it may use its own login, which it is given as it lies there.
fn login_line(backend: &Backend, title: &str, own: Login, login: Submission) -> Erased {
    let Login { file, is_there, is_used } = own;
    let words = match (is_used, is_there) {
        (true, true) => {
            format!("Works on its own login, {file}, when you choose {}.", backend.login_server())
        }
        (true, false) => format!("Its own login is gone: there is no {file}."),
        (false, true) => format!("Has a login of its own on this machine, {file}. It is not used."),
        (false, false) => format!("Has no login of its own on this machine: there is no {file}."),
    };
    let label = if is_used { "Do not use its login" } else { "Use its login" };
    let (name, full_label) = (backend.to_string(), format!("{label}: {title}"));
    let button = (is_used || is_there).then(|| {
        view! {
            <Form to=login>
                <input type="hidden" name="backend" value=name />
                <input type="hidden" name="is_used" value=(!is_used).to_string() />
                <button
                    class="button small"
                    type="submit"
                    aria-label=full_label
                    disabled=move || login.is_pending()
                >
                    {label}
                </button>
            </Form>
        }
    });
    view! {
        <span class="row-about">{words}</span>
        {button}
    }
    .erase()
}
