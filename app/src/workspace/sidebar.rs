//! Projects, their sessions, and the chats in them.

use domain::{
    archive::Of,
    history::PATH,
    id::{ProjectId, SessionId},
    page::Wanted,
    settings::Section,
    workspace::{Activity, BattleEntry, CHATS_MAX, ChatEntry, Project, RunEntry, Session, is_numbered},
};
use leptos::{html::Details, prelude::*};

use super::{
    api::{AddChat, AddSession},
    drawer::{Drawer, DrawerClose, close_behind_link},
    fold::{HideSidebar, is_folded, remember_folded},
};
use crate::{
    actions::PaletteButton,
    address::Address,
    archive::ArchiveMenu,
    erased::{Erase, Erased, For},
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    panes::chat_icon,
    settings::project_anchor,
    ui::{Dot, Tone},
};

/// `here` is the page that it stands on, where that is none of the workspace's own.
#[component]
pub fn Sidebar(#[prop(optional)] here: &'static str) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let actions =
        Actions { add_chat: Submission::new::<AddChat>(), add_session: Submission::new::<AddSession>() };
    let projects = Memo::new(move |_| feed.workspace(|all| all.projects.clone()));
    let failure = move || actions.add_chat.failure().or_else(|| actions.add_session.failure());
    let drawer = use_context::<Drawer>();
    view! {
        <nav
            class="sidebar"
            id="sidebar"
            aria-label="Projects and chats"
            on:click=move |click| close_behind_link(drawer, &click)
        >
            <div class="sidebar-head">
                <a class="brand" href="/">"BooCode"</a>
                <PaletteButton />
                <a class="icon-button" href="/" aria-label="Add a project">
                    {Icon::Plus.view()}
                </a>
                <HideSidebar />
                <DrawerClose />
            </div>
            <div class="sidebar-scroll">
                // A page of its own, which the browser has to fetch.
                <a
                    class="nav-item"
                    href=PATH
                    rel="external"
                    aria-current=(here == PATH).then_some("page")
                >
                    {Icon::History.view()}
                    <span class="nav-label">"History"</span>
                </a>
                <Failure error=Signal::derive(failure) dismiss=move |()| actions.forget() />
                <For
                    each=move || projects.get()
                    key=|project| project.id
                    children=move |project| view! { <ProjectPart project actions /> }
                />
            </div>
            <div class="sidebar-foot">
                <Connection />
                <a class="icon-button" href=Wanted::SettingsPage(Section::default()).path() aria-label="Settings">
                    {Icon::Settings.view()}
                </a>
            </div>
        </nav>
    }
    .erase()
}

#[derive(Clone, Copy)]
struct Actions {
    add_chat: Submission,
    add_session: Submission,
}

impl Actions {
    fn forget(self) {
        self.add_chat.forget();
        self.add_session.forget();
    }
}

#[component]
fn ProjectPart(project: Project, actions: Actions) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let id = project.id;
    let sessions = Memo::new(move |_| feed.workspace(|all| of_project(&all.sessions, id)));
    let is_single = Memo::new(move |_| sessions.read().len() == 1);
    let next_name = move || feed.workspace(|all| all.next_session_name(id));
    let activity = Memo::new(move |_| feed.workspace(|all| all.activity(id)));
    let title = project.name.clone();
    let name = Memo::new(move |_| {
        feed.workspace(|all| all.project(id).map_or_else(|| title.clone(), |project| project.name.clone()))
    });
    let details = NodeRef::<Details>::new();
    let on_toggle = move |_| {
        if let Some(details) = details.get_untracked() {
            remember_folded(id, !details.open());
        }
    };
    view! {
        <section class="nav-group">
            // Beside the summary, since nothing that is pressed may stand in what is pressed.
            <a
                class="icon-button nav-group-settings"
                href=format!("{}#{}", Wanted::SettingsPage(Section::Projects).path(), project_anchor(id))
                aria-label=move || format!("Settings of {}", name.read())
            >
                {Icon::Settings.view()}
            </a>
            <Form to=actions.add_session class="nav-group-add">
                <input type="hidden" name="project" value=id.to_string() />
                <input type="hidden" name="name" value=next_name />
                <button
                    class="icon-button"
                    type="submit"
                    aria-label=move || format!("New session in {}", name.read())
                >
                    {Icon::Plus.view()}
                </button>
            </Form>
            <span class="nav-group-more"><ArchiveMenu of=Of::Project(id) name /></span>
            <details open=!is_folded(id) node_ref=details on:toggle=on_toggle>
                <summary class="nav-title" data-tip=project.path>
                    <h2 class="nav-label">{move || name.get()}</h2>
                    // While the list is folded, its own dots are not seen.
                    <span class="nav-activity">{move || dot(activity.get())}</span>
                </summary>
                <ul class="nav-list">
                    <For
                        each=move || sessions.get()
                        key=|session| session.id
                        children=move |session| view! { <SessionPart session actions is_single /> }
                    />
                </ul>
            </details>
        </section>
    }
    .erase()
}

