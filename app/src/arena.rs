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
mod patches;
mod roster;
mod verdict;

pub use launcher_dialog::ArenaLauncherDialog;
pub(crate) use outputs::TaskOutput;
#[cfg(feature = "ssr")]
pub(crate) use patches::patches_of;
pub(crate) use roster::clock;
