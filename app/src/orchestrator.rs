//! The Orchestrator: launching a flow on a project, watching its run, and reading what it reports.

mod actions;
pub mod api;
mod artifact;
pub mod code;
#[cfg(feature = "ssr")]
pub mod export;
mod first;
mod launcher;
mod launcher_dialog;
mod pane;
mod report;
mod reported;
mod slash;
mod steps;

#[cfg(feature = "ssr")]
pub use first::FirstRead;
pub use launcher_dialog::FlowLauncherDialog;
pub use slash::launch_at_once;
