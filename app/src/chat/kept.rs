//! What a chat's composer keeps in this browser, so that a reload or a crash of the tab takes none of it.

use std::{cell::Cell, rc::Rc};

use domain::id::ChatId;

use crate::{device, erased::effect_first};

/// Under this name a browser keeps what is typed in a chat.
pub fn draft_of(chat: ChatId) -> String {
    format!("draft:{chat}")
}

/// What stands in a chat's composer when it is opened.
pub fn leave_draft(chat: ChatId, text: &str) {
    device::remember(&draft_of(chat), text);
}

/// Whose word it is what stands at the composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Remembered from before this page.
    Before,
    /// Another page of this browser, just now: both show the same, so that neither overwrites what the other has.
    OtherPage,
}

/// Remembers what `text` says under the key whenever that changes; empty is nothing. `take` gets what was remembered
/// before, and then what other pages make of it.
pub fn keep(key: String, text: impl Fn() -> String + 'static, take: impl Fn(Option<String>, By) + 'static) {
    let take: Rc<dyn Fn(Option<String>, By)> = Rc::new(take);
    let heard: Rc<Cell<Option<String>>> = Rc::default();
    let (told, hearing) = (Rc::clone(&take), Rc::clone(&heard));
    let hear = move |now: Option<String>| {
        hearing.set(Some(now.clone().unwrap_or_default()));
        told(now, By::OtherPage);
    };
    device::hear_of(key.clone(), Box::new(hear));
    effect_first(move |is_first| {
        let now = text();
        if is_first {
            take(device::remembered(&key), By::Before);
        } else if heard.take().as_ref() != Some(&now) {
            // What was heard is remembered already: written once more it would undo what the other page types meanwhile.
            device::remember(&key, &now);
        }
    });
}
