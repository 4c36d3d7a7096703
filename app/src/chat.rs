//! A chat: its messages, its queue, and where the next one is written.

pub mod api;
mod at_end;
mod attachments;
mod attempt;
mod chosen;
pub mod code;
mod composer;
mod context_meter;
mod editing;
mod kept;
mod message;
mod model_search;
mod persona_picker;
mod picker;
mod queue;
mod sending;
mod status;
mod status_line;
mod suggest;
mod upload;

use domain::{
    backend::Offer,
    chat::{Chat, Kind},
    id::{ChatId, MessageId, TaskId},
    task::Task,
};
use leptos::{html::Ol, prelude::*};

use crate::{
    coder::{Review, api::AnswerAsk, code as coder},
    erased::{Erase, For, Show},
    error::AppError,
    feed::Feed,
    form::{Form, Submission},
    panes::chat_icon,
    workspace::Offered,
};
use at_end::AtEnd;
pub use attachments::AttachedByChat;
use attachments::{Attached, Dropping};
pub use attempt::AttemptView;
use chosen::Chosen;
use composer::Composer;
pub use kept::{By, draft_of, keep as keep_text, leave_draft};
use message::MessageView;
pub use model_search::model_search;
pub use persona_picker::options as persona_options;
pub use picker::{ask_again as ask_for_models, options as model_options};
use queue::QueueList;
pub use status::fault;
pub use status_line::{StatusLine, is_lost, writes};
pub use suggest::Suggest;
#[cfg(feature = "hydrate")]
pub(crate) use upload::brings_files;

/// The composer's form for stopping stands beside it, since a form cannot stand in a form.
fn stop_form(chat: ChatId) -> String {
    format!("stop-{chat}")
}

/// What can be done to the messages of a chat.
#[derive(Clone, Copy)]
pub struct Actions {
    pub stop: Submission,
    pub retry: Submission,
    pub resend: Submission,
    pub switch: Submission,
    pub edit_queued: Submission,
    pub unqueue: Submission,
    pub send_queued: Submission,
    pub send_now: Submission,
    pub answer: Submission,
}

/// The chat that the components under a pane belong to.
#[derive(Clone, Copy)]
pub struct Pane {
    pub chat: ChatId,
    pub kind: Kind,
    pub actions: Actions,
    /// For the next turn.
    pub chosen: Chosen,
    /// In a Coder: who does its work, as the server offered it last.
    pub worker: RwSignal<Option<Offer>>,
    /// Whether its changes are looked at in place of what was said.
    pub reviewing: RwSignal<bool>,
    /// What stands in the composer.
    pub draft: RwSignal<String>,
    pub attached: Attached,
}

#[component]
pub fn ChatPane(chat: ChatId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let actions = Actions::new();
    let attached = expect_context::<AttachedByChat>().of(feed, chat);
    let kind = untrack(|| feed.chat(chat, |chat| chat.kind)).unwrap_or_default();
    let draft = RwSignal::new(String::new());
    let reviewing = RwSignal::new(false);
    let worker = RwSignal::new(None);
    let chosen = Chosen::keep(feed, chat);
    provide_context(Pane { chat, kind, actions, chosen, worker, reviewing, draft, attached });
    let dropping = Dropping::new(attached);

    let title = Memo::new(move |_| feed.chat(chat, |chat| chat.title.clone()).unwrap_or_default());
    let branch = Memo::new(move |_| feed.chat(chat, |chat| ids(&chat.branch())).unwrap_or_default());
    let Offered(offered) = expect_context::<Offered>();
    let is_without_model = Signal::derive(move || offered.with(|models| models.default.is_none()));
    let messages = NodeRef::<Ol>::new();
    let at_end = AtEnd::keep(feed, messages);
    view! {
        <section
            class=match kind {
                Kind::Chat => "chat",
                Kind::Coder => "chat coder",
            }
            aria-label=match kind {
                Kind::Chat => "Chat",
                Kind::Coder => "Coder",
            }
            data-dropping=move || dropping.is_over().then_some("")
            on:dragover=move |event| dropping.over(&event)
            on:dragleave=move |_| dropping.leave()
            on:drop=move |event| dropping.drop_here(&event)
        >
            <h1 class="visually-hidden">{move || title.get()}</h1>
            <Show when=move || branch.read().is_empty()>
                <div class="empty-state">
                    {chat_icon(kind).view()}
                    <h2>{invitation(kind).0}</h2>
                    <p>{invitation(kind).1}</p>
                    <Show when=is_without_model>
                        <p>
                            "No model answers yet. "
                            <a href="/settings/models">"Add a model server"</a>
                            ", or start one on this machine: it is found by itself."
                        </p>
                    </Show>
                </div>
            </Show>
            <ol
                class="messages"
                hidden=move || branch.read().is_empty() || reviewing.get()
                node_ref=messages
                on:scroll=move |_| at_end.look()
            >
                <For
                    each=move || branch.get()
                    key=|id| *id
                    children=|id| view! { <MessageView id /> }
                />
            </ol>
            <Announcement />
            <Show when=move || reviewing.get()>
                <Review />
            </Show>
            {(kind == Kind::Coder).then(|| coder::CHUNK.view(coder::Part::Changes))}
            <QueueList />
            <Form to=actions.stop id=stop_form(chat) hidden=true>
                <input type="hidden" name="chat" value=chat.to_string() />
            </Form>
            <Composer />
        </section>
    }
    .erase()
}

