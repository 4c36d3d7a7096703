//! Adding a model server: what is typed is tested or added, and what is wrong is said at its field.

use domain::{
    catalogue::ServerState,
    settings::{Checked, Draft},
};
use leptos::{ev::SubmitEvent, html, prelude::*, server_fn::ServerFn as _};

use super::{api::CheckModelServer, models::of, pane::Data};
use crate::{
    erased::{Erase, Erased, effect},
    error::AppError,
    form::Submission,
    notice::Failure,
    workspace::Offered,
};

/// What became of the draft, and of asking. The server sends nothing, so it reads only some of it.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
struct Trial {
    data: Data,
    checked: RwSignal<Checked>,
    failure: RwSignal<Option<AppError>>,
    is_pending: RwSignal<bool>,
    form: NodeRef<html::Form>,
    offered: Option<Offered>,
}

#[component]
pub fn ServerForm(data: Data, remove: Submission) -> impl IntoView {
    // A plain form comes back to its page, which has to say what became of it.
    let checked = untrack(|| of(data, |models| models.checked.clone())).unwrap_or_default();
    let typed = if checked.added { Draft::default() } else { checked.draft.clone() };
    let trial = Trial {
        data,
        checked: RwSignal::new(checked),
        failure: RwSignal::new(None),
        is_pending: RwSignal::new(false),
        form: NodeRef::new(),
        offered: use_context(),
    };
    let Trial { checked, is_pending, form, .. } = trial;
    effect(move || {
        if remove.is_done() {
            checked.update(|checked| checked.look = None);
        }
    });
    // What was typed or is wrong there must be seen.
    let is_more_typed =
        typed != Draft { name: typed.name.clone(), url: typed.url.clone(), ..Draft::default() };
    let is_more_open = move || {
        let is_faulty = |field: &&str| checked.with(|checked| checked.fault(field).is_some());
        is_more_typed || ["lane", "parallel", "key", "api_key_env", "models"].iter().any(is_faulty)
    };
    let more = view! {
        <details open=is_more_open>
            <summary>"Lane, key and models"</summary>
            <div class="settings-pair">
                {lane_field(checked, &typed.lane)}
                {field(trial, "parallel", "Tasks at once", "For a cloud server, 1 to 64; 4 if left empty.", typed.parallel)}
                {key_field(checked)}
                {field(trial, "api_key_env", "Or a variable with the key", "The name of an environment variable of the server, never the key itself.", typed.api_key_env)}
                {field(trial, "models", "Models", "Names with commas between, for a server that cannot list them.", typed.models)}
                {field(trial, "speaks", "Also speaks", "Besides chat completions: messages, responses, gemini, with commas between. A local server is asked.", typed.speaks)}
            </div>
        </details>
    }
    .erase();
    let actions = view! {
        <div class="settings-actions">
            <button class="button" type="submit" name="intent" value="test" disabled=is_pending>
                {move || if is_pending.get() { "Asking…" } else { "Test" }}
            </button>
            <button class="button primary" type="submit" name="intent" value="add" disabled=is_pending>
                "Add"
            </button>
        </div>
    }
    .erase();
    view! {
        <section class="settings-part" id="add" aria-labelledby="add-title">
            <h3 id="add-title">"Add a model server"</h3>
            <form
                class="card"
                method="post"
                action=CheckModelServer::PATH
                node_ref=form
                // What was found is about what was typed before.
                on:input=move |_| checked.update(|checked| checked.look = None)
                on:submit=move |event| send(trial, &event)
            >
                <div class="settings-pair">
                    {field(trial, "name", "Name", "Short and plain, such as desk. Models are called desk/model.", typed.name)}
                    {field(trial, "url", "Address", "http://host:port, or the base of an API such as https://host/v1.", typed.url)}
                </div>
                {more}
                <Failure error=trial.failure />
                {move || outcome(&checked.read())}
                {actions}
            </form>
        </section>
    }
    .erase()
}

fn field(trial: Trial, key: &'static str, label: &'static str, hint: &'static str, typed: String) -> Erased {
    let id = format!("server-{key}");
    let is_faulty = move || trial.checked.with(|checked| checked.fault(key).is_some()).then_some("true");
    view! {
        <div class="field">
            <label class="field-label" for=id.clone()>{label}</label>
            <input
                id=id.clone()
                name=format!("draft[{key}]")
                type="text"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                value=typed
                aria-invalid=is_faulty
                aria-describedby=format!("{id}-hint {id}-error")
            />
            <span class="field-hint" id=format!("{id}-hint")>{hint}</span>
            {fault(trial.checked, key)}
        </div>
    }
    .erase()
}

