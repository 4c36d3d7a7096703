//! The Arena: launching a battle, watching it, and what becomes of its results.

pub mod api;
mod launcher;
mod pane;

pub use launcher::ArenaLauncher;
pub use pane::ArenaPane;
