//! The messages that wait for the running turn.

use domain::{
    chat::{Body, Chat, Queued},
    id::MessageId,
};
use leptos::prelude::*;

use super::{
    Pane,
    editing::{CancelButton, EditButton, Editing},
};
use crate::{
    erased::{Erase, Erased, For, Show, effect},
    feed::Feed,
    form::{Form, Submission},
    icon::Icon,
};

#[component]
pub fn QueueList() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    let queue = Memo::new(move |_| {
        let ids = |chat: &Chat| chat.queue.iter().map(|queued| queued.turn.message).collect::<Vec<_>>();
        feed.chat(chat, ids).unwrap_or_default()
    });
    let is_held = Memo::new(move |_| feed.chat(chat, Chat::is_held).unwrap_or_default());
    view! {
        <Show when=move || !queue.read().is_empty()>
            <ol class="queue" aria-label="Messages that wait">
                <For
                    each=move || queue.get()
                    key=|message| *message
                    children=|message| view! { <QueueItem message /> }
                />
                <Show when=move || is_held.get()>
                    <li class="queue-item">
                        <span class="queue-reason">
                            "The queue is held, because the last turn did not finish. New messages join it."
                        </span>
                        <Form to=actions.send_queued>
                            <input type="hidden" name="chat" value=chat.to_string() />
                            <button class="button small" type="submit">"Go on"</button>
                        </Form>
                    </li>
                </Show>
            </ol>
        </Show>
    }
    .erase()
}

#[component]
fn QueueItem(message: MessageId) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    let editing = Editing::of(message);
    close_when_saved(actions.edit_queued, message, editing);
    let queued = move |chat: &Chat| chat.queue.iter().find(|queued| queued.turn.message == message).cloned();
    let text = Memo::new(move |_| {
        feed.chat(chat, |chat| queued(chat).map(|queued| queued.text)).flatten().unwrap_or_default()
    });
    let files = Memo::new(move |_| {
        let names = |queued: Queued| queued.attachments.into_iter().map(|file| file.name).collect::<Vec<_>>();
        feed.chat(chat, |chat| queued(chat).map(names)).flatten().unwrap_or_default()
    });
    let goes_next = move || feed.chat(chat, |chat| chat.chosen == Some(message)).unwrap_or_default();
    let line = move || {
        if editing.is_open() {
            view! { <EditQueuedForm message text=text.get_untracked() editing /> }.erase()
        } else {
            view! { <span class="queue-text">{move || text.get()}</span> }.erase()
        }
    };
    let button = move |to: Submission, name: &'static str, tip: &'static str, icon: Icon| {
        view! {
            <Form to>
                <input type="hidden" name="chat" value=chat.to_string() />
                <input type="hidden" name="message" value=message.to_string() />
                <button class="icon-button" type="submit" aria-label=name data-tip=tip>{icon.view()}</button>
            </Form>
        }
        .erase()
    };
    view! {
        <li class="queue-item">
            {line}
            {move || with_files(&files.get())}
            <span class="queue-note" role="status">
                {move || if goes_next() { "Goes next" } else { "" }}
            </span>
            // What is being written is not what would be sent.
            <Show when=move || !editing.is_open()>
                {button(actions.send_now, "Send this waiting message now", "Send now", Icon::Send)}
            </Show>
            <EditButton editing name="Edit this waiting message" tip="Edit" />
            {button(actions.unqueue, "Remove this waiting message", "Remove", Icon::Close)}
        </li>
    }
    .erase()
}

/// All messages that wait share the submission, so it is looked at which of them was sent with it.
fn close_when_saved(edit: Submission, message: MessageId, editing: Editing) {
    let is_saving = StoredValue::new(false);
    effect(move || {
        if edit.sent("message") == Some(message.to_string()) {
            is_saving.set_value(true);
        } else if !edit.is_pending() && is_saving.get_value() {
            is_saving.set_value(false);
            if edit.is_done() {
                editing.end();
            }
        }
    });
}

/// How many files go along; which ones is said to whoever asks.
fn with_files(names: &[String]) -> Option<Erased> {
    let words = format!("With {}", names.join(", "));
    let count = names.len();
    (count > 0).then(|| {
        view! {
            <span class="queue-note queue-files" role="img" aria-label=words.clone() data-tip=words>
                {Icon::Paperclip.view()} {count}
            </span>
        }
        .erase()
    })
}

#[component]
fn EditQueuedForm(message: MessageId, text: String, editing: Editing) -> impl IntoView {
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    let was = text;
    let text = editing.kept().unwrap_or_else(|| was.clone());
    let typed = ArcRwSignal::new(text.clone());
    rescue_when_sent(message, was.clone(), typed.clone(), editing);
    view! {
        <Form to=actions.edit_queued class="queue-edit field">
            <input type="hidden" name="chat" value=chat.to_string() />
            <input type="hidden" name="message" value=message.to_string() />
            <textarea
                name="text"
                required
                rows="3"
                aria-label="The waiting message"
                node_ref=editing.text
                on:keydown=move |key| editing.on_key(&key)
                on:input:target=move |input| {
                    let now = input.target().value();
                    editing.keep(&now, &was);
                    typed.set(now);
                }
            >{text}</textarea>
            <div class="notice-actions">
                <button
                    class="button small primary"
                    type="submit"
                    // One at a time, so that each hears its own answer.
                    disabled=move || actions.edit_queued.is_pending()
                >
                    "Save"
                </button>
                <CancelButton editing />
            </div>
        </Form>
    }
    .erase()
}

/// The turn of a message may begin while it is being edited, which takes its form away. What was typed goes to
/// the composer then, unless something stands there.
fn rescue_when_sent(message: MessageId, was: String, typed: ArcRwSignal<String>, editing: Editing) {
    let feed = expect_context::<Feed>();
    let Pane { chat, draft, .. } = expect_context::<Pane>();
    on_cleanup(move || {
        let typed = typed.get_untracked();
        let sent =
            untrack(|| feed.chat(chat, |chat| chat.message(message).map(|message| message.body.clone())));
        let Some(Some(Body::User { text: sent, .. })) = sent else { return };
        editing.forget();
        if typed != was && typed != sent && draft.try_with_untracked(String::is_empty) == Some(true) {
            draft.set(typed);
        }
    });
}
