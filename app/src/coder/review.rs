//! The changes of a Coder, line by line, and what a person says to them.

use domain::diff::{Comment, Of};
use leptos::prelude::*;

use crate::{chat::Pane, diff::code};

#[component]
pub fn Review() -> impl IntoView {
    let Pane { chat, draft, reviewing, .. } = expect_context::<Pane>();
    // They go to the agent as a message, which is read once more before it is sent.
    let take = move |comments: Vec<Comment>| {
        draft.update(|draft| {
            let gap = if draft.trim().is_empty() { "" } else { "\n\n" };
            draft.push_str(&format!("{gap}{}", Comment::all_words(&comments)));
        });
        reviewing.set(false);
    };
    code::view(Of::Chat(chat), Some(Callback::new(take)))
}
