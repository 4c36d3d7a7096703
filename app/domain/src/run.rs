//! A run: one flow at work. Its steps are carried out by others, one attempt at a time; what may happen next is decided
//! here.

mod carried;
mod context;
mod decide;
mod draft;
mod shown;
#[cfg(test)]
mod sim;
#[cfg(test)]
pub(crate) mod tests;

use serde::{Deserialize, Serialize};

use crate::{
    flow::{Plan, Request, Step, StepId, plan::Work},
    id::{Attempt, RunId},
};

pub use carried::{Ended, Launch};
pub use context::{AGENT_TOKENS_MIN, NATIVE_TOKENS_MIN, check_context, said_bytes};
pub use decide::{Input, Report};
pub use draft::Draft;
pub use shown::{FileAt, Offer, Shown, Terms, call, named};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub request: Request,
    /// In the order of the roster; a round that is added stands at the end.
    pub steps: Vec<RunStep>,
    pub status: Status,
    /// How often an agent's step is begun before whoever runs it has vanished too often.
    pub attempts_max: u32,
}

/// What code does costs nothing, and with the last of it all that was answered would be lost.
const CODE_ATTEMPTS_MAX: u32 = 10;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody has begun.
    Queued,
    Running {
        cancelling: bool,
    },
    Done,
    /// What there is is shown nevertheless.
    Failed {
        reason: String,
    },
    Cancelled,
}

/// A step and how far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStep {
    pub step: Step,
    pub status: StepStatus,
    /// How many attempts were lost.
    pub lost: u32,
}

/// Each state holds exactly its own data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// For what it needs.
    Waiting,
    /// It could begin: whoever carries out steps has not come to it.
    Queued,
    Running {
        attempt: Attempt,
        cancelling: bool,
        started_at_ms: i64,
    },
    Done {
        attempt: Attempt,
    },
    Failed {
        reason: String,
    },
    Skipped {
        because: String,
    },
    Cancelled,
}

/// What happened to a run. Few, and each says only what is new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It can be carried out now: work is to be made of it.
    StepReady {
        step: StepId,
    },
    StepStarted {
        step: StepId,
        attempt: Attempt,
        at_ms: i64,
    },
    /// Whoever carries it out is asked to stop.
    StepCancelling {
        step: StepId,
    },
    /// The attempt is lost, and it waits for another.
    StepRequeued {
        step: StepId,
        attempt: Attempt,
    },
    StepSkipped {
        step: StepId,
        because: String,
    },
    /// With its last status, which is none of the others.
    StepSettled {
        step: StepId,
        status: StepStatus,
    },
    /// Another round: its steps, and the fold in whose place its own now stands for all that come after.
    RoundAdded {
        steps: Vec<Step>,
        instead_of: StepId,
    },
    RunCancelling,
    RunSettled {
        status: Status,
    },
}

impl Run {
    pub fn new(id: RunId, plan: Plan, attempts_max: u32) -> Self {
        let Plan { request, steps } = plan;
        let steps = steps.into_iter().map(RunStep::new).collect();
        Self { id, request, steps, status: Status::Queued, attempts_max }
    }

    pub fn attempts_max_of(&self, step: &Step) -> u32 {
        if step.agent().is_some() { self.attempts_max } else { CODE_ATTEMPTS_MAX }
    }

