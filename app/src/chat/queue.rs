//! The messages that wait for the running turn.

use domain::{
    chat::{Body, Queued},
    id::MessageId,
};
use leptos::{form::ActionForm, prelude::*};

use super::Pane;
use crate::{feed::Feed, icon::Icon, notice::close_when_done};

#[component]
pub fn QueueList() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    let queue = Memo::new(move |_| feed.chat(|chat| chat.queue.clone()).unwrap_or_default());
    // After a stop or a failure the queue waits for a person.
    let is_held = Memo::new(move |_| feed.chat(|chat| chat.active_turn().is_none()).unwrap_or_default());
    view! {
        <Show when=move || !queue.read().is_empty()>
            <ol class="queue" aria-label="Messages that wait">
                <For
                    each=move || queue.get()
                    key=|queued| (queued.turn.message, queued.text.clone())
                    children=|queued| view! { <QueueItem queued /> }
                />
                <Show when=move || is_held.get()>
                    <li class="queue-item">
                        <span class="queue-text">"The queue is held, because the last turn did not finish."</span>
                        <ActionForm action=actions.send_queued>
                            <input type="hidden" name="chat" value=chat.to_string() />
                            <button class="button small" type="submit">"Send now"</button>
                        </ActionForm>
                    </li>
                </Show>
            </ol>
        </Show>
    }
    .into_any()
}

#[component]
fn QueueItem(queued: Queued) -> impl IntoView {
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    let is_editing = RwSignal::new(false);
    close_when_done(actions.edit_queued, is_editing);
    let message = queued.turn.message;
    let text = queued.text;
    let shown = text.clone();
    let line = move || {
        if is_editing.get() {
            view! { <EditQueuedForm message text=text.clone() is_editing /> }.into_any()
        } else {
            view! { <span class="queue-text">{shown.clone()}</span> }.into_any()
        }
    };
    view! {
        <li class="queue-item">
            {line}
            <button
                type="button"
                class="icon-button"
                aria-label="Edit this waiting message"
                title="Edit"
                on:click=move |_| is_editing.update(|editing| *editing = !*editing)
            >
                {Icon::Edit.view()}
            </button>
            <ActionForm action=actions.unqueue>
                <input type="hidden" name="chat" value=chat.to_string() />
                <input type="hidden" name="message" value=message.to_string() />
                <button class="icon-button" type="submit" aria-label="Remove this waiting message" title="Remove">
                    {Icon::Close.view()}
                </button>
            </ActionForm>
        </li>
    }
    .into_any()
}

#[component]
fn EditQueuedForm(message: MessageId, text: String, is_editing: RwSignal<bool>) -> impl IntoView {
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    let typed = ArcRwSignal::new(text.clone());
    rescue_when_sent(message, text.clone(), typed.clone());
    view! {
        <ActionForm action=actions.edit_queued attr:class="queue-text field">
            <input type="hidden" name="chat" value=chat.to_string() />
            <input type="hidden" name="message" value=message.to_string() />
            <textarea
                name="text"
                required
                rows="3"
                aria-label="The waiting message"
                on:input:target=move |input| typed.set(input.target().value())
            >{text}</textarea>
            <div class="notice-actions">
                <button class="button small primary" type="submit">"Save"</button>
                <button class="button small ghost" type="button" on:click=move |_| is_editing.set(false)>
                    "Cancel"
                </button>
            </div>
        </ActionForm>
    }
    .into_any()
}

/// The turn of a message may begin while it is being edited, which takes its form away. What was typed goes to
/// the composer then, unless something stands there.
fn rescue_when_sent(message: MessageId, was: String, typed: ArcRwSignal<String>) {
    let feed = expect_context::<Feed>();
    let Pane { draft, .. } = expect_context::<Pane>();
    on_cleanup(move || {
        let typed = typed.get_untracked();
        let sent = untrack(|| feed.chat(|chat| chat.message(message).map(|message| message.body.clone())));
        let Some(Some(Body::User { text: sent })) = sent else { return };
        if typed != was && typed != sent && draft.try_with_untracked(String::is_empty) == Some(true) {
            draft.set(typed);
        }
    });
}
