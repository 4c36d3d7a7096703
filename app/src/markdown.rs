//! Markdown on the page. Every node becomes an element by name; there is no way from text to markup.

mod blocks;
pub mod colours;
mod copy;
mod inlines;
#[cfg(all(test, feature = "ssr"))]
mod tests;

use std::sync::Arc;

use domain::markdown::{Block, Streaming};
use leptos::prelude::*;

use crate::erased::{Erase, For, effect};

pub use copy::CopyButton;
#[cfg(feature = "hydrate")]
pub use copy::copy_text;

/// A page holds what a person reads. Of a longer text more is shown when it is asked for.
pub const SHOWN_BYTES: usize = 512 * 1024;

/// Shows `text` as markdown. While `streaming` is true more is expected, and a last line that is only markers
/// waits for its words; a block that is over is not touched again.
#[component]
pub fn Markdown(
    #[prop(into)] text: Signal<String>,
    #[prop(into, default = Signal::stored(false))] streaming: Signal<bool>,
) -> impl IntoView {
    let room = RwSignal::new(SHOWN_BYTES);
    // Read at once for the server's page and for hydration, then in an effect, which runs in the browser only.
    let mut document = Streaming::default();
    read(&mut document, &text.read_untracked(), SHOWN_BYTES, streaming.get_untracked());
    let rows = RwSignal::new(document.blocks().iter().enumerate().map(Row::new).collect::<Vec<_>>());
    let document = StoredValue::new(document);
    effect(move || {
        let (is_streaming, room) = (streaming.get(), room.get());
        text.with(|text| document.update_value(|document| read(document, text, room, is_streaming)));
        document.with_value(|document| show(document.blocks(), rows));
    });
    view! {
        <div class="markdown">
            <For each=move || rows.get() key=|row| row.place let:row>
                {
                    // Nothing is added to a block that has another one behind it.
                    let is_settled = Memo::new(move |_| {
                        !streaming.get() || rows.with(|rows| row.place + 1 < rows.len())
                    });
                    move || blocks::block(&row.block.read(), is_settled.into())
                }
            </For>
            <More text room />
        </div>
    }
}

/// How much is not shown, and what shows more of it.
#[component]
fn More(text: Signal<String>, room: RwSignal<usize>) -> impl IntoView {
    let left_kb = Memo::new(move |_| text.with(String::len).saturating_sub(room.get()).div_ceil(1024));
    let is_left = Memo::new(move |_| left_kb.get() > 0);
    move || {
        is_left.get().then(|| {
            view! {
                <p class="markdown-more">
                    <span>{move || left_kb.get()} " KB more are kept and not shown here."</span>
                    <button
                        class="button small"
                        type="button"
                        on:click=move |_| room.update(|room| *room += SHOWN_BYTES)
                    >
                        "Show more"
                    </button>
                </p>
            }
            .erase()
        })
    }
}

/// One block on the page, under its place in the text.
#[derive(Clone)]
struct Row {
    place: usize,
    block: ArcRwSignal<Arc<Block>>,
}

impl Row {
    fn new((place, block): (usize, &Arc<Block>)) -> Self {
        Self { place, block: ArcRwSignal::new(Arc::clone(block)) }
    }
}

/// As much of the text as there is room for.
fn read(document: &mut Streaming, text: &str, room: usize, is_streaming: bool) {
    document.set(&text[..text.floor_char_boundary(room)]);
    if !is_streaming || text.len() > room {
        document.finish();
    }
}

/// Touches only the rows whose block is another one now, and the list only when its length changes.
fn show(blocks: &[Arc<Block>], rows: RwSignal<Vec<Row>>) {
    let kept = rows.with_untracked(|rows| {
        for (row, block) in rows.iter().zip(blocks) {
            if !Arc::ptr_eq(&row.block.read_untracked(), block) {
                row.block.set(Arc::clone(block));
            }
        }
        rows.len()
    });
    if kept != blocks.len() {
        rows.update(|rows| {
            rows.truncate(blocks.len());
            rows.extend(blocks.iter().enumerate().skip(kept).map(Row::new));
        });
    }
}
