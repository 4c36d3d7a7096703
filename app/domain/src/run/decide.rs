//! What may happen to a run next.

use super::{Change, Run, RunStep, Status, StepStatus};
use crate::{
    Rejected,
    flow::{
        StepId,
        method::Shape,
        plan::{Part, Work},
        rounds::{Next, Tally},
    },
    id::Attempt,
    output::Outcome,
};

/// What is asked of a run or seen of its steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Begin,
    Claim { step: StepId, at_ms: i64 },
    Report(Report),
    Cancel,
}

/// The end of an attempt at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub step: StepId,
    pub attempt: Attempt,
    pub outcome: Outcome,
    /// What a fold has counted.
    pub tally: Option<Tally>,
}

impl Run {
    pub fn decide(&self, input: Input) -> Result<Vec<Change>, Rejected> {
        match input {
            Input::Begin => Ok(self.begin()),
            Input::Claim { step, at_ms } => self.claim(step, at_ms),
            Input::Report(report) => self.report(report),
            Input::Cancel => self.cancel(),
        }
    }

    /// Asked for twice, it is begun once.
    fn begin(&self) -> Vec<Change> {
        if self.steps.iter().any(|step| step.status != StepStatus::Waiting) {
            return Vec::new();
        }
        let skips = self.steps.iter().filter_map(|step| {
            let because = step.step.skip.clone()?;
            Some(Change::StepSkipped { step: step.step.id.clone(), because })
        });
        self.followed_by(skips.collect())
    }

    fn claim(&self, step: StepId, at_ms: i64) -> Result<Vec<Change>, Rejected> {
        match self.step(&step) {
            Some(found @ RunStep { status: StepStatus::Queued, .. }) => {
                Ok(vec![Change::StepStarted { step, attempt: found.next_attempt(), at_ms }])
            }
            _ => Err(Rejected::Stale),
        }
    }

    fn report(&self, report: Report) -> Result<Vec<Change>, Rejected> {
        let Report { step: id, attempt, outcome, tally } = report;
        let step = self.step(&id).ok_or(Rejected::Stale)?;
        let status = match (&step.status, outcome) {
            (StepStatus::Running { attempt: current, cancelling, .. }, outcome) if *current == attempt => {
                match outcome {
                    Outcome::Done { .. } => StepStatus::Done { attempt },
                    Outcome::Failed { reason } | Outcome::Void { reason } => StepStatus::Failed { reason },
                    Outcome::Cancelled => StepStatus::Cancelled,
                    // The stop was asked for and nobody is left to carry it out, so it is carried out.
                    Outcome::Lost if *cancelling => StepStatus::Cancelled,
                    Outcome::Lost if attempt.0 < self.attempts_max_of(&step.step) => {
                        return Ok(vec![Change::StepRequeued { step: id, attempt }]);
                    }
                    Outcome::Lost => StepStatus::Failed {
                        reason: "whoever carried it out, or the database, went away each time".to_owned(),
                    },
                }
            }
            _ => return Err(Rejected::Stale),
        };
        let is_done = matches!(status, StepStatus::Done { .. });
        let mut changes = vec![Change::StepSettled { step: id.clone(), status }];
        if is_done && step.step.work == Work::Fold && !self.is_cancelling() {
            changes.extend(self.another_round(step, tally));
        }
        Ok(self.followed_by(changes))
    }

    /// Only code decides about it, by what was counted. A round in which nobody answered is not worth another.
    fn another_round(&self, fold: &RunStep, tally: Option<Tally>) -> Option<Change> {
        let round = fold.step.round;
        let answered =
            self.steps.iter().any(|step| is_angle(step) && step.step.round == round && step.is_done());
        let next = self.request.flow.method().rounds.after(self.request.band, round, tally);
        (answered && next == Next::Again).then(|| Change::RoundAdded {
            steps: self.plan().next_round(round),
            instead_of: fold.step.id.clone(),
        })
    }

