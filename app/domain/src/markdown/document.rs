//! The blocks that stand in no other, with what is needed to know when each of them is over.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::{Block, build::Builder};

pub(super) struct Parsed {
    pub blocks: Vec<Top>,
    /// Whether the text defines link references, which count everywhere in the document, also before them.
    pub has_definitions: bool,
}

/// A block that stands in no other, with where it was in the text.
pub(super) struct Top {
    pub block: Block,
    pub range: Range<usize>,
    pub kind: Kind,
}

/// How a block ends, which its node does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A blank line ends it.
    Plain,
    /// As plain, but it takes two lines to know that it is one.
    Table,
    Fence,
    /// It may go on after a blank line.
    Lasting,
}

pub(super) fn top_level(text: &str) -> Parsed {
    // Footnotes are off on purpose: they stay the text they are.
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(text, options).into_offset_iter();
    let has_definitions = events.reference_definitions().iter().next().is_some();
    let mut tree = Builder::default();
    let mut tops: Vec<(Range<usize>, Kind)> = Vec::new();
    let mut depth = 0usize;
    let mut blocks = Vec::new();
    for (event, range) in events {
        match &event {
            Event::Start(tag) => {
                if depth == 0 {
                    tops.push((range, kind_of(tag)));
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => tops.push((range, Kind::Plain)),
            _ => {}
        }
        tree.event(event);
        if depth == 0 {
            // An empty top-level element leaves no block, so its place is dropped with it.
            let place = tops.pop();
            for block in tree.take() {
                if let Some((range, kind)) = place.clone() {
                    blocks.push(Top { block, range, kind });
                }
            }
        }
    }
    Parsed { blocks, has_definitions }
}

fn kind_of(tag: &Tag<'_>) -> Kind {
    match tag {
        Tag::Paragraph | Tag::Heading { .. } | Tag::BlockQuote(_) => Kind::Plain,
        Tag::Table(_) => Kind::Table,
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => Kind::Fence,
        _ => Kind::Lasting,
    }
}
