//! One model server in the list.

use domain::{
    catalogue::{Lane, ServerState},
    settings::{KeyState, Origin, ServerEntry},
};
use leptos::prelude::*;

use crate::{
    erased::Erase,
    form::{Form, Submission},
    icon::Icon,
};

pub fn view(entry: ServerEntry, look: Submission, remove: Submission) -> impl IntoView {
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
    let key = match &entry.key {
        KeyState::None => None,
        KeyState::Set { variable } => Some(format!("key from {variable}")),
        KeyState::Missing { variable } => Some(format!("{variable} is not set")),
    };
    let facts: Vec<_> =
        [Some(entry.url.clone()).filter(|url| !url.is_empty()), key, Some(origin(&entry.origin))]
            .into_iter()
            .flatten()
            .collect();
    let again = format!("Test {}", entry.name);
    let removal = (entry.origin == Origin::Settings).then(|| removal(&entry, remove).erase());
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
