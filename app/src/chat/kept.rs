//! What a chat's composer keeps in this browser, so that a reload or a crash of the tab takes none of it.

use domain::id::ChatId;

use crate::{device, erased::effect_first};

/// Under this name a browser keeps what is typed in a chat.
pub fn draft_of(chat: ChatId) -> String {
    format!("draft:{chat}")
}

/// What stands in a chat's composer when it is opened.
pub fn leave_draft(chat: ChatId, text: &str) {
    device::remember(&draft_of(chat), text);
}

/// Remembers what `text` says under the key whenever that changes; empty is nothing. First `restore` gets what was
/// remembered before.
pub fn keep(key: String, text: impl Fn() -> String + 'static, restore: impl Fn(Option<String>) + 'static) {
    effect_first(move |is_first| {
        let now = text();
        if is_first {
            restore(device::remembered(&key));
        } else {
            device::remember(&key, &now);
        }
    });
}
