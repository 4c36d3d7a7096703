//! The code of the chat pane.

use domain::{chat::Kind, id::ChatId};
use leptos::prelude::*;

use super::ChatPane;
use crate::{
    chunk::chunk,
    coder::code as coder,
    erased::{Erase, Erased},
    feed::Feed,
    ui::Skeleton,
};

/// Once it is here, and from then on: what it is and who worked in it last decide how it begins.
fn show(chat: ChatId) -> Erased {
    let feed = expect_context::<Feed>();
    let is_here =
        Memo::new(move |was: Option<&bool>| was == Some(&true) || feed.chat(chat, |_| ()).is_some());
    let content = move || {
        if !is_here.get() {
            return view! { <Skeleton lines=4 label="Loading the chat" /> }.erase();
        }
        match untrack(|| feed.chat(chat, |chat| chat.kind)).unwrap_or_default() {
            Kind::Chat => whole(chat),
            Kind::Coder => coder::CHUNK.view(coder::Part::Whole(chat, whole)),
        }
    };
    content.erase()
}

fn whole(chat: ChatId) -> Erased {
    view! { <ChatPane chat /> }.erase()
}

chunk!(chat, ChatId, show, "Loading the chat");
