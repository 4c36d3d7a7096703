//! Markdown as a tree of nodes from an allow-list. A model's answer is hostile text: it never becomes an HTML
//! string anywhere, raw HTML in it is shown as the characters it is, links lead only to http and https, and a
//! picture is a link to it, because loading one would tell its server who reads what.

mod autolink;
mod build;
mod document;
mod fence;
mod href;
mod streaming;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use href::Href;
pub use streaming::Streaming;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Paragraph(Vec<Inline>),
    Heading {
        /// From 1 to 6.
        level: u8,
        content: Vec<Inline>,
    },
    List(List),
    Quote(Vec<Block>),
    Code {
        /// The first word of the info string, or empty.
        lang: String,
        text: String,
    },
    Table(Table),
    Rule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The first number of an ordered list; a bulleted list has none.
    pub start: Option<u64>,
    /// Items of a tight list stand without space between them.
    pub tight: bool,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Whether the box of a task is ticked; other items have no box.
    pub checked: Option<bool>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// One for each column.
    pub align: Vec<Align>,
    pub head: Vec<Cell>,
    pub rows: Vec<Vec<Cell>>,
}

pub type Cell = Vec<Inline>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    None,
    Left,
    Center,
    Right,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    Text(String),
    Strong(Vec<Inline>),
    Emphasis(Vec<Inline>),
    Strike(Vec<Inline>),
    Code(String),
    Link { href: Href, content: Vec<Inline> },
    SoftBreak,
    HardBreak,
}

/// Parses a whole document. Nesting deeper than a person would read is flattened, so the tree can be walked
/// and dropped by recursion.
pub fn parse(text: &str) -> Vec<Block> {
    document::top_level(&without_returns(text)).blocks.into_iter().map(|top| top.block).collect()
}

/// A carriage return counts as a space: then a line ends the same way wherever a piece of a stream was cut,
/// and every offset stays what it was in the stream.
fn without_returns(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace('\r', " ")) } else { Cow::Borrowed(text) }
}
