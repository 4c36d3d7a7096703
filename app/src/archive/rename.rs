//! A chat, a session or a project gets another name.

use domain::archive::Of;
use leptos::prelude::*;

use super::api::Rename;
use crate::{
    erased::{Erase, Erased, effect},
    feed::Feed,
    form::{Form, Submission},
    later::{CHUNK, Part},
    notice::Failure,
    ui::Dialog,
};

/// Open while `renaming` names something.
#[component]
pub fn RenameDialog(renaming: RwSignal<Option<Of>>) -> impl IntoView {
    let rename = Submission::new::<Rename>();
    let is_open = RwSignal::new(false);
    effect(move || is_open.set(renaming.get().is_some()));
    effect(move || {
        if !is_open.get() && renaming.get_untracked().is_some() {
            renaming.set(None);
            rename.forget();
        }
    });
    rename.close_when_done(is_open);
    let title = move || format!("Rename this {}", renaming.get().map_or("chat", Of::word));
    view! {
        <Dialog id="rename" title=Signal::derive(title) open=is_open>
            {move || renaming.get().map(|of| CHUNK.view(Part::Rename(Renaming { of, rename, is_open })))}
        </Dialog>
    }
}

/// One that is under way.
#[derive(Clone, Copy)]
pub struct Renaming {
    of: Of,
    rename: Submission,
    is_open: RwSignal<bool>,
}

/// What is in the dialog.
pub fn rename_form(Renaming { of, rename, is_open }: Renaming) -> Erased {
    let feed = expect_context::<Feed>();
    let name = untrack(|| feed.workspace(|all| all.name(of)));
    let label = if matches!(of, Of::Chat(_)) { "Title" } else { "Name" };
    view! {
        <Form to=rename class="field">
            <Failure error=Signal::derive(move || rename.failure()) />
            <input type="hidden" name="of" value=of.to_string() />
            <label class="field">
                <span class="field-label">{label}</span>
                <input class="input" name="name" required maxlength="120" value=name />
            </label>
            <div class="dialog-actions">
                <button class="button ghost" type="button" on:click=move |_| is_open.set(false)>"Cancel"</button>
                <button class="button primary" type="submit" disabled=move || rename.is_pending()>"Rename"</button>
            </div>
        </Form>
    }
    .erase()
}
