//! The code of the chat pane.

use domain::id::ChatId;
use leptos::prelude::*;

use super::ChatPane;
use crate::{
    chunk::chunk,
    erased::{Erase, Erased},
};

fn show(chat: ChatId) -> Erased {
    view! { <ChatPane chat /> }.erase()
}

chunk!(chat, ChatId, show, "Loading the chat");
