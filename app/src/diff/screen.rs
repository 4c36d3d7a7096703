//! What is on the screen: the rows in sight and some around them, drawn by hand.
//!
//! Rows stay in the page while they are near, so a step of scrolling makes only the rows that come into sight.

mod cells;
mod chunks;
mod draw;
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
    geometry::{GAP_PX, Geometry, HEAD_PX, ROW_PX},
    state::Diff,
};
use crate::device;
use cells::Cells;
pub use chunks::CHUNK_ROWS;
use chunks::Chunks;
pub use selection::copied;

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
            let top = inner.geometry.top(row);
            let is_head = inner.geometry.is_head(row);
            // Below the name that sticks to the top, and with a few lines after it.
            let is_in_sight = top >= offset + HEAD_PX && top + 3.0 * ROW_PX <= offset + screen;
            if is_head || !is_in_sight {
                let wanted = if is_head { top + GAP_PX } else { top - screen / 3.0 };
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
        let height = if inner.geometry.is_head(row) { GAP_PX + HEAD_PX } else { ROW_PX };
        inner.geometry.top(row) - offset + top_of(&inner.scroll) + height
    }

    /// A comment on a row, still without words, and the row that has the line's number.
    pub fn comment_on(&self, row: u32, pointed: Side) -> Option<(u32, Comment)> {
        let inner = self.0.borrow();
        let path = inner.outline.files.get(inner.geometry.file_of(row))?.path.clone();
        let mut quoted = String::new();
        for row in (0..=row).rev() {
            let text = RowText::read(inner.chunks.row(row)?)?;
            if !text.kind.is_code() {
                return None;
            }
            let side = match text.kind {
                Kind::Removed => Side::Old,
                Kind::Changed => pointed,
                _ => Side::New,
            };
            let (cell, line) = match side {
                Side::Old => (text.left(), text.old),
                Side::New => (text.right().unwrap_or(text.left()), text.new),
            };
            quoted.insert_str(0, &cell.map(|span| span.text).collect::<String>());
            // One without a number goes on from the row above.
            if line > 0 {
                return Some((row, Comment { path, side, line, text: String::new(), quoted }));
            }
        }
        None
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
