//! What a chat's composer keeps in this browser, so that a reload or a crash of the tab takes none of it.

use crate::{device, erased::effect_first};

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
