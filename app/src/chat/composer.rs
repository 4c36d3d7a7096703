//! Where a message is written. A plain form underneath: it sends without WebAssembly too.

use leptos::{
    ev::KeyboardEvent,
    form::ActionForm,
    html::{Form, Textarea},
    prelude::*,
};

use super::{Pane, STOP_FORM, api::Ask, picker::ModelPicker, sending::Sending};
use crate::{
    device,
    error::AppError,
    feed::Feed,
    icon::Icon,
    notice::{Failure, failure_of},
};

#[component]
pub fn Composer() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, actions, draft, .. } = expect_context::<Pane>();
    let ask = ServerAction::<Ask>::new();
    let sending = Sending::new();
    let message = Memo::new(move |_| draft.with(|draft| sending.id_for(draft)));
    let (form, input) = (NodeRef::<Form>::new(), NodeRef::<Textarea>::new());
    keep_draft(format!("draft:{chat}"), draft, input);
    sending.keep(format!("sent:{chat}"));
    clear_when_sent(feed, ask, draft, sending);
    if super::is_empty_chat() {
        // Whoever opens a new chat is about to write.
        Effect::new(move || {
            if let Some(input) = input.get() {
                input.focus().ok();
            }
        });
    }

    let is_running = Memo::new(move |_| feed.chat(|chat| chat.active_turn().is_some()).unwrap_or_default());
    let send_name = move || if is_running.get() { "Send when this is done" } else { "Send" };
    let on_key = move |key: KeyboardEvent| {
        if key.key() == "Enter" && (key.ctrl_key() || key.meta_key()) {
            key.prevent_default();
            // As the button, which is disabled then.
            if ask.pending().get_untracked() {
                return;
            }
            if let Some(form) = form.get_untracked() {
                form.request_submit().ok();
            }
        }
    };
    let failure = move || failure_of(ask).or_else(|| actions.failure());
    let forget = move |()| {
        ask.value().set(None);
        actions.forget();
    };
    view! {
        <ActionForm action=ask node_ref=form attr:class="composer">
            <Failure error=Signal::derive(failure) dismiss=forget />
            <input type="hidden" name="chat" value=chat.to_string() />
            <input
                type="hidden"
                name="message"
                value=message.get_untracked().to_string()
                prop:value=move || message.get().to_string()
            />
            <label class="visually-hidden" for="composer-text">"Your message"</label>
            <textarea
                class="composer-input"
                id="composer-text"
                name="text"
                rows="1"
                required
                placeholder="Ask a question"
                enterkeyhint="enter"
                node_ref=input
                prop:value=draft
                on:input:target=move |typed| draft.set(typed.target().value())
                on:keydown=on_key
            ></textarea>
            <div class="composer-row">
                <ModelPicker />
                <div class="composer-actions">
                    <button
                        class="icon-button danger"
                        type="submit"
                        form=STOP_FORM
                        aria-label="Stop"
                        title="Stop"
                        hidden=move || !is_running.get()
                        disabled=move || actions.stop.pending().get()
                    >
                        {Icon::Stop.view()}
                    </button>
                    <button
                        class="icon-button primary"
                        type="submit"
                        aria-label=send_name
                        title=send_name
                        disabled=move || ask.pending().get()
                    >
                        {Icon::Send.view()}
                    </button>
                </div>
            </div>
        </ActionForm>
        <p class="composer-hint">"Ctrl or ⌘ with Enter sends"</p>
        <noscript>
            <p class="composer-hint">
                "Without JavaScript you can read, ask, stop and retry; reload the page to see what is new."
            </p>
        </noscript>
    }
    .into_any()
}

/// What is typed survives a reload, a crash of the tab and a look at another chat.
fn keep_draft(key: String, draft: RwSignal<String>, input: NodeRef<Textarea>) {
    Effect::new(move |kept: Option<()>| {
        if kept.is_some() {
            draft.with(|draft| device::remember(&key, draft));
            return;
        }
        draft.track();
        // Somebody may have typed before the page came alive.
        let typed = input.get_untracked().map(|input| input.value()).filter(|typed| !typed.is_empty());
        if let Some(text) = typed.or_else(|| device::remembered(&key)) {
            draft.set(text);
        }
    });
}

/// What did not get through stays; what was typed meanwhile stays too.
fn clear_when_sent(feed: Feed, ask: ServerAction<Ask>, draft: RwSignal<String>, sending: Sending) {
    let arrived = move || {
        let sent = sending.settle();
        if sent.is_some_and(|sent| draft.with_untracked(|draft| *draft == sent.text)) {
            draft.set(String::new());
        }
    };
    Effect::new(move || {
        if let Some(input) = ask.input().get() {
            sending.sent(input.message, &input.text);
        }
    });
    Effect::new(move || match ask.value().get() {
        Some(Ok(())) => arrived(),
        // Nothing was kept of it under this id.
        Some(Err(AppError::Rejected(_) | AppError::Invalid(_))) => drop(sending.settle()),
        _ => {}
    });
    // The server's answer may be lost where the message was not: then the chat shows it.
    Effect::new(move || {
        let Some(sent) = sending.unsure() else { return };
        let is_there = feed.chat(|chat| {
            chat.message(sent.id).is_some() || chat.queue.iter().any(|queued| queued.turn.message == sent.id)
        });
        if is_there == Some(true) {
            arrived();
            if ask.value().with_untracked(|value| matches!(value, Some(Err(_)))) {
                ask.value().set(None);
            }
        }
    });
}
