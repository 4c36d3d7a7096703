//! A run with all that a page shows of it: whose it is, who works, and how far each of its tasks is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Change, Draft, Run, RunStep, Status, StepStatus};
use crate::{
    backend::Backend,
    catalogue::ModelRef,
    chat::title,
    feed::{Event, StreamId},
    flow::{
        Band, FlowId, Plan, Request, Role, Signals, Step, StepId,
        answer::Kept,
        fold::{Ended, Output},
        plan::{Limits, Work},
    },
    id::{ProjectId, RunId, SessionId, TaskId},
    task::{self, Owner, Task},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    pub session: SessionId,
    pub project: ProjectId,
    pub run: Run,
    pub terms: Terms,
    pub created_at_ms: i64,
    #[serde(default)]
    pub finished_at_ms: Option<i64>,
    /// What carries out a step, from when it is ready.
    pub carried_by: BTreeMap<StepId, TaskId>,
    pub tasks: BTreeMap<TaskId, Task>,
    /// How often the agents of steps that are over tried to change something, where they did.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tried: BTreeMap<StepId, u32>,
}

/// What is settled before the first step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub backend: Backend,
    pub model: ModelRef,
    pub paid: bool,
    /// Where the project's folder is: only a server there does the work.
    pub host: String,
    /// The project's commit at the start.
    pub base: String,
    /// What speaks for specialists.
    pub signals: Signals,
    /// The commit since which something was changed that the flow looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The repository's own template for a description, by its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Whether pages can be searched for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_web: bool,
    /// Under which name the project was recorded; older runs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Uuid>,
}

impl Terms {
    /// Who works as this role. Agents' own programs have no web, so whoever reads that instead of the project is ours.
    pub fn backend_of(&self, role: Role) -> Backend {
        match self.has_web && !role.sees_project() {
            true => Backend::native(),
            false => self.backend.clone(),
        }
    }

    /// All who work in these steps, each once, the run's own agent first.
    pub fn workers(&self, steps: &[RunStep]) -> String {
        let agents = steps.iter().filter_map(|step| step.step.agent());
        let mut backends: Vec<_> = agents.map(|agent| self.backend_of(agent.role)).collect();
        backends.sort_by_key(|backend| *backend != self.backend);
        backends.dedup();
        let names: Vec<_> = backends.into_iter().map(|backend| backend.0).collect();
        names.join(" and ")
    }

    /// What becomes of an agent that has worked as much as it may. What it asks its own account nobody can read, so there
    /// only its calls are counted, and it cannot be asked for its answer.
    pub fn held_to(&self, Limits { steps, calls }: Limits) -> String {
        match self.model.server == self.backend.login_server() {
            true => format!("is stopped after {calls} calls"),
            false => format!("has to answer after {steps} steps or {calls} calls"),
        }
    }
}

/// Who would work if nobody is named, and what stands against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub backend: Backend,
    pub model: Option<ModelRef>,
    pub hindrance: Option<String>,
}

/// Lines of a file as it was when a run began, with their colours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAt {
    pub path: String,
    /// How many it has.
    pub lines: u32,
    /// The number of the first one that is given, from 1.
    pub first: u32,
    /// One a line, as [`crate::diff::RowText::read`] reads them.
    pub rows: String,
}

impl Shown {
    pub fn id(&self) -> RunId {
        self.run.id
    }

