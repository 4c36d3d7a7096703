//! The sheet of keyboard shortcuts.

use leptos::prelude::*;

use super::{ACTIONS, Action};
use crate::{
    erased::{Erase, Erased},
    later::{CHUNK, Part},
    ui::{Dialog, Kbd},
};

/// Keys of parts that know them by themselves.
const ELSEWHERE: [(&str, &str); 4] = [
    ("Send the message", "Mod+Enter"),
    ("Resize at a divider", "ArrowLeft"),
    ("Make both sides equal at a divider", "Enter"),
    ("Close a menu or a dialog", "Escape"),
];

#[component]
pub fn HelpSheet(open: RwSignal<bool>) -> impl IntoView {
    view! {
        <Dialog id="help-sheet" title="Keyboard shortcuts" open wide=true light=true>
            {CHUNK.view(Part::Shortcuts)}
        </Dialog>
    }
}

/// What is in it.
pub fn sheet() -> Erased {
    let with_keys = ACTIONS.iter().filter_map(|Action { title, keys, .. }| Some((*title, (*keys)?)));
    let rows = with_keys.chain(ELSEWHERE).chain(crate::diff::KEYS).map(|(title, keys)| {
        view! {
            <div class="shortcut">
                <dt>{title}</dt>
                <dd><Kbd keys /></dd>
            </div>
        }
        .erase()
    });
    // Where it is longer than the screen, keys scroll it.
    view! { <dl class="shortcuts" tabindex="0">{rows.collect::<Vec<_>>()}</dl> }.erase()
}
