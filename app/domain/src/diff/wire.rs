//! How rows travel: one a line, made to be turned into nodes with little work.
//!
//! `-12,\x7fklet\x7fx x` is a removed line 12. A DEL begins a span; the letter after it is its colour, a capital
//! where the words are marked. `\x7f|` begins the right side. DEL is never in a text: what is hidden became a token.

use std::ops::Range;

use super::{Kind, Row, hidden, wrap};

const SPAN: char = '\u{7f}';
const RIGHT_SIDE: &str = "\u{7f}|";
const PLAIN: u8 = b'x';
/// A token that stands for what cannot be seen.
const TOKEN: u8 = b'u';
/// A row with more is generated text, and its end is shown in one colour.
const SPANS_MAX: usize = 80;

/// Bytes of a line, and the letter of their colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    pub start: u32,
    pub end: u32,
    pub letter: u8,
}

/// One side of a row.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    pub text: &'a str,
    /// In order, without overlaps.
    pub colours: &'a [Colour],
    /// In order, without overlaps.
    pub marks: &'a [Range<usize>],
    pub has_newline: bool,
    /// Ends of lines of Windows are told where something changed, and left out elsewhere.
    pub shows_return: bool,
    pub part: u16,
    pub columns: u16,
}

/// What comes before the cells.
pub fn write_row(out: &mut String, row: &Row) {
    out.push(row.kind.sign());
    // A line that goes on has no number of its own.
    let (old, new) = if row.part == 0 { (row.old, row.new) } else { (0, 0) };
    for (separator, number) in [("", old), (",", new)] {
        out.push_str(separator);
        if number > 0 {
            out.push_str(&number.to_string());
        }
    }
}

/// After [`write_row`]; the second one is the right side.
pub fn write_cell(out: &mut String, cell: &Cell, is_right: bool) {
    if is_right {
        out.push_str(RIGHT_SIDE);
    }
    let (text, ends_in_return) = match cell.text.strip_suffix('\r') {
        Some(text) => (text, true),
        None => (cell.text, false),
    };
    let breaks = wrap::breaks(text, cell.columns);
    let part = usize::from(cell.part);
    let start = if part == 0 { 0 } else { breaks.get(part - 1).copied().unwrap_or(text.len()) };
    let end = breaks.get(part).copied().unwrap_or(text.len());
    let mut writer = Writer { out, current: 0, spans: 0 };
    let cut = text.char_indices().nth(wrap::LINE_CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let (mut colours, mut marks) = (cell.colours.iter().peekable(), cell.marks.iter().peekable());
    for (at, c) in text[start..end.min(cut).max(start)].char_indices() {
        let at = at + start;
        while colours.next_if(|colour| colour.end as usize <= at).is_some() {}
        while marks.next_if(|range| range.end <= at).is_some() {}
        let colour =
            colours.peek().filter(|colour| colour.start as usize <= at).map_or(PLAIN, |colour| colour.letter);
        let is_marked = marks.peek().is_some_and(|range| range.contains(&at));
        writer.put(c, colour, is_marked);
    }
    let is_last = part == breaks.len();
    if is_last && cut < text.len() {
        let more = text[cut..].chars().count();
        writer.token(&format!("… {more} more characters"));
    }
    if is_last && ends_in_return && cell.shows_return {
        writer.token("CR");
    }
    if is_last && !cell.has_newline {
        writer.token("no newline at the end");
    }
}

/// A line of a file that nothing was changed in.
pub fn line_row(number: u32, text: &str, colours: &[Colour]) -> String {
    let mut out = String::new();
    let row = Row { kind: Kind::Context, part: 0, old: 0, new: number, left: None, right: None, pair: None };
    write_row(&mut out, &row);
    let cell =
        Cell { text, colours, marks: &[], has_newline: true, shows_return: false, part: 0, columns: 0 };
    write_cell(&mut out, &cell, false);
    out
}

struct Writer<'a> {
    out: &'a mut String,
    /// The letter of the span that is being written.
    current: u8,
    spans: usize,
}

impl Writer<'_> {
    fn put(&mut self, c: char, colour: u8, is_marked: bool) {
        if let Some(token) = hidden::token(c) {
            self.token(&token);
            return;
        }
        let mut letter = if is_marked { colour.to_ascii_uppercase() } else { colour };
        // A blank has no colour, so it joins whatever it follows.
        let is_plain_blank = c.is_ascii_whitespace() && !is_marked;
        let may_join = self.current.is_ascii_lowercase() && self.current != TOKEN;
        if is_plain_blank && may_join {
            letter = self.current;
        }
        if self.spans >= SPANS_MAX && self.current != TOKEN {
            letter = self.current;
        }
        self.begin(letter);
        self.out.push(c);
    }

    fn token(&mut self, words: &str) {
        // Two in a row are two.
        self.current = 0;
        self.begin(TOKEN);
        self.out.push_str(words);
    }

    fn begin(&mut self, letter: u8) {
        if self.current != letter {
            self.out.push(SPAN);
            self.out.push(char::from(letter));
            self.current = letter;
            self.spans += 1;
        }
    }
}

/// A row as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowText<'a> {
    pub kind: Kind,
    pub old: u32,
    pub new: u32,
    cells: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// In lower case.
    pub letter: u8,
    pub is_marked: bool,
    pub text: &'a str,
}

impl<'a> RowText<'a> {
    pub fn read(line: &'a str) -> Option<Self> {
        let kind = Kind::of_sign(*line.as_bytes().first()?)?;
        let (head, cells) = line[1..].split_at(line[1..].find(SPAN).unwrap_or(line.len() - 1));
        let (old, new) = head.split_once(',')?;
        let number = |digits: &str| {
            digits.bytes().fold(0u32, |n, digit| n.wrapping_mul(10).wrapping_add(u32::from(digit & 15)))
        };
        Some(Self { kind, old: number(old), new: number(new), cells })
    }

    /// The only cell, or the left one.
    pub fn left(&self) -> Spans<'a> {
        Spans(self.cells.find(RIGHT_SIDE).map_or(self.cells, |end| &self.cells[..end]))
    }

    pub fn right(&self) -> Option<Spans<'a>> {
        self.cells.find(RIGHT_SIDE).map(|at| Spans(&self.cells[at + RIGHT_SIDE.len()..]))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Spans<'a>(&'a str);

impl<'a> Iterator for Spans<'a> {
    type Item = Span<'a>;

    fn next(&mut self) -> Option<Span<'a>> {
        let rest = self.0.get(2..)?;
        let letter = self.0.as_bytes()[1];
        let (text, rest) = rest.split_at(rest.find(SPAN).unwrap_or(rest.len()));
        self.0 = rest;
        Some(Span { letter: letter.to_ascii_lowercase(), is_marked: letter.is_ascii_uppercase(), text })
    }
}
