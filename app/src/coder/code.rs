//! The code of what a Coder has beyond a chat.

use domain::id::ChatId;
use leptos::prelude::*;

use super::{BackendPicker, Changes, WorkOptions};
use crate::{
    chunk::{Show, chunk},
    erased::{Erase, Erased},
};

/// What of it is shown.
#[derive(Clone, Copy)]
pub enum Part {
    /// All of a Coder, by the chat's code. It is shown once the others are here, so that none comes in late.
    Whole(ChatId, Show<ChatId>),
    Changes,
    Worker,
    Options,
}

fn show(part: Part) -> Erased {
    match part {
        Part::Whole(chat, show) => show(chat),
        Part::Changes => view! { <Changes /> }.erase(),
        Part::Worker => view! { <BackendPicker /> }.erase(),
        Part::Options => view! { <WorkOptions /> }.erase(),
    }
}

chunk!(coder, Part, show, "Loading the task");
