//! The Arena: launching a battle, watching it, and what becomes of its results.

mod adopt;
pub mod api;
mod changes;
pub mod code;
mod examinations;
mod figures;
mod head;
mod launcher;
mod launcher_dialog;
mod outputs;
mod pane;
mod roster;
mod verdict;

pub use launcher_dialog::ArenaLauncherDialog;
pub(crate) use outputs::TaskOutput;
pub(crate) use roster::clock;
