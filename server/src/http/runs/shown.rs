//! Runs as scripts read them.

use domain::{
    feed::{Seq, StreamId},
    flow::{StepId, plan::Work},
    id::{ProjectId, RunId, SessionId},
    run,
};
use serde::Serialize;

#[derive(Serialize)]
pub struct Listed {
    id: RunId,
    project: ProjectId,
    flow: &'static str,
    band: &'static str,
    title: String,
    status: &'static str,
    error: Option<String>,
    created_at_ms: i64,
    finished_at_ms: Option<i64>,
}

impl Listed {
    pub fn of(row: store::runs::Listed) -> Self {
        Self {
            id: row.id,
            project: row.project,
            flow: row.flow.name(),
            band: row.band.name(),
            title: row.title,
            status: row.status.word(),
            error: row.status.reason().map(str::to_owned),
            created_at_ms: row.created_at_ms,
            finished_at_ms: row.finished_at_ms,
        }
    }
}

#[derive(Serialize)]
pub struct Shown {
    id: RunId,
    /// What happened after this is not in it.
    seq: Seq,
    session: SessionId,
    project: ProjectId,
    flow: &'static str,
    band: &'static str,
    fast: bool,
    target: String,
    focus: String,
    title: String,
    backend: String,
    model: String,
    /// The project's commit at the start.
    base: String,
    status: &'static str,
    error: Option<String>,
    /// How far it is, in a line.
    words: String,
    created_at_ms: i64,
    finished_at_ms: Option<i64>,
    has_report: bool,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    id: StepId,
    label: String,
    /// `agent`, `fold` or `render`.
    work: &'static str,
    role: Option<&'static str>,
    round: u32,
    needs: Vec<StepId>,
    status: &'static str,
    reason: Option<String>,
    /// What it says, or said last.
    stream: Option<StreamId>,
    attempts: usize,
    /// How often its agent tried to change something.
    tried: u32,
}

impl Shown {
    pub fn of(shown: &run::Shown, seq: Seq) -> Self {
        let request = &shown.run.request;
        Self {
            id: shown.id(),
            seq,
            session: shown.session,
            project: shown.project,
            flow: request.flow.name(),
            band: request.band.name(),
            fast: request.fast,
            target: request.target.path().to_owned(),
            focus: request.focus.clone(),
            title: shown.title(),
            backend: shown.terms.backend.to_string(),
            model: shown.terms.model.to_string(),
            base: shown.terms.base.clone(),
            status: shown.run.status.word(),
            error: shown.run.status.reason().map(str::to_owned),
            words: shown.run.words(),
            created_at_ms: shown.created_at_ms,
            finished_at_ms: shown.finished_at_ms,
            has_report: shown.has_report(),
            steps: shown.run.steps.iter().map(|it| step(shown, it)).collect(),
        }
    }
}

fn step(shown: &run::Shown, of: &run::RunStep) -> Step {
    let run::RunStep { step, status, .. } = of;
    Step {
        id: step.id.clone(),
        label: step.label.clone(),
        work: match step.work {
            Work::Agent(_) => "agent",
            Work::Fold => "fold",
            Work::Render => "render",
        },
        role: step.agent().map(|agent| agent.role.name()),
        round: step.round,
        needs: step.needs.clone(),
        status: status.word(),
        reason: status.reason().map(str::to_owned),
        stream: shown.stream_of(&step.id),
        attempts: shown.task_of(&step.id).map_or(0, |task| task.attempts().len()),
        tried: shown.tried.get(&step.id).copied().unwrap_or_default(),
    }
}
