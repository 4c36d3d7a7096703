//! What is on the screen: the rows in sight and some around them, drawn by hand.
//!
//! Rows stay in the page while they are near, so a step of scrolling makes only the rows that come into sight.

mod cells;
mod chunks;
mod selection;

use std::{
    cell::RefCell,
    collections::VecDeque,
    rc::{Rc, Weak},
};

use domain::diff::{Comment, Kind, Options, Outline, RowText, Side};
use leptos::prelude::*;
use wasm_bindgen::{JsCast as _, closure::Closure};
use web_sys::{Element, HtmlElement, ResizeObserver};

use super::{
    geometry::{Geometry, ROW_PX},
    state::Diff,
};
use crate::device;
use cells::Cells;
pub use chunks::CHUNK_ROWS;
use chunks::Chunks;
pub use selection::copied;

/// Rows around those in sight, as long as there are not too many nodes.
const AROUND: u32 = 30;
/// Elements and texts of all rows.
const NODES_MAX: usize = 1_050;
/// Beyond this, rows are drawn without their colours.
const COLOURED_NODES_MAX: usize = 1_200;

#[derive(Clone)]
pub struct Screen(Rc<RefCell<Inner>>);

struct Inner {
    diff: Diff,
    scroll: HtmlElement,
    size: HtmlElement,
    rows: HtmlElement,
    stuck: HtmlElement,
    probe: HtmlElement,
    cells: Cells,
    outline: Outline,
    geometry: Geometry,
    is_split: bool,
    chunks: Chunks,
    /// One after the other.
    drawn: VecDeque<Drawn>,
    stuck_file: Option<usize>,
    is_frame_asked: bool,
    /// What came with the page.
    first: Option<String>,
    /// Kept for as long as it watches.
    observer: Option<(ResizeObserver, Closure<dyn FnMut()>)>,
}

struct Drawn {
    row: u32,
    element: Element,
    nodes: usize,
    /// Its text has come.
    is_there: bool,
}

/// How much room rows have.
pub struct Room {
    width: f64,
    letter: f64,
    digits: f64,
    pub is_narrow: bool,
}

impl Room {
    /// How many letters fit into a line. The stylesheet has the same sizes.
    pub fn columns(&self, is_split: bool) -> u16 {
        let number = self.digits * self.letter + 20.0;
        let (sides, numbers) = match (is_split, self.is_narrow) {
            (true, _) => (2.0, 2.0),
            (false, true) => (1.0, 1.0),
            (false, false) => (1.0, 2.0),
        };
        let room = (self.width - numbers * number) / sides - 34.0;
        (room / self.letter.max(1.0)).clamp(20.0, 1_000.0) as u16
    }
}

impl Screen {
    /// On the elements of a view that has come alive.
    pub fn new(diff: Diff, root: &Element) -> Option<Self> {
        let find = |class: &str| root.query_selector(class).ok().flatten()?.dyn_into::<HtmlElement>().ok();
        let inner = Inner {
            diff,
            scroll: find(".diff-scroll")?,
            size: find(".diff-size")?,
            rows: find(".diff-rows")?,
            stuck: find(".diff-stuck")?,
            probe: find(".diff-probe")?,
            cells: Cells::new(&root.query_selector(".diff-patterns").ok().flatten()?)?,
            outline: Outline::default(),
            geometry: Geometry::default(),
            is_split: false,
            chunks: Chunks::default(),
            drawn: VecDeque::new(),
            stuck_file: None,
            is_frame_asked: false,
            first: None,
            observer: None,
        };
        let screen = Self(Rc::new(RefCell::new(inner)));
        screen.watch_size();
        Some(screen)
    }

    /// Lines that are broken by columns depend on the width.
    fn watch_size(&self) {
        let weak = Rc::downgrade(&self.0);
        let diff = self.0.borrow().diff;
        let mut width = 0;
        let changed = Closure::<dyn FnMut()>::new(move || {
            let Some(inner) = Weak::upgrade(&weak) else { return };
            let screen = Self(inner);
            let now = screen.0.borrow().scroll.client_width();
            screen.draw(false);
            if std::mem::replace(&mut width, now) != now {
                diff.relayout();
            }
        });
        if let Ok(observer) = ResizeObserver::new(changed.as_ref().unchecked_ref()) {
            observer.observe(&self.0.borrow().scroll);
            self.0.borrow_mut().observer = Some((observer, changed));
        }
    }

