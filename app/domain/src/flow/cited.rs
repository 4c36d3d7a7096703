//! How a text names what it rests on: ids in square brackets, and places as `path:line`.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

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
        let text = text.trim().trim_matches(['`', '"', '\'', '(', ')', '[', ']', ',', ';']);
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

/// The places that a text names with a line, each once.
pub fn places_in(text: &str) -> Vec<Place> {
    let (mut places, mut seen) = (Vec::new(), BTreeSet::new());
    for word in pieces(text).filter(|word| word.contains([':', '#'])) {
        let place = Place::read(word).filter(|place| place.line.is_some());
        let Some(place) = place.filter(|place| is_path(&place.path)) else { continue };
        if seen.insert(place.clone()) {
            places.push(place);
        }
    }
    places
}

/// The files in folders that a text names, with a line or without, each once.
pub fn paths_in(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for word in pieces(text).filter(|word| word.contains('/')) {
        let path = Place::read(word).map(|place| place.path).filter(|path| is_path(path));
        if let Some(path) = path.filter(|path| !paths.contains(path)) {
            paths.push(path);
        }
    }
    paths
}

/// The words of a text that could be places. Addresses of pages are none.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_part =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | ':' | '#' | '@' | '+' | '~');
    let words = text.split(move |c: char| !is_part(c)).filter(|word| !word.contains("//"));
    words.map(|word| word.trim_end_matches(['.', ':']))
}

/// Hosts with a port and times of day look like places too. A path has a name with an extension of letters, and a
/// folder before it or an extension that only files have.
fn is_path(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').map_or((None, path), |(folder, name)| (Some(folder), name));
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return folder.is_some() && matches!(name, "Dockerfile" | "Makefile" | "Jenkinsfile" | "LICENSE");
    };
    let has_letters = extension.starts_with(|c: char| c.is_ascii_alphabetic()) && extension.len() <= 10;
    let of_hosts =
        matches!(extension, "com" | "org" | "net" | "io" | "dev" | "local" | "example" | "localhost");
    has_letters && !stem.is_empty() && (folder.is_some() || !of_hosts)
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
        check("", "-");
        check("``", "-");
        assert!(!Place::read("../x:1").unwrap().is_inside() && !Place::read("/etc/x").unwrap().is_inside());
    }

    #[test]
    fn places_are_found_in_prose() {
        let check = |text: &str, expected: &str| {
            let places: Vec<_> = places_in(text).iter().map(ToString::to_string).collect();
            assert_eq!(places.join(" "), expected, "{text}");
        };
        check("See `src/a.rs:12`, (src/b.rs:3-9) and main.rs:1.", "src/a.rs:12 src/b.rs:3-9 main.rs:1");
        check("at 12:30 on localhost:3000, 127.0.0.1:4400, example.com:443", "");
        check("https://example.org/a.rs:12 and http://x:1", "");
        check("src/a.rs and std::fs::read and a::b:1", "");
        check("deploy/Dockerfile:3", "deploy/Dockerfile:3");
        check("src/a.rs:12 again src/a.rs:12", "src/a.rs:12");
    }

    #[test]
    fn files_are_found_in_prose() {
        let check = |text: &str, expected: &str| assert_eq!(paths_in(text).join(" "), expected, "{text}");
        check("In src/a.rs, src/a.rs:3 and (lib/b.ts).", "src/a.rs lib/b.ts");
        check("and/or TCP/IP, CI/CD, 1/2, README.md and https://example.org/a.html", "");
    }
}