    fn cancel(&self) -> Result<Vec<Change>, Rejected> {
        if self.is_over() {
            return Err(Rejected::Idle);
        }
        if self.is_cancelling() {
            return Ok(Vec::new());
        }
        let mut changes = vec![Change::RunCancelling];
        for RunStep { step, status, .. } in &self.steps {
            let step = step.id.clone();
            match status {
                StepStatus::Waiting | StepStatus::Queued => {
                    changes.push(Change::StepSettled { step, status: StepStatus::Cancelled });
                }
                StepStatus::Running { .. } => changes.push(Change::StepCancelling { step }),
                _ => {}
            }
        }
        Ok(self.followed_by(changes))
    }

    fn is_cancelling(&self) -> bool {
        self.status == Status::Running { cancelling: true }
    }

    /// The changes, and all that follows from them: who can begin now, who need not, and whether it is over.
    fn followed_by(&self, mut changes: Vec<Change>) -> Vec<Change> {
        let mut after = self.clone();
        changes.iter().for_each(|change| after.apply(change));
        while let Some(change) = after.next_change() {
            after.apply(&change);
            changes.push(change);
        }
        changes
    }

    fn next_change(&self) -> Option<Change> {
        let is_settled = |id: &StepId| self.step(id).is_none_or(RunStep::is_settled);
        let is_next =
            |step: &&RunStep| step.status == StepStatus::Waiting && step.step.needs.iter().all(is_settled);
        if let Some(step) = self.steps.iter().find(is_next) {
            let id = step.step.id.clone();
            return Some(match self.in_vain(step) {
                Some(because) => Change::StepSkipped { step: id, because },
                None => Change::StepReady { step: id },
            });
        }
        let is_over = !self.is_over() && self.steps.iter().all(RunStep::is_settled);
        is_over.then(|| Change::RunSettled { status: self.end() })
    }

    /// Why a step that could begin has nothing to work on. A missing angle is carried as missing; but whoever puts
    /// together or attacks stands on what comes before.
    fn in_vain(&self, step: &RunStep) -> Option<String> {
        let agent = step.step.agent().filter(|agent| agent.part != Part::Angle)?;
        let fate = |step: &RunStep| step.fate().map(|fate| format!("{} {fate}", step.step.label));
        if let Shape::PerAngle = self.request.flow.method().shape {
            return self.steps.iter().find(|angle| is_angle(angle) && is_of(angle, &agent.of)).and_then(fate);
        }
        if !self.steps.iter().any(|step| is_angle(step) && step.is_done()) {
            return Some("nobody answered".to_owned());
        }
        step.step.needs.iter().filter_map(|need| self.step(need)).find_map(fate)
    }

    /// How it ends once all steps are settled.
    fn end(&self) -> Status {
        let has_report = self.steps.iter().any(|step| step.step.work == Work::Render && step.is_done());
        // A stop that came too late for the last step has stopped nothing.
        if self.is_cancelling() && !has_report {
            return Status::Cancelled;
        }
        let gates = || self.steps.iter().filter(|step| step.step.is_gate());
        let failed =
            gates().find(|gate| matches!(gate.status, StepStatus::Failed { .. } | StepStatus::Cancelled));
        let unguarded = || gates().find(|gate| !gate.is_done()).filter(|_| !gates().any(RunStep::is_done));
        let render = || self.steps.iter().find(|step| step.step.work == Work::Render && !has_report);
        match failed.or_else(unguarded).or_else(render) {
            None => Status::Done,
            Some(step) => {
                let fate = step.fate().unwrap_or_default();
                Status::Failed { reason: format!("{} {fate}", step.step.label) }
            }
        }
    }
}

fn is_angle(step: &RunStep) -> bool {
    step.step.as_angle().is_some()
}

fn is_of(step: &RunStep, angle: &str) -> bool {
    step.step.agent().is_some_and(|agent| agent.of == angle)
}
