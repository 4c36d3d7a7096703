//! Settings: what is set, by whom, and what can be changed here. A section is one entry of the registry.
//!
//! The server renders a section whole, with plain forms. The browser's half is a chunk of its own: it is loaded
//! when Settings are opened, and takes the place of what the server sent.

mod about;
mod agents;
pub mod api;
mod appearance;
mod browsers;
mod flows_form;
mod host;
mod models;
mod notifications;
mod pane;
mod phone;
mod projects;
mod rows;
mod server_form;
mod server_row;
mod worktrees;

use domain::{page::Wanted, settings::Section};
use leptos::prelude::*;

use crate::{
    chat::keep_text,
    erased::{Erase, Erased},
    icon::Icon,
    panes::Panes,
};
use host::Host;
use pane::Data;
pub use projects::anchor as project_anchor;

/// What is to be said about a section, and what it shows.
struct Entry {
    section: Section,
    title: &'static str,
    icon: Icon,
    /// What it is about, in a sentence.
    about: &'static str,
    view: fn(Data) -> Erased,
}

static ENTRIES: [Entry; 9] = [
    Entry {
        section: Section::Models,
        title: "Models",
        icon: Icon::Server,
        about: "Which model servers are asked, how much each does at once, and which model is used where nobody chose one.",
        view: models::view,
    },
    Entry {
        section: Section::Agents,
        title: "Agents",
        icon: Icon::Code,
        about: "Who can do the work of a Coder. Each works in a worktree of its own, behind a wall.",
        view: agents::view,
    },
    Entry {
        section: Section::Projects,
        title: "Projects",
        icon: Icon::Folder,
        about: "What the worktrees of a project begin with, besides its files.",
        view: projects::view,
    },
    Entry {
        section: Section::Worktrees,
        title: "Worktrees",
        icon: Icon::Branch,
        about: "Where agents work on this machine, and how much of the disk that takes.",
        view: worktrees::view,
    },
    Entry {
        section: Section::Appearance,
        title: "Appearance",
        icon: Icon::Sun,
        about: "How BooCode looks in this browser.",
        view: appearance::view,
    },
    Entry {
        section: Section::Notifications,
        title: "Notifications",
        icon: Icon::Bell,
        about: "What you are told while you look at something else. What you have in front of you is never told.",
        view: notifications::view,
    },
    Entry {
        section: Section::Browsers,
        title: "Browsers",
        icon: Icon::Key,
        about: "Every browser that is signed in. One that is signed out loses its open pages within seconds.",
        view: browsers::view,
    },
    Entry {
        section: Section::Phone,
        title: "Pair a phone",
        icon: Icon::Phone,
        about: "Sign another device in by a code that works once.",
        view: phone::view,
    },
    Entry {
        section: Section::About,
        title: "About",
        icon: Icon::Info,
        about: "Where things are kept, and which versions run. These are set by flags, the environment or the settings file.",
        view: about::view,
    },
];

fn entry(section: Section) -> &'static Entry {
    ENTRIES.iter().find(|entry| entry.section == section).unwrap_or(&ENTRIES[0])
}

/// What the section in front shows when the page is rendered, for the server's half.
#[cfg(not(feature = "hydrate"))]
#[derive(Clone, Debug, PartialEq)]
pub struct FirstSection(pub Result<domain::settings::Shown, crate::error::AppError>);

/// Settings in a pane, where the address says nothing about the section: this browser remembers it.
#[component]
pub fn SettingsPane() -> impl IntoView {
    let section = RwSignal::new(Section::default());
    let session = expect_context::<Panes>().session.get_untracked();
    if let Some(session) = session {
        let take = move |id: Option<String>, _| {
            if let Some(kept) = id.as_deref().and_then(Section::named) {
                section.set(kept);
            }
        };
        keep_text(format!("settings:{session}"), move || section.get().id().to_owned(), take);
    }
    view! { <Host section choose=Callback::new(move |other| section.set(other)) /> }.erase()
}

/// Settings in place of the panes; the address names the section.
#[component]
pub fn SettingsPage(wanted: Memo<Wanted>) -> impl IntoView {
    let section = Memo::new(move |last: Option<&Section>| match wanted.get() {
        Wanted::SettingsPage(section) => section,
        // It is about to go.
        _ => last.copied().unwrap_or_default(),
    });
    view! {
        <h1 class="visually-hidden">"Settings"</h1>
        <Host section />
    }
    .erase()
}

#[cfg(test)]
#[cfg(feature = "ssr")]
mod tests;
