//! From the parser's events to our nodes. What is not named here does not get through.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Tag};

use super::{Align, Block, Cell, Href, Inline, Item, List, Table, autolink::link_addresses};

/// Quotes and lists within each other; people stop reading long before this.
const BLOCK_DEPTH_MAX: usize = 24;
/// Blocks and then emphasis within each other.
const DEPTH_MAX: usize = 40;
const LANG_BYTES_MAX: usize = 32;

/// An explicit stack instead of recursion: how deep the input nests is the attacker's choice.
#[derive(Default)]
pub(super) struct Builder {
    root: Flow,
    stack: Vec<Frame>,
    /// For each open tag, whether it has a frame. A tag nested too deep has none, and its content goes to the
    /// frame around it.
    framed: Vec<bool>,
    /// How many open frames are links, which must not hold links.
    links: usize,
}

enum Frame {
    Quote(Flow),
    List(List),
    Item { checked: Option<bool>, flow: Flow },
    Paragraph(Vec<Inline>),
    Heading { level: u8, content: Vec<Inline> },
    Code { lang: String, text: String },
    Html(String),
    Table(Table),
    Row { cells: Vec<Cell>, is_head: bool },
    Cell(Cell),
    Strong(Vec<Inline>),
    Emphasis(Vec<Inline>),
    Strike(Vec<Inline>),
    Link { href: Option<Href>, content: Vec<Inline> },
    Image { href: Option<Href>, alt: String },
}

/// Blocks one after another, and text that came without a paragraph, as in the items of a tight list.
#[derive(Default)]
struct Flow {
    blocks: Vec<Block>,
    loose_text: Vec<Inline>,
}

impl Flow {
    fn push(&mut self, block: Block) {
        self.close_text();
        self.blocks.push(block);
    }

    fn close_text(&mut self) {
        if !self.loose_text.is_empty() {
            self.blocks.push(Block::Paragraph(link_addresses(std::mem::take(&mut self.loose_text))));
        }
    }

    fn take(&mut self) -> Vec<Block> {
        self.close_text();
        std::mem::take(&mut self.blocks)
    }
}