/// Says what becomes of an answer to whoever cannot see it. Its text is not read out while it grows.
#[component]
fn Announcement() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, .. } = expect_context::<Pane>();
    let turn = Memo::new(move |_| {
        feed.chat(chat, |chat| {
            let branch = chat.branch();
            let task = branch.last().and_then(|message| chat.task_of(message))?;
            Some((task.id, status::news(task)?))
        })
        .flatten()
    });
    let said = RwSignal::new("");
    Effect::new(move |before: Option<Option<(TaskId, &'static str)>>| {
        let now = turn.get();
        // What the page opened with is no news.
        if let (Some(before), Some((_, words))) = (before, now)
            && before != now
        {
            said.set(words);
        }
        now
    });
    view! { <p class="visually-hidden" role="status">{said}</p> }
}

impl Actions {
    fn new() -> Self {
        Self {
            stop: Submission::new::<api::Stop>(),
            retry: Submission::new::<api::Retry>(),
            resend: Submission::new::<api::Resend>(),
            switch: Submission::new::<api::SwitchBranch>(),
            edit_queued: Submission::new::<api::EditQueued>(),
            unqueue: Submission::new::<api::Unqueue>(),
            send_queued: Submission::new::<api::SendQueued>(),
            send_now: Submission::new::<api::SendNow>(),
            answer: Submission::new::<AnswerAsk>(),
        }
    }

    fn all(self) -> [Submission; 9] {
        let Self { stop, retry, resend, switch, edit_queued, unqueue, send_queued, send_now, answer } = self;
        [stop, retry, resend, switch, edit_queued, unqueue, send_queued, send_now, answer]
    }

    fn failure(self) -> Option<AppError> {
        self.all().into_iter().find_map(Submission::failure)
    }

    fn forget(self) {
        self.all().into_iter().for_each(Submission::forget);
    }

    fn forget_offline(self) {
        self.all().into_iter().for_each(Submission::forget_offline);
    }
}

fn ids(messages: &[&domain::chat::Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}

/// What an empty one says to whoever opened it.
fn invitation(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Chat => (
            "What shall we look at?",
            "Write a question below. The answer is kept, whatever happens to this page.",
        ),
        Kind::Coder => (
            "What shall be done?",
            "An agent works in a worktree of its own. Your files stay as they are until you apply its changes.",
        ),
    }
}

fn last_task(chat: &Chat) -> Option<&Task> {
    chat.branch().iter().rev().find_map(|message| chat.task_of(message))
}

fn is_empty_chat(chat: ChatId) -> bool {
    untrack(|| expect_context::<Feed>().chat(chat, |chat| chat.messages.is_empty())).unwrap_or(true)
}
