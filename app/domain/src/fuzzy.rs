//! Finds paths by a few letters of them, as people know it from editors: the letters in their order, anything
//! between them; the more they stand together, at the starts of words and in the file's own name, the better.
//!
//! Lists of a hundred thousand paths are compared at every key, so most of them are refused by their set of
//! letters alone, without a look at the path itself.

use align::Aligner;
pub use best::{Best, Ranked};
use word::Word;

mod align;
mod best;
mod word;

/// Nobody types more than this to find a file; what follows is not looked at.
pub const QUERY_CHARS_MAX: usize = 200;

/// What a person typed.
#[derive(Clone, Debug)]
pub struct Query {
    /// Each is looked for on its own, wherever it stands; all have to be there.
    words: Vec<Word>,
    letters: Letters,
}

impl Query {
    pub fn new(typed: &str) -> Self {
        let typed: String = typed.chars().take(QUERY_CHARS_MAX).collect();
        let words = typed.split_whitespace().map(Word::new).collect();
        let letters = Letters::of(typed.split_whitespace().flat_map(str::chars));
        Self { words, letters }
    }
}

/// Which letters a text has, whatever their case: one bit each, shared by rare ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Letters(u64);

impl Letters {
    pub fn of(text: impl IntoIterator<Item = char>) -> Self {
        let bit = |c: char| match c {
            'a'..='z' => c as u32 - 'a' as u32,
            'A'..='Z' => c as u32 - 'A' as u32,
            '0'..='9' => 26 + c as u32 - '0' as u32,
            c if c.is_ascii() => 36 + c as u32 % 27,
            // One for all: which of them are the same letter depends on the case.
            _ => 63,
        };
        Self(text.into_iter().fold(0, |letters, c| letters | 1 << bit(c)))
    }

    fn has_all(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}

/// A path and where the letters of the query are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    pub score: i32,
    /// The byte offsets of the characters that matched, in order.
    pub positions: Vec<u32>,
}

/// Compares a query with one path after another: quickest when neighbours share their folders.
#[derive(Debug)]
pub struct Matcher {
    letters: Letters,
    words: Vec<Aligner>,
}

impl Matcher {
    pub fn new(query: &Query) -> Self {
        Self { letters: query.letters, words: query.words.iter().cloned().map(Aligner::new).collect() }
    }

    /// How well the path fits; `None` when it does not. `letters` are those of `path`.
    pub fn score(&mut self, path: &str, letters: Letters) -> Option<i32> {
        if !letters.has_all(self.letters) {
            return None;
        }
        self.words.iter_mut().try_fold(0, |score, word| Some(score + word.score(path)?))
    }

    /// The same, and where: for the few that are shown.
    pub fn find(&mut self, path: &str) -> Option<Match> {
        let mut found = Match { score: 0, positions: Vec::new() };
        for word in &mut self.words {
            found.score += word.score(path)?;
            word.positions(&mut found.positions);
        }
        found.positions.sort_unstable();
        found.positions.dedup();
        Some(found)
    }
}

#[cfg(test)]
mod tests;
