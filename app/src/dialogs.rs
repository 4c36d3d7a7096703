//! The code of what comes over the page and is not there from the start: the palette, the sheet of shortcuts, and
//! giving another name.

use crate::{
    actions::{Hands, finder, sheet},
    chat::{Renaming, rename_form},
    chunk::chunk,
    erased::Erased,
};

/// What of it is shown.
#[derive(Clone, Copy)]
pub enum Part {
    Finder(Hands),
    Shortcuts,
    Rename(Renaming),
}

fn show(part: Part) -> Erased {
    match part {
        Part::Finder(hands) => finder(hands),
        Part::Shortcuts => sheet(),
        Part::Rename(renaming) => rename_form(renaming),
    }
}

chunk!(dialogs, Part, show, "Loading");
