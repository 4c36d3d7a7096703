//! Asking again in other words.

use domain::{attachment::Attachment, id::MessageId};
use leptos::prelude::*;

use crate::{
    chat::{
        Pane,
        attachments::{Kept, KeptFiles, sent_files},
        chosen::Chosen,
        editing::{CancelButton, Editing},
        sending::Sending,
    },
    erased::{Erase, effect},
    error::AppError,
    feed::Feed,
    form::Form,
};

/// Asks again in other words, beside the old question.
#[component]
pub fn EditForm(id: MessageId, text: String, files: Vec<Attachment>, editing: Editing) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, actions, chosen: Chosen { model, persona, .. }, .. } = expect_context::<Pane>();
    let was = text;
    let text = editing.kept().unwrap_or_else(|| was.clone());
    let typed = RwSignal::new(text.clone());
    let sending = Sending::new();
    let kept = Kept::of(files);
    let message = Memo::new(move |_| typed.with(|typed| sending.id_for(typed, &kept.ids())));
    effect(move || {
        let resend = actions.resend;
        if resend.sent("of") != Some(id.to_string()) {
            return;
        }
        if let (Some(message), Some(text)) = (resend.sent("message"), resend.sent("text")) {
            sending.sent(&message, &text, sent_files(resend));
        }
    });
    // The new branch comes to the front, which takes this form away; what is in the branch needs no keeping.
    let sent = ArcRwSignal::new(None::<MessageId>);
    {
        let sent = sent.clone();
        effect(move || {
            let unsure = sending.unsure();
            sent.set(unsure.map(|sent| sent.id));
        });
    }
    on_cleanup(move || {
        let sent = sent.get_untracked();
        let is_there = |sent| untrack(|| feed.chat(chat, |chat| chat.message(sent).is_some()));
        if sent.and_then(is_there) == Some(true) {
            editing.forget();
        }
    });
    effect(move || {
        if matches!(actions.resend.failure(), Some(AppError::Rejected(_) | AppError::Invalid(_))) {
            sending.settle();
        }
    });
    view! {
        <Form to=actions.resend class="card">
            <input type="hidden" name="chat" value=chat.to_string() />
            <input type="hidden" name="of" value=id.to_string() />
            <input type="hidden" name="message" prop:value=move || message.get().to_string() />
            <input type="hidden" name="model" prop:value=model />
            <input type="hidden" name="persona" prop:value=persona />
            <label class="field">
                <span class="field-label">"Your message in other words"</span>
                <textarea
                    name="text"
                    required=move || kept.ids().is_empty()
                    rows="4"
                    node_ref=editing.text
                    on:keydown=move |key| editing.on_key(&key)
                    on:input:target=move |input| {
                        let now = input.target().value();
                        editing.keep(&now, &was);
                        typed.set(now);
                    }
                >{text}</textarea>
            </label>
            <KeptFiles kept />
            <div class="notice-actions">
                <button class="button small primary" type="submit" disabled=move || actions.resend.is_pending()>
                    "Send as a new branch"
                </button>
                <CancelButton editing />
            </div>
        </Form>
    }
    .erase()
}
