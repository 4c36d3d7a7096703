//! The command palette: every action, session and chat, a few letters away.

use domain::{page::Wanted, workspace::Workspace};
use leptos::{ev::KeyboardEvent, html, prelude::*};

use super::{ACTIONS, Hands};
use crate::{
    address::Step,
    erased::Erase,
    feed::Feed,
    icon::Icon,
    panes::kinds,
    ui::{Choice, Dialog, OptionList, matching, next_enabled},
};

/// More would not be read.
const SHOWN_MAX: usize = 60;

#[component]
pub fn Palette(hands: Hands) -> impl IntoView {
    view! {
        <Dialog id="palette" title="Command palette" open=hands.is_palette_open>
            <Finder hands />
        </Dialog>
    }
}

#[component]
fn Finder(hands: Hands) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let typed = RwSignal::new(String::new());
    let all = feed.workspace(choices);
    let found = Memo::new(move |_| {
        let mut found = matching(&all, &typed.read());
        found.truncate(SHOWN_MAX);
        found
    });
    let active = RwSignal::new(Some(0));
    let choose = move |value: String| {
        hands.is_palette_open.set(false);
        // By then the dialog has given the focus back, and does not take what is done for the reader's own step.
        request_animation_frame(move || carry_out(hands, &value));
    };
    let on_key = move |key: KeyboardEvent| {
        let name = key.key();
        if name == "Enter" {
            key.prevent_default();
            let chosen = active.get_untracked().and_then(|n| found.read_untracked().get(n).cloned());
            if let Some(chosen) = chosen {
                choose(chosen.value);
            }
        } else if let Some(next) = next_enabled(&found.read_untracked(), &name, active.get_untracked())
            && name.starts_with("Arrow")
        {
            key.prevent_default();
            active.set(Some(next));
        }
    };
    let input = NodeRef::<html::Input>::new();
    view! {
        <div class="palette">
            <input
                class="input palette-input"
                type="text"
                role="combobox"
                aria-label="Find an action, a session or a chat"
                aria-expanded="true"
                aria-controls="palette-list"
                aria-autocomplete="list"
                aria-activedescendant=move || active.get().map(|n| format!("palette-list-{n}"))
                placeholder="Find an action, a session or a chat"
                autocomplete="off"
                spellcheck="false"
                node_ref=input
                prop:value=typed
                on:input:target=move |event| {
                    typed.set(event.target().value());
                    active.set(Some(0));
                }
                on:keydown=on_key
            />
            <OptionList
                id="palette-list"
                name=Signal::stored("What was found".to_owned())
                choices=Signal::derive(move || found.get())
                active
                on_choose=Callback::new(choose)
            />
            <p class="palette-none" role="status">{move || found.read().is_empty().then_some("Nothing is called that.")}</p>
        </div>
    }
    .erase()
}

fn carry_out(hands: Hands, value: &str) {
    if let Some(path) = value.strip_prefix("go ") {
        hands.go.to(Wanted::from_path(path), Step::Forward);
        hands.panes.enter();
    } else if let Some(action) = ACTIONS.iter().find(|action| action.title == value) {
        (action.run)(hands);
    } else if let Some(new) = kinds::offered().find(|new| new.title() == value) {
        hands.open(new.entry.kind, new.place.edge);
    }
}

fn choices(all: &Workspace) -> Vec<Choice> {
    let actions = ACTIONS.iter().map(|action| {
        let choice = Choice::new(action.title, action.title).group(action.group).icon(action.icon);
        let choice = choice.keys(action.keys);
        if action.about.is_empty() { choice } else { choice.describe(action.about) }
    });
    let is_action = |title: &str| ACTIONS.iter().any(|action| action.title == title);
    let new = kinds::offered().filter(|new| !is_action(&new.title())).map(|new| {
        let choice = Choice::new(new.title(), new.title()).group("New").icon(new.entry.icon);
        choice.describe(new.about())
    });
    let project =
        |id| all.projects.iter().find(|project| project.id == id).map(|project| project.name.clone());
    let sessions = all.sessions.iter().map(|session| {
        let name = project(session.project).unwrap_or_default();
        let path = Wanted::Session(session.id).path();
        Choice::new(format!("go {path}"), format!("{name}: {}", session.name))
            .group("Sessions")
            .icon(Icon::Folder)
    });
    let chats = all.chats.iter().rev().map(|chat| {
        let name = all.session(chat.session).and_then(|session| project(session.project)).unwrap_or_default();
        let path = Wanted::Chat(chat.id).path();
        Choice::new(format!("go {path}"), chat.title.clone()).group("Chats").icon(Icon::Chat).describe(name)
    });
    actions.chain(new).chain(sessions).chain(chats).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_offered_in_every_place() {
        let all = choices(&Workspace::default());
        let has = |title: &str| all.iter().filter(|choice| choice.label == title).count();
        for entry in &kinds::KINDS {
            for place in ["", " on the right", " below"] {
                assert_eq!(has(&format!("{}{place}", entry.open)), 1, "{}{place}", entry.open);
            }
        }
    }

    #[test]
    fn what_is_typed_in_full_is_found_first() {
        let all = choices(&Workspace::default());
        for choice in &all {
            assert_eq!(matching(&all, &choice.label)[0].value, choice.value, "{}", choice.label);
        }
    }
}
