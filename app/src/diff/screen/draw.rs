//! Drawing: which rows are in the page, and the name of the file that sticks to the top.

use std::collections::VecDeque;

use domain::diff::{Comment, RowText, Side};
use leptos::prelude::*;

use super::{Drawn, Inner, top_of};
use crate::diff::geometry::{GAP_PX, HEAD_PX, ROW_PX};

/// Rows around those in sight, as long as there are not too many nodes.
const AROUND: u32 = 30;
/// Elements and texts of all rows.
const NODES_MAX: usize = 1_050;
/// Beyond this, rows are drawn without their colours.
const COLOURED_NODES_MAX: usize = 1_200;

impl Inner {
    /// The file at the top, and which part of it.
    pub(super) fn place(&self) -> Option<(usize, f64)> {
        let screen = f64::from(self.scroll.client_height());
        let offset = self.geometry.offset(top_of(&self.scroll), screen);
        if top_of(&self.scroll) <= 0.0 {
            return None;
        }
        let file = self.geometry.file_of(self.geometry.row_at(offset));
        let start = self.geometry.top(self.geometry.start(file)?);
        Some((file, (offset - start) / self.file_height(file)))
    }

    pub(super) fn offset_of(&self, file: usize, part: f64) -> Option<f64> {
        Some(self.geometry.top(self.geometry.start(file)?) + part * self.file_height(file))
    }

    fn file_height(&self, file: usize) -> f64 {
        f64::from(self.outline.files.get(file).map_or(1, |file| file.rows.max(1))) * ROW_PX
    }

    pub(super) fn clear(&mut self) {
        self.rows.set_text_content(None);
        self.drawn.clear();
        self.stuck_file = None;
    }

    /// Returns the chunks that are missing.
    pub(super) fn draw(&mut self, is_forced: bool) -> Vec<u32> {
        if self.geometry.rows == 0 {
            return Vec::new();
        }
        let (screen, top) = (f64::from(self.scroll.client_height()), top_of(&self.scroll));
        let offset = self.geometry.offset(top, screen);
        let seen = (self.geometry.row_at(offset), self.geometry.row_at(offset + screen));
        let covers = |drawn: &VecDeque<Drawn>, around: u32| {
            let first = drawn.front().is_some_and(|first| first.row <= seen.0.saturating_sub(around));
            let last = (seen.1 + around).min(self.geometry.rows - 1);
            first && drawn.back().is_some_and(|drawn| drawn.row >= last)
        };
        if is_forced || !covers(&self.drawn, AROUND / 3) {
            self.fill(seen);
        }
        if let Some(first) = self.drawn.front() {
            let y = top + self.geometry.top(first.row) - offset;
            self.rows.style().set_property("transform", &format!("translateY({}px)", y as i64)).ok();
        }
        self.stick(seen.0, offset);
        self.chunks.missing(seen, self.geometry.rows)
    }

    /// Rows in sight first, then those around them while there is room for nodes.
    fn fill(&mut self, (first, last): (u32, u32)) {
        let from = first.saturating_sub(AROUND);
        let to = (last + AROUND).min(self.geometry.rows - 1);
        while self.drawn.front().is_some_and(|drawn| drawn.row < from) {
            self.drawn.pop_front().inspect(|drawn| drawn.element.remove());
        }
        while self.drawn.back().is_some_and(|drawn| drawn.row > to) {
            self.drawn.pop_back().inspect(|drawn| drawn.element.remove());
        }
        let is_near = self.drawn.front().zip(self.drawn.back());
        if is_near.is_none_or(|(front, back)| front.row > last + 1 || back.row + 1 < first) {
            self.clear_rows();
        }
        // Those whose text has come since.
        for n in 0..self.drawn.len() {
            if !self.drawn[n].is_there && self.chunks.row(self.drawn[n].row).is_some() {
                let drawn = self.make(self.drawn[n].row, self.nodes());
                self.drawn[n].element.replace_with_with_node_1(&drawn.element).ok();
                self.drawn[n] = drawn;
            }
        }
        let mut below = self.drawn.back().map_or(first, |drawn| drawn.row + 1);
        while below <= last {
            self.append(below);
            below += 1;
        }
        let mut above = self.drawn.front().map_or(first, |drawn| drawn.row);
        while above > first {
            above -= 1;
            self.prepend(above);
        }
        for _ in 0..AROUND {
            if self.nodes() > NODES_MAX {
                break;
            }
            if below <= to {
                self.append(below);
                below += 1;
            }
            if above > from {
                above -= 1;
                self.prepend(above);
            }
        }
        // What was around may have become too much.
        while self.nodes() > NODES_MAX {
            let (front, back) = match (self.drawn.front(), self.drawn.back()) {
                (Some(front), Some(back)) => (front.row, back.row),
                _ => break,
            };
            let gone = if first.saturating_sub(front) > back.saturating_sub(last) {
                self.drawn.pop_front()
            } else if back > last {
                self.drawn.pop_back()
            } else {
                break;
            };
            gone.inspect(|drawn| drawn.element.remove());
        }
    }

