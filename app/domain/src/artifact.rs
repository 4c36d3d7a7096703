//! Something to look at beside the report of a run: a line of a file that it cites, as the file was when the run began.

use serde::{Deserialize, Serialize};

use crate::{
    flow::{Report, cited::Place},
    id::RunId,
};

/// A place that a report cites, by its number in [`Report::places`]. A report never changes, so neither does what a
/// number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Artifact {
    pub run: RunId,
    /// From 1.
    pub number: u32,
}

/// What a file is that can be looked at besides as it is written. It comes from strangers, so it is drawn in a frame
/// that may do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    Html,
    Svg,
}

impl Artifact {
    pub fn place(self, report: &Report) -> Option<Place> {
        let at = usize::try_from(self.number).ok()?.checked_sub(1)?;
        report.places().into_iter().nth(at).cloned()
    }
}

impl Drawn {
    pub fn of_path(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "svg" => Some(Self::Svg),
            _ => None,
        }
    }

    pub fn mime(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Svg => "image/svg+xml; charset=utf-8",
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::flow::{
        Band, FlowId,
        report::{Block, Citation, Entry, Head, Section, Text},
    };

    fn cited(path: &str, line: u32, holds: bool) -> Citation {
        let place = Place { path: path.into(), line: Some(line) };
        Citation { place, quote: String::new(), holds }
    }

    #[test]
    fn places_are_numbered_as_they_are_read_each_once_and_invented_ones_not() {
        let text = |citations| Text { citations, ..Text::default() };
        let entry = Entry {
            text: text(vec![cited("a.rs", 2, true), cited("gone.rs", 5, false)]),
            citations: vec![cited("b.rs", 1, true), cited("a.rs", 2, true)],
            ..Entry::default()
        };
        let blocks = vec![Block::Text(text(vec![cited("c.rs", 9, true)])), Block::Entry(Box::new(entry))];
        let sections = vec![Section { title: "Findings".into(), blocks }];
        let report = Report { flow: FlowId::CodeReview, band: Band::Small, head: Head::default(), sections };
        let places = report.places();
        let words: Vec<_> = places.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["c.rs:9", "a.rs:2", "b.rs:1"]);

        let run = RunId(Uuid::nil());
        let place = Artifact { run, number: 2 }.place(&report);
        assert_eq!(place.map(|place| place.to_string()).as_deref(), Some("a.rs:2"));
        for number in [0, 4, u32::MAX] {
            assert_eq!(Artifact { run, number }.place(&report), None);
        }
    }

    #[test]
    fn only_some_files_are_drawn() {
        let check = |path: &str, drawn| assert_eq!(Drawn::of_path(path), drawn, "{path}");
        check("a/index.HTML", Some(Drawn::Html));
        check("logo.svg", Some(Drawn::Svg));
        check("README.md", None);
        check("main.rs", None);
        check("svg", None);
    }
}
