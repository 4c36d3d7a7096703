//! How a text names what it rests on: ids in square brackets, and places as `path:line`.

mod prose;

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

pub use prose::{Tree, paths_in, places_in, within};

/// The id of a finding, an entry or an attempt to refute: letters and a number. `SEC-2`, `sec2` and `SEC002` are the
/// same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClaimId {
    pub letters: String,
    pub number: u32,
}

/// A line of a file of the project, or several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub path: String,
    /// From 1. One that names only the file has none.
    pub line: Option<u32>,
    /// The last of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u32>,
}

const LETTERS_MAX: usize = 4;
const DIGITS_MAX: usize = 6;

impl ClaimId {
    pub fn new(letters: &str, number: u32) -> Self {
        Self { letters: letters.to_owned(), number }
    }

    /// However it is written, alone or in brackets.
    pub fn read(text: &str) -> Option<Self> {
        let text =
            text.trim().trim_start_matches(['[', '(', '#', '*', '`']).trim_end_matches([']', ')', '*', '`']);
        let split = text.find(|c: char| !c.is_ascii_alphabetic())?;
        let (letters, rest) = text.split_at(split);
        let digits = rest.trim_start_matches(['-', '_', '#', ' ']);
        let fits = (1..=LETTERS_MAX).contains(&letters.len())
            && (1..=DIGITS_MAX).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| fits)?;
        Some(Self { letters: letters.to_ascii_uppercase(), number })
    }
}

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { letters, number } = self;
        match letters.as_str() {
            "G" | "TP" => write!(f, "{letters}-{number:03}"),
            "W" => write!(f, "{letters}-{number}"),
            _ => write!(f, "{letters}{number}"),
        }
    }
}

impl Place {
    /// `src/a.rs:12`, `./src/a.rs:12-20`, `src/a.rs#L12`, or only a path.
    pub fn read(text: &str) -> Option<Self> {
        let text = unwrapped(text);
        let (path, (line, until)) = match text.rsplit_once("#L").or_else(|| text.rsplit_once(':')) {
            Some((path, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                // `a.rs:12:5` has a column too.
                match path.rsplit_once(':').map(|(path, line)| (path, lines(line))) {
                    Some((path, known @ (Some(_), _))) => (path, known),
                    _ => (path, lines(rest)),
                }
            }
            _ => (text, (None, None)),
        };
        let path = path.trim().trim_start_matches("./");
        let fits = !path.is_empty() && !path.contains(char::is_control);
        fits.then(|| Self { path: path.to_owned(), line, until })
    }

    /// Whether the path could lie in a project's folder at all.
    pub fn is_inside(&self) -> bool {
        !self.path.starts_with(['/', '\\', '~']) && !self.path.split('/').any(|part| part == "..")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.until) {
            (Some(line), Some(until)) => write!(f, "{}:{line}-{until}", self.path),
            (Some(line), None) => write!(f, "{}:{line}", self.path),
            (None, _) => f.write_str(&self.path),
        }
    }
}

/// The ids that a text cites, each once: `[E1]`, `[E1, SEC-2]`. Brackets with anything else in them are none, nor is
/// the text of a link.
pub fn ids_in(text: &str) -> Vec<ClaimId> {
    let (mut ids, mut seen) = (Vec::new(), BTreeSet::new());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        rest = &rest[open + 1..];
        let Some(close) = rest.find([']', '[', '\n']).filter(|at| rest.as_bytes()[*at] == b']') else {
            continue;
        };
        let (inside, after) = (&rest[..close], &rest[close + 1..]);
        rest = after;
        if after.starts_with('(') {
            continue;
        }
        let pieces = inside.split([',', ';', ' ']).filter(|piece| !matches!(*piece, "" | "and" | "&"));
        let found: Option<Vec<ClaimId>> = pieces.map(written_id).collect();
        ids.extend(found.unwrap_or_default().into_iter().filter(|id| seen.insert(id.clone())));
    }
    ids
}

/// Those without brackets too, each once. Prose has many words that only look like one.
pub fn bare_ids_in(text: &str) -> BTreeSet<ClaimId> {
    text.split(|c: char| !c.is_alphanumeric() && c != '-').filter_map(written_id).collect()
}