    fn clear_rows(&mut self) {
        if !self.drawn.is_empty() || self.rows.first_child().is_some() {
            self.rows.set_text_content(None);
            self.drawn.clear();
        }
    }

    fn nodes(&self) -> usize {
        self.drawn.iter().map(|drawn| drawn.nodes).sum()
    }

    fn append(&mut self, row: u32) {
        let drawn = self.make(row, self.nodes());
        self.rows.append_child(&drawn.element).ok();
        self.drawn.push_back(drawn);
    }

    fn prepend(&mut self, row: u32) {
        let drawn = self.make(row, self.nodes());
        self.rows.insert_before(&drawn.element, self.rows.first_child().as_ref()).ok();
        self.drawn.push_front(drawn);
    }

    fn make(&self, row: u32, nodes: usize) -> Drawn {
        let text = self.chunks.row(row).and_then(RowText::read);
        let file = self.outline.files.get(self.geometry.file_of(row));
        let is_found = self.diff.found.with_untracked(|found| found.rows.binary_search(&row).is_ok());
        let query = if is_found { self.diff.query.get_untracked() } else { String::new() };
        let is_coloured = nodes <= COLOURED_NODES_MAX;
        let (element, nodes) = match (&text, self.geometry.is_head(row)) {
            (_, true) => self.cells.head(file),
            (Some(text), _) => self.cells.row(text, self.is_split, is_coloured, &query),
            (None, _) => self.cells.waiting(self.is_split),
        };
        let class = element.class_list();
        if row == self.diff.current.get_untracked() {
            class.add_1("current").ok();
        }
        if is_found {
            class.add_1("found").ok();
        }
        if text.as_ref().zip(file).is_some_and(|(text, file)| self.is_noted(text, &file.path)) {
            class.add_1("noted").ok();
        }
        element.set_id(&self.id(row));
        element.set_attribute("aria-rowindex", &(row + 1).to_string()).ok();
        Drawn { row, element, nodes, is_there: text.is_some() || self.geometry.is_head(row) }
    }

    pub(super) fn id(&self, row: u32) -> String {
        self.diff.name.with_value(|name| format!("{name}-{row}"))
    }

    fn is_noted(&self, text: &RowText, path: &str) -> bool {
        let is_here = |comment: &Comment| {
            let line = match comment.side {
                Side::Old => text.old,
                Side::New => text.new,
            };
            comment.path == path && comment.line == line && text.kind.is_code()
        };
        self.diff.comments.with_untracked(|comments| comments.iter().any(is_here))
    }

    /// The name of the file in sight stays at the top, until the next one pushes it away.
    fn stick(&mut self, row: u32, offset: f64) {
        let file = self.geometry.file_of(row);
        if self.stuck_file != Some(file) {
            self.stuck_file = Some(file);
            let (head, _) = self.cells.head(self.outline.files.get(file));
            // It is no row of the grid.
            head.remove_attribute("role").ok();
            if let Some(cell) = head.first_element_child() {
                cell.remove_attribute("role").ok();
            }
            head.set_attribute("data-file", &file.to_string()).ok();
            self.stuck.set_text_content(None);
            self.stuck.append_child(&head).ok();
        }
        let next =
            self.geometry.start(file + 1).map_or(f64::MAX, |next| self.geometry.top(next) + GAP_PX - offset);
        let pushed = (next - GAP_PX - HEAD_PX).min(0.0);
        self.stuck.style().set_property("transform", &format!("translateY({}px)", pushed as i64)).ok();
        // Its own name is in sight.
        let own = self.geometry.start(file).map_or(0.0, |start| self.geometry.top(start)) + GAP_PX - offset;
        self.stuck.toggle_attribute_with_force("hidden", own > 0.0).ok();
    }
}