#[component]
fn SessionPart(session: Session, actions: Actions, is_single: Memo<bool>) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let id = session.id;
    let chats = Memo::new(move |_| feed.workspace(|all| of_session(&all.chats, id)));
    let battles = Memo::new(move |_| {
        let own = |battle: &&BattleEntry| battle.session == id;
        feed.workspace(|all| {
            all.battles.iter().rev().filter(own).take(BATTLES_MAX).cloned().collect::<Vec<_>>()
        })
    });
    let runs = Memo::new(move |_| {
        let own = |run: &&RunEntry| run.session == id;
        feed.workspace(|all| all.runs.iter().rev().filter(own).take(RUNS_MAX).cloned().collect::<Vec<_>>())
    });
    let title = session.name.clone();
    let name = Memo::new(move |_| {
        feed.workspace(|all| all.session(id).map_or_else(|| title.clone(), |session| session.name.clone()))
    });
    // The only one says nothing by its number.
    let is_named = Memo::new(move |_| !is_single.get() || !name.with(|name| is_numbered(name)));
    let heading = move || {
        view! {
            <div class="nav-session">
                <h3 class="nav-title">{move || name.get()}</h3>
                <ArchiveMenu of=Of::Session(id) name />
            </div>
        }
        .erase()
    };
    // Older ones are found in the history, and stay unlisted when newer ones are archived.
    let known = move || {
        let of_this = |chat: &&ChatEntry| chat.session == id;
        feed.workspace(|all| all.chats.iter().chain(&all.archived.chats).filter(of_this).count())
    };
    let are_there_older = Memo::new(move |_| known() >= CHATS_MAX);
    let all = move || {
        are_there_older.get().then(|| {
            let path = format!("{PATH}?kind=chat&session={id}");
            view! {
                <li><a class="nav-item" href=path rel="external">{Icon::History.view()} <span class="nav-label">"All of them"</span></a></li>
            }
        })
    };
    view! {
        <li>
            {move || is_named.get().then(heading)}
            <Form to=actions.add_chat>
                <input type="hidden" name="session" value=id.to_string() />
                <button class="nav-item" type="submit" aria-label=move || format!("New chat in {}", name.read())>
                    {Icon::Plus.view()}
                    <span class="nav-label">"New chat"</span>
                </button>
            </Form>
            <ul class="nav-list">
                <For
                    each=move || chats.get()
                    key=|chat| (chat.id, chat.title.clone(), chat.activity())
                    children=|chat| view! { <ChatLink chat /> }
                />
                {all}
                <For
                    each=move || battles.get()
                    key=|battle| (battle.id, battle.activity())
                    children=|battle| view! { <BattleLink battle /> }
                />
                <For
                    each=move || runs.get()
                    key=|run| (run.id, run.activity())
                    children=|run| view! { <RunLink run /> }
                />
            </ul>
        </li>
    }
    .erase()
}

#[component]
fn ChatLink(chat: ChatEntry) -> impl IntoView {
    let Address(wanted) = expect_context::<Address>();
    let activity = chat.activity();
    let ChatEntry { id, title, kind, .. } = chat;
    let current = move || (wanted.get() == Wanted::Chat(id)).then_some("page");
    view! {
        <NavLink to=Wanted::Chat(id) icon=chat_icon(kind) title activity current=Signal::derive(current) />
    }
    .erase()
}

/// What leads to something, with a dot for what it does.
#[component]
fn NavLink(
    to: Wanted,
    icon: Icon,
    title: String,
    activity: Activity,
    current: Signal<Option<&'static str>>,
) -> impl IntoView {
    view! {
        <li>
            <a class="nav-item" href=to.path() aria-current=current>
                {icon.view()}
                <span class="nav-label">{title}</span>
                {dot(activity)}
            </a>
        </li>
    }
    .erase()
}

#[component]
fn BattleLink(battle: BattleEntry) -> impl IntoView {
    let Address(wanted) = expect_context::<Address>();
    let activity = battle.activity();
    let BattleEntry { id, title, .. } = battle;
    let current = move || (wanted.get() == Wanted::Battle(id)).then_some("page");
    view! { <NavLink to=Wanted::Battle(id) icon=Icon::Swords title activity current=Signal::derive(current) /> }.erase()
}

#[component]
fn RunLink(run: RunEntry) -> impl IntoView {
    let Address(wanted) = expect_context::<Address>();
    let activity = run.activity();
    let RunEntry { id, title, .. } = run;
    let current = move || (wanted.get() == Wanted::Run(id)).then_some("page");
    view! { <NavLink to=Wanted::Run(id) icon=Icon::Workflow title activity current=Signal::derive(current) /> }.erase()
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
    .erase()
}

/// Older ones are found in the history.
const BATTLES_MAX: usize = 20;
const RUNS_MAX: usize = 20;

/// Tells what is done without words, and in words to whoever listens.
fn dot(activity: Activity) -> Option<Erased> {
    let (tone, words) = match activity {
        Activity::Idle => return None,
        Activity::Waiting => (Tone::Waiting, "Waits for the model"),
        Activity::Running => (Tone::Running, "At work"),
        Activity::NeedsPerson => (Tone::Needed, "Waits for you"),
    };
    Some(view! { <Dot tone /> <span class="visually-hidden">{words}</span> }.erase())
}

fn of_project(sessions: &[Session], project: ProjectId) -> Vec<Session> {
    sessions.iter().filter(|session| session.project == project).cloned().collect()
}

/// The newest first.
fn of_session(chats: &[ChatEntry], session: SessionId) -> Vec<ChatEntry> {
    chats.iter().rev().filter(|chat| chat.session == session).cloned().collect()
}
