//! Editing a message in its place: the focus goes into its text, and back to the button when that is over.

use leptos::{
    ev::KeyboardEvent,
    html::{Button, Textarea},
    prelude::*,
};

use crate::{
    device,
    erased::{Erase, effect},
    icon::Icon,
};

#[derive(Clone, Copy)]
pub struct Editing {
    is_open: RwSignal<bool>,
    button: NodeRef<Button>,
    /// Where the message is written anew.
    pub text: NodeRef<Textarea>,
}

impl Editing {
    pub fn new() -> Self {
        let text = NodeRef::<Textarea>::new();
        effect(move || {
            if let Some(text) = text.get() {
                text.focus().ok();
                // Beyond any text is its end.
                text.set_selection_range(u32::MAX, u32::MAX).ok();
                // The buttons under it are wanted too.
                if let Ok(Some(form)) = text.closest("form") {
                    device::reveal(&form);
                }
            }
        });
        Self { is_open: RwSignal::new(false), button: NodeRef::new(), text }
    }

    pub fn is_open(self) -> bool {
        self.is_open.get()
    }

    pub fn close(self) {
        self.is_open.set(false);
        if let Some(button) = self.button.get_untracked() {
            button.focus().ok();
        }
    }

    /// The keys that are pressed in the text.
    pub fn on_key(self, key: &KeyboardEvent) {
        // While a word is composed, it ends the composing.
        if key.key() == "Escape" && !key.is_composing() {
            key.prevent_default();
            key.stop_propagation();
            self.close();
        }
    }
}

/// Begins an edit, or ends it without a change.
#[component]
pub fn EditButton(editing: Editing, name: &'static str, tip: &'static str) -> impl IntoView {
    let toggle = move |_| {
        if editing.is_open.get_untracked() {
            editing.close();
        } else {
            editing.is_open.set(true);
        }
    };
    view! {
        <button
            type="button"
            class="icon-button"
            aria-label=name
            data-tip=tip
            node_ref=editing.button
            on:click=toggle
        >
            {Icon::Edit.view()}
        </button>
    }
    .erase()
}

#[component]
pub fn CancelButton(editing: Editing) -> impl IntoView {
    view! {
        <button class="button small ghost" type="button" on:click=move |_| editing.close()>"Cancel"</button>
    }
    .erase()
}
