//! Keys that do something wherever the focus is.

use leptos::{
    ev::{self, KeyboardEvent},
    prelude::*,
};

use super::{ACTIONS, Action, Hands, PALETTE_KEYS};
use crate::{device, erased::effect};

/// Runs the actions by their keys for as long as the page is there.
pub fn listen(hands: Hands) {
    effect(move || {
        let listener = window_event_listener(ev::keydown, move |key: KeyboardEvent| {
            let held = Held {
                ctrl: key.ctrl_key(),
                meta: key.meta_key(),
                alt: key.alt_key(),
                shift: key.shift_key(),
            };
            let action = Pressed::of(held, device::is_mac())
                .and_then(|pressed| pressed.action(&key.key(), &key.code()))
                .filter(|action| is_in_reach(action, hands) && (action.fits)(hands));
            if let Some(action) = action {
                key.prevent_default();
                (action.run)(hands);
            }
        });
        on_cleanup(move || listener.remove());
    });
}

/// What a dialog covers is left alone. The palette closes by the key that opened it.
fn is_in_reach(action: &Action, hands: Hands) -> bool {
    !is_covered() || (action.keys == Some(PALETTE_KEYS) && hands.is_palette_open.get_untracked())
}

/// Whether a dialog lies over the page.
pub fn is_covered() -> bool {
    document().query_selector("dialog:modal").is_ok_and(|dialog| dialog.is_some())
}

/// The keys that are held with another, as a browser names them.
#[derive(Clone, Copy)]
struct Held {
    ctrl: bool,
    meta: bool,
    alt: bool,
    shift: bool,
}

/// The same as a shortcut names them.
#[derive(Clone, Copy)]
struct Pressed {
    with_mod: bool,
    with_alt: bool,
    with_shift: bool,
}

impl Pressed {
    /// None where it cannot be ours. A Mac types and selects with Option alone and moves the caret with Control alone:
    /// there Mod is ⌘, and Alt both of them together.
    fn of(held: Held, is_mac: bool) -> Option<Self> {
        let Held { ctrl, meta, alt, shift } = held;
        if !is_mac {
            return Some(Self { with_mod: ctrl || meta, with_alt: alt, with_shift: shift });
        }
        (ctrl == alt).then_some(Self { with_mod: meta, with_alt: alt, with_shift: shift })
    }

    fn action(self, key: &str, code: &str) -> Option<&'static Action> {
        let names = [self.by_key(key), self.by_place(key, code)];
        let called = |name: String| ACTIONS.iter().find(|action| action.keys == Some(name.as_str()));
        names.into_iter().flatten().find_map(called)
    }

    /// By what the keyboard in front of the reader types: a slash is where its layout has one.
    fn by_key(self, key: &str) -> Option<String> {
        let mut letters = key.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) if letter.is_ascii_alphabetic() => {
                Some(self.with(&key.to_ascii_uppercase()))
            }
            // On many layouts it takes Shift to type it at all.
            (Some(sign), None) if sign.is_ascii() => Some(Self { with_shift: false, ..self }.with(key)),
            (_, Some(_)) => Some(self.with(key)),
            _ => None,
        }
    }

    /// By where the key is, for what types no letter of ours: another alphabet, or a Mac with Option. A sign that only
    /// some layouts have with Alt is meant by its place too; with Ctrl, other signs are the browser's.
    fn by_place(self, key: &str, code: &str) -> Option<String> {
        let is_letter = key.len() == 1 && key.chars().all(|letter| letter.is_ascii_alphabetic());
        if is_letter || (key.is_ascii() && key.len() == 1 && !self.with_alt) {
            return None;
        }
        let name = code.strip_prefix("Key").or_else(|| code.strip_prefix("Digit")).unwrap_or(match code {
            "Backslash" => "\\",
            "Slash" => "/",
            other => other,
        });
        Some(self.with(name))
    }

    /// As a shortcut is written.
    fn with(self, name: &str) -> String {
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
    fn keys_are_those_of_the_keyboard_in_front_of_the_reader() {
        let check = |held: &str, key: &str, code: &str, expected: &str| {
            let is_mac = held.contains("Mac");
            let held = held.trim_start_matches("Mac ");
            let [ctrl, meta, alt, shift] = ['c', 'm', 'a', 's'].map(|key| held.contains(key));
            let pressed = Pressed::of(Held { ctrl, meta, alt, shift }, is_mac);
            let found =
                pressed.and_then(|pressed| pressed.action(key, code)).map_or("", |action| action.title);
            assert_eq!(found, expected, "{held} {key} {code}");
        };
        let (palette, help, split) = ("Command palette", "Keyboard shortcuts", "Split right");
        check("c", "k", "KeyK", palette);
        check("c", "K", "KeyK", palette);
        check("c", "/", "Slash", help);
        // As Germans type a slash; and what lies where others have one makes the page smaller.
        check("cs", "/", "Digit7", help);
        check("c", "-", "Slash", "");
        // In another alphabet the place tells.
        check("c", "л", "KeyK", palette);
        check("", "k", "KeyK", "");
        check("cs", "K", "KeyK", "");

        check("a", "\\", "Backslash", split);
        // A layout that has no such sign with Alt.
        check("a", "#", "Backslash", split);
        check("as", "|", "Backslash", "Split down");
        check("as", "ArrowLeft", "ArrowLeft", "Focus the pane on the left");
        check("as", "ArrowLeft", "Numpad4", "Focus the pane on the left");
        check("a", "w", "KeyZ", "Close this tab");
        // The French Z is where others have the W.
        check("a", "z", "KeyW", "");
        // AltGr types it.
        check("ca", "\\", "Minus", "");
        check("m", "k", "KeyK", palette);

        check("Mac m", "k", "KeyK", palette);
        check("Mac ms", "/", "Digit7", help);
        check("Mac ca", "«", "Backslash", split);
        check("Mac cas", "»", "Backslash", "Split down");
        check("Mac cas", "ArrowLeft", "ArrowLeft", "Focus the pane on the left");
        check("Mac ca", "Dead", "KeyN", "New chat");
        check("Mac ca", "\u{e}", "KeyN", "New chat");
        // Caret and text: to the end of the line, back, ~, by words, and the German backslash.
        check("Mac c", "k", "KeyK", "");
        check("Mac c", "b", "KeyB", "");
        check("Mac a", "Dead", "KeyN", "");
        check("Mac as", "ArrowLeft", "ArrowLeft", "");
        check("Mac as", "\\", "Digit7", "");
        check("Mac cm", "k", "KeyK", "");
        check("Mac am", "k", "KeyK", "");
    }
}
