//! The smaller pieces of a report.

use std::collections::BTreeSet;

use super::{Attempt, Badge, Block, Citation, Entry, Missing, Table, Text, Tone};
use crate::flow::{
    answer,
    answer::{Finding, Quoted},
    cited::{Place, places_in},
    evidence::{Flag, ProjectText, place_fault},
    method::Form,
};

pub(super) fn text(project: &dyn ProjectText, markdown: &str, flags: Vec<Flag>) -> Text {
    let citations = named(project, [markdown].into_iter());
    Text { markdown: markdown.trim().to_owned(), citations, flags }
}

/// As it was said, with the places that it names.
pub(super) fn verbatim(project: &dyn ProjectText, label: String, text: &str, flags: Vec<Flag>) -> Block {
    Block::Verbatim { label, text: text.to_owned(), citations: named(project, [text].into_iter()), flags }
}

/// Our own words, which name no places.
pub(super) fn said(markdown: impl Into<String>) -> Block {
    Block::Text(Text { markdown: markdown.into(), ..Text::default() })
}

pub(super) fn missing(what: &str, why: impl Into<String>) -> Block {
    Block::Missing(Missing { what: what.to_owned(), why: why.into() })
}

pub(super) fn table(head: &[&str], rows: Vec<Vec<String>>) -> Block {
    Block::Table(Table { head: head.iter().map(|name| (*name).to_owned()).collect(), rows })
}

/// One point a line.
pub(super) fn points(project: &dyn ProjectText, points: &[String], flags: Vec<Flag>) -> Block {
    let lines: Vec<_> =
        points.iter().map(|point| format!("- {}", point.trim().replace('\n', "\n  "))).collect();
    Block::Text(text(project, &lines.join("\n"), flags))
}

/// What is to be said below something that has no place for it: where the places that it names lead, and what is wrong
/// with it.
pub(super) fn checked<'a>(
    project: &dyn ProjectText,
    texts: impl Iterator<Item = &'a String>,
    flags: Vec<Flag>,
) -> Option<Block> {
    let citations = named(project, texts.map(String::as_str));
    let is_needed = !citations.is_empty() || !flags.is_empty();
    is_needed.then(|| Block::Text(Text { markdown: String::new(), citations, flags }))
}

/// The places that several texts name, each once.
fn named<'a>(project: &dyn ProjectText, texts: impl Iterator<Item = &'a str>) -> Vec<Citation> {
    let mut seen = BTreeSet::new();
    let places = texts.flat_map(|text| places_in(text, project)).filter(|place| seen.insert(place.clone()));
    places.map(|place| citation(project, place, "")).collect()
}

/// What the report adds to a finding.
#[derive(Default)]
pub(super) struct Mark {
    /// The level that it counts as, where that is not the one that was given.
    pub level: Option<&'static str>,
    /// What speaks against it.
    pub doubts: Vec<String>,
}

impl Mark {
    pub(super) fn doubt(words: &str) -> Self {
        Self { level: None, doubts: vec![words.to_owned()] }
    }
}

pub(super) fn entry(
    project: &dyn ProjectText,
    form: &Form,
    finding: &Finding,
    mark: Mark,
    flags: Vec<Flag>,
) -> Block {
    let badge = |tone, text: &str| Badge { tone, text: text.to_owned() };
    let mut badges = Vec::new();
    let (given, known) = (finding.level.trim(), form.level(&finding.level));
    let level = mark.level.or(known).unwrap_or(given);
    if !level.is_empty() {
        badges.push(badge(tone(form, level), level));
    }
    // One that counts less than it was given says so itself.
    let more = says_more(given, known.or(mark.level)).then(|| format!("given as \"{given}\""));
    badges.extend(more.map(|words| badge(Tone::Plain, &words)));
    let (given, known) = (finding.kind.trim(), form.kind(&finding.kind));
    let kind = known.filter(|known| !says_more(given, Some(known))).unwrap_or(given);
    if !kind.is_empty() {
        badges.push(badge(Tone::Plain, kind));
    }
    badges.push(badge(Tone::Plain, finding.trust.map_or("no trust class", |trust| trust.name())));
    if finding.single_source {
        badges.push(badge(Tone::Doubt, "single-source"));
    }
    badges.extend(mark.doubts.iter().map(|words| badge(Tone::Doubt, words)));
    let cited = |Quoted { place, quote }: &Quoted| citation(project, place.clone(), quote);
    Block::Entry(Box::new(Entry {
        id: finding.shown_id(),
        title: finding.title.trim().to_owned(),
        text: Text {
            citations: named(project, finding.texts()),
            ..text(project, &finding.claim, Vec::new())
        },
        badges,
        citations: finding.places.iter().map(cited).collect(),
        sources: finding.sources.clone(),
        cites: finding.cites.clone(),
        fields: finding.fields.clone(),
        flags,
    }))
}

pub(super) fn attempt(project: &dyn ProjectText, attempt: &answer::Attempt, flags: Vec<Flag>) -> Block {
    Block::Attempt(Box::new(Attempt {
        id: attempt.id.trim().to_owned(),
        about: attempt.about.clone(),
        hypothesis: attempt.hypothesis.clone(),
        checked: Text {
            citations: named(project, attempt.texts()),
            ..text(project, &attempt.checked, Vec::new())
        },
        verdict: attempt.verdict,
        impact: attempt.impact.clone(),
        fields: attempt.fields.clone(),
        flags,
    }))
}

/// Whether what was given is more than another way to write what it was understood as.
fn says_more(given: &str, known: Option<&str>) -> bool {
    let is_word = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).count() == 1
    };
    let is_same = |known: &str| {
        let [given, known]: [String; 2] = [given, known].map(|text| answer::plain(text).collect());
        given.starts_with(&known) || known.starts_with(&given)
    };
    let is_more = |known: &str| !(is_word(given) && is_same(known));
    !given.is_empty() && known.is_some_and(is_more)
}

fn citation(project: &dyn ProjectText, place: Place, quote: &str) -> Citation {
    let holds = place_fault(project, &place, quote).is_none();
    Citation { place, quote: quote.to_owned(), holds }
}

fn tone(form: &Form, level: &str) -> Tone {
    match form.rank(level) {
        0 => Tone::Grave,
        1 => Tone::Middling,
        _ => Tone::Light,
    }
}
