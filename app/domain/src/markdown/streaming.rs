//! Markdown that grows while it is read. Blocks that can no longer change are kept; only the open end is parsed
//! again, so an answer costs about as much as its length, not its length squared.

use std::sync::Arc;

use super::{
    Block,
    document::{self, Kind, Parsed, Top},
    fence::Fence,
    without_returns,
};

/// Up to here the open end is parsed at every piece. Beyond it, it first has to grow by a part of itself: what is
/// shown lags a little behind, but a hostile text without an end of a block costs no more than a small multiple.
const OPEN_BYTES_MAX: usize = 64 * 1024;
const LAG_PART: usize = 16;
/// A line that has only begun and holds nothing but this many markers is not shown yet.
const HELD_BACK_BYTES_MAX: usize = 8;

/// The blocks of a text that arrives in pieces. A block's place in the list is its key: it never changes for a
/// settled block, nor does its `Arc`.
///
/// While it streams, what is shown is `parse` of the text without a last line that is only markers (a lone `-`
/// would flash as a heading), and links whose reference is defined in another part of the text are plain.
/// After [`finish`](Self::finish) the blocks are exactly `parse` of the whole text.
#[derive(Clone, Debug, Default)]
pub struct Streaming {
    text: String,
    blocks: Vec<Arc<Block>>,
    /// One for each block from the first that can no longer change.
    settled: Vec<Settled>,
    /// The open end is one code block.
    fence: Option<Fence>,
    pub(super) has_definitions: bool,
    /// How much of the text the blocks show.
    pub(super) shown: usize,
    #[cfg(test)]
    pub(super) parsed_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Settled {
    /// Where the next block may begin.
    end: usize,
    /// The text up to here proves that the block is over; with less of it, the block is open again.
    proof: usize,
}

impl Streaming {
    pub fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    pub fn push(&mut self, delta: &str) {
        if !delta.is_empty() {
            self.text.push_str(&without_returns(delta));
            self.advance(self.text.len() - held_back(&self.text), false);
        }
    }

    /// Makes the text what is given, keeping what both have in common.
    pub fn set(&mut self, text: &str) {
        let text = without_returns(text);
        let common = self.text.bytes().zip(text.bytes()).take_while(|(old, new)| old == new).count();
        let common = text.floor_char_boundary(common);
        self.truncate(common);
        self.push(&text[common..]);
    }

    /// Takes back what came after `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.text.len() {
            return;
        }
        self.text.truncate(self.text.floor_char_boundary(len));
        while self.settled.last().is_some_and(|last| last.proof > self.text.len()) {
            self.settled.pop();
        }
        self.fence = None;
        self.advance(self.text.len() - held_back(&self.text), true);
    }

    /// Shows everything, since nothing more is expected. More may come all the same.
    pub fn finish(&mut self) {
        if self.has_definitions {
            // A definition counts for the whole text, so no block is settled without all of it.
            self.settled.clear();
            self.fence = None;
            let parsed = self.parse_from(0, self.text.len());
            self.show(parsed.blocks.into_iter().map(|top| top.block));
            self.shown = self.text.len();
        } else if self.shown < self.text.len() {
            self.advance(self.text.len(), true);
        }
    }

    fn advance(&mut self, upto: usize, whatever_it_costs: bool) {
        loop {
            if let Some(mut fence) = self.fence.take() {
                let code = self.blocks.last_mut().map(Arc::make_mut);
                let Some(Block::Code { text: code, .. }) = code else {
                    continue;
                };
                if let Some(end) = fence.feed(&self.text[..upto], code) {
                    self.settled.push(Settled { end, proof: end });
                    continue;
                }
                self.fence = Some(fence);
                break;
            }
            let base = self.open_from();
            let open = upto - base;
            if !whatever_it_costs
                && open > OPEN_BYTES_MAX
                && upto.saturating_sub(self.shown) < open / LAG_PART
            {
                return;
            }
            let parsed = self.parse_from(base, upto);
            self.has_definitions |= parsed.has_definitions;
            let settled = settle(&self.text[base..upto], &parsed.blocks);
            let fence = parsed
                .blocks
                .last()
                .filter(|last| last.kind == Kind::Fence && settled.len() + 1 == parsed.blocks.len());
            self.fence = fence.and_then(|last| Fence::open(&self.text[..upto], base + last.range.start));
            self.show(parsed.blocks.into_iter().map(|top| top.block));
            self.settled.extend(
                settled
                    .into_iter()
                    .map(|Settled { end, proof }| Settled { end: base + end, proof: base + proof }),
            );
            if self.fence.is_none() {
                break;
            }
        }
        self.shown = upto;
    }

    fn open_from(&self) -> usize {
        self.settled.last().map_or(0, |last| last.end)
    }

    fn parse_from(&mut self, base: usize, upto: usize) -> Parsed {
        #[cfg(test)]
        {
            self.parsed_bytes += upto - base;
        }
        document::top_level(&self.text[base..upto])
    }

    /// Puts the blocks behind the settled ones, and keeps each that is what it was.
    fn show(&mut self, open: impl Iterator<Item = Block>) {
        let mut at = self.settled.len();
        for block in open {
            match self.blocks.get_mut(at) {
                Some(before) if **before == block => {}
                Some(before) => *before = Arc::new(block),
                None => self.blocks.push(Arc::new(block)),
            }
            at += 1;
        }
        self.blocks.truncate(at);
    }
}

/// Which blocks, from the first, no further text can change. A block is over when the next one has begun on a
/// line that is complete, or, for most kinds, when a blank line follows it. Whatever lies between two blocks, as
/// definitions do, goes with the later one, because a definition may go on over several lines.
fn settle(text: &str, blocks: &[Top]) -> Vec<Settled> {
    let complete = text.rfind('\n').map_or(0, |at| at + 1);
    let mut settled = Vec::new();
    for (at, top) in blocks.iter().enumerate() {
        let Some(end) = line_end(text, top.range.end) else {
            break;
        };
        let next = blocks.get(at + 1);
        let is_followed = next.is_some_and(|next| has_begun(text, next));
        let is_blank_after =
            text[end..].split_once('\n').is_some_and(|(line, _)| line.trim_matches([' ', '\t']).is_empty());
        let ends_at_blank = matches!(top.kind, Kind::Plain | Kind::Table);
        if !(is_followed || ends_at_blank && is_blank_after) {
            break;
        }
        settled.push(Settled { end, proof: complete });
    }
    settled
}

fn has_begun(text: &str, top: &Top) -> bool {
    let lines = if top.kind == Kind::Table { 2 } else { 1 };
    text[top.range.start..].bytes().filter(|b| *b == b'\n').take(lines).count() == lines
}

/// Where the line ends that a block ends in; none while that line is not complete. The parser counts the indent
/// of the line after a list to the list, so an end within an indent is the end of the line before.
fn line_end(text: &str, at: usize) -> Option<usize> {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    if text[line..at].trim_matches([' ', '\t']).is_empty() {
        return Some(line);
    }
    text[at..].find('\n').map(|offset| at + offset + 1)
}

/// How many bytes at the end are a line that may yet become anything.
fn held_back(text: &str) -> usize {
    let line = &text[text.rfind('\n').map_or(0, |at| at + 1)..];
    let is_marker = |c: char| c.is_ascii_digit() || "-=*+#>`~_|:.)[] \t".contains(c);
    let is_held = line.len() <= HELD_BACK_BYTES_MAX && line.chars().all(is_marker);
    if is_held { line.len() } else { 0 }
}
