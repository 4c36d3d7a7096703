//! A project's paths, packed, and the search in them.

use app::files::{FilesFound, Found};
use domain::fuzzy::{Best, Letters, Matcher, Query, Ranked};

/// The paths one after the other, in order: neighbours share their folders.
#[derive(Debug)]
pub struct Listing {
    text: String,
    ends: Vec<u32>,
    letters: Vec<Letters>,
    pub is_cut: bool,
}

impl Listing {
    /// `paths` are sorted.
    pub fn new(paths: &[String], is_cut: bool) -> Self {
        let mut text = String::with_capacity(paths.iter().map(String::len).sum());
        let mut ends = Vec::with_capacity(paths.len());
        for path in paths {
            text.push_str(path);
            ends.push(text.len() as u32);
        }
        let letters = paths.iter().map(|path| Letters::of(path.chars())).collect();
        Self { text, ends, letters, is_cut }
    }

    pub fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * (size_of::<u32>() + size_of::<Letters>())
    }

    /// The best `limit` paths for what was typed, and how many there are.
    pub fn find(&self, typed: &str, limit: usize) -> FilesFound {
        let query = Query::new(typed);
        let (mut matcher, mut best) = (Matcher::new(&query), Best::new(limit));
        for (index, (path, letters)) in self.paths().zip(&self.letters).enumerate() {
            if let Some(score) = matcher.score(path, *letters) {
                best.offer(Ranked { index, score, len: path.len() });
            }
        }
        let total = best.total;
        let found = |ranked: Ranked| {
            let path = self.path(ranked.index)?;
            let positions = matcher.find(path)?.positions;
            Some(Found { path: path.to_owned(), positions })
        };
        let files = best.into_sorted().into_iter().filter_map(found).collect();
        FilesFound { files, total, is_cut: self.is_cut }
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).filter_map(|index| self.path(index))
    }

    fn path(&self, index: usize) -> Option<&str> {
        let start = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start as usize..*self.ends.get(index)? as usize)
    }
}
