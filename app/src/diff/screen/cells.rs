//! Rows as nodes, from the patterns that the page holds.

use domain::diff::{FileOutline, Kind, RowText, Spans};
use leptos::prelude::document;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, Node};

use crate::diff::rows::{self, Pattern};

pub struct Cells {
    patterns: Vec<Element>,
    span: Element,
}

impl Cells {
    pub fn new(patterns: &Element) -> Option<Self> {
        let children = patterns.children();
        let patterns: Vec<_> = (0..children.length()).filter_map(|n| children.item(n)).collect();
        let span = document().create_element("span").ok()?;
        (patterns.len() == 5).then_some(Self { patterns, span })
    }

    /// With how many nodes it has.
    pub fn head(&self, file: Option<&FileOutline>) -> (Element, usize) {
        let row = self.copy(Pattern::File);
        if let Some(file) = file {
            let fill = |class: &str, text: &str| {
                if let Ok(Some(element)) = row.query_selector(class) {
                    element.set_text_content(Some(text));
                }
            };
            let letter = file.status.letter();
            fill(".file-status", letter);
            if let Ok(Some(status)) = row.query_selector(".file-status") {
                status.set_attribute("data-status", letter).ok();
                status.set_attribute("aria-label", file.status.word()).ok();
            }
            fill(".file-path", &rows::path(file));
            fill(".file-mode", &rows::mode(file).unwrap_or_default());
            fill(".plus", &format!("+{}", file.added));
            fill(".minus", &format!("−{}", file.removed));
        }
        (row, 20)
    }

    pub fn row(&self, text: &RowText, is_split: bool, is_coloured: bool, query: &str) -> (Element, usize) {
        match text.kind {
            Kind::File => self.head(None),
            Kind::Fold => self.fold(text),
            Kind::Notice => {
                let row = self.copy(Pattern::Notice);
                if let Some(cell) = row.first_element_child() {
                    cell.set_text_content(Some(&words(text.left())));
                }
                (row, 3)
            }
            _ => self.line(text, is_split, is_coloured, query),
        }
    }

    /// In the place of a row that has not come yet.
    pub fn waiting(&self, is_split: bool) -> (Element, usize) {
        let row = self.copy(if is_split { Pattern::Split } else { Pattern::Unified });
        row.class_list().add_1("waiting").ok();
        (row, 5)
    }

    fn fold(&self, text: &RowText) -> (Element, usize) {
        let row = self.copy(Pattern::Fold);
        if let Ok(Some(all)) = row.query_selector("[data-act=all]") {
            all.set_text_content(Some(&rows::hidden_lines(text.new)));
        }
        if let Ok(Some(heading)) = row.query_selector(".fold-heading") {
            heading.set_text_content(Some(&words(text.left())));
        }
        // From the first gap only upwards, from the last one only downwards.
        let gone = match (text.old, text.new) {
            (0, _) => Some("[data-act=down]"),
            (_, 0) => Some("[data-act=up]"),
            _ => None,
        };
        if let Some(Ok(Some(gone))) = gone.map(|gone| row.query_selector(gone)) {
            gone.remove();
        }
        (row, 14)
    }

    fn line(&self, text: &RowText, is_split: bool, is_coloured: bool, query: &str) -> (Element, usize) {
        let row = self.copy(if is_split { Pattern::Split } else { Pattern::Unified });
        let cells = row.children();
        let number = |cell: u32, n: u32| {
            if let (Some(cell), true) = (cells.item(cell), n > 0) {
                cell.set_attribute("data-n", &n.to_string()).ok();
            }
        };
        let class = match text.kind {
            Kind::Added => "diff-row ln add",
            Kind::Removed => "diff-row ln del",
            Kind::Changed => "diff-row ln both",
            _ => "diff-row ln",
        };
        row.set_class_name(class);
        // A line that goes on belongs to the one above when it is copied.
        if text.old == 0 && text.new == 0 {
            row.set_attribute("data-on", "").ok();
        }
        number(0, text.old);
        number(if is_split { 2 } else { 1 }, text.new);
        let mut nodes = 4 + usize::from(is_split);
        let mut fill = |cell: u32, spans: Spans| {
            if let Some(cell) = cells.item(cell) {
                nodes += self.text(&cell, spans, is_coloured, query);
            }
        };
        match (is_split, text.kind) {
            (false, _) => fill(2, text.left()),
            (true, Kind::Removed) => fill(1, text.left()),
            (true, Kind::Added) => fill(3, text.left()),
            (true, _) => {
                fill(1, text.left());
                fill(3, text.right().unwrap_or(text.left()));
            }
        }
        (row, nodes)
    }

    fn text(&self, cell: &Element, spans: Spans, is_coloured: bool, query: &str) -> usize {
        if !is_coloured {
            cell.set_text_content(Some(&words(spans)));
            return 1;
        }
        let mut nodes = 0;
        for span in spans {
            // Text without a colour needs no element.
            let parent: &Element = if span.letter == b'x' && !span.is_marked {
                cell
            } else {
                let Some(element) = copy(&self.span) else { continue };
                let letter = [span.letter, b' ', b'm'];
                let class = if span.is_marked { &letter[..] } else { &letter[..1] };
                element.set_class_name(std::str::from_utf8(class).unwrap_or_default());
                cell.append_child(&element).ok();
                nodes += 1;
                &element.clone()
            };
            nodes += write(parent, span.text, query);
        }
        nodes
    }

    fn copy(&self, pattern: Pattern) -> Element {
        copy(&self.patterns[pattern as usize]).unwrap_or_else(|| self.span.clone())
    }
}

fn copy(element: &Element) -> Option<Element> {
    element.clone_node_with_deep(true).ok()?.dyn_into().ok()
}

/// Puts a text at the end, with what is looked for marked. Returns how many nodes that took.
fn write(parent: &Node, text: &str, query: &str) -> usize {
    let mut nodes = 0;
    let mut append = |parent: &Node, text: &str| {
        if !text.is_empty() {
            parent.append_child(&document().create_text_node(text)).ok();
            nodes += 1;
        }
    };
    let mut rest = text;
    while let Some(at) = position(rest, query) {
        let (before, from) = rest.split_at(at);
        let (hit, after) = from.split_at(query.len());
        append(parent, before);
        if let Ok(mark) = document().create_element("mark") {
            append(&mark, hit);
            parent.append_child(&mark).ok();
        }
        rest = after;
    }
    append(parent, rest);
    nodes
}

/// As the server looks for it: capitals count only where one is looked for.
fn position(text: &str, query: &str) -> Option<usize> {
    if query.is_empty() || query.len() > text.len() {
        return None;
    }
    let is_exact = query.bytes().any(|byte| byte.is_ascii_uppercase());
    let mut windows = text.as_bytes().windows(query.len());
    windows.position(|window| match is_exact {
        true => window == query.as_bytes(),
        false => window.eq_ignore_ascii_case(query.as_bytes()),
    })
}

fn words(spans: Spans) -> String {
    spans.map(|span| span.text).collect()
}
