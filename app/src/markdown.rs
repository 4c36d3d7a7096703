//! Markdown on the page. Every node becomes an element by name; there is no way from text to markup.

mod blocks;
mod copy;
mod inlines;
#[cfg(all(test, feature = "ssr"))]
mod tests;

use std::sync::Arc;

use domain::markdown::{Block, Streaming};
use leptos::prelude::*;

use crate::erased::{For, effect};

pub use copy::CopyButton;
#[cfg(feature = "hydrate")]
pub use copy::copy_text;

/// Shows `text` as markdown. While `streaming` is true more is expected, and a last line that is only markers
/// waits for its words; a block that is over is not touched again.
#[component]
pub fn Markdown(
    #[prop(into)] text: Signal<String>,
    #[prop(into, default = Signal::stored(false))] streaming: Signal<bool>,
) -> impl IntoView {
    // Read at once for the server's page and for hydration, then in an effect, which runs in the browser only.
    let mut document = Streaming::default();
    read(&mut document, &text.read_untracked(), streaming.get_untracked());
    let rows = RwSignal::new(document.blocks().iter().enumerate().map(Row::new).collect::<Vec<_>>());
    let document = StoredValue::new(document);
    effect(move || {
        let is_streaming = streaming.get();
        text.with(|text| document.update_value(|document| read(document, text, is_streaming)));
        document.with_value(|document| show(document.blocks(), rows));
    });
    view! {
        <div class="markdown">
            <For each=move || rows.get() key=|row| row.place let:row>
                {move || blocks::block(&row.block.read())}
            </For>
        </div>
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

fn read(document: &mut Streaming, text: &str, is_streaming: bool) {
    document.set(text);
    if !is_streaming {
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
