//! The page's copy of the server's state, and how it is kept up to date.
//!
//! Events change the state and wake whatever is derived from it. Deltas wake only the text they belong to, so
//! six streams at full speed touch six text nodes and nothing else.

#[cfg(feature = "hydrate")]
mod connection;
#[cfg_attr(not(feature = "hydrate"), allow(dead_code))]
pub mod line;
mod live_text;

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    battle::Battle,
    chat::Chat,
    feed::{Frame, Mirror, Received, Snapshot, StreamId},
    id::{BattleId, ChatId, RunId},
    page::{Fronts, Page, Wanted},
    run,
    workspace::Workspace,
};
use leptos::prelude::*;

use crate::error::AppError;
pub use live_text::{LiveSegment, LiveText};

/// Cheap to copy; one for the life of a page.
#[derive(Clone, Copy)]
pub struct Feed {
    mirror: RwSignal<Mirror<Page>>,
    texts: StoredValue<BTreeMap<StreamId, LiveText>>,
    /// Of the texts, those that the feed does not bring.
    brought: StoredValue<BTreeSet<StreamId>>,
    pub connection: RwSignal<line::Shown>,
    /// Why what was navigated to is not shown.
    pub problem: RwSignal<Option<AppError>>,
    /// Wakes whenever something on the page may have grown.
    pub grown: RwSignal<()>,
}

impl Feed {
    pub fn new(snapshot: Snapshot<Page>) -> Self {
        Self {
            mirror: RwSignal::new(Mirror::new(snapshot)),
            texts: StoredValue::default(),
            brought: StoredValue::default(),
            connection: RwSignal::new(line::Shown::Connecting),
            problem: RwSignal::new(None),
            grown: RwSignal::new(()),
        }
    }

    /// Reads the state; whoever does it in a memo wakes when the answer changes.
    pub fn workspace<T>(&self, read: impl FnOnce(&Workspace) -> T) -> T {
        self.mirror.with(|mirror| read(&mirror.state.workspace))
    }

    pub fn chat<T>(&self, id: ChatId, read: impl FnOnce(&Chat) -> T) -> Option<T> {
        self.mirror.with(|mirror| mirror.state.chat(id).map(read))
    }

    pub fn battle<T>(&self, id: BattleId, read: impl FnOnce(&Battle) -> T) -> Option<T> {
        self.mirror.with(|mirror| mirror.state.battle(id).map(read))
    }

    pub fn run<T>(&self, id: RunId, read: impl FnOnce(&run::Shown) -> T) -> Option<T> {
        self.mirror.with(|mirror| mirror.state.run(id).map(read))
    }

    pub fn page<T>(&self, read: impl FnOnce(&Page) -> T) -> T {
        self.mirror.with(|mirror| read(&mirror.state))
    }

    /// The text of a stream as it grows.
    pub fn text(&self, stream: StreamId) -> LiveText {
        if let Some(text) = self.texts.with_value(|texts| texts.get(&stream).cloned()) {
            return text;
        }
        let text = LiveText::default();
        self.mirror.with_untracked(|mirror| {
            if let Some(copy) = mirror.streams.get(&stream) {
                text.show(copy);
            }
        });
        self.texts.update_value(|texts| drop(texts.insert(stream, text.clone())));
        text
    }

    /// Shows a stream that is over and that no page carries, for as long as the page holds what it belongs to.
    pub fn bring(&self, stream: StreamId, text: &str) {
        self.brought.update_value(|brought| {
            brought.insert(stream);
        });
        self.text(stream).show_anew(text);
    }

    /// Whether the first `len` bytes of a stream are here. What is too much for one snapshot comes after it.
    pub fn has_all(&self, stream: StreamId, len: u64) -> bool {
        let have =
            |mirror: &Mirror<Page>| mirror.streams.get(&stream).map_or(0, |copy| copy.text.len() as u64);
        self.is_brought(&stream) || self.mirror.with_untracked(have) >= len
    }

    fn is_brought(&self, stream: &StreamId) -> bool {
        self.brought.with_value(|brought| brought.contains(stream))
    }

    /// Starts again from a new snapshot, of the same page or of another.
    pub fn renew(&self, snapshot: Snapshot<Page>) {
        self.mirror.update(|mirror| mirror.renew(snapshot));
        // A view goes on with the text that it has, whether the feed still carries it or not.
        self.mirror.with_untracked(|mirror| {
            let is_here = |id: &StreamId| mirror.state.has_task(id.task);
            self.texts.update_value(|texts| texts.retain(|id, _| is_here(id)));
            self.brought.update_value(|brought| brought.retain(is_here));
        });
        self.problem.set(None);
        self.show_all_texts();
        self.grown.notify();
    }

    /// Folds what arrived since the last animation frame, up to the first piece that does not fit.
    pub fn receive(&self, frames: &[Frame]) -> Received {
        let mut result = Received::Applied;
        let (mut changed, mut grown) = (false, Vec::new());
        self.mirror.update_untracked(|mirror| {
            for frame in frames {
                result = mirror.receive(frame);
                match (frame, result) {
                    (Frame::Event(_), Received::Applied) => changed = true,
                    (Frame::Delta(delta), Received::Applied) => grown.push(delta.stream),
                    (Frame::Truncate(cut), Received::Applied) => grown.push(cut.stream),
                    _ => {}
                }
                if matches!(result, Received::Gap | Received::Reset) {
                    break;
                }
            }
        });
        if changed {
            // An event may have cut a stream to its final length.
            self.show_all_texts();
            self.mirror.notify();
        } else {
            // A text that is shown as it is already costs nothing.
            grown.dedup();
            grown.into_iter().for_each(|stream| self.show_text(stream));
        }
        self.grown.notify();
        result
    }

    fn show_all_texts(&self) {
        let streams: Vec<_> = self.texts.with_value(|texts| texts.keys().copied().collect());
        streams.into_iter().for_each(|stream| self.show_text(stream));
    }

    fn show_text(&self, stream: StreamId) {
        if self.is_brought(&stream) {
            return;
        }
        let Some(text) = self.texts.with_value(|texts| texts.get(&stream).cloned()) else { return };
        self.mirror.with_untracked(|mirror| {
            if let Some(copy) = mirror.streams.get(&stream) {
                text.show(copy);
            }
        });
    }
}

/// Keeps the feed alive and on what the address names. The server renders once and has nothing to keep.
pub fn keep(feed: Feed, wanted: Memo<Wanted>, fronts: StoredValue<Fronts>) {
    #[cfg(feature = "hydrate")]
    connection::keep(feed, wanted, fronts);
    #[cfg(not(feature = "hydrate"))]
    let _ = (feed, wanted, fronts);
}

#[cfg(test)]
#[cfg(feature = "ssr")]
mod tests;
