//! The parts that every page is made of, with the keyboard behaviour and the roles that the WAI-ARIA Authoring
//! Practices describe. Their looks are in `style/ui`, one file a part; `/design` shows each in every state.
//!
//! They take data and callbacks rather than generic children, so that the browser's module holds one copy of each.
//! Ids are given by whoever uses a part: then the server and the browser agree on them.

mod badge;
mod button;
mod choice;
mod combobox;
mod dialog;
mod empty_state;
mod focus;
mod kbd;
mod menu;
mod place;
mod progress;
mod segmented;
mod skeleton;
mod switch;
mod tabs;
mod toast;
mod tooltip;

pub use badge::{Badge, Dot, Tone};
pub use button::{Button, ButtonKind, IconButton};
pub use choice::{Choice, OptionList, matching, next_enabled};
pub use combobox::Combobox;
pub use dialog::Dialog;
pub use empty_state::EmptyState;
pub use focus::{Axis, is_composing, is_held_with, parts, rove};
pub use kbd::{Kbd, aria_keys};
pub use menu::{Menu, MenuGroup, MenuItem};
pub use place::{Align, Edges, put};
pub use progress::Progress;
pub use segmented::{Segment, Segmented};
pub use skeleton::Skeleton;
pub use switch::Switch;
pub use tabs::{Tab, TabPanel, Tabs};
pub use toast::{ToastAction, ToastKind, Toaster, Toasts};
pub use tooltip::Tooltips;

use crate::theme::ThemeChoice;

/// What the parts of a page share; to be called once a page, which then also holds a `Toaster` and `Tooltips`.
pub fn provide() {
    Toasts::provide();
    ThemeChoice::provide();
    kbd::know_keyboard();
}
