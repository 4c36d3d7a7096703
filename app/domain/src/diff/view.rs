//! The rows of a patch in the order of the screen, for one way to look at it.

mod segments;
mod write;

use std::borrow::Cow;

use super::{
    Found, Kind, LineId, Options, Outline, Row, Seek, Side,
    patch::{File, Patch},
    wrap,
};
use segments::{Segment, segments};
pub use write::{Colours, NoColours};

/// What a patch leaves out of the files, where it can be had.
pub trait Texts {
    /// How many lines the newer version of a file has.
    fn count(&self, file: usize) -> Option<u32>;
    /// A line of it, from 1, without its end.
    fn line(&self, file: usize, number: u32) -> Option<Cow<'_, str>>;
}

/// Where there is nothing but the patch.
pub struct NoTexts;

impl Texts for NoTexts {
    fn count(&self, _file: usize) -> Option<u32> {
        None
    }

    fn line(&self, _file: usize, _number: u32) -> Option<Cow<'_, str>> {
        None
    }
}

/// Git shows three lines around a change, and fewer only where the file ends.
const CONTEXT_LINES: usize = 3;
/// Rows that are told of what was found.
const FOUND_MAX: usize = 10_000;

#[derive(Debug)]
pub struct View {
    rows: Vec<Row>,
    /// The first row of each file.
    starts: Vec<u32>,
    columns: u32,
}

impl View {
    pub fn new(patch: &Patch, options: &Options, texts: &dyn Texts) -> Self {
        let mut layout =
            Layout { patch, options, texts, rows: Vec::with_capacity(patch.line_count()), columns: 0 };
        let mut starts = Vec::with_capacity(patch.files.len());
        for (n, file) in patch.files.iter().enumerate() {
            starts.push(layout.rows.len() as u32);
            layout.file(n, file);
        }
        Self { rows: layout.rows, starts, columns: layout.columns }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The file that a row belongs to.
    pub fn file_of(&self, row: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= row).saturating_sub(1)
    }

    pub fn outline(&self, patch: &Patch, stamp: &str) -> Outline {
        let ends = self.starts.iter().skip(1).copied().chain([self.rows.len() as u32]);
        let files = patch.files.iter().zip(self.starts.iter().zip(ends));
        let files = files.map(|(file, (start, end))| file.outline(end - start)).collect();
        let last = |row: &Row| if row.kind.is_code() { row.old.max(row.new) } else { 0 };
        let lines = self.rows.iter().map(last).max().unwrap_or_default();
        let left_out = Vec::new();
        Outline { stamp: stamp.to_owned(), files, columns: self.columns, lines, left_out }
    }

    /// The text of one side of a row: the newer one where both are shown as the same.
    pub fn text<'a>(&self, at: usize, patch: &'a Patch, texts: &'a dyn Texts) -> Option<Cow<'a, str>> {
        let row = self.rows.get(at).filter(|row| row.kind.is_code())?;
        match row.right.or(row.left) {
            Some(line) => Some(patch.text(line)),
            None => texts.line(self.file_of(at), row.new),
        }
    }

    /// Letters are taken for their capitals unless a capital is looked for.
    pub fn find(&self, query: &str, patch: &Patch, texts: &dyn Texts) -> Found {
        let mut found = Found::default();
        if query.is_empty() {
            return found;
        }
        let is_exact = query.chars().any(char::is_uppercase);
        let holds = |text: &str| match is_exact {
            true => text.contains(query),
            false => contains_folded(text.as_bytes(), query.as_bytes()),
        };
        for (at, row) in self.rows.iter().enumerate() {
            if row.part > 0 {
                continue;
            }
            let is_there = match row.kind {
                Kind::File => patch.files.get(row.old as usize).is_some_and(|file| holds(&file.path)),
                Kind::Notice | Kind::Fold => false,
                _ => {
                    let other = row.left.filter(|left| row.right.is_some_and(|right| right != *left));
                    self.text(at, patch, texts).is_some_and(|text| holds(&text))
                        || other.is_some_and(|line| holds(&patch.text(line)))
                }
            };
            if is_there {
                found.total += 1;
                if found.rows.len() < FOUND_MAX {
                    found.rows.push(at as u32);
                }
            }
        }
        found
    }

