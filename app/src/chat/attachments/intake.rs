//! How files get to the composer.

use domain::attachment;
use leptos::{
    ev::{ClipboardEvent, DragEvent},
    html,
    prelude::*,
};

use super::Attached;
use crate::{chat::upload, erased::Erase, icon::Icon};

/// Picks files.
#[component]
pub fn AttachButton(attached: Attached) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let open = move |_| {
        if let Some(input) = input.get_untracked() {
            input.click();
        }
    };
    let take = move |_| {
        if let Some(input) = input.get_untracked() {
            attached.take(upload::picked(&input));
        }
    };
    view! {
        <input type="file" multiple hidden autocomplete="off" node_ref=input on:change=take />
        <button
            type="button"
            class="icon-button attach"
            aria-label="Attach files"
            aria-description=attachment::limits()
            data-tip=format!("Attach files. {}", attachment::limits())
            on:click=open
        >
            {Icon::Paperclip.view()}
        </button>
    }
    .erase()
}

/// Takes the files out of what is pasted; text is left to the field.
pub fn take_pasted(attached: Attached, event: &ClipboardEvent) {
    let files = upload::pasted(event);
    if !files.is_empty() {
        event.prevent_default();
        attached.take(files);
    }
}

/// Whether files are being dragged over a chat, and what becomes of them.
#[derive(Clone, Copy)]
pub struct Dropping {
    attached: Attached,
    is_over: RwSignal<bool>,
}

impl Dropping {
    pub fn new(attached: Attached) -> Self {
        Self { attached, is_over: RwSignal::new(false) }
    }

    pub fn is_over(self) -> bool {
        self.is_over.get()
    }

    pub fn over(self, event: &DragEvent) {
        if upload::brings_files(event) {
            event.prevent_default();
            self.show(true);
        }
    }

    /// Also told when the pointer goes from one part of the chat to another; the next `over` follows at once.
    pub fn leave(self) {
        self.show(false);
    }

    pub fn drop_here(self, event: &DragEvent) {
        if upload::brings_files(event) {
            event.prevent_default();
            self.attached.take(upload::dropped(event));
        }
        self.show(false);
    }

    fn show(self, is_over: bool) {
        if self.is_over.get_untracked() != is_over {
            self.is_over.set(is_over);
        }
    }
}
