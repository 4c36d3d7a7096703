//! One model server in the list.

use domain::{
    catalogue::{Lane, ServerState},
    settings::{Origin, ServerEntry},
};
use leptos::{html, prelude::*};

use crate::{
    erased::{Erase, effect},
    form::{Form, Submission},
    icon::Icon,
};

/// What can be done with a server.
#[derive(Clone, Copy)]
pub struct Actions {
    pub look: Submission,
    pub remove: Submission,
    pub set_key: Submission,
    pub remove_key: Submission,
}

pub fn view(entry: ServerEntry, actions: Actions) -> impl IntoView {
    let Actions { look, remove, .. } = actions;
    let (dot, state) = match (&entry.unused, &entry.look) {
        (Some(why), _) => ("dot waiting", why.clone()),
        (None, Some(look)) => {
            let dot = match look.state {
                ServerState::Reachable => "dot done",
                ServerState::Starting => "dot waiting",
                ServerState::Unreachable { .. } => "dot failed",
            };
            (dot, look.words())
        }
        (None, None) => ("dot waiting", "Not asked yet".to_owned()),
    };
    let lane = match entry.lane {
        Lane::Local => "local".to_owned(),
        Lane::Cloud => format!("cloud, {} at once", entry.parallel),
    };
    let url = Some(entry.url.clone()).filter(|url| !url.is_empty());
    let facts: Vec<_> = [url, entry.key.words(), Some(origin(&entry.origin))].into_iter().flatten().collect();
    let again = format!("Test {}", entry.name);
    let is_ours = entry.origin == Origin::Settings;
    let key = (is_ours && entry.unused.is_none()).then(|| key(&entry, actions).erase());
    let removal = is_ours.then(|| removal(&entry, remove).erase());
    view! {
        <li class="row settings-server">
            <span class=dot aria-hidden="true"></span>
            <div class="row-words">
                <span class="row-title">{entry.name.clone()} " " <span class="badge">{lane}</span></span>
                <span class="row-state">{state}</span>
                <span class="row-about">{facts.join(" · ")}</span>
            </div>
            <div class="row-end">
                <Form to=look>
                    <button class="button small" type="submit" aria-label=again disabled=move || look.is_pending()>
                        "Test"
                    </button>
                </Form>
                {key}
                {removal}
            </div>
        </li>
    }
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Default => "built in".to_owned(),
        origin => origin.to_string(),
    }
}

/// Takes a key and never shows it again: what is there can only be replaced or removed.
fn key(entry: &ServerEntry, actions: Actions) -> impl IntoView + use<> {
    let Actions { set_key, remove_key, .. } = actions;
    let name = entry.name.clone();
    let (id, is_entered) = (format!("key-of-{name}"), entry.key.is_entered());
    let (verb, label) = if is_entered { ("Replace", "New key") } else { ("Keep", "Key") };
    let named = name.clone();
    let forget = is_entered.then(move || {
        view! {
            <Form to=remove_key>
                <input type="hidden" name="name" value=named.clone() />
                <button
                    class="button small danger"
                    type="submit"
                    aria-label=format!("Remove the key of {named}")
                    disabled=move || remove_key.is_pending()
                >
                    "Remove it on every machine"
                </button>
            </Form>
        }
        .erase()
    });
    let details = NodeRef::<html::Details>::new();
    fold_when_done(name.clone(), details, [set_key, remove_key]);
    view! {
        <details class="settings-removal" node_ref=details>
            <summary class="button small" aria-label=format!("Key of {name}…")>"Key…"</summary>
            <div class="settings-confirm calm">
                <Form to=set_key>
                    <input type="hidden" name="name" value=name.clone() />
                    <div class="field">
                        <label class="field-label" for=id.clone()>{format!("{label} of {name}")}</label>
                        <div class="settings-line">
                            <input
                                class="input"
                                id=id.clone()
                                name="key"
                                type="password"
                                required
                                autocomplete="off"
                                aria-describedby=format!("{id}-hint")
                            />
                            <button class="button small" type="submit" disabled=move || set_key.is_pending()>
                                {verb}
                            </button>
                        </div>
                        <span class="field-hint" id=format!("{id}-hint")>
                            "Kept sealed, for this machine alone, and never shown again."
                        </span>
                    </div>
                </Form>
                {forget}
            </div>
        </details>
    }
}

/// What was sent for this server is done: it is folded again, and nothing that was typed stays in the page.
fn fold_when_done(name: String, details: NodeRef<html::Details>, forms: [Submission; 2]) {
    let is_ours = StoredValue::new(false);
    effect(move || {
        let sent = forms.into_iter().find_map(|form| form.sent("name"));
        let is_done = forms.into_iter().any(Submission::is_done);
        match sent {
            Some(sent) => is_ours.set_value(sent == name),
            None if is_done && is_ours.get_value() => {
                is_ours.set_value(false);
                if let Some(details) = details.get_untracked() {
                    details.set_open(false);
                    empty(&details);
                }
            }
            None => {}
        }
    });
}

#[cfg(feature = "hydrate")]
fn empty(details: &leptos::web_sys::HtmlDetailsElement) {
    use wasm_bindgen::JsCast as _;
    if let Ok(Some(form)) = details.query_selector("form") {
        form.unchecked_into::<leptos::web_sys::HtmlFormElement>().reset();
    }
}

#[cfg(not(feature = "hydrate"))]
fn empty(_details: &leptos::web_sys::HtmlDetailsElement) {}

/// Opens without scripts too, and says what becomes of the tasks there before it is too late.
fn removal(entry: &ServerEntry, remove: Submission) -> impl IntoView + use<> {
    let name = entry.name.clone();
    let told = entry.work.queued.to_string();
    let consequences = match entry.work.after_removal() {
        words if words.is_empty() => "Nothing waits for it.".to_owned(),
        words => words,
    };
    view! {
        <details class="settings-removal">
            <summary class="button small" aria-label=format!("Remove {name}…")>"Remove…"</summary>
            <Form to=remove class="settings-confirm">
                <p>{format!("Remove {name}? ")} {consequences}</p>
                <input type="hidden" name="name" value=name.clone() />
                <input type="hidden" name="told" value=told />
                <button class="button small danger" type="submit" disabled=move || remove.is_pending()>
                    {Icon::Trash.view()}
                    {format!("Remove {name}")}
                </button>
            </Form>
        </details>
    }
}