    /// The row where a change begins, after or before this one; or that of a line.
    pub fn seek(&self, from: u32, seek: Seek) -> Option<u32> {
        let begins = |at: &usize| {
            let is_change = |at: usize| self.rows.get(at).is_some_and(|row| row.kind.is_change());
            is_change(*at) && !at.checked_sub(1).is_some_and(is_change)
        };
        let from = (from as usize).min(self.rows.len());
        let found = match seek {
            Seek::NextChange => (from + 1..self.rows.len()).find(begins),
            Seek::PreviousChange => (0..from).rev().find(begins),
            Seek::Line { file, side, line } => self.row_of(file as usize, side, line),
        };
        found.map(|at| at as u32)
    }

    fn row_of(&self, file: usize, side: Side, line: u32) -> Option<usize> {
        let start = *self.starts.get(file)? as usize;
        let end = self.starts.get(file + 1).map_or(self.rows.len(), |end| *end as usize);
        let is_it = |row: &Row| {
            let number = match side {
                Side::Old => row.old,
                Side::New => row.new,
            };
            row.kind.is_code() && row.part == 0 && number == line
        };
        let within = self.rows.get(start..end)?.iter().position(is_it);
        Some(start + within.unwrap_or_default())
    }

    /// How much memory it takes.
    pub fn size(&self) -> usize {
        self.rows.len() * size_of::<Row>() + self.starts.len() * size_of::<u32>()
    }
}

fn contains_folded(text: &[u8], query: &[u8]) -> bool {
    let Some(first) = query.first() else { return true };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let candidates = text.iter().enumerate().filter(|(_, byte)| **byte == lower || **byte == upper);
    candidates
        .map(|(at, _)| &text[at..])
        .any(|rest| rest.len() >= query.len() && rest[..query.len()].eq_ignore_ascii_case(query))
}

struct Layout<'a> {
    patch: &'a Patch,
    options: &'a Options,
    texts: &'a dyn Texts,
    rows: Vec<Row>,
    columns: u32,
}

