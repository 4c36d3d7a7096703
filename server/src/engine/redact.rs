//! Keeps configured secrets out of what is stored and shown, also where one comes in pieces.

use std::sync::Arc;

const REDACTED: &str = "[redacted]";
/// Shorter values are words that occur by chance; blotting them out would only spoil the text.
const SECRET_BYTES_MIN: usize = 8;

/// Passes text on without the secrets. Holds back the end of a piece while it may be the start of one.
pub(crate) struct Redactor {
    secrets: Arc<[String]>,
    held: String,
}

impl Redactor {
    pub fn new(secrets: Arc<[String]>) -> Self {
        Self { secrets, held: String::new() }
    }

    /// What may be shown now of all that came so far.
    pub fn push(&mut self, text: &str) -> String {
        if self.secrets.is_empty() {
            return text.to_owned();
        }
        self.held.push_str(text);
        for secret in self.secrets.iter() {
            if self.held.contains(secret) {
                self.held = self.held.replace(secret, REDACTED);
            }
        }
        let keep = self.secrets.iter().map(|secret| overlap(&self.held, secret)).max().unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - keep);
        std::mem::replace(&mut self.held, rest)
    }

    /// What was held back turned out to be no secret.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// The values worth hiding.
pub(crate) fn secrets(values: impl IntoIterator<Item = String>) -> Arc<[String]> {
    let mut secrets: Vec<_> = values.into_iter().filter(|value| value.len() >= SECRET_BYTES_MIN).collect();
    // The longest first: a secret that begins like another must not leave its end behind.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.into()
}

/// How many bytes at the end of `text` are a beginning of `secret`.
fn overlap(text: &str, secret: &str) -> usize {
    let starts = secret.char_indices().map(|(at, _)| at).skip(1);
    starts.filter(|len| text.ends_with(&secret[..*len])).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redact(secrets_in: &[&str], pieces: &[&str]) -> String {
        let mut redactor = Redactor::new(secrets(secrets_in.iter().map(|s| s.to_string())));
        let mut shown: String = pieces.iter().map(|piece| redactor.push(piece)).collect();
        shown.push_str(&redactor.finish());
        shown
    }

    #[test]
    fn a_secret_is_hidden_also_across_pieces() {
        let check = |pieces: &[&str], shown: &str| {
            assert_eq!(redact(&["sk-12345678"], pieces), shown, "{pieces:?}");
        };
        check(&["the key is sk-12345678."], "the key is [redacted].");
        check(&["sk-", "1234", "5678", "!"], "[redacted]!");
        check(&["sk-1234", " is not it"], "sk-1234 is not it");
        check(&["sk-sk-12345678"], "sk-[redacted]");
        check(&["ends with sk-1"], "ends with sk-1");
    }

    #[test]
    fn nothing_is_shown_early() {
        let mut redactor = Redactor::new(secrets(["sk-12345678".to_owned()]));
        assert_eq!(redactor.push("a sk-123"), "a ");
        assert_eq!(redactor.push("4567"), "");
        assert_eq!(redactor.push("8 b"), "[redacted] b");
    }

    #[test]
    fn short_values_are_not_secrets() {
        assert_eq!(redact(&["key"], &["the key"]), "the key");
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same(text in "(sk-12345678|sk-|1234|é| ){0,12}", cut in 0usize..100) {
            let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let whole = redact(&["sk-12345678"], &[&text]);
            prop_assert_eq!(redact(&["sk-12345678"], &[&text[..cut], &text[cut..]]), whole.clone());
            prop_assert!(!whole.contains("sk-12345678"));
        }
    }
}
