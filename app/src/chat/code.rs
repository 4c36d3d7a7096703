//! The code of the chat pane.

use domain::id::ChatId;
use leptos::prelude::*;

use super::ChatPane;
use crate::{
    chunk::chunk,
    erased::{Erase, Erased},
    feed::Feed,
    ui::Skeleton,
};

/// Once it is here, and from then on: what it is and who worked in it last decide how it begins.
fn show(chat: ChatId) -> Erased {
    let feed = expect_context::<Feed>();
    let is_here =
        Memo::new(move |was: Option<&bool>| was == Some(&true) || feed.chat(chat, |_| ()).is_some());
    let content = move || match is_here.get() {
        true => view! { <ChatPane chat /> }.erase(),
        false => view! { <Skeleton lines=4 label="Loading the chat" /> }.erase(),
    };
    content.erase()
}

chunk!(chat, ChatId, show, "Loading the chat");
