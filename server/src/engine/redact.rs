//! Keeps configured secrets out of what is stored and shown, also where one comes in pieces.

use std::{cmp::Reverse, ops::Range, sync::Arc};

const REDACTED: &str = "[redacted]";
/// What is shorter can be guessed anyway and occurs by chance: blotting it out would spoil every answer and hide
/// nothing. Keys and generated passwords are several times as long.
const SECRET_BYTES_MIN: usize = 8;

/// Passes text on without the secrets. Holds back the end of a piece while it may be the start of one.
pub(crate) struct Redactor {
    secrets: Arc<[String]>,
    held: String,
    /// How much at the beginning of what is held was shown already.
    shown: usize,
}

/// A beginning of a secret that is no longer gives nothing away.
const GIVEN_AWAY_BYTES_MAX: usize = 3;

impl Redactor {
    pub fn new(secrets: Arc<[String]>) -> Self {
        Self { secrets, held: String::new(), shown: 0 }
    }

    /// A whole text without the secrets.
    pub fn redact(&self, text: &str) -> String {
        let mut alone = Self::new(Arc::clone(&self.secrets));
        let shown = alone.push(text);
        shown + &alone.finish()
    }

    /// What may be shown now of all that came so far.
    pub fn push(&mut self, text: &str) -> String {
        if self.secrets.is_empty() {
            return text.to_owned();
        }
        self.held.push_str(text);
        self.release(|rest, secrets| secrets.iter().map(|secret| overlap(rest, secret)).max().unwrap_or(0))
    }

    /// Something else comes in between, before which what was held back has its place. It may be the start of a secret
    /// all the same, whose rest comes later: then it is not shown in one piece, nor is most of it.
    pub fn interrupt(&mut self) -> String {
        let rest = &self.held[self.shown..];
        let shown = match rest.len() {
            0 => String::new(),
            _ if self.held.len() > GIVEN_AWAY_BYTES_MAX => REDACTED.to_owned(),
            _ => rest.to_owned(),
        };
        self.shown = self.held.len();
        shown
    }

    /// Nothing follows: what was held back is no start of a secret. It may still be a whole one, where a longer
    /// one begins alike.
    pub fn finish(&mut self) -> String {
        self.release(|_, _| 0)
    }

    /// Lets go what comes before a possible start of a secret, of which `undecided` gives the length.
    fn release(&mut self, undecided: fn(&str, &[String]) -> usize) -> String {
        let (mut shown, mut rest, mut known) = (String::new(), self.held.as_str(), self.shown);
        loop {
            let decided = rest.len() - undecided(rest, &self.secrets);
            match self.first_in(rest).filter(|found| found.start < decided) {
                Some(found) => {
                    shown.push_str(&rest[known.min(found.start)..found.start]);
                    if known < found.end {
                        shown.push_str(REDACTED);
                    }
                    known = known.saturating_sub(found.end);
                    rest = &rest[found.end..];
                }
                None => {
                    shown.push_str(&rest[known.min(decided)..decided]);
                    self.shown = known.saturating_sub(decided);
                    self.held = rest[decided..].to_owned();
                    return shown;
                }
            }
        }
    }

    /// Where the first secret stands, and of several the longest: one that begins like another must not leave its
    /// end behind.
    fn first_in(&self, text: &str) -> Option<Range<usize>> {
        let all = self.secrets.iter().filter_map(|secret| Some((text.find(secret)?, secret.len())));
        let (start, len) = all.min_by_key(|(start, len)| (*start, Reverse(*len)))?;
        Some(start..start + len)
    }
}

/// The values worth hiding.
pub(crate) fn secrets(values: impl IntoIterator<Item = String>) -> Arc<[String]> {
    values.into_iter().filter(|value| value.len() >= SECRET_BYTES_MIN).collect()
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

    const KEY: &str = "sk-12345678";

    fn redact(secrets_in: &[&str], pieces: &[&str]) -> String {
        let mut redactor = Redactor::new(secrets(secrets_in.iter().map(|s| s.to_string())));
        let mut shown: String = pieces.iter().map(|piece| redactor.push(piece)).collect();
        shown.push_str(&redactor.finish());
        shown
    }

    #[test]
    fn a_secret_is_hidden_also_across_pieces() {
        let check = |pieces: &[&str], shown: &str| {
            assert_eq!(redact(&[KEY], pieces), shown, "{pieces:?}");
        };
        check(&["the key is sk-12345678."], "the key is [redacted].");
        check(&["sk-", "1234", "5678", "!"], "[redacted]!");
        check(&["sk-1234", " is not it"], "sk-1234 is not it");
        check(&["sk-sk-12345678"], "sk-[redacted]");
        check(&["ends with sk-1"], "ends with sk-1");
    }

    #[test]
    fn one_secret_that_begins_like_another_leaves_nothing_behind() {
        let check = |pieces: &[&str], shown: &str| {
            assert_eq!(redact(&["correct-horse", "correct-horse-battery"], pieces), shown, "{pieces:?}");
        };
        check(&["it is correct-horse", "-battery."], "it is [redacted].");
        check(&["it is correct-horse", "-shoe."], "it is [redacted]-shoe.");
        check(&["it is correct-horse", "-bat"], "it is [redacted]-bat");
        check(&["it is correct-horse"], "it is [redacted]");
    }

    #[test]
    fn a_secret_with_something_in_between_is_hidden() {
        let check = |pieces: &[&str], expected: &str| {
            let mut redactor = Redactor::new(secrets([KEY.to_owned()]));
            let mut shown = String::new();
            for piece in pieces {
                shown.push_str(&redactor.push(piece));
                shown.push_str(&redactor.interrupt());
                shown.push('|');
            }
            shown.push_str(&redactor.finish());
            assert_eq!(shown, expected, "{pieces:?}");
            assert!(!shown.replace('|', "").contains(KEY));
        };
        check(&["it is sk", "-12345678."], "it is sk|[redacted].|");
        check(&["it is sk-1234567", "8."], "it is [redacted]|[redacted].|");
        check(&["sk-", "123", "45678"], "sk-|[redacted]|[redacted]|");
        check(&["in s", "o many words"], "in s|o many words|");
        check(&["ends in s"], "ends in s|");
    }

    #[test]
    fn nothing_is_shown_early() {
        let mut redactor = Redactor::new(secrets([KEY.to_owned()]));
        assert_eq!(redactor.push("a sk-123"), "a ");
        assert_eq!(redactor.push("4567"), "");
        assert_eq!(redactor.push("8 b"), "[redacted] b");
    }

    #[test]
    fn short_values_are_not_secrets() {
        assert_eq!(redact(&["key", "", "postgre"], &["the key of postgres"]), "the key of postgres");
        // The control: one byte more, and it is one.
        assert_eq!(redact(&["postgres"], &["the key of postgres"]), "the key of [redacted]");
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same(
            text in "(sk-12345678|sk-12345678-9|5678-9abc|xyxyxyxy|sk-|1234|xy|é| ){0,12}",
            cuts in prop::collection::vec(0usize..150, 0..6),
        ) {
            let all = [KEY, "sk-12345678-9", "5678-9abc", "xyxyxyxy"];
            let mut cuts: Vec<_> = cuts.into_iter().filter(|at| text.is_char_boundary(*at)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let whole = redact(&all, &[&text]);
            prop_assert_eq!(redact(&all, &pieces), whole.clone());
            for secret in all {
                prop_assert!(!whole.contains(secret));
            }
        }
    }
}
