//! The code of the Orchestrator: the launcher, the run, and what its report cites.

use domain::{artifact::Artifact, id::RunId};
use leptos::prelude::*;

use super::{
    artifact::ArtifactPane,
    launcher::{FlowLauncher, LauncherForm},
    pane::OrchestratorPane,
};
use crate::{
    chunk::chunk,
    erased::{Erase, Erased},
    launching::Launching,
};

/// What of it is shown.
#[derive(Clone, Copy)]
pub enum Part {
    Run(RunId),
    /// Where a run is launched, in a pane.
    Launcher,
    /// The same in a dialog.
    Form(Launching),
    Artifact(Artifact),
}

fn show(part: Part) -> Erased {
    match part {
        Part::Run(run) => view! { <OrchestratorPane run /> }.erase(),
        Part::Launcher => view! { <FlowLauncher /> }.erase(),
        Part::Form(launching) => view! { <LauncherForm id="flow" launching /> }.erase(),
        Part::Artifact(artifact) => view! { <ArtifactPane artifact /> }.erase(),
    }
}

chunk!(orchestrator, Part, show, "Loading the Orchestrator");
