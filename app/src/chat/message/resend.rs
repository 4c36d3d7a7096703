//! Asking again in other words.

use domain::{attachment::Attachment, id::MessageId};
use leptos::prelude::*;

use crate::{
    chat::{
        Pane,
        attachments::{Kept, KeptFiles, sent_files},
        editing::{CancelButton, Editing},
        sending::Sending,
    },
    erased::{Erase, effect},
    error::AppError,
    form::Form,
};

/// Asks again in other words, beside the old question.
#[component]
pub fn EditForm(id: MessageId, text: String, files: Vec<Attachment>, editing: Editing) -> impl IntoView {
    let Pane { chat, actions, model, persona, .. } = expect_context::<Pane>();
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
                    on:input:target=move |input| typed.set(input.target().value())
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
