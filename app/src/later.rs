//! The code of what no page begins with: the palette, the sheet of shortcuts, giving another name, what is suggested
//! while one types, and the choice among many models. It is one chunk: each of its own would cut what they share with others into smaller pieces, and a page
//! with a chat would pay for that.

use domain::id::ChatId;

use crate::{
    actions::{Hands, finder, sheet},
    archive::{Renaming, rename_form},
    chat::{Suggest, model_search},
    chunk::chunk,
    erased::Erased,
};

/// What of it is shown.
#[derive(Clone, Copy)]
pub enum Part {
    Finder(Hands),
    Shortcuts,
    Rename(Renaming),
    /// At the composer of this chat.
    Models(ChatId),
    Suggestions(Suggest),
}

fn show(part: Part) -> Erased {
    match part {
        Part::Finder(hands) => finder(hands),
        Part::Shortcuts => sheet(),
        Part::Rename(renaming) => rename_form(renaming),
        Part::Models(chat) => model_search(chat),
        Part::Suggestions(suggest) => suggest.list(),
    }
}

chunk!(later, Part, show, "Loading");