    /// Total: an event of another run, or about something unknown, changes nothing. That a step was begun, lost or is
    /// being stopped, its task tells.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::FlowRunStepUpdated { run, task, change, tried } if *run == self.run.id => {
                if let Some(step) = change.step().filter(|_| *tried > 0) {
                    self.tried.insert(step.clone(), *tried);
                }
                if let (Some(task), Some(step)) = (task, change.step()) {
                    self.carried_by.insert(step.clone(), *task);
                }
                self.run.apply(change);
            }
            Event::FlowRunUpdated { run, change, at_ms } if *run == self.run.id => {
                self.run.apply(change);
                if let Change::RunSettled { .. } = **change {
                    self.finished_at_ms = Some(*at_ms);
                }
            }
            Event::TaskQueued { owner, task } if *owner == Owner::Run(self.run.id) => {
                self.tasks.insert(task.id, task.clone());
            }
            _ => {
                for task in self.tasks.values_mut() {
                    task.apply(event);
                }
                if let Some(change) = self.told_by_task(event) {
                    self.run.apply(&change);
                }
            }
        }
    }

    fn told_by_task(&self, event: &Event) -> Option<Change> {
        match event {
            Event::TaskStarted { task, attempt, at_ms, .. } => {
                let step = self.step_of(*task)?.step.id.clone();
                Some(Change::StepStarted { step, attempt: *attempt, at_ms: *at_ms })
            }
            Event::TaskRequeued { task, attempt, .. } => {
                let step = self.step_of(*task)?.step.id.clone();
                Some(Change::StepRequeued { step, attempt: *attempt })
            }
            Event::TaskCancelling { task, .. } => {
                Some(Change::StepCancelling { step: self.step_of(*task)?.step.id.clone() })
            }
            _ => None,
        }
    }

    pub fn task_of(&self, step: &StepId) -> Option<&Task> {
        self.tasks.get(self.carried_by.get(step)?)
    }

    /// The step that a task carries out.
    pub fn step_of(&self, task: TaskId) -> Option<&RunStep> {
        let (step, _) = self.carried_by.iter().find(|(_, carries)| **carries == task)?;
        self.run.step(step)
    }

    /// The name of what the project held when it began.
    pub fn recorded(&self) -> Uuid {
        self.terms.recorded.unwrap_or(self.run.id.0)
    }

    /// The newest attempt at a step that has something to read.
    pub fn stream_of(&self, step: &StepId) -> Option<StreamId> {
        let task = self.task_of(step)?;
        Some(StreamId { task: task.id, attempt: task.attempts().last()?.0 })
    }

    /// All that was said at a step, attempt by attempt.
    pub fn streams_of(&self, step: &StepId) -> Vec<StreamId> {
        let Some(task) = self.task_of(step) else { return Vec::new() };
        task.attempts().into_iter().map(|(attempt, _)| StreamId { task: task.id, attempt }).collect()
    }

    /// The streams that grow. What is over is read by who opens it: a page need not carry all that many agents said.
    pub fn growing_streams(&self) -> Vec<(StreamId, Option<u64>)> {
        let agents = self.run.steps.iter().filter(|step| step.step.agent().is_some());
        let tasks = agents.filter_map(|step| self.task_of(&step.step.id));
        let growing = tasks.filter_map(|task| match task.status {
            task::Status::Running { attempt, .. } => Some((StreamId { task: task.id, attempt }, None)),
            _ => None,
        });
        growing.collect()
    }

    /// What came of the agents' steps that are over, with what they said. `plan` is the run's own, as it stands.
    pub fn outputs<'a>(&self, plan: &'a Plan, said: &BTreeMap<StepId, Kept>) -> Vec<Output<'a>> {
        let ended = |step: &'a Step| {
            let ended = match &self.run.step(&step.id)?.status {
                StepStatus::Done { .. } => match said.get(&step.id).cloned().unwrap_or_default() {
                    Kept { text, left_out: 0 } => Ended::Said(text),
                    Kept { text, left_out } => Ended::SaidMore { text, left_out },
                },
                StepStatus::Failed { reason } => Ended::Failed(reason.clone()),
                StepStatus::Skipped { because } => Ended::Skipped(because.clone()),
                StepStatus::Cancelled => Ended::Cancelled,
                StepStatus::Waiting | StepStatus::Queued | StepStatus::Running { .. } => return None,
            };
            Some(Output { step, ended })
        };
        plan.steps.iter().filter(|step| step.agent().is_some()).filter_map(ended).collect()
    }

    pub fn has_report(&self) -> bool {
        self.run.steps.iter().any(|step| step.step.work == Work::Render && step.is_done())
    }

    /// How many of its steps are over, and of how many.
    pub fn progress(&self) -> (usize, usize) {
        (self.run.steps.iter().filter(|step| step.is_settled()).count(), self.run.steps.len())
    }

    pub fn title(&self) -> String {
        named(&self.run.request)
    }

    /// Whether this is what it was launched with.
    pub fn is_of(&self, draft: &Draft) -> bool {
        // Whether something is changed in the project was asked then.
        draft.session == self.session && draft.request(true).as_ref() == Ok(&self.run.request)
    }

    /// The same question once more, in this band.
    pub fn again(&self, id: RunId, band: Band) -> Draft {
        let Request { flow, fast, target, focus, .. } = self.run.request.clone();
        Draft {
            id,
            session: self.session,
            flow: flow.name().to_owned(),
            band: band.name().to_owned(),
            fast,
            target: target.path().to_owned(),
            focus,
            backend: self.terms.backend.0.clone(),
            model: self.terms.model.to_string(),
        }
    }
}

/// What a run is called in lists and tabs.
pub fn named(request: &Request) -> String {
    call(request.flow, &request.focus)
}

/// As [`named`], of what a list has.
pub fn call(flow: FlowId, focus: &str) -> String {
    let name = flow.flow().title;
    match focus.trim() {
        "" => name.to_owned(),
        focus => format!("{name}: {}", title::from_prompt(focus)),
    }
}

impl Change {
    /// The step that it is about; none where it is about the run as a whole.
    pub fn step(&self) -> Option<&StepId> {
        match self {
            Self::StepReady { step }
            | Self::StepStarted { step, .. }
            | Self::StepCancelling { step }
            | Self::StepRequeued { step, .. }
            | Self::StepSkipped { step, .. }
            | Self::StepSettled { step, .. } => Some(step),
            Self::RoundAdded { .. } | Self::RunCancelling | Self::RunSettled { .. } => None,
        }
    }
}

impl Status {
    /// In tables and the API.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running { .. } => "running",
            Self::Done => "done",
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason } => Some(reason),
            _ => None,
        }
    }

    pub fn is_over(&self) -> bool {
        !matches!(self, Self::Queued | Self::Running { .. })
    }
}

impl StepStatus {
    /// In tables and the API.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Queued => "queued",
            Self::Running { .. } => "running",
            Self::Done { .. } => "done",
            Self::Failed { .. } => "failed",
            Self::Skipped { .. } => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    /// Why there is nothing of it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason } => Some(reason),
            Self::Skipped { because } => Some(because),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        backend::Backend,
        flow::{Band, FlowId},
        run::tests::shown,
    };

    #[test]
    fn all_who_work_are_named() {
        let check = |flow: FlowId, backend: &str, has_web: bool, expected: &str| {
            let mut shown = shown(flow, Band::Small);
            shown.terms.backend = Backend(backend.to_owned());
            shown.terms.has_web = has_web;
            assert_eq!(shown.terms.workers(&shown.run.steps), expected, "{flow} {backend} {has_web}");
        };
        check(FlowId::Research, "qwen", true, "qwen and native");
        check(FlowId::Research, "qwen", false, "qwen");
        check(FlowId::Research, "native", true, "native");
        check(FlowId::CodeReview, "qwen", true, "qwen");
    }
}
