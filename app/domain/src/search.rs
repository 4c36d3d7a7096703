//! Words: what of a text is found, and where in it.
//!
//! One way of cutting a text into words serves the index, the question to it, and the marks in what it found, so
//! the three never disagree. It cuts wherever a character is neither letter nor digit: a search engine made for
//! prose takes `src/main.rs` for one word, and then nobody finds it by `main`.

use std::{collections::BTreeSet, ops::Range};

#[cfg(test)]
mod tests;

/// Of a longer text only the beginning is found.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Of a longer word only the beginning counts: keys and hashes are found by it, and the index stays small.
const WORD_CHARS_MAX: usize = 40;

pub const ASKED_CHARS_MAX: usize = 200;
const ASKED_WORDS_MAX: usize = 32;

const SNIPPET_CHARS: usize = 220;
/// How much of a snippet stands before the first word that was found.
const LEAD_CHARS: usize = 60;

/// The different words of a text, as an index keeps them.
pub fn index_words(text: &str) -> Vec<String> {
    words(text).map(|(_, word)| word).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The part of a text that is found. A character with the code zero is in no text that a database keeps.
pub fn searchable(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT_BYTES_MAX)].replace('\0', "\u{fffd}")
}

/// What somebody searches for: each of these words, or one that begins with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    text: String,
    words: Vec<String>,
}

impl Asked {
    /// The refusal is in words for whoever typed it.
    pub fn new(typed: &str) -> Result<Self, &'static str> {
        let text = one_line(typed);
        if text.chars().count() > ASKED_CHARS_MAX {
            return Err("That is too long to search for: at most 200 characters.");
        }
        let words = index_words(&text);
        match words.len() {
            0 => Err("There is no word in that to search for."),
            count if count > ASKED_WORDS_MAX => Err("Those are too many words: at most 32 different ones."),
            _ => Ok(Self { text, words }),
        }
    }

    /// As it was typed, on one line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Letters and digits only, so they need no escaping anywhere.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Which of the words `word` begins with.
    fn found_by<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.words
            .iter()
            .enumerate()
            .filter(|(_, asked)| word.starts_with(asked.as_str()))
            .map(|(nth, _)| nth)
    }
}

/// A text with the places in it that were searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    pub text: String,
    /// Byte ranges, in order, apart from each other.
    pub marks: Vec<Range<usize>>,
}

impl Marked {
    pub fn plain(text: String) -> Self {
        Self { text, marks: Vec::new() }
    }

    pub fn new(text: String, asked: Option<&Asked>) -> Self {
        let Some(asked) = asked else { return Self::plain(text) };
        let found = words(&text).filter(|(_, word)| asked.found_by(word).next().is_some());
        let marks = found.map(|(place, _)| place).collect();
        Self { text, marks }
    }

    /// The text in pieces, each with whether it is marked.
    pub fn pieces(&self) -> Vec<(bool, &str)> {
        let mut pieces = Vec::with_capacity(self.marks.len() * 2 + 1);
        let mut end = 0;
        for mark in &self.marks {
            pieces.push((false, &self.text[end..mark.start]));
            pieces.push((true, &self.text[mark.clone()]));
            end = mark.end;
        }
        pieces.push((false, &self.text[end..]));
        pieces.retain(|(_, piece)| !piece.is_empty());
        pieces
    }
}

/// The part of `text` where most of what was asked for stands together; none where none of it does.
pub fn snippet(text: &str, asked: &Asked) -> Option<Marked> {
    let found: Vec<(Range<usize>, Vec<usize>)> = words(text)
        .map(|(place, word)| (place, asked.found_by(&word).collect::<Vec<_>>()))
        .filter(|(_, by)| !by.is_empty())
        .collect();
    let together = |from: usize| {
        let end = found[from].0.start + SNIPPET_CHARS - LEAD_CHARS;
        let near = found[from..].iter().take_while(|(place, _)| place.start < end);
        near.flat_map(|(_, by)| by).collect::<BTreeSet<_>>().len()
    };
    // Of equals `min` takes the first.
    let densest = (0..found.len()).min_by_key(|from| usize::MAX - together(*from))?;
    let part = part_around(text, found[densest].0.start);
    let mut shown = String::with_capacity(part.len() + 8);
    shown.push_str(if part.start > 0 { "… " } else { "" });
    shown.push_str(&one_line(&text[part.clone()]));
    shown.push_str(if part.end < text.len() { " …" } else { "" });
    Some(Marked::new(shown, Some(asked)))
}

/// A stretch of text that begins shortly before `place`, cut between words where there are spaces to cut at.
fn part_around(text: &str, place: usize) -> Range<usize> {
    let before = text[..place].char_indices().rev().nth(LEAD_CHARS - 1);
    let start =
        before.map_or(0, |(at, _)| text[at..place].find(char::is_whitespace).map_or(at, |space| at + space));
    let after = text[start..].char_indices().nth(SNIPPET_CHARS);
    let end = after.map_or(text.len(), |(at, _)| {
        let stretch = &text[place..start + at];
        stretch
            .rfind(char::is_whitespace)
            .filter(|space| *space > 0)
            .map_or(start + at, |space| place + space)
    });
    start..end
}

/// Each word in lower case, with where it stands.
fn words(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = rest.find(|(_, c)| c.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        let mut word: String = first.to_lowercase().collect();
        if stands_alone(first) {
            return Some((start..end, word));
        }
        let mut count = 1;
        while let Some((at, c)) = rest.next_if(|(_, c)| c.is_alphanumeric() && !stands_alone(*c)) {
            end = at + c.len_utf8();
            count += 1;
            if count <= WORD_CHARS_MAX {
                word.extend(c.to_lowercase());
            }
        }
        Some((start..end, word))
    })
}

/// Chinese and Japanese are written without spaces, so there each character is a word.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn one_line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
