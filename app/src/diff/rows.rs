//! The markup of rows. The server writes the first window with it; the browser takes it as a pattern and fills in
//! copies by hand, which is several times quicker than a view for each.

use domain::diff::FileOutline;
#[cfg(feature = "ssr")]
use domain::diff::{Kind, Outline, RowText, Rows, Spans};
use leptos::prelude::*;

use crate::{
    erased::{Erase, Erased},
    icon::Icon,
};

/// One of each kind, in the order of [`Pattern`].
pub fn patterns() -> Erased {
    view! {
        <div class="diff-patterns" hidden=true>
            {head(None)} {fold(0, String::new())} {notice(String::new())} {line(3, Vec::new())} {line(4, Vec::new())}
        </div>
    }
    .erase()
}

#[cfg(feature = "hydrate")]
#[derive(Clone, Copy)]
pub enum Pattern {
    File,
    Fold,
    Notice,
    Unified,
    Split,
}

/// The row that names a file.
fn head(file: Option<&FileOutline>) -> Erased {
    let letter = file.map_or("", |file| file.status.letter());
    view! {
        <div class="diff-row file-row" role="row">
            <div class="file-head" role="gridcell">
                <span class="file-status" data-status=letter>{letter}</span>
                <span class="file-path">{file.map(path)}</span>
                <span class="file-mode">{file.and_then(mode)}</span>
                <span class="file-counts">
                    <span class="plus">{file.map(|file| format!("+{}", file.added))}</span>
                    <span class="minus">{file.map(|file| format!("−{}", file.removed))}</span>
                </span>
                <button class="icon-button small" type="button" tabindex="-1" data-act="path" aria-label="Copy the path">
                    {Icon::Copy.view()}
                </button>
                <button
                    class="icon-button small"
                    type="button"
                    tabindex="-1"
                    data-act="patch"
                    aria-label="Copy the patch of this file"
                >
                    {Icon::Code.view()}
                </button>
            </div>
        </div>
    }
    .erase()
}

fn fold(hidden: u32, heading: String) -> Erased {
    view! {
        <div class="diff-row fold" role="row">
            <div class="fold-cell" role="gridcell">
                <button type="button" tabindex="-1" data-act="down" aria-label="Show 10 more lines from the top">
                    {Icon::Down.view()}
                </button>
                <button type="button" tabindex="-1" data-act="up" aria-label="Show 10 more lines from the bottom">
                    {Icon::Up.view()}
                </button>
                <button type="button" tabindex="-1" data-act="all">{hidden_lines(hidden)}</button>
                <span class="fold-heading">{heading}</span>
            </div>
        </div>
    }
    .erase()
}

fn notice(words: String) -> Erased {
    view! {
        <div class="diff-row notice-row" role="row"><span role="gridcell">{words}</span></div>
    }
    .erase()
}

/// A line of code, with as many cells: numbers and texts. Numbers are drawn by the stylesheet, so that nobody
/// copies them.
fn line(cells: usize, filled: Vec<Erased>) -> Erased {
    if !filled.is_empty() {
        return filled.erase();
    }
    let number = || view! { <span class="n" role="gridcell"></span> }.erase();
    let text = || view! { <code class="t" role="gridcell"></code> }.erase();
    let cells = match cells {
        3 => vec![number(), number(), text()],
        _ => vec![number(), text(), number(), text()],
    };
    view! { <div class="diff-row ln" role="row">{cells}</div> }.erase()
}

pub fn path(file: &FileOutline) -> String {
    match &file.old_path {
        Some(old) => format!("{old} → {}", file.path),
        None => file.path.clone(),
    }
}

pub fn mode(file: &FileOutline) -> Option<String> {
    file.modes.as_ref().map(|(old, new)| format!("{old} → {new}"))
}

pub fn hidden_lines(count: u32) -> String {
    match count {
        0 => "Show the rest of the file".to_owned(),
        1 => "Show 1 hidden line".to_owned(),
        count => format!("Show {count} hidden lines"),
    }
}

/// The first window as it is read without scripts: in one column, each row where it belongs.
#[cfg(feature = "ssr")]
pub fn first_rows(outline: &Outline, rows: &Rows) -> Vec<Erased> {
    let lines = rows.text.split('\n').filter_map(RowText::read);
    lines.map(|row| first_row(outline, &row)).collect()
}

#[cfg(feature = "ssr")]
fn first_row(outline: &Outline, row: &RowText) -> Erased {
    let text = |spans: Spans| spans.map(|span| span.text).collect::<String>();
    let class = match row.kind {
        Kind::File => return head(outline.files.get(row.old as usize)),
        Kind::Fold => return fold(row.new, text(row.left())),
        Kind::Notice => return notice(text(row.left())),
        Kind::Added => "diff-row ln add",
        Kind::Removed => "diff-row ln del",
        Kind::Context | Kind::Changed => "diff-row ln",
    };
    let number = |n: u32| {
        let n = (n > 0).then(|| n.to_string());
        view! { <span class="n" role="gridcell" data-n=n></span> }
    };
    let spans = row.left().map(|span| {
        let class = format!("{}{}", char::from(span.letter), if span.is_marked { " m" } else { "" });
        view! { <span class=class>{span.text.to_owned()}</span> }.into_any()
    });
    view! {
        <div class=class role="row">
            {number(row.old)} {number(row.new)} <code class="t" role="gridcell">{spans.collect::<Vec<_>>()}</code>
        </div>
    }
    .erase()
}
