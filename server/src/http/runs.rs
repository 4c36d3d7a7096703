//! Runs for scripts, behind the same login as the pages. What is answered is described in `docs/runs.md`.

mod shown;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{StatusCode, header},
    middleware::map_response,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use domain::{
    Rejected,
    diff::Window,
    flow::{Band, FlowId, StepId},
    id::{ProjectId, RunId, SessionId},
    layout::Origin,
    run::{Draft, FileAt, StepStatus},
    transcript::Transcript,
};
use serde::Deserialize;
use store::Db;
use uuid::Uuid;

use super::scripts::{After, Answer, News, in_our_form};
use crate::{live::Live, ports::Ports};
use shown::{Listed, Shown};

#[derive(Clone)]
pub struct Runs {
    pub db: Db,
    pub live: Arc<Live>,
    pub ports: Ports,
}

pub fn routes(runs: Runs) -> Router {
    Router::new()
        .route("/api/runs", get(list).post(launch))
        .route("/api/runs/{id}", get(one))
        .route("/api/runs/{id}/cancel", post(cancel))
        .route("/api/runs/{id}/again", post(again))
        .route("/api/runs/{id}/report", get(report))
        .route("/api/runs/{id}/report.md", get(markdown))
        .route("/api/runs/{id}/steps/{step}", get(said))
        .route("/api/runs/{id}/change", get(change))
        .route("/api/runs/{id}/file", get(file))
        .route("/api/runs/{id}/events", get(events))
        .layer(map_response(in_our_form))
        .with_state(runs)
}

#[derive(Deserialize)]
struct Filter {
    project: Option<ProjectId>,
    flow: Option<String>,
    before: Option<RunId>,
    #[serde(default = "fifty")]
    limit: u32,
}

fn fifty() -> u32 {
    50
}

async fn list(State(at): State<Runs>, Query(filter): Query<Filter>) -> Answer<Json<Vec<Listed>>> {
    let Filter { project, flow, before, limit } = filter;
    let flow = flow.map(|flow| flow.parse::<FlowId>()).transpose()?;
    let rows = store::runs::list(&at.db, project, flow, before, limit.clamp(1, 500)).await?;
    Ok(Json(rows.into_iter().map(Listed::of).collect()))
}

/// What is not said is as a slash command has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: Option<RunId>,
    session: SessionId,
    flow: String,
    #[serde(default)]
    band: String,
    #[serde(default)]
    fast: bool,
    #[serde(default)]
    target: String,
    #[serde(default)]
    focus: String,
    #[serde(default)]
    backend: String,
    #[serde(default)]
    model: String,
}

async fn launch(State(at): State<Runs>, Json(asked): Json<Asked>) -> Answer<Response> {
    let Asked { id, session, flow, band, fast, target, focus, backend, model } = asked;
    let id = id.unwrap_or_else(|| RunId(Uuid::now_v7()));
    let draft = Draft { id, session, flow, band, fast, target, focus, backend, model };
    let id = at.ports.orchestrator.launch(draft, Origin::elsewhere(None)).await?;
    Ok((StatusCode::CREATED, at.shown(id).await?).into_response())
}

async fn one(State(at): State<Runs>, Path(id): Path<RunId>) -> Answer<Json<Shown>> {
    at.shown(id).await
}

async fn cancel(State(at): State<Runs>, Path(id): Path<RunId>) -> Answer<Json<Shown>> {
    at.ports.orchestrator.cancel(id).await?;
    at.shown(id).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Again {
    id: Option<RunId>,
    band: Option<String>,
}

/// The same question once more, in the same band where none is named.
async fn again(State(at): State<Runs>, Path(id): Path<RunId>, Json(asked): Json<Again>) -> Answer<Response> {
    let band = asked.band.map(|band| band.parse::<Band>()).transpose()?;
    let new = asked.id.unwrap_or_else(|| RunId(Uuid::now_v7()));
    let id = at.ports.orchestrator.again(id, new, band, Origin::elsewhere(None)).await?;
    Ok((StatusCode::CREATED, at.shown(id).await?).into_response())
}

/// The report in its parts.
async fn report(State(at): State<Runs>, Path(id): Path<RunId>) -> Answer<Response> {
    let report = at.ports.orchestrator.report(id).await?.ok_or_else(|| Rejected::missing("report"))?;
    Ok(Json(report).into_response())
}

async fn markdown(State(at): State<Runs>, Path(id): Path<RunId>) -> Answer<Response> {
    let report = at.ports.orchestrator.report(id).await?.ok_or_else(|| Rejected::missing("report"))?;
    let kind = [(header::CONTENT_TYPE, "text/markdown; charset=utf-8")];
    Ok((kind, report.to_markdown()).into_response())
}

/// What an agent answered in the end. Of one that failed or was cancelled, what it said until then.
async fn said(State(at): State<Runs>, Path((id, step)): Path<(RunId, String)>) -> Answer<Response> {
    let step = StepId(step);
    let text = match store::runs::outputs(&at.db, id).await?.remove(&step) {
        Some(answer) => answer.text,
        None => at.said_in_vain(id, step).await?.ok_or_else(|| Rejected::missing("answer"))?,
    };
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// The change that the flow looks at, all of it: a prompt may hold less.
async fn change(State(at): State<Runs>, Path(id): Path<RunId>) -> Answer<Response> {
    let change = at.ports.orchestrator.change(id).await?.ok_or_else(|| Rejected::missing("change"))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], change).into_response())
}

#[derive(Deserialize)]
struct Wanted {
    path: String,
    /// The first line that is wanted, from 1.
    #[serde(default = "first")]
    line: u32,
    #[serde(default = "two_hundred")]
    count: u32,
}

fn first() -> u32 {
    1
}

fn two_hundred() -> u32 {
    200
}

/// Lines of a file as it was when the run began.
async fn file(
    State(at): State<Runs>,
    Path(id): Path<RunId>,
    Query(wanted): Query<Wanted>,
) -> Answer<Json<FileAt>> {
    let window = Window { start: wanted.line.saturating_sub(1), count: wanted.count };
    Ok(Json(at.ports.orchestrator.file_at(id, wanted.path, window).await?))
}

/// What happened to the run after an event; waits a while where there is nothing yet.
async fn events(
    State(at): State<Runs>,
    Path(id): Path<RunId>,
    Query(after): Query<After>,
) -> Answer<Json<News>> {
    store::runs::get(&at.db, id).await?;
    after.news(&at.db, &at.live, |event| event.run() == Some(id)).await
}

impl Runs {
    /// Of the last attempt that said something.
    async fn said_in_vain(&self, id: RunId, step: StepId) -> Answer<Option<String>> {
        let shown = self.ports.orchestrator.get(id).await?;
        let ended = shown.run.step(&step).map(|step| &step.status);
        if !matches!(ended, Some(StepStatus::Failed { .. } | StepStatus::Cancelled)) {
            return Ok(None);
        }
        let said = self.ports.orchestrator.said(id, step).await?;
        let mut texts = said.into_iter().map(|(_, text)| Transcript::read(&text).text());
        Ok(texts.rfind(|text| !text.trim().is_empty()))
    }

    async fn shown(&self, id: RunId) -> Answer<Json<Shown>> {
        // Before the run is read, so that no event after it is missed.
        let seq = store::feed::head(&self.db).await?;
        Ok(Json(Shown::of(&self.ports.orchestrator.get(id).await?, seq)))
    }
}
