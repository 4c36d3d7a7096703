//! Blocks as elements.

use std::sync::Arc;

use domain::markdown::{Align, Block, Cell, Inline, Item, List, Table};
use leptos::prelude::*;

use super::{copy::CopyButton, inlines::inlines};

/// The page's own headings are the first two levels, so an answer's begin at the third; the class keeps the look.
const HEADING_OFFSET: u8 = 2;

pub(super) fn block(block: &Arc<Block>) -> AnyView {
    match &**block {
        // The button holds the block, not a second copy of a text that may be long.
        Block::Code { lang, .. } => {
            let source = Arc::clone(block);
            code(lang, block, move || code_text(&source).to_owned())
        }
        other => nested(other),
    }
}

fn blocks(all: &[Block]) -> AnyView {
    all.iter().map(nested).collect_view().into_any()
}

fn nested(block: &Block) -> AnyView {
    match block {
        Block::Paragraph(content) => view! { <p>{inlines(content)}</p> }.into_any(),
        Block::Heading { level, content } => heading(*level, content),
        Block::List(list) => self::list(list),
        Block::Quote(content) => view! { <blockquote>{blocks(content)}</blockquote> }.into_any(),
        Block::Code { lang, text } => {
            let source = text.clone();
            code(lang, block, move || source.clone())
        }
        Block::Table(table) => self::table(table),
        Block::Rule => view! { <hr/> }.into_any(),
    }
}

fn heading(level: u8, content: &[Inline]) -> AnyView {
    let class = format!("heading-{level}");
    let content = inlines(content);
    match level.saturating_add(HEADING_OFFSET) {
        0..=3 => view! { <h3 class=class>{content}</h3> }.into_any(),
        4 => view! { <h4 class=class>{content}</h4> }.into_any(),
        5 => view! { <h5 class=class>{content}</h5> }.into_any(),
        _ => view! { <h6 class=class>{content}</h6> }.into_any(),
    }
}

fn list(list: &List) -> AnyView {
    let items = list.items.iter().map(|item| self::item(item, list.tight)).collect_view();
    let class = if list.tight { "tight" } else { "loose" };
    match list.start {
        Some(start) => view! { <ol class=class start=start.to_string()>{items}</ol> }.into_any(),
        None => view! { <ul class=class>{items}</ul> }.into_any(),
    }
}

fn item(item: &Item, tight: bool) -> AnyView {
    let content = item
        .blocks
        .iter()
        .map(|block| match block {
            Block::Paragraph(content) if tight => inlines(content),
            other => nested(other),
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
            .into_any()
        }
        None => view! { <li>{content}</li> }.into_any(),
    }
}

fn code(lang: &str, block: &Block, source: impl Fn() -> String + Send + Sync + 'static) -> AnyView {
    let name = if lang.is_empty() { "Code".to_owned() } else { format!("Code, {lang}") };
    view! {
        <div class="code-block">
            <div class="code-head">
                <span class="code-lang">{if lang.is_empty() { "text".to_owned() } else { lang.to_owned() }}</span>
                <CopyButton name="Copy code" text=source/>
            </div>
            // Focusable, because a line that is too long is scrolled by keyboard too.
            <pre tabindex="0" role="region" aria-label=name>
                <code>{code_text(block).to_owned()}</code>
            </pre>
        </div>
    }
    .into_any()
}

fn code_text(block: &Block) -> &str {
    match block {
        Block::Code { text, .. } => text,
        _ => "",
    }
}

fn table(table: &Table) -> AnyView {
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
    .into_any()
}

fn classes(table: &Table) -> impl Iterator<Item = &'static str> {
    table.align.iter().map(|align| match align {
        Align::None | Align::Left => "align-left",
        Align::Center => "align-center",
        Align::Right => "align-right",
    })
}
