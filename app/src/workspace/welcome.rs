//! The start page: the newest chats, and the way in for a first project.

use domain::{
    page::Wanted,
    workspace::{Activity, ChatEntry},
};
use leptos::prelude::*;

use super::add_project::AddProjectForm;
use crate::erased::{Erase, For, Show};
use crate::feed::Feed;

const RECENT_MAX: usize = 12;

#[component]
pub fn Welcome() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let recent = Memo::new(move |_| {
        feed.workspace(|all| all.chats.iter().rev().take(RECENT_MAX).cloned().collect::<Vec<_>>())
    });
    let is_empty = Memo::new(move |_| feed.workspace(|all| all.projects.is_empty()));
    let lead = move || {
        if is_empty.get() {
            "Add the folder of a project: ask about it, let agents change it or compete, or have it reviewed."
        } else {
            "Go on with a chat, or add another project."
        }
    };
    view! {
        <div class="page">
            <div class="page-head">
                <h1>"BooCode"</h1>
                <p class="page-lead">{lead}</p>
            </div>
            <Show when=move || !recent.read().is_empty()>
                <h2>"Recent chats"</h2>
                <ul class="card-list">
                    <For
                        each=move || recent.get()
                        key=|chat| (chat.id, chat.title.clone(), chat.activity())
                        children=|chat| view! { <li><Recent chat /></li> }
                    />
                </ul>
            </Show>
            <h2>"Add a project"</h2>
            <AddProjectForm />
        </div>
    }
    .erase()
}

#[component]
fn Recent(chat: ChatEntry) -> impl IntoView {
    let is_running = chat.activity() == Activity::Running;
    view! {
        <a class="card" href=Wanted::Chat(chat.id).path()>
            <span>{chat.title}</span>
            {is_running.then_some(view! { <span class="field-hint">"An answer is being written."</span> })}
        </a>
    }
    .erase()
}