/// It is never filled in: a key that was sent comes back to nobody.
fn key_field(checked: RwSignal<Checked>) -> Erased {
    let is_faulty = move || checked.with(|checked| checked.fault("key").is_some()).then_some("true");
    view! {
        <div class="field">
            <label class="field-label" for="server-key">"Key"</label>
            <input
                id="server-key"
                name="key"
                type="password"
                autocomplete="off"
                aria-invalid=is_faulty
                aria-describedby="server-key-hint server-key-error"
            />
            <span class="field-hint" id="server-key-hint">
                "If the server wants one. It is kept sealed on this machine, and never shown again."
            </span>
            {fault(checked, "key")}
        </div>
    }
    .erase()
}

fn lane_field(checked: RwSignal<Checked>, typed: &str) -> Erased {
    let options: Vec<_> = [
        ("", "Local on this machine, cloud elsewhere"),
        ("local", "Local: one task at a time"),
        ("cloud", "Cloud: several at once"),
    ]
    .into_iter()
    .map(|(value, label)| {
        let is_chosen = value == typed;
        view! { <option value=value selected=is_chosen>{label}</option> }
    })
    .collect();
    view! {
        <div class="field">
            <label class="field-label" for="server-lane">"Lane"</label>
            <select
                class="select"
                id="server-lane"
                name="draft[lane]"
                aria-describedby="server-lane-hint server-lane-error"
            >
                {options}
            </select>
            <span class="field-hint" id="server-lane-hint">"How much it does at once."</span>
            {fault(checked, "lane")}
        </div>
    }
    .erase()
}

fn fault(checked: RwSignal<Checked>, key: &'static str) -> Erased {
    let words = move || checked.with(|checked| checked.fault(key).map(sentence));
    view! { <span class="field-error" id=format!("server-{key}-error") role="alert">{words}</span> }.erase()
}

/// The rules speak in half sentences, because a setting's name goes before them elsewhere.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    chars
        .next()
        .map_or_else(String::new, |first| format!("{}{}.", first.to_ascii_uppercase(), chars.as_str()))
}

/// What was found at the address, once that was asked.
fn outcome(checked: &Checked) -> Erased {
    let Some(look) = &checked.look else { return ().erase() };
    let is_down = matches!(look.state, ServerState::Unreachable { .. });
    let title = match (checked.added, is_down) {
        (true, false) => format!("{} was added", checked.draft.name.trim()),
        (true, true) => format!("{} was added, and does not answer now", checked.draft.name.trim()),
        (false, false) => "It answers".to_owned(),
        (false, true) => "It cannot be used".to_owned(),
    };
    view! {
        <div class=if is_down { "notice error" } else { "notice info" } role="status">
            <p class="notice-title">{title}</p>
            <p>{look.words()}</p>
        </div>
    }
    .erase()
}

#[cfg(not(feature = "hydrate"))]
fn send(_trial: Trial, _event: &SubmitEvent) {}

#[cfg(feature = "hydrate")]
fn send(trial: Trial, event: &SubmitEvent) {
    use super::{api::TryModelServer, models::ask_for_pickers};

    event.prevent_default();
    let Some(fields) = crate::form::fields(event) else {
        return trial.failure.set(Some(AppError::Unreadable));
    };
    trial.is_pending.set(true);
    leptos::task::spawn_local(async move {
        let answer = crate::wire::post(TryModelServer::PATH, fields).await;
        let answer =
            answer.and_then(|body| domain::json::read::<Checked>(&body).map_err(|_| AppError::Unreadable));
        if trial.is_pending.try_set(false).is_some() {
            return;
        }
        match answer {
            Ok(checked) => {
                trial.failure.set(None);
                if checked.added {
                    if let Some(form) = trial.form.get_untracked() {
                        form.reset();
                    }
                    trial.data.reload();
                    ask_for_pickers(trial.offered);
                }
                trial.checked.set(checked);
            }
            Err(error) => trial.failure.set(Some(error)),
        }
    });
}
