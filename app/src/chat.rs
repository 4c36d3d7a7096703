//! A chat: its messages, its queue, and where the next one is written.

pub mod api;
mod attempt;
mod composer;
mod message;
mod picker;
mod queue;
mod sending;
mod status;

use domain::id::{ChatId, MessageId, TaskId};
use leptos::{html::Ol, prelude::*};

use crate::{
    error::AppError,
    feed::Feed,
    icon::Icon,
    notice::{close_when_done, failure_of},
    workspace::{DrawerToggle, HeadConnection, Offered},
};
use composer::Composer;
use message::MessageView;
use queue::QueueList;

/// The composer's form for stopping stands beside it, since a form cannot stand in a form.
pub(crate) const STOP_FORM: &str = "stop-form";
/// This close to its end, a list of messages stays at its end when it grows.
const AT_END_PX: i32 = 80;

/// What can be done to the messages of a chat.
#[derive(Clone, Copy)]
pub struct Actions {
    pub stop: ServerAction<api::Stop>,
    pub retry: ServerAction<api::Retry>,
    pub resend: ServerAction<api::Resend>,
    pub switch: ServerAction<api::SwitchBranch>,
    pub edit_queued: ServerAction<api::EditQueued>,
    pub unqueue: ServerAction<api::Unqueue>,
    pub send_queued: ServerAction<api::SendQueued>,
    pub rename: ServerAction<api::RenameChat>,
}

/// The chat that the components under a pane belong to.
#[derive(Clone, Copy)]
pub struct Pane {
    pub chat: ChatId,
    pub actions: Actions,
    /// The model that the next turn goes to, as `server/model`; empty while there is none.
    pub model: RwSignal<String>,
    /// What stands in the composer.
    pub draft: RwSignal<String>,
}

#[component]
pub fn ChatPane(chat: ChatId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let actions = Actions::new();
    let model = RwSignal::new(initial_model(feed));
    provide_context(Pane { chat, actions, model, draft: RwSignal::new(String::new()) });

    let branch = Memo::new(move |_| feed.chat(|chat| ids(&chat.branch())).unwrap_or_default());
    let messages = NodeRef::<Ol>::new();
    let is_at_end = StoredValue::new(true);
    keep_at_end(feed, messages, is_at_end);
    view! {
        <section class="chat" aria-label="Chat">
            <ChatHead />
            <Show when=move || branch.read().is_empty()>
                <div class="empty-state">
                    {Icon::Chat.view()}
                    <h2>"What shall we look at?"</h2>
                    <p>"Write a question below. The answer is kept, whatever happens to this page."</p>
                </div>
            </Show>
            <ol
                class="messages"
                hidden=move || branch.read().is_empty()
                node_ref=messages
                on:scroll=move |_| is_at_end.set_value(messages.get_untracked().is_none_or(|list| at_end(&list)))
            >
                <For
                    each=move || branch.get()
                    key=|id| *id
                    children=|id| view! { <MessageView id /> }
                />
            </ol>
            <Announcement />
            <QueueList />
            <ActionForm action=actions.stop attr:id=STOP_FORM attr:hidden=true>
                <input type="hidden" name="chat" value=chat.to_string() />
            </ActionForm>
            <Composer />
        </section>
    }
    .into_any()
}

#[component]
fn ChatHead() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    let title = Memo::new(move |_| feed.chat(|chat| chat.title.clone()).unwrap_or_default());
    let is_renaming = RwSignal::new(false);
    close_when_done(actions.rename, is_renaming);
    let heading = move || {
        view! {
            <h1>{move || title.get()}</h1>
            <button
                type="button"
                class="icon-button"
                aria-label="Rename this chat"
                title="Rename"
                on:click=move |_| is_renaming.set(true)
            >
                {Icon::Edit.view()}
            </button>
        }
    };
    let form = move || {
        view! {
            <ActionForm action=actions.rename attr:class="composer-row">
                <input type="hidden" name="chat" value=chat.to_string() />
                <input class="input" name="title" aria-label="Title" required maxlength="120" value=title.get_untracked() />
                <button class="button small primary" type="submit">"Rename"</button>
                <button class="button small ghost" type="button" on:click=move |_| is_renaming.set(false)>
                    "Cancel"
                </button>
            </ActionForm>
        }
    };
    view! {
        <header class="chat-head">
            <DrawerToggle />
            {move || if is_renaming.get() { form().into_any() } else { heading().into_any() }}
            <HeadConnection />
        </header>
    }
    .into_any()
}

/// Says what becomes of an answer to whoever cannot see it. Its text is not read out while it grows.
#[component]
fn Announcement() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let turn = Memo::new(move |_| {
        feed.chat(|chat| {
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
            stop: ServerAction::new(),
            retry: ServerAction::new(),
            resend: ServerAction::new(),
            switch: ServerAction::new(),
            edit_queued: ServerAction::new(),
            unqueue: ServerAction::new(),
            send_queued: ServerAction::new(),
            rename: ServerAction::new(),
        }
    }

    fn failure(self) -> Option<AppError> {
        failure_of(self.stop)
            .or_else(|| failure_of(self.retry))
            .or_else(|| failure_of(self.resend))
            .or_else(|| failure_of(self.switch))
            .or_else(|| failure_of(self.edit_queued))
            .or_else(|| failure_of(self.unqueue))
            .or_else(|| failure_of(self.send_queued))
            .or_else(|| failure_of(self.rename))
    }

    fn forget(self) {
        self.stop.value().set(None);
        self.retry.value().set(None);
        self.resend.value().set(None);
        self.switch.value().set(None);
        self.edit_queued.value().set(None);
        self.unqueue.value().set(None);
        self.send_queued.value().set(None);
        self.rename.value().set(None);
    }
}

fn ids(messages: &[&domain::chat::Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}

/// The model of the chat's last turn, else the one that is used when nobody chose.
fn initial_model(feed: Feed) -> String {
    let last = untrack(|| {
        feed.chat(|chat| {
            let branch = chat.branch();
            branch.iter().rev().find_map(|message| chat.task_of(message)).map(|task| task.model.to_string())
        })
    });
    let default = || expect_context::<Offered>().0.with_untracked(|models| models.default.clone());
    last.flatten().or_else(|| default().map(|model| model.to_string())).unwrap_or_default()
}

/// A reader who looks at the end keeps seeing the end; one who scrolled up is left in peace.
fn keep_at_end(feed: Feed, messages: NodeRef<Ol>, is_at_end: StoredValue<bool>) {
    Effect::new(move || {
        feed.grown.track();
        let Some(list) = messages.get() else { return };
        if is_at_end.get_value() {
            // What grew is laid out by then.
            request_animation_frame(move || list.set_scroll_top(list.scroll_height()));
        }
    });
}

fn at_end(list: &leptos::web_sys::HtmlElement) -> bool {
    list.scroll_height() - list.scroll_top() - list.client_height() <= AT_END_PX
}

fn is_empty_chat() -> bool {
    untrack(|| expect_context::<Feed>().chat(|chat| chat.messages.is_empty())).unwrap_or(true)
}