    /// Total: a change of something unknown changes nothing.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::StepReady { step } => self.set(step, StepStatus::Queued),
            Change::StepStarted { step, attempt, at_ms } => {
                let (attempt, started_at_ms) = (*attempt, *at_ms);
                self.set(step, StepStatus::Running { attempt, cancelling: false, started_at_ms });
                if self.status == Status::Queued {
                    self.status = Status::Running { cancelling: false };
                }
            }
            Change::StepCancelling { step } => {
                if let Some(RunStep { status: StepStatus::Running { cancelling, .. }, .. }) =
                    self.step_mut(step)
                {
                    *cancelling = true;
                }
            }
            Change::StepRequeued { step, .. } => {
                if let Some(step) = self.step_mut(step) {
                    step.lost += 1;
                    step.status = StepStatus::Queued;
                }
            }
            Change::StepSkipped { step, because } => {
                self.set(step, StepStatus::Skipped { because: because.clone() });
            }
            Change::StepSettled { step, status } => self.set(step, status.clone()),
            Change::RoundAdded { steps, instead_of } => {
                let fold = steps.iter().find(|step| step.work == Work::Fold).map(|step| step.id.clone());
                for step in self.steps.iter_mut().filter(|step| step.step.work != Work::Fold) {
                    let needs = step.step.needs.iter_mut().filter(|need| *need == instead_of);
                    needs.zip(&fold).for_each(|(need, fold)| *need = fold.clone());
                }
                self.steps.extend(steps.iter().cloned().map(RunStep::new));
            }
            Change::RunCancelling => self.status = Status::Running { cancelling: true },
            Change::RunSettled { status } => self.status = status.clone(),
        }
    }

    pub fn step(&self, id: &StepId) -> Option<&RunStep> {
        self.steps.iter().find(|step| step.step.id == *id)
    }

    /// The plan as it stands, with the rounds that were added.
    pub fn plan(&self) -> Plan {
        let steps = self.steps.iter().map(|step| step.step.clone()).collect();
        Plan { request: self.request.clone(), steps }
    }

    pub fn is_over(&self) -> bool {
        self.status.is_over()
    }

    /// What a waiting step waits for, by label.
    pub fn waits_for(&self, step: &RunStep) -> Vec<&str> {
        let open =
            step.step.needs.iter().filter_map(|need| self.step(need)).filter(|need| !need.is_settled());
        open.map(|need| need.step.label.as_str()).collect()
    }

    /// How far it is, in a line: `5 agents · 2 running · 1 queued`.
    pub fn words(&self) -> String {
        let agents: Vec<_> = self.steps.iter().filter(|step| step.step.agent().is_some()).collect();
        let count = |is_it: fn(&StepStatus) -> bool| agents.iter().filter(|step| is_it(&step.status)).count();
        let counts = [
            ("running", count(|status| matches!(status, StepStatus::Running { .. }))),
            ("queued", count(|status| matches!(status, StepStatus::Queued))),
            ("waiting", count(|status| matches!(status, StepStatus::Waiting))),
            ("done", count(|status| matches!(status, StepStatus::Done { .. }))),
            ("failed", count(|status| matches!(status, StepStatus::Failed { .. }))),
            ("skipped", count(|status| matches!(status, StepStatus::Skipped { .. }))),
            ("cancelled", count(|status| matches!(status, StepStatus::Cancelled))),
        ];
        let all = if agents.len() == 1 { "1 agent".to_owned() } else { format!("{} agents", agents.len()) };
        let counts =
            counts.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} {name}"));
        std::iter::once(all).chain(counts).collect::<Vec<_>>().join(" · ")
    }

    fn step_mut(&mut self, id: &StepId) -> Option<&mut RunStep> {
        self.steps.iter_mut().find(|step| step.step.id == *id)
    }

    fn set(&mut self, id: &StepId, status: StepStatus) {
        if let Some(step) = self.step_mut(id) {
            step.status = status;
        }
    }
}

impl RunStep {
    fn new(step: Step) -> Self {
        Self { step, status: StepStatus::Waiting, lost: 0 }
    }

    /// Bounded by the run's `attempts_max_of`, because a step is requeued only below it.
    pub fn next_attempt(&self) -> Attempt {
        Attempt(self.lost + 1)
    }

    pub fn is_settled(&self) -> bool {
        !matches!(self.status, StepStatus::Waiting | StepStatus::Queued | StepStatus::Running { .. })
    }

    pub fn is_done(&self) -> bool {
        matches!(self.status, StepStatus::Done { .. })
    }

    /// Why there is nothing of it, fit for after its label.
    fn fate(&self) -> Option<String> {
        match &self.status {
            StepStatus::Failed { reason } => Some(format!("failed: {reason}")),
            StepStatus::Skipped { because } => Some(format!("was skipped: {because}")),
            StepStatus::Cancelled => Some("was cancelled".to_owned()),
            _ => None,
        }
    }
}

impl StepStatus {
    /// One word for a badge.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Queued => "Queued",
            Self::Running { cancelling: false, .. } => "Running",
            Self::Running { cancelling: true, .. } => "Stopping",
            Self::Done { .. } => "Done",
            Self::Failed { .. } => "Failed",
            Self::Skipped { .. } => "Skipped",
            Self::Cancelled => "Cancelled",
        }
    }
}

impl Status {
    pub fn label(&self) -> &'static str {
        match self {
            Self::Queued => "Queued",
            Self::Running { cancelling: false } => "Running",
            Self::Running { cancelling: true } => "Stopping",
            Self::Done => "Done",
            Self::Failed { .. } => "Failed",
            Self::Cancelled => "Cancelled",
        }
    }
}