    pub fn room(&self) -> Room {
        let inner = self.0.borrow();
        Room {
            width: f64::from(inner.scroll.client_width()),
            letter: inner.probe.get_bounding_client_rect().width() / 100.0,
            digits: digits(&inner.outline) as f64,
            is_narrow: device::is_narrow(),
        }
    }

    /// Starts anew with these rows. What was at the top stays about there.
    pub fn lay_out(&self, outline: &Outline, options: &Options) {
        let mut inner = self.0.borrow_mut();
        let is_same = inner.outline.stamp == outline.stamp;
        let place = if is_same { inner.place() } else { None };
        inner.outline = outline.clone();
        inner.geometry = Geometry::of(outline);
        inner.is_split = options.is_split;
        inner.chunks = Chunks::default();
        if let Some(rows) = inner.first.take() {
            inner.chunks.put(0, rows);
        }
        inner.clear();
        let height = inner.geometry.scrolled_height();
        let style = inner.size.style();
        style.set_property("height", &format!("{}px", height as u64)).ok();
        let columns = if options.columns > 0 { 0 } else { outline.columns };
        style.set_property("--columns", &columns.to_string()).ok();
        inner.scroll.style().set_property("--digits", &digits(outline).to_string()).ok();
        if let Some(offset) = place.and_then(|(file, part)| inner.offset_of(file, part)) {
            let screen = f64::from(inner.scroll.client_height());
            inner.scroll.set_scroll_top(inner.geometry.scrolled(offset, screen) as i32);
        }
        drop(inner);
        self.draw(true);
    }

    /// Starts with rows that came with the page.
    pub fn start(&self, outline: &Outline, rows: String, options: &Options) {
        self.0.borrow_mut().first = Some(rows);
        self.lay_out(outline, options);
    }

    /// The rows of a chunk have come.
    pub fn take(&self, chunk: u32, text: String) {
        self.0.borrow_mut().chunks.put(chunk, text);
        self.draw(true);
    }

    /// They will not come, and may be asked for again.
    pub fn forget(&self, chunk: u32) {
        self.0.borrow_mut().chunks.forget(chunk);
    }

    /// To be called when it was scrolled.
    pub fn scrolled(&self) {
        if std::mem::replace(&mut self.0.borrow_mut().is_frame_asked, true) {
            return;
        }
        let weak = Rc::downgrade(&self.0);
        request_animation_frame(move || {
            if let Some(inner) = weak.upgrade() {
                inner.borrow_mut().is_frame_asked = false;
                Self(inner).draw(false);
            }
        });
    }

    /// Draws every row again, as after a search.
    pub fn redraw(&self) {
        self.0.borrow_mut().clear();
        self.draw(true);
    }

    fn draw(&self, is_forced: bool) {
        let asked = self.0.borrow_mut().draw(is_forced);
        let (diff, file) = (self.0.borrow().diff, self.0.borrow().stuck_file);
        if let Some(file) = file.filter(|file| diff.file.try_get_untracked() != Some(*file)) {
            diff.file.try_set(file);
        }
        for chunk in asked {
            diff.ask(chunk);
        }
    }

    pub fn reveal(&self, row: u32) {
        {
            let inner = self.0.borrow();
            let screen = f64::from(inner.scroll.client_height());
            let offset = inner.geometry.offset(top_of(&inner.scroll), screen);
            let (top, head) = (inner.geometry.top(row), super::geometry::HEAD_PX);
            let is_head = inner.geometry.is_head(row);
            // Below the name that sticks to the top, and with a few lines after it.
            let is_in_sight = top >= offset + head && top + 3.0 * ROW_PX <= offset + screen;
            if is_head || !is_in_sight {
                let wanted = if is_head { top + super::geometry::GAP_PX } else { top - screen / 3.0 };
                inner.scroll.set_scroll_top(inner.geometry.scrolled(wanted, screen) as i32);
            }
        }
        self.draw(false);
        self.mark(row);
    }

    /// Marks the row that keys work on.
    pub fn mark(&self, row: u32) {
        let inner = self.0.borrow();
        for drawn in &inner.drawn {
            drawn.element.class_list().toggle_with_force("current", drawn.row == row).ok();
        }
        inner.size.set_attribute("aria-activedescendant", &inner.id(row)).ok();
    }

