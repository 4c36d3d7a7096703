//! A chat gets another name.

use domain::id::ChatId;
use leptos::prelude::*;

use super::api::RenameChat;
use crate::{
    erased::{Erase, Erased, effect},
    feed::Feed,
    form::{Form, Submission},
    later::{CHUNK, Part},
    notice::Failure,
    ui::Dialog,
};

/// Open while `renaming` names a chat.
#[component]
pub fn RenameDialog(renaming: RwSignal<Option<ChatId>>) -> impl IntoView {
    let rename = Submission::new::<RenameChat>();
    let is_open = RwSignal::new(false);
    effect(move || is_open.set(renaming.get().is_some()));
    effect(move || {
        if !is_open.get() && renaming.get_untracked().is_some() {
            renaming.set(None);
            rename.forget();
        }
    });
    rename.close_when_done(is_open);
    view! {
        <Dialog id="rename-chat" title="Rename this chat" open=is_open>
            {move || renaming.get().map(|chat| CHUNK.view(Part::Rename(Renaming { chat, rename, is_open })))}
        </Dialog>
    }
}

/// One that is under way.
#[derive(Clone, Copy)]
pub struct Renaming {
    chat: ChatId,
    rename: Submission,
    is_open: RwSignal<bool>,
}

/// What is in the dialog.
pub fn rename_form(Renaming { chat, rename, is_open }: Renaming) -> Erased {
    let feed = expect_context::<Feed>();
    let title = untrack(|| feed.workspace(|all| all.chat(chat).map(|chat| chat.title.clone())));
    view! {
        <Form to=rename class="field">
            <Failure error=Signal::derive(move || rename.failure()) />
            <input type="hidden" name="chat" value=chat.to_string() />
            <label class="field">
                <span class="field-label">"Title"</span>
                <input class="input" name="title" required maxlength="120" value=title.unwrap_or_default() />
            </label>
            <div class="dialog-actions">
                <button class="button ghost" type="button" on:click=move |_| is_open.set(false)>"Cancel"</button>
                <button class="button primary" type="submit" disabled=move || rename.is_pending()>"Rename"</button>
            </div>
        </Form>
    }
    .erase()
}
