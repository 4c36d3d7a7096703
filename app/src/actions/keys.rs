//! Keys that do something wherever the focus is.

use leptos::{
    ev::{self, KeyboardEvent},
    prelude::*,
};

use super::{ACTIONS, Hands};
use crate::erased::effect;

/// Runs the actions by their keys for as long as the page is there.
pub fn listen(hands: Hands) {
    effect(move || {
        let listener = window_event_listener(ev::keydown, move |key: KeyboardEvent| {
            let pressed = Pressed {
                with_mod: key.ctrl_key() || key.meta_key(),
                with_alt: key.alt_key(),
                with_shift: key.shift_key(),
            };
            let pressed = pressed.with(&key.code());
            let action = ACTIONS.iter().find(|action| action.keys == Some(pressed.as_str()));
            if let Some(action) = action {
                key.prevent_default();
                (action.run)(hands);
            }
        });
        on_cleanup(move || listener.remove());
    });
}

struct Pressed {
    with_mod: bool,
    with_alt: bool,
    with_shift: bool,
}

impl Pressed {
    /// As a shortcut is written. The place of the key counts, not its letter: with Alt a Mac types other ones.
    fn with(self, code: &str) -> String {
        let name = code.strip_prefix("Key").or_else(|| code.strip_prefix("Digit")).unwrap_or(match code {
            "Backslash" => "\\",
            "Slash" => "/",
            other => other,
        });
        let mut keys = String::new();
        for (is_held, word) in [(self.with_mod, "Mod+"), (self.with_alt, "Alt+"), (self.with_shift, "Shift+")]
        {
            if is_held {
                keys.push_str(word);
            }
        }
        keys + name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_as_shortcuts_are_written() {
        let check = |with_mod, with_alt, with_shift, code: &str, expected: &str| {
            assert_eq!(Pressed { with_mod, with_alt, with_shift }.with(code), expected);
        };
        check(true, false, false, "KeyK", "Mod+K");
        check(false, true, true, "Backslash", "Alt+Shift+\\");
        check(false, true, true, "ArrowLeft", "Alt+Shift+ArrowLeft");
        check(false, false, false, "KeyK", "K");
        check(true, false, false, "Slash", "Mod+/");
    }
}
