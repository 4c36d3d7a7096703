//! The Orchestrator: launching a flow on a project, and watching its run.

pub mod api;
mod launcher;
mod pane;

pub use launcher::FlowLauncher;
pub use pane::OrchestratorPane;
