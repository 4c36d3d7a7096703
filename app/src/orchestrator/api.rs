//! What can be asked of runs. A script asks the same of `/api/runs`.

#[cfg(feature = "ssr")]
use domain::{
    Rejected,
    artifact::{Artifact, What},
    diff::Window,
    flow::Band,
    layout::{Origin, PaneId},
    page::Wanted,
};
use domain::{
    feed::StreamId,
    flow::{Report, StepId, cited::Place},
    id::RunId,
    run::{Draft, FileAt, Offer},
};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use crate::ports;
use crate::{error::AppError, wire::Wire};

/// Launches a run and leads to it. `pane` is where it was asked for, and `launcher` whether in the launcher's own.
#[server(endpoint = "launch_run")]
pub async fn launch_run(
    draft: Draft,
    #[server(default)] pane: Option<u32>,
    #[server(default)] launcher: bool,
) -> Result<(), AppError> {
    let origin = Origin { is_maker: launcher, ..Origin::elsewhere(pane.map(PaneId)) };
    // Texts of forms have the line ends of the web.
    let draft = Draft { focus: draft.focus.replace("\r\n", "\n"), ..draft };
    let run = ports::orchestrator()?.launch(draft, origin).await?;
    leptos_axum::redirect(&Wanted::Run(run).path());
    Ok(())
}

#[server(endpoint = "cancel_run")]
pub async fn cancel_run(run: RunId) -> Result<(), AppError> {
    ports::orchestrator()?.cancel(run).await
}

/// The same question once more, in this band or in the same one, under the id that whoever asks made.
#[server(endpoint = "run_again")]
pub async fn run_again(
    run: RunId,
    id: RunId,
    #[server(default)] band: String,
    #[server(default)] pane: Option<u32>,
) -> Result<(), AppError> {
    let band = match band.as_str() {
        "" => None,
        band => Some(band.parse::<Band>()?),
    };
    let origin = Origin::elsewhere(pane.map(PaneId));
    let run = ports::orchestrator()?.again(run, id, band, origin).await?;
    leptos_axum::redirect(&Wanted::Run(run).path());
    Ok(())
}

/// None while there is none yet.
#[server(endpoint = "run_report", protocol = Wire)]
pub async fn run_report(run: RunId) -> Result<Option<Report>, AppError> {
    ports::orchestrator()?.report(run).await
}

/// All that was said at a step that is over, attempt by attempt. What is being said comes with the page.
#[server(endpoint = "said_at_step", protocol = Wire)]
pub async fn said_at_step(run: RunId, step: StepId) -> Result<Vec<(StreamId, String)>, AppError> {
    ports::orchestrator()?.said(run, step).await
}

/// Lines of a file as it was when the run began.
#[server(endpoint = "read_file_at", protocol = Wire)]
pub async fn read_file_at(run: RunId, path: String, first: u32, count: u32) -> Result<FileAt, AppError> {
    ports::orchestrator()?.file_at(run, path, Window { start: first, count }).await
}

/// A place that a report cites, with the lines around it as they were when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    pub place: Place,
    pub file: FileAt,
}

/// Opens the place that the report of a run cites under this number.
#[server(endpoint = "open_cited", protocol = Wire)]
pub async fn open_cited(run: RunId, number: u32) -> Result<Opened, AppError> {
    open(&*ports::orchestrator()?, Artifact { run, what: What::Cited(number) }).await
}

/// So many lines stand above the cited one at first.
#[cfg(feature = "ssr")]
const ABOVE: u32 = 40;
#[cfg(feature = "ssr")]
const LINES: u32 = 240;

#[cfg(feature = "ssr")]
pub(super) async fn open(port: &dyn ports::Orchestrator, artifact: Artifact) -> Result<Opened, AppError> {
    let report = port.report(artifact.run).await?.ok_or_else(|| Rejected::missing("report"))?;
    let place = artifact.place(&report).ok_or_else(|| Rejected::missing("citation"))?;
    let start = place.line.unwrap_or_default().saturating_sub(ABOVE + 1);
    let window = Window { start, count: LINES };
    let file = port.file_at(artifact.run, place.path.clone(), window).await?;
    Ok(Opened { place, file })
}

/// Who would work if nobody is named.
#[server(endpoint = "flow_offer", protocol = Wire)]
pub async fn flow_offer() -> Result<Offer, AppError> {
    Ok(ports::orchestrator()?.offer().await)
}