    pub fn focus(&self) {
        let options = web_sys::FocusOptions::new();
        options.set_prevent_scroll(true);
        self.0.borrow().size.focus_with_options(&options).ok();
    }

    pub fn row_count(&self) -> u32 {
        self.0.borrow().geometry.rows
    }

    /// How many rows are in sight.
    pub fn page(&self) -> u32 {
        (f64::from(self.0.borrow().scroll.client_height()) / ROW_PX) as u32
    }

    /// The file of a row, and its row as it came.
    pub fn with_row<T>(&self, row: u32, read: impl FnOnce(usize, RowText) -> T) -> Option<T> {
        let inner = self.0.borrow();
        let text = inner.chunks.row(row)?;
        Some(read(inner.geometry.file_of(row), RowText::read(text)?))
    }

    pub fn file_of(&self, row: u32) -> usize {
        self.0.borrow().geometry.file_of(row)
    }

    pub fn path_of(&self, file: usize) -> Option<String> {
        self.0.borrow().outline.files.get(file).map(|file| file.path.clone())
    }

    /// How far below the top of all rows a row ends.
    pub fn bottom(&self, row: u32) -> f64 {
        let inner = self.0.borrow();
        let screen = f64::from(inner.scroll.client_height());
        let offset = inner.geometry.offset(top_of(&inner.scroll), screen);
        inner.geometry.top(row) - offset + top_of(&inner.scroll) + ROW_PX
    }

    /// A comment on a row, still without words, and the row that has the line's number.
    pub fn comment_on(&self, row: u32) -> Option<(u32, Comment)> {
        let inner = self.0.borrow();
        let path = inner.outline.files.get(inner.geometry.file_of(row))?.path.clone();
        let mut quoted = String::new();
        for row in (0..=row).rev() {
            let text = RowText::read(inner.chunks.row(row)?)?;
            if !text.kind.is_code() {
                return None;
            }
            let cell = text.right().unwrap_or(text.left());
            quoted.insert_str(0, &cell.map(|span| span.text).collect::<String>());
            let (side, line) = match text.kind {
                Kind::Removed => (Side::Old, text.old),
                _ => (Side::New, text.new),
            };
            // One without a number goes on from the row above.
            if line > 0 {
                return Some((row, Comment { path, side, line, text: String::new(), quoted }));
            }
        }
        None
    }
}

impl Inner {
    /// The file at the top, and which part of it.
    fn place(&self) -> Option<(usize, f64)> {
        let screen = f64::from(self.scroll.client_height());
        let offset = self.geometry.offset(top_of(&self.scroll), screen);
        if top_of(&self.scroll) <= 0.0 {
            return None;
        }
        let file = self.geometry.file_of(self.geometry.row_at(offset));
        let start = self.geometry.top(self.geometry.start(file)?);
        Some((file, (offset - start) / self.file_height(file)))
    }

    fn offset_of(&self, file: usize, part: f64) -> Option<f64> {
        Some(self.geometry.top(self.geometry.start(file)?) + part * self.file_height(file))
    }

    fn file_height(&self, file: usize) -> f64 {
        f64::from(self.outline.files.get(file).map_or(1, |file| file.rows.max(1))) * ROW_PX
    }

    fn clear(&mut self) {
        self.rows.set_text_content(None);
        self.drawn.clear();
        self.stuck_file = None;
    }

    /// Returns the chunks that are missing.
    fn draw(&mut self, is_forced: bool) -> Vec<u32> {
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

    fn id(&self, row: u32) -> String {
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
        use super::geometry::{GAP_PX, HEAD_PX};
        let next =
            self.geometry.start(file + 1).map_or(f64::MAX, |next| self.geometry.top(next) + GAP_PX - offset);
        let pushed = (next - GAP_PX - HEAD_PX).min(0.0);
        self.stuck.style().set_property("transform", &format!("translateY({}px)", pushed as i64)).ok();
        // Its own name is in sight.
        let own = self.geometry.start(file).map_or(0.0, |start| self.geometry.top(start)) + GAP_PX - offset;
        self.stuck.toggle_attribute_with_force("hidden", own > 0.0).ok();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some((observer, _)) = &self.observer {
            observer.disconnect();
        }
    }
}

fn top_of(scroll: &HtmlElement) -> f64 {
    f64::from(scroll.scroll_top())
}

fn digits(outline: &Outline) -> usize {
    outline.lines.to_string().len().max(3)
}
