//! Where tokens come from, one at a time, so that 50 MB are never held at once.

use crate::seed::mix;

#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Text(String),
    /// Readable nonsense that depends on nothing but its seed.
    Pseudo {
        seed: u64,
        tokens: u64,
    },
    /// `1 2 3 … N `, one number a token: a lost or doubled token is seen at once.
    Count(u64),
    /// Each token is the moment at which it was made, `<unix micros>;`.
    Stamp(u64),
    /// Numbered lines of 16 bytes, so that any offset tells what must stand there.
    Bytes {
        total: u64,
        chunk: u64,
    },
}

/// A source and how much of it was taken: tokens, or bytes for text and bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokens {
    source: Source,
    at: u64,
}

impl Tokens {
    pub fn new(source: Source) -> Self {
        Self { source, at: 0 }
    }

    pub fn is_done(&self) -> bool {
        self.at
            >= match &self.source {
                Source::Text(text) => text.len() as u64,
                Source::Pseudo { tokens, .. } => *tokens,
                Source::Count(n) | Source::Stamp(n) => *n,
                Source::Bytes { total, .. } => *total,
            }
    }

    /// The next token; time is given in, so that all else stays pure.
    pub fn next(&mut self, unix_micros: u64) -> Option<String> {
        if self.is_done() {
            return None;
        }
        let (token, step) = match &self.source {
            Source::Text(text) => {
                let token = first_token(text.get(self.at as usize..)?);
                (token.to_owned(), token.len() as u64)
            }
            Source::Pseudo { seed, tokens } => (pseudo(*seed, self.at, *tokens), 1),
            Source::Count(_) => (format!("{} ", self.at + 1), 1),
            Source::Stamp(_) => (format!("{unix_micros};"), 1),
            Source::Bytes { total, chunk } => {
                let length = (*chunk).min(total - self.at);
                (numbered(self.at, length), length)
            }
        };
        self.at += step;
        Some(token)
    }
}

/// A short title in the same words.
pub fn title(seed: u64) -> String {
    (0..3).map(|at| pseudo(seed, at, 3)).collect::<String>().trim_end_matches('.').to_owned()
}

/// What llama-swap says for fun while a model loads.
pub fn remark(seed: u64, position: u64) -> &'static str {
    const REMARKS: [&str; 5] = [
        "Counting the weights twice",
        "Asking the disk politely",
        "Warming up the fans",
        "Queue position 1",
        "Teaching the bits to wait",
    ];
    REMARKS[(mix(seed, position) % REMARKS.len() as u64) as usize]
}

const LINE_BYTES: u64 = 16;
const SENTENCE_TOKENS: u64 = 10;
const TOKEN_BYTES_MAX: usize = 24;

const VOCABULARY: [&str; 32] = [
    "amber", "basin", "cedar", "delta", "ember", "fable", "grove", "harbour", "island", "juniper", "kettle",
    "lantern", "meadow", "north", "orchard", "pebble", "quartz", "river", "stone", "timber", "under",
    "valley", "willow", "yellow", "zephyr", "about", "before", "carries", "finds", "keeps", "meets", "over",
];

fn pseudo(seed: u64, at: u64, tokens: u64) -> String {
    let word = VOCABULARY[(mix(seed, at) % VOCABULARY.len() as u64) as usize];
    let mut token = String::with_capacity(word.len() + 2);
    if at.is_multiple_of(SENTENCE_TOKENS) {
        let (head, tail) = word.split_at(1);
        token.push_str(&head.to_ascii_uppercase());
        token.push_str(tail);
    } else {
        token.push_str(word);
    }
    let last = at + 1 == tokens;
    if last || (at + 1).is_multiple_of(SENTENCE_TOKENS) {
        token.push('.');
    }
    if !last {
        token.push(' ');
    }
    token
}

fn numbered(from: u64, length: u64) -> String {
    let mut text = String::with_capacity(length as usize + 2 * LINE_BYTES as usize);
    let mut line = from / LINE_BYTES;
    while (text.len() as u64) < length + LINE_BYTES {
        text.push_str(&format!("{line:015}\n"));
        line += 1;
    }
    let start = (from % LINE_BYTES) as usize;
    text[start..start + length as usize].to_owned()
}

/// A word with the white space after it; a very long word is cut, as tokenizers do.
fn first_token(text: &str) -> &str {
    let mut seen_space = false;
    for (at, c) in text.char_indices() {
        let space = c.is_whitespace();
        if (seen_space && !space) || at >= TOKEN_BYTES_MAX {
            return &text[..at];
        }
        seen_space |= space;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(source: Source) -> Vec<String> {
        let mut tokens = Tokens::new(source);
        std::iter::from_fn(|| tokens.next(42)).collect()
    }

    #[test]
    fn every_source_says_what_it_promises() {
        assert_eq!(all(Source::Count(3)), ["1 ", "2 ", "3 "]);
        assert_eq!(all(Source::Stamp(2)), ["42;", "42;"]);
        assert_eq!(all(Source::Text("one  two\nthree".into())), ["one  ", "two\n", "three"]);
        assert_eq!(all(Source::Pseudo { seed: 5, tokens: 40 }).len(), 40);
        assert_eq!(all(Source::Text(String::new())), Vec::<String>::new());
    }

    #[test]
    fn bytes_are_numbered_whatever_the_chunk() {
        let reference: String = all(Source::Bytes { total: 100, chunk: 100 }).concat();
        assert!(reference.starts_with("000000000000000\n000000000000001\n"));
        for chunk in [1, 3, 16, 33, 1000] {
            let text = all(Source::Bytes { total: 100, chunk }).concat();
            assert_eq!(text, reference, "chunk {chunk}");
        }
    }

    #[test]
    fn text_is_never_altered_by_its_cuts() {
        let text = "日本語の文章はスペースなしで長く続く 🦀🦀 naïve  end ";
        assert_eq!(all(Source::Text(text.into())).concat(), text);
    }

    #[test]
    fn the_same_seed_says_the_same() {
        let say = |seed| all(Source::Pseudo { seed, tokens: 40 }).concat();
        assert_eq!(say(1), say(1));
        assert_ne!(say(1), say(2));
        assert_eq!(title(9), title(9));
    }
}
