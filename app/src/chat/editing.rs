//! Editing a message in its place: the focus goes into its text, and back to the button when that is over. What is
//! typed is kept in this browser until it is saved or given up.

use domain::id::MessageId;
use leptos::{
    ev::KeyboardEvent,
    html::{Button, Textarea},
    prelude::*,
};

use crate::{
    device,
    erased::{Erase, effect},
    icon::Icon,
    ui::is_composing,
};

#[derive(Clone, Copy)]
pub struct Editing {
    is_open: RwSignal<bool>,
    button: NodeRef<Button>,
    /// Where the message is written anew.
    pub text: NodeRef<Textarea>,
    /// Under this name the browser keeps what is typed.
    key: StoredValue<String>,
    /// Whether somebody opened it just now, and it did not come back with its page.
    is_meant: StoredValue<bool>,
}

impl Editing {
    pub fn of(message: MessageId) -> Self {
        let text = NodeRef::<Textarea>::new();
        let editing = Self {
            is_open: RwSignal::new(false),
            button: NodeRef::new(),
            text,
            key: StoredValue::new(format!("edit:{message}")),
            is_meant: StoredValue::new(false),
        };
        effect(move || {
            if editing.kept().is_some() {
                editing.is_open.set(true);
            }
        });
        effect(move || {
            let Some(text) = text.get().filter(|_| editing.is_meant.get_value()) else { return };
            text.focus().ok();
            // Beyond any text is its end.
            text.set_selection_range(u32::MAX, u32::MAX).ok();
            // The buttons under it are wanted too.
            if let Ok(Some(form)) = text.closest("form") {
                device::reveal(&form);
            }
        });
        editing
    }

    pub fn is_open(self) -> bool {
        self.is_open.get()
    }

    /// What was typed and neither saved nor given up.
    pub fn kept(self) -> Option<String> {
        self.key.with_value(|key| device::remembered(key))
    }

    /// Keeps what is typed in place of what the message says.
    pub fn keep(self, typed: &str, was: &str) {
        let changed = if typed == was { "" } else { typed };
        self.key.with_value(|key| device::remember(key, changed));
    }

    /// What was typed is no longer wanted.
    pub fn end(self) {
        self.forget();
        self.close();
    }

    pub fn forget(self) {
        self.key.try_with_value(|key| device::remember(key, ""));
    }

    fn open(self) {
        self.is_meant.set_value(true);
        self.is_open.set(true);
    }

    fn close(self) {
        self.is_open.set(false);
        if let Some(button) = self.button.get_untracked() {
            button.focus().ok();
        }
    }

    /// The keys that are pressed in the text.
    pub fn on_key(self, key: &KeyboardEvent) {
        // While a word is composed, it ends the composing.
        if key.key() == "Escape" && !is_composing(key) {
            key.prevent_default();
            key.stop_propagation();
            self.close();
        }
    }
}

/// Begins an edit, or puts it aside.
#[component]
pub fn EditButton(editing: Editing, name: &'static str, tip: &'static str) -> impl IntoView {
    let toggle = move |_| {
        if editing.is_open.get_untracked() {
            editing.close();
        } else {
            editing.open();
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
        <button class="button small ghost" type="button" on:click=move |_| editing.end()>"Cancel"</button>
    }
    .erase()
}