impl Builder {
    pub(super) fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                let frame = self.frame(tag);
                self.framed.push(frame.is_some());
                self.stack.extend(frame);
            }
            Event::End(_) => {
                if self.framed.pop() == Some(true) {
                    self.close();
                }
            }
            Event::Text(text) => self.text(&text),
            Event::Code(text) => self.inline(Inline::Code(text.into_string())),
            // Models use this one tag to break lines in the cells of tables.
            Event::InlineHtml(html) if is_line_break(&html) => self.inline(Inline::HardBreak),
            // Shown as the characters they are: `Vec<String>` written without backticks stays readable.
            Event::Html(html) | Event::InlineHtml(html) => self.text(&html),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text)
            }
            Event::SoftBreak => self.inline(Inline::SoftBreak),
            Event::HardBreak => self.inline(Inline::HardBreak),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(ticked) => {
                if let Some(Frame::Item { checked, .. }) =
                    self.stack.iter_mut().rev().find(|frame| matches!(frame, Frame::Item { .. }))
                {
                    *checked = Some(ticked);
                }
            }
        }
    }

    /// The blocks that are closed and stand in no other.
    pub(super) fn take(&mut self) -> Vec<Block> {
        self.root.take()
    }

    fn frame(&mut self, tag: Tag<'_>) -> Option<Frame> {
        let depth = self.stack.len();
        let inline_fits = depth < DEPTH_MAX;
        match tag {
            Tag::Paragraph => {
                // A paragraph that stands directly in an item makes its list loose.
                if let [.., Frame::List(list), Frame::Item { .. }] = &mut self.stack[..] {
                    list.tight = false;
                }
                Some(Frame::Paragraph(Vec::new()))
            }
            Tag::Heading { level, .. } => Some(Frame::Heading { level: level as u8, content: Vec::new() }),
            Tag::BlockQuote(_) => (depth < BLOCK_DEPTH_MAX).then(|| Frame::Quote(Flow::default())),
            Tag::CodeBlock(kind) => {
                let lang = match kind {
                    CodeBlockKind::Fenced(words) => language(&words),
                    CodeBlockKind::Indented => String::new(),
                };
                Some(Frame::Code { lang, text: String::new() })
            }
            Tag::HtmlBlock => Some(Frame::Html(String::new())),
            Tag::List(start) => {
                (depth < BLOCK_DEPTH_MAX).then(|| Frame::List(List { start, tight: true, items: Vec::new() }))
            }
            Tag::Item => matches!(self.stack.last(), Some(Frame::List(_)))
                .then(|| Frame::Item { checked: None, flow: Flow::default() }),
            Tag::Table(columns) => {
                let align = columns.into_iter().map(align).collect();
                Some(Frame::Table(Table { align, head: Vec::new(), rows: Vec::new() }))
            }
            Tag::TableHead => Some(Frame::Row { cells: Vec::new(), is_head: true }),
            Tag::TableRow => Some(Frame::Row { cells: Vec::new(), is_head: false }),
            Tag::TableCell => Some(Frame::Cell(Vec::new())),
            Tag::Strong => inline_fits.then(|| Frame::Strong(Vec::new())),
            Tag::Emphasis => inline_fits.then(|| Frame::Emphasis(Vec::new())),
            Tag::Strikethrough => inline_fits.then(|| Frame::Strike(Vec::new())),
            Tag::Link { dest_url, .. } => inline_fits.then(|| {
                self.links += 1;
                Frame::Link { href: Href::parse(&dest_url), content: Vec::new() }
            }),
            Tag::Image { dest_url, .. } => {
                inline_fits.then(|| Frame::Image { href: Href::parse(&dest_url), alt: String::new() })
            }
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => None,
        }
    }

    fn close(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        match frame {
            Frame::Quote(mut flow) => self.block(Block::Quote(flow.take())),
            Frame::List(list) => self.block(Block::List(list)),
            Frame::Item { checked, mut flow } => {
                if let Some(Frame::List(list)) = self.stack.last_mut() {
                    list.items.push(Item { checked, blocks: flow.take() });
                }
            }
            Frame::Paragraph(content) => self.block(Block::Paragraph(link_addresses(content))),
            Frame::Heading { level, content } => {
                self.block(Block::Heading { level, content: link_addresses(content) });
            }
            Frame::Code { lang, text } => self.block(Block::Code { lang, text }),
            Frame::Html(html) => self.block(Block::Paragraph(lines(&html))),
            Frame::Table(table) => self.block(Block::Table(table)),
            Frame::Row { cells, is_head } => {
                if let Some(Frame::Table(table)) = self.stack.last_mut() {
                    if is_head {
                        table.head = cells;
                    } else {
                        table.rows.push(cells);
                    }
                }
            }
            Frame::Cell(cell) => {
                if let Some(Frame::Row { cells, .. }) = self.stack.last_mut() {
                    cells.push(link_addresses(cell));
                }
            }
            Frame::Strong(content) => self.wrap(content, Inline::Strong),
            Frame::Emphasis(content) => self.wrap(content, Inline::Emphasis),
            Frame::Strike(content) => self.wrap(content, Inline::Strike),
            Frame::Link { href, content } => {
                self.links = self.links.saturating_sub(1);
                match href {
                    Some(href) => self.inline(Inline::Link { href, content }),
                    None => content.into_iter().for_each(|node| self.inline(node)),
                }
            }
            Frame::Image { href, alt } => {
                let label =
                    Inline::Text(if alt.is_empty() { "image".to_owned() } else { format!("image: {alt}") });
                match href.filter(|_| self.links == 0) {
                    Some(href) => self.inline(Inline::Link { href, content: vec![label] }),
                    None => self.inline(label),
                }
            }
        }
    }

    fn wrap(&mut self, content: Vec<Inline>, wrapper: fn(Vec<Inline>) -> Inline) {
        let content = if self.links == 0 { link_addresses(content) } else { content };
        self.inline(wrapper(content));
    }

    fn block(&mut self, block: Block) {
        let flow = self.stack.iter_mut().rev().find_map(|frame| match frame {
            Frame::Quote(flow) | Frame::Item { flow, .. } => Some(flow),
            _ => None,
        });
        flow.unwrap_or(&mut self.root).push(block);
    }

    fn text(&mut self, text: &str) {
        match self.stack.last_mut() {
            Some(Frame::Code { text: so_far, .. } | Frame::Html(so_far)) => so_far.push_str(text),
            Some(Frame::Image { alt, .. }) => alt.push_str(text),
            _ if text.is_empty() => {}
            _ => match self.inlines().last_mut() {
                Some(Inline::Text(so_far)) => so_far.push_str(text),
                _ => self.inline(Inline::Text(text.to_owned())),
            },
        }
    }

    fn inline(&mut self, node: Inline) {
        match (self.stack.last_mut(), node) {
            // A picture's description is plain words.
            (Some(Frame::Image { alt, .. }), node) => append_words(&node, alt),
            // Joined, so that what the parser cut apart for its own reasons is one node again.
            (_, Inline::Text(text)) => match self.inlines().last_mut() {
                Some(Inline::Text(so_far)) => so_far.push_str(&text),
                _ => self.inlines().push(Inline::Text(text)),
            },
            (_, node) => self.inlines().push(node),
        }
    }

    fn inlines(&mut self) -> &mut Vec<Inline> {
        match self.stack.last_mut() {
            Some(
                Frame::Paragraph(content)
                | Frame::Heading { content, .. }
                | Frame::Cell(content)
                | Frame::Strong(content)
                | Frame::Emphasis(content)
                | Frame::Strike(content)
                | Frame::Link { content, .. },
            ) => content,
            Some(Frame::Quote(flow) | Frame::Item { flow, .. }) => &mut flow.loose_text,
            _ => &mut self.root.loose_text,
        }
    }
}

fn align(alignment: Alignment) -> Align {
    match alignment {
        Alignment::None => Align::None,
        Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}

/// `rust,ignore` and `rust {.numbers}` are both Rust.
fn language(info: &str) -> String {
    let word = info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{')).next().unwrap_or_default();
    let visible: String = word.chars().filter(|c| c.is_alphanumeric() || "+-#._".contains(*c)).collect();
    visible[..visible.floor_char_boundary(LANG_BYTES_MAX)].to_owned()
}

fn is_line_break(html: &str) -> bool {
    html.strip_prefix("<br").is_some_and(|rest| matches!(rest.trim_start(), ">" | "/>"))
}

fn lines(text: &str) -> Vec<Inline> {
    let mut content = Vec::new();
    for line in text.trim_end_matches('\n').split('\n') {
        if !content.is_empty() {
            content.push(Inline::HardBreak);
        }
        content.push(Inline::Text(line.to_owned()));
    }
    content
}

fn append_words(node: &Inline, words: &mut String) {
    match node {
        Inline::Text(text) | Inline::Code(text) => words.push_str(text),
        Inline::SoftBreak | Inline::HardBreak => words.push(' '),
        Inline::Strong(content)
        | Inline::Emphasis(content)
        | Inline::Strike(content)
        | Inline::Link { content, .. } => content.iter().for_each(|node| append_words(node, words)),
    }
}
