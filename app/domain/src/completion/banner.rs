//! llama-swap with `sendLoadingState` speaks in the model's place while the model loads:
//!
//! ```text
//! ━━━━━
//! llama-swap loading model: <id>
//! <a joke or the queue position> .....
//! Done! (12.34s)
//! ━━━━━
//!
//! ```
//!
//! all of it as `reasoning_content`, in whole lines or a few characters at a time, in chunks without `id`, `object`
//! and `model`. The opening is recognised by its words, since only they are certain; until they are spelt out the
//! text is held back, which is at most `OPENING_BYTES_MAX`. The end is its closing rule, or the first signed chunk
//! after an unsigned opening, or the first text: the banner is cut off when the model is ready before it is done.

const OPENING: &str = "llama-swap loading model";
const OPENING_BYTES_MAX: usize = 128;
const LINE_BYTES_MAX: usize = 64;
const RULE: char = '━';

#[derive(Debug)]
pub(super) enum Banner {
    /// No reasoning yet, or only what may become the opening.
    Possible {
        held: String,
    },
    Open {
        signed: bool,
        line: String,
        done: bool,
    },
    /// The blank line after the closing rule has still to be passed over.
    Closing,
    Over,
}

pub(super) enum Heard {
    Nothing,
    Banner,
    Model(String),
}

impl Default for Banner {
    fn default() -> Self {
        Self::Possible { held: String::new() }
    }
}

impl Banner {
    pub(super) fn hear(&mut self, text: &str, signed: bool) -> Heard {
        match self {
            Self::Possible { held } => {
                held.push_str(text);
                match Opening::of(held) {
                    Opening::Partial => Heard::Nothing,
                    Opening::Absent => self.leave(),
                    Opening::Complete => {
                        let opening = std::mem::take(held);
                        *self = Self::Open { signed, line: String::new(), done: false };
                        self.hear_open(&opening, signed)
                    }
                }
            }
            Self::Open { .. } => self.hear_open(text, signed),
            Self::Closing => match text.trim_start() {
                "" => Heard::Banner,
                rest => {
                    *self = Self::Over;
                    Heard::Model(rest.to_owned())
                }
            },
            Self::Over => Heard::Model(text.to_owned()),
        }
    }

    /// Something else than reasoning has come. Gives back what was held and was no banner.
    pub(super) fn close(&mut self) -> Option<String> {
        match self.leave() {
            Heard::Model(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    fn leave(&mut self) -> Heard {
        match std::mem::replace(self, Self::Over) {
            Self::Possible { held } => Heard::Model(held),
            _ => Heard::Nothing,
        }
    }

    fn hear_open(&mut self, text: &str, now_signed: bool) -> Heard {
        let Self::Open { signed, line, done } = self else {
            return Heard::Nothing;
        };
        if now_signed && !*signed {
            *self = Self::Over;
            return Heard::Model(text.to_owned());
        }
        for (at, character) in text.char_indices() {
            if character != '\n' {
                if line.len() < LINE_BYTES_MAX {
                    line.push(character);
                }
                continue;
            }
            let is_rule = !line.is_empty() && line.chars().all(|character| character == RULE);
            if is_rule && *done {
                *self = Self::Closing;
                return match self.hear(&text[at + 1..], now_signed) {
                    Heard::Nothing => Heard::Banner,
                    heard => heard,
                };
            }
            *done |= line.starts_with("Done! (");
            line.clear();
        }
        Heard::Banner
    }
}

enum Opening {
    Partial,
    Complete,
    Absent,
}

impl Opening {
    fn of(held: &str) -> Self {
        let text = held.trim_start();
        let words = text.trim_start_matches(RULE);
        let is_ruled = words.len() < text.len();
        let words = words.trim_start();
        let may_become = text.is_empty() || (is_ruled && OPENING.starts_with(words));
        if is_ruled && words.starts_with(OPENING) {
            Self::Complete
        } else if may_become && held.len() < OPENING_BYTES_MAX {
            Self::Partial
        } else {
            Self::Absent
        }
    }
}
