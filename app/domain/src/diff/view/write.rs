//! Writes rows as they travel.

use std::{borrow::Cow, ops::Range};

use super::{Texts, View};
use crate::diff::{
    Colour, Kind, LineId, Options, Row, Side, Window,
    patch::Patch,
    wire::{Cell, write_cell, write_row},
    words::marks,
};

/// The colours of the lines of files.
pub trait Colours {
    fn line(&self, file: usize, side: Side, number: u32) -> &[Colour];
}

pub struct NoColours;

impl Colours for NoColours {
    fn line(&self, _file: usize, _side: Side, _number: u32) -> &[Colour] {
        &[]
    }
}

impl View {
    /// Rows of a window, one a line.
    pub fn window(
        &self,
        window: Window,
        options: &Options,
        patch: &Patch,
        texts: &dyn Texts,
        colours: &dyn Colours,
    ) -> String {
        let mut out = String::new();
        for at in self.range(window) {
            if at > window.start as usize {
                out.push('\n');
            }
            self.write(at, &mut out, options, patch, texts, colours);
        }
        out
    }

    /// As many rows as there are in a window.
    pub fn range(&self, window: Window) -> Range<usize> {
        let end = (window.start as usize).saturating_add(window.count as usize).min(self.rows.len());
        (window.start as usize).min(end)..end
    }

    pub(in crate::diff) fn write(
        &self,
        at: usize,
        out: &mut String,
        options: &Options,
        patch: &Patch,
        texts: &dyn Texts,
        colours: &dyn Colours,
    ) {
        let Some(row) = self.rows.get(at) else { return };
        write_row(out, row);
        let file = self.file_of(at);
        let mut words = |text: &str| {
            let plain = Line { text: text.into(), colours: &[], has_newline: true };
            plain.write(out, row, options, &[], false);
        };
        match row.kind {
            Kind::File => {}
            Kind::Notice => words(notice(patch, file)),
            Kind::Fold => {
                let hunk = patch.files.get(file).and_then(|file| patch.hunks(file).get(row.old as usize));
                hunk.into_iter().for_each(|hunk| words(&patch.heading(hunk)));
            }
            _ => {
                let old = |line| Line::of(line, patch, colours.line(file, Side::Old, row.old));
                let new = |line| Line::of(line, patch, colours.line(file, Side::New, row.new));
                let compared = |old: LineId, new: LineId| marks(&patch.text(old), &patch.text(new));
                match (row.left, row.right) {
                    (Some(left), Some(right)) if left != right && options.is_split => {
                        let (removed, added) = match row.kind {
                            Kind::Changed => compared(left, right).unwrap_or_default(),
                            _ => Default::default(),
                        };
                        old(left).write(out, row, options, &removed, false);
                        new(right).write(out, row, options, &added, true);
                    }
                    (_, Some(right)) => {
                        let added = row.pair.and_then(|left| compared(left, right)).unwrap_or_default().1;
                        new(right).write(out, row, options, &added, false);
                    }
                    (Some(left), None) => {
                        let removed = row.pair.and_then(|right| compared(left, right)).unwrap_or_default().0;
                        old(left).write(out, row, options, &removed, false);
                    }
                    (None, None) => {
                        let text = texts.line(file, row.new).unwrap_or_default();
                        let colours = colours.line(file, Side::New, row.new);
                        Line { text, colours, has_newline: true }.write(out, row, options, &[], false);
                    }
                }
            }
        }
    }
}

struct Line<'a> {
    text: Cow<'a, str>,
    colours: &'a [Colour],
    has_newline: bool,
}

impl<'a> Line<'a> {
    fn of(line: LineId, patch: &'a Patch, colours: &'a [Colour]) -> Self {
        Self { text: patch.text(line), colours, has_newline: patch.has_newline(line) }
    }

    fn write(&self, out: &mut String, row: &Row, options: &Options, marks: &[Range<usize>], is_right: bool) {
        let cell = Cell {
            text: &self.text,
            colours: self.colours,
            marks,
            has_newline: self.has_newline,
            shows_return: row.kind.is_change(),
            part: row.part,
            columns: if row.kind.is_code() { options.columns } else { 0 },
        };
        write_cell(out, &cell, is_right);
    }
}

fn notice(patch: &Patch, file: usize) -> &'static str {
    match patch.files.get(file) {
        Some(file) if file.is_binary => "Binary file, not shown",
        Some(file) if file.modes.is_some() => "Only its mode changed",
        Some(file) if file.old_path.is_some() => "Its content is the same",
        _ => "Empty file",
    }
}
