//! The colours of a text, by its grammar.

use std::{ops::Range, sync::atomic::AtomicUsize};

use domain::diff::Colour;
use tree_sitter_highlight::{HighlightEvent, Highlighter};

use super::{
    languages::{Language, letter},
    text::Text,
};

/// A text up to this size is coloured as a whole, which is always right.
const WHOLE_BYTES_MAX: usize = 1024 * 1024;
/// A larger one is coloured in pieces of so many lines, each with some lines before it that tell where it is. What
/// began further up, as a very long comment, may be missed.
const PIECE_LINES: usize = 2_000;
const LEAD_LINES: usize = 400;

/// The colours of some lines of a text.
pub struct Coloured {
    first: usize,
    /// One more than there are lines.
    starts: Vec<u32>,
    colours: Vec<Colour>,
}

/// Which piece of a text a line is in.
pub fn piece_of(text: &Text, index: usize) -> usize {
    if text.bytes() <= WHOLE_BYTES_MAX { 0 } else { index / PIECE_LINES }
}

impl Coloured {
    pub fn new(text: &Text, piece: usize, language: Language) -> Self {
        let wanted = if text.bytes() <= WHOLE_BYTES_MAX {
            0..text.count()
        } else {
            piece * PIECE_LINES..((piece + 1) * PIECE_LINES).min(text.count())
        };
        let lead = wanted.start.saturating_sub(LEAD_LINES);
        let source = text.lines(lead, wanted.end);
        let spans = spans(source, language);
        let mut coloured = Self { first: wanted.start, starts: vec![0], colours: Vec::new() };
        let mut spans = spans.into_iter().peekable();
        let mut at = 0;
        for index in lead..wanted.end {
            let (start, end) = (at, at + text.lines(index, index + 1).len());
            at = end;
            while spans.next_if(|(range, _)| range.end <= start).is_some() {}
            if index < wanted.start {
                continue;
            }
            // One that goes on is left for the next line.
            while let Some((range, letter)) = spans.peek().filter(|(range, _)| range.start < end).cloned() {
                let within = range.start.max(start) - start..range.end.min(end) - start;
                let colour = Colour { start: within.start as u32, end: within.end as u32, letter };
                coloured.colours.push(colour);
                if range.end > end {
                    break;
                }
                spans.next();
            }
            coloured.starts.push(coloured.colours.len() as u32);
        }
        coloured
    }

    pub fn line(&self, index: usize) -> &[Colour] {
        let Some(line) = index.checked_sub(self.first) else { return &[] };
        match (self.starts.get(line), self.starts.get(line + 1)) {
            (Some(start), Some(end)) => &self.colours[*start as usize..*end as usize],
            _ => &[],
        }
    }

    pub fn size(&self) -> usize {
        self.colours.len() * size_of::<Colour>() + self.starts.len() * size_of::<u32>()
    }
}

/// In order, without overlaps. What cannot be parsed has none.
pub fn spans(source: &str, language: Language) -> Vec<(Range<usize>, u8)> {
    let Some(configuration) = language.configuration() else { return Vec::new() };
    let mut highlighter = Highlighter::new();
    let inner = |name: &str| Language::of_name(name).and_then(Language::configuration);
    let never = AtomicUsize::new(0);
    let events = highlighter.highlight(configuration, source.as_bytes(), None, Some(&never), inner);
    let Ok(events) = events else { return Vec::new() };
    let mut spans: Vec<(Range<usize>, u8)> = Vec::new();
    let mut open = Vec::new();
    for event in events {
        match event {
            Ok(HighlightEvent::HighlightStart(name)) => open.push(letter(name.0)),
            Ok(HighlightEvent::HighlightEnd) => drop(open.pop()),
            Ok(HighlightEvent::Source { start, end }) => {
                let Some(&letter) = open.last() else { continue };
                match spans.last_mut() {
                    Some((range, own)) if range.end == start && *own == letter => range.end = end,
                    _ => spans.push((start..end, letter)),
                }
            }
            // What was found until then is right.
            Err(_) => break,
        }
    }
    spans
}
