//! The report: a document of blocks that code puts together from what agents said. Pages draw it, and it can be written
//! as Markdown.

mod blocks;
mod build;
mod markdown;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Band, FlowId, Plan,
    answer::{Confidence, Named, Source, Verdict},
    cited::Place,
    evidence::{Flag, ProjectText},
    fold::Output,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub flow: FlowId,
    pub band: Band,
    pub head: Head,
    pub sections: Vec<Section>,
}

/// What everybody reads first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub summary: String,
    pub confidence: Option<Confidence>,
    /// Why this confidence, in the gate's words.
    pub reason: String,
    /// How many checks failed in the whole report, those of the head among them.
    pub failed_checks: usize,
    pub flags: Vec<Flag>,
    pub missing: Vec<Missing>,
    /// What the reader should know about how the report came about.
    pub notes: Vec<String>,
}

/// Somebody who was to answer and did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub what: String,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    Heading(String),
    Text(Text),
    /// A text that no longer holds, kept for whoever wants to know.
    Overturned(Text),
    Table(Table),
    Entry(Box<Entry>),
    Attempt(Box<Attempt>),
    Missing(Missing),
    /// As it was said, in whatever form that was.
    Verbatim {
        label: String,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Citation>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        flags: Vec<Flag>,
    },
}

/// Markdown, with the places that it names, so that a page can make links of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub markdown: String,
    pub citations: Vec<Citation>,
    pub flags: Vec<Flag>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A finding, or a numbered entry of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    pub title: String,
    pub text: Text,
    pub badges: Vec<Badge>,
    pub citations: Vec<Citation>,
    pub sources: Vec<Source>,
    pub cites: Vec<String>,
    pub fields: Vec<Named>,
    pub flags: Vec<Flag>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Badge {
    pub tone: Tone,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    Grave,
    Middling,
    Light,
    Plain,
    /// Something speaks against it.
    Doubt,
}

/// A place of the project, with the line that was quoted from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    pub place: Place,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// Whether it is there, and says that. Only then it is a link.
    pub holds: bool,
}

/// One attempt to prove something wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub id: String,
    pub about: Vec<String>,
    pub hypothesis: String,
    pub checked: Text,
    pub verdict: Option<Verdict>,
    pub impact: String,
    pub fields: Vec<Named>,
    pub flags: Vec<Flag>,
}

/// What became of the project while the run worked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// By their paths; none: it is as it was.
    Changed(Vec<String>),
    /// Why it could not be compared.
    Unknown(String),
}

/// All that a report is made of.
pub struct Material<'a> {
    pub plan: &'a Plan,
    /// Of every agent's step.
    pub outputs: &'a [Output<'a>],
    pub project: &'a dyn ProjectText,
    /// The repository's own template, whose headings then stand in place of ours.
    pub template: Option<&'a str>,
    /// Whether pages could be fetched or searched for.
    pub has_web: bool,
    pub meanwhile: Meanwhile,
    /// How often agents tried to change something.
    pub tried: u32,
    /// Those of the paths that were changed meanwhile which agents named when they tried.
    pub meant: Vec<String>,
}

impl Report {
    pub fn new(material: &Material<'_>) -> Self {
        build::report(material)
    }

    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// Every check that failed and is told somewhere in it.
    fn flags(&self) -> impl Iterator<Item = &Flag> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        self.head.flags.iter().chain(blocks.flat_map(Block::flags))
    }

    /// Every place that it cites and that is there, once, in the order of reading.
    pub fn places(&self) -> Vec<&Place> {
        let mut seen = BTreeSet::new();
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        let cited = blocks.flat_map(Block::citations).filter(|citation| citation.holds);
        cited.map(|citation| &citation.place).filter(|place| seen.insert(*place)).collect()
    }
}

impl Block {
    fn citations(&self) -> Vec<&Citation> {
        match self {
            Self::Text(text) | Self::Overturned(text) => text.citations.iter().collect(),
            Self::Entry(entry) => entry.text.citations.iter().chain(&entry.citations).collect(),
            Self::Attempt(attempt) => attempt.checked.citations.iter().collect(),
            Self::Verbatim { citations, .. } => citations.iter().collect(),
            Self::Heading(_) | Self::Table(_) | Self::Missing(_) => Vec::new(),
        }
    }

    fn flags(&self) -> &[Flag] {
        match self {
            Self::Text(text) | Self::Overturned(text) => &text.flags,
            Self::Entry(entry) => &entry.flags,
            Self::Attempt(attempt) => &attempt.flags,
            Self::Verbatim { flags, .. } => flags,
            Self::Heading(_) | Self::Table(_) | Self::Missing(_) => &[],
        }
    }
}