impl Layout<'_> {
    fn file(&mut self, n: usize, file: &File) {
        self.rows.push(row(Kind::File, n as u32, 0));
        let hunks = self.patch.hunks(file);
        if hunks.is_empty() {
            self.rows.push(row(Kind::Notice, 0, 0));
            return;
        }
        // The first line that was not shown yet, on both sides.
        let (mut old, mut new) = (1, 1);
        for (gap, hunk) in hunks.iter().enumerate() {
            // Of an empty side git names the line before it.
            let hunk_new = hunk.new_start + u32::from(hunk.new_count == 0);
            let hunk_old = hunk.old_start + u32::from(hunk.old_count == 0);
            self.gap(n, gap as u32, (old, new), hunk_new.saturating_sub(new));
            (old, new) = (hunk_old, hunk_new);
            for segment in segments(self.patch, hunk, self.options.ignores_whitespace) {
                self.segment(&segment, &mut old, &mut new);
            }
        }
        let has_end = matches!(file.status, super::Status::Added | super::Status::Deleted);
        let last = hunks.last().map_or(0, |hunk| {
            let lines: Vec<_> = self.patch.lines(hunk).collect();
            lines.iter().rev().take_while(|(_, kind)| *kind == Kind::Context).count()
        });
        if has_end || last < CONTEXT_LINES {
            return;
        }
        let gap = hunks.len() as u32;
        // The file is read only when somebody wants to see more of it.
        let is_wanted =
            self.options.expanded.iter().any(|wanted| wanted.file as usize == n && wanted.gap == gap);
        match self.texts.count(n).filter(|_| is_wanted) {
            Some(count) => self.gap(n, gap, (old, new), (count + 1).saturating_sub(new)),
            None => self.rows.push(row(Kind::Fold, gap, 0)),
        }
    }

    /// `count` lines between hunks, as far as they are wanted.
    fn gap(&mut self, file: usize, gap: u32, (old, new): (u32, u32), count: u32) {
        if count == 0 {
            return;
        }
        let wanted =
            self.options.expanded.iter().find(|wanted| wanted.file as usize == file && wanted.gap == gap);
        let (mut top, mut bottom) = wanted.map_or((0, 0), |wanted| (wanted.top, wanted.bottom));
        if wanted.is_some() && self.texts.count(file).is_none_or(|lines| lines + 1 < new + count) {
            (top, bottom) = (0, 0);
        }
        top = top.min(count);
        bottom = bottom.min(count - top);
        for n in 0..top {
            self.left_out(file, old + n, new + n);
        }
        if top + bottom < count {
            self.rows.push(row(Kind::Fold, gap, count - top - bottom));
        }
        for n in count - bottom..count {
            self.left_out(file, old + n, new + n);
        }
    }

    fn left_out(&mut self, file: usize, old: u32, new: u32) {
        let text = self.texts.line(file, new).unwrap_or_default();
        self.columns = self.columns.max(wrap::columns(&text));
        let parts = self.parts(&text);
        self.push(row(Kind::Context, old, new), parts);
    }

    fn segment(&mut self, segment: &Segment, old: &mut u32, new: &mut u32) {
        match segment {
            Segment::Same(left, right) => {
                self.lines(Row { left: Some(*left), right: Some(*right), ..row(Kind::Context, *old, *new) });
                *old += 1;
                *new += 1;
            }
            Segment::Changed { removed, added } if self.options.is_split => {
                for n in 0..removed.len().max(added.len()) {
                    let (left, right) = (removed.get(n).copied(), added.get(n).copied());
                    let kind = match (left, right) {
                        (Some(_), Some(_)) => Kind::Changed,
                        (Some(_), None) => Kind::Removed,
                        _ => Kind::Added,
                    };
                    let numbered = |line: Option<LineId>, n: u32| if line.is_some() { n } else { 0 };
                    self.lines(Row { left, right, ..row(kind, numbered(left, *old), numbered(right, *new)) });
                    *old += u32::from(left.is_some());
                    *new += u32::from(right.is_some());
                }
            }
            Segment::Changed { removed, added } => {
                for (n, line) in removed.iter().enumerate() {
                    let pair = added.get(n).copied();
                    self.lines(Row { left: Some(*line), pair, ..row(Kind::Removed, *old, 0) });
                    *old += 1;
                }
                for (n, line) in added.iter().enumerate() {
                    let pair = removed.get(n).copied();
                    self.lines(Row { right: Some(*line), pair, ..row(Kind::Added, 0, *new) });
                    *new += 1;
                }
            }
        }
    }

    fn lines(&mut self, row: Row) {
        let mut parts = 1;
        for line in [row.left.filter(|left| Some(*left) != row.right), row.right].into_iter().flatten() {
            let text = self.patch.text(line);
            self.columns = self.columns.max(wrap::columns(&text));
            parts = parts.max(self.parts(&text));
        }
        self.push(row, parts);
    }

    fn parts(&self, text: &str) -> u16 {
        let columns = self.options.columns;
        if columns == 0 || text.len() <= usize::from(columns) && !text.contains('\t') && text.is_ascii() {
            return 1;
        }
        // A line is cut long before there are as many.
        wrap::breaks(text.strip_suffix('\r').unwrap_or(text), columns).len() as u16 + 1
    }

    fn push(&mut self, row: Row, parts: u16) {
        self.rows.extend((0..parts).map(|part| Row { part, ..row }));
    }
}

fn row(kind: Kind, old: u32, new: u32) -> Row {
    Row { kind, part: 0, old, new, left: None, right: None, pair: None }
}
