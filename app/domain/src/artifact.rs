//! Something to look at beside other work: the report of a run, the change that it is about, or a line of a file that it
//! cites, as the file was when the run began.

use serde::{Deserialize, Serialize};

use crate::{
    flow::{Report, cited::Place},
    id::RunId,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct Artifact {
    pub run: RunId,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// A place that the report cites, by its number in [`Report::places`], from 1. A report never changes, so neither does
    /// what a number means.
    Cited(u32),
    Report,
    /// The change that the flow looked at.
    Diff,
}

/// As layouts keep it.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Kept {
    run: RunId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    diff: bool,
}

impl From<Kept> for Artifact {
    fn from(Kept { run, number, diff }: Kept) -> Self {
        let whole = if diff { What::Diff } else { What::Report };
        Self { run, what: number.map_or(whole, What::Cited) }
    }
}

impl From<Artifact> for Kept {
    fn from(Artifact { run, what }: Artifact) -> Self {
        match what {
            What::Cited(number) => Self { run, number: Some(number), diff: false },
            What::Report => Self { run, number: None, diff: false },
            What::Diff => Self { run, number: None, diff: true },
        }
    }
}

/// What a file is that can be looked at besides as it is written. It comes from strangers, so it is drawn in a frame
/// that may do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    Html,
    Svg,
}

impl Artifact {
    /// Only what is cited has one.
    pub fn place(self, report: &Report) -> Option<Place> {
        let What::Cited(number) = self.what else { return None };
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
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
        let place = Place { path: path.into(), line: Some(line), until: None };
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
        let cited = |number| Artifact { run, what: What::Cited(number) };
        let place = cited(2).place(&report);
        assert_eq!(place.map(|place| place.to_string()).as_deref(), Some("a.rs:2"));
        for number in [0, 4, u32::MAX] {
            assert_eq!(cited(number).place(&report), None);
        }
    }

    /// Layouts of older versions hold places alone.
    #[test]
    fn what_layouts_keep_is_read_again() {
        let run = RunId(Uuid::from_u128(7));
        for (what, kept) in [
            (What::Cited(3), format!(r#"{{"run":"{run}","number":3}}"#)),
            (What::Report, format!(r#"{{"run":"{run}"}}"#)),
            (What::Diff, format!(r#"{{"run":"{run}","diff":true}}"#)),
        ] {
            let artifact = Artifact { run, what };
            assert_eq!(serde_json::to_string(&artifact).unwrap(), kept);
            assert_eq!(serde_json::from_str::<Artifact>(&kept).unwrap(), artifact);
            assert_eq!(crate::json::read::<Artifact>(&kept).ok(), Some(artifact));
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
