//! Blocks as elements.

use std::sync::Arc;

use domain::markdown::{Align, Block, Cell, Inline, Item, List, Table};
use leptos::prelude::*;

use crate::erased::{Erase, Erased};

use super::{colours::coloured, copy::CopyButton, inlines::inlines};

/// The page's own headings are the first two levels, so an answer's begin at the third; the class keeps the look.
const HEADING_OFFSET: u8 = 2;

pub(super) fn block(block: &Arc<Block>, is_settled: Signal<bool>) -> Erased {
    match &**block {
        // The button holds the block, not a second copy of a text that may be long.
        Block::Code { lang, .. } => {
            let source = Arc::clone(block);
            code(lang, block, is_settled, move || code_text(&source).to_owned())
        }
        other => nested(other, is_settled),
    }
}

fn blocks(all: &[Block], is_settled: Signal<bool>) -> Erased {
    all.iter().map(|block| nested(block, is_settled)).collect_view().erase()
}

fn nested(block: &Block, is_settled: Signal<bool>) -> Erased {
    match block {
        Block::Paragraph(content) => view! { <p>{inlines(content)}</p> }.erase(),
        Block::Heading { level, content } => heading(*level, content),
        Block::List(list) => self::list(list, is_settled),
        Block::Quote(content) => view! { <blockquote>{blocks(content, is_settled)}</blockquote> }.erase(),
        Block::Code { lang, text } => {
            let source = text.clone();
            code(lang, block, is_settled, move || source.clone())
        }
        Block::Table(table) => self::table(table),
        Block::Rule => view! { <hr/> }.erase(),
    }
}

fn heading(level: u8, content: &[Inline]) -> Erased {
    let class = format!("heading-{level}");
    let content = inlines(content);
    match level.saturating_add(HEADING_OFFSET) {
        0..=3 => view! { <h3 class=class>{content}</h3> }.erase(),
        4 => view! { <h4 class=class>{content}</h4> }.erase(),
        5 => view! { <h5 class=class>{content}</h5> }.erase(),
        _ => view! { <h6 class=class>{content}</h6> }.erase(),
    }
}

fn list(list: &List, is_settled: Signal<bool>) -> Erased {
    let items = list.items.iter().map(|item| self::item(item, list.tight, is_settled)).collect_view();
    let class = if list.tight { "tight" } else { "loose" };
    match list.start {
        Some(start) => view! { <ol class=class start=start.to_string()>{items}</ol> }.erase(),
        None => view! { <ul class=class>{items}</ul> }.erase(),
    }
}

fn item(item: &Item, tight: bool, is_settled: Signal<bool>) -> Erased {
    let content = item
        .blocks
        .iter()
        .map(|block| match block {
            Block::Paragraph(content) if tight => inlines(content),
            other => nested(other, is_settled),
        })
        .collect_view();
    match item.checked {
        Some(checked) => {
            let name = if checked { "Done" } else { "To do" };
            view! {
                <li class="task">
                    <input type="checkbox" disabled=true checked=checked aria-label=name/>
                    <div>{content}</div>
                </li>
            }
            .erase()
        }
        None => view! { <li>{content}</li> }.erase(),
    }
}

fn code(
    lang: &str,
    block: &Block,
    is_settled: Signal<bool>,
    source: impl Fn() -> String + Send + Sync + 'static,
) -> Erased {
    let name = if lang.is_empty() { "Code".to_owned() } else { format!("Code, {lang}") };
    view! {
        <div class="code-block">
            <div class="code-head">
                <span class="code-lang">{if lang.is_empty() { "text".to_owned() } else { lang.to_owned() }}</span>
                <CopyButton name="Copy code" text=source/>
            </div>
            // Focusable, because a line that is too long is scrolled by keyboard too.
            <pre tabindex="0" role="region" aria-label=name>
                <code>{coloured(lang, code_text(block), is_settled)}</code>
            </pre>
        </div>
    }
    .erase()
}

fn code_text(block: &Block) -> &str {
    match block {
        Block::Code { text, .. } => text,
        _ => "",
    }
}

fn table(table: &Table) -> Erased {
    let head = table.head.iter().zip(classes(table)).map(|(cell, class)| {
        view! { <th scope="col" class=class>{inlines(cell)}</th> }
    });
    let row = |cells: &Vec<Cell>| {
        let cells = cells.iter().zip(classes(table)).map(|(cell, class)| {
            view! { <td class=class>{inlines(cell)}</td> }
        });
        view! { <tr>{cells.collect_view()}</tr> }
    };
    let head = head.collect_view();
    let rows = table.rows.iter().map(row).collect_view();
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label="Table">
            <table>
                <thead><tr>{head}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .erase()
}

fn classes(table: &Table) -> impl Iterator<Item = &'static str> {
    table.align.iter().map(|align| match align {
        Align::None | Align::Left => "align-left",
        Align::Center => "align-center",
        Align::Right => "align-right",
    })
}
