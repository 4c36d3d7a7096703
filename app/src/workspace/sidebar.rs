//! Projects, their sessions, and the chats in them.

use domain::{
    id::{ProjectId, SessionId},
    workspace::{ChatEntry, Project, Session},
};
use leptos::{form::ActionForm, prelude::*};

use super::{
    api::{AddChat, AddSession},
    chat_path,
};
use crate::{
    feed::Feed,
    icon::Icon,
    notice::{Failure, failure_of},
};

#[component]
pub fn Sidebar() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let actions = Actions { add_chat: ServerAction::new(), add_session: ServerAction::new() };
    let projects = Memo::new(move |_| feed.workspace(|all| all.projects.clone()));
    let failure = move || failure_of(actions.add_chat).or_else(|| failure_of(actions.add_session));
    view! {
        <nav class="sidebar" id="sidebar" aria-label="Projects and chats">
            <div class="sidebar-head">
                <a class="brand" href="/">"BooCode"</a>
                <a class="icon-button" href="/" aria-label="Add a project" title="Add a project">
                    {Icon::Plus.view()}
                </a>
            </div>
            <div class="sidebar-scroll">
                <Failure error=Signal::derive(failure) dismiss=move |()| actions.forget() />
                <For
                    each=move || projects.get()
                    key=|project| project.id
                    children=move |project| view! { <ProjectPart project actions /> }
                />
            </div>
            <div class="sidebar-foot"><Connection /></div>
        </nav>
    }
    .into_any()
}

#[derive(Clone, Copy)]
struct Actions {
    add_chat: ServerAction<AddChat>,
    add_session: ServerAction<AddSession>,
}

impl Actions {
    fn forget(self) {
        self.add_chat.value().set(None);
        self.add_session.value().set(None);
    }
}

#[component]
fn ProjectPart(project: Project, actions: Actions) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let id = project.id;
    let sessions = Memo::new(move |_| feed.workspace(|all| of_project(&all.sessions, id)));
    // Shown without its number while it is the only one.
    let is_single = Memo::new(move |_| sessions.read().len() == 1);
    view! {
        <section>
            <h2 class="nav-title" title=project.path>
                <span class="nav-label">{project.name.clone()}</span>
                <ActionForm action=actions.add_session>
                    <input type="hidden" name="project" value=id.to_string() />
                    <input
                        type="hidden"
                        name="name"
                        value=move || format!("Session {}", sessions.read().len() + 1)
                    />
                    <button
                        class="icon-button"
                        type="submit"
                        title="New session"
                        aria-label=format!("New session in {}", project.name)
                    >
                        {Icon::Plus.view()}
                    </button>
                </ActionForm>
            </h2>
            <ul class="nav-list">
                <For
                    each=move || sessions.get()
                    key=|session| session.id
                    children=move |session| view! { <SessionPart session actions is_single /> }
                />
            </ul>
        </section>
    }
    .into_any()
}

#[component]
fn SessionPart(session: Session, actions: Actions, is_single: Memo<bool>) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let id = session.id;
    let chats = Memo::new(move |_| feed.workspace(|all| of_session(&all.chats, id)));
    let name = session.name.clone();
    view! {
        <li>
            {move || (!is_single.get()).then(|| view! { <h3 class="nav-title">{name.clone()}</h3> })}
            <ActionForm action=actions.add_chat>
                <input type="hidden" name="session" value=id.to_string() />
                <button class="nav-item" type="submit" aria-label=format!("New chat in {}", session.name)>
                    {Icon::Plus.view()}
                    <span class="nav-label">"New chat"</span>
                </button>
            </ActionForm>
            <ul class="nav-list">
                <For
                    each=move || chats.get()
                    key=|chat| (chat.id, chat.title.clone(), chat.running)
                    children=|chat| view! { <ChatLink chat /> }
                />
            </ul>
        </li>
    }
    .into_any()
}

#[component]
fn ChatLink(chat: ChatEntry) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let ChatEntry { id, title, running, .. } = chat;
    let current = move || (feed.shown_chat() == Some(id)).then_some("page");
    let dot = running.then(|| {
        view! {
            <span class="dot running"></span>
            <span class="visually-hidden">"An answer is being written"</span>
        }
    });
    view! {
        <li>
            <a class="nav-item" href=chat_path(id) aria-current=current>
                {Icon::Chat.view()}
                <span class="nav-label">{title}</span>
                {dot}
            </a>
        </li>
    }
    .into_any()
}

#[component]
fn Connection() -> impl IntoView {
    let feed = expect_context::<Feed>();
    // The frame speaks it, because on a phone the drawer hides this line.
    view! {
        <p class="connection" data-state=move || feed.connection.get().mark()>
            {move || feed.connection.get().words()}
        </p>
    }
    .into_any()
}

fn of_project(sessions: &[Session], project: ProjectId) -> Vec<Session> {
    sessions.iter().filter(|session| session.project == project).cloned().collect()
}

/// The newest first.
fn of_session(chats: &[ChatEntry], session: SessionId) -> Vec<ChatEntry> {
    chats.iter().rev().filter(|chat| chat.session == session).cloned().collect()
}