/// Only in capitals: prose has many short words with a number.
fn written_id(piece: &str) -> Option<ClaimId> {
    piece.starts_with(|c: char| c.is_ascii_uppercase()).then(|| ClaimId::read(piece)).flatten()
}

/// `12`, `L12`, `12-20` and `L12-L20`.
pub(super) fn lines(text: &str) -> (Option<u32>, Option<u32>) {
    let number = |text: &str| -> Option<u32> {
        let digits = text.trim_start_matches(['L', 'l']).split(|c: char| !c.is_ascii_digit()).next();
        digits.unwrap_or_default().parse().ok().filter(|number| *number > 0)
    };
    let (first, last) = match text.split_once(['-', '–']) {
        Some((first, last)) => (number(first), number(last)),
        None => (number(text), None),
    };
    (first, last.filter(|last| first.is_some_and(|first| first != *last)))
}

/// Without what prose puts around a path. Brackets may be part of it: `app/(shop)/[slug].tsx`.
fn unwrapped(text: &str) -> &str {
    let mut text = text;
    loop {
        let inner = text.trim().trim_matches(['`', '"', '\'', ',', ';']);
        let inner = [('(', ')'), ('[', ']')].iter().fold(inner, |inner, (open, close)| {
            let begins = inner
                .strip_prefix(*open)
                .filter(|rest| rest.find(*close).is_none_or(|at| at + 1 == rest.len()));
            let inner = begins.unwrap_or(inner);
            inner.strip_suffix(*close).filter(|rest| !rest.contains(*open)).unwrap_or(inner)
        });
        if inner.len() == text.len() {
            return text;
        }
        text = inner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_however_they_are_written() {
        let check = |text: &str, expected: &str| {
            let id = ClaimId::read(text).map(|id| id.to_string());
            assert_eq!(id.as_deref().unwrap_or("-"), expected, "{text}");
        };
        check("E1", "E1");
        check("[sec-002]", "SEC2");
        check("**V3**", "V3");
        check("TP-7", "TP-007");
        check("G-012", "G-012");
        check("W3", "W-3");
        check("D# 4", "D4");
        check("E", "-");
        check("12", "-");
        check("", "-");
        check("ABCDE1", "-");
        check("E1a", "-");
        check("E1234567", "-");
    }

    #[test]
    fn ids_are_found_in_brackets_only() {
        let check = |text: &str, expected: &str| {
            let ids: Vec<_> = ids_in(text).iter().map(ToString::to_string).collect();
            assert_eq!(ids.join(" "), expected, "{text}");
        };
        check("so it is [E1], and [SEC-2; B3 and E1].", "E1 SEC2 B3");
        check("see E1 and S3 buckets, [S3 buckets], [1], [x], [todo]", "");
        check("[E1](https://example.org) and [[E2]]", "E2");
        check("[E1\n] [ [", "");
        check("[e1]", "");
        check("größe [E9]", "E9");
    }

    #[test]
    fn places_are_read_in_every_form() {
        let check = |text: &str, expected: &str| {
            let place = Place::read(text).map(|place| place.to_string());
            assert_eq!(place.as_deref().unwrap_or("-"), expected, "{text}");
        };
        check("src/a.rs:12", "src/a.rs:12");
        check("`./src/a.rs:12-20`", "src/a.rs:12-20");
        check("src/a.rs:12-12", "src/a.rs:12");
        check("src/a.rs#L12", "src/a.rs:12");
        check("src/a.rs#L12-L20", "src/a.rs:12-20");
        check("src/a.rs:12:5", "src/a.rs:12");
        check("src/a.rs", "src/a.rs");
        check("src/a.rs:0", "src/a.rs");
        check("src/a.rs:99999999999", "src/a.rs");
        check("(src/a.rs:12)", "src/a.rs:12");
        check("[`src/a.rs`]", "src/a.rs");
        check("(src/a.rs:12", "src/a.rs:12");
        check("(shop)/[slug].tsx:3", "(shop)/[slug].tsx:3");
        check("[slug].tsx", "[slug].tsx");
        check("app/[slug]", "app/[slug]");
        check("", "-");
        check("``", "-");
        assert!(!Place::read("../x:1").unwrap().is_inside() && !Place::read("/etc/x").unwrap().is_inside());
    }
}
