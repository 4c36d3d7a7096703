//! How tasks carry out the steps of a run: a ready step becomes a task, and what became of the task is told to the run.

#[cfg(test)]
pub(crate) mod tests;

use super::{Change, Report, Run, Shown, StepStatus, Terms, decide};
use crate::{
    Rejected,
    battle::Fresh,
    catalogue::ModelRef,
    chat::Coder,
    feed::Event,
    flow::{Plan, StepId, rounds::Tally},
    id::{Attempt, ProjectId, RunId, SessionId, TaskId},
    output::Outcome,
    slot,
    task::{self, ATTEMPTS_MAX, Owner, PAID_ATTEMPTS_MAX, Task, Work},
};

/// What a run is made of once everything about it is agreed.
pub struct Launch {
    pub id: RunId,
    pub session: SessionId,
    pub project: ProjectId,
    pub plan: Plan,
    pub terms: Terms,
    pub at_ms: i64,
}

/// The end of an attempt at a task, with all that what follows may need.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub task: TaskId,
    pub attempt: Attempt,
    pub outcome: Outcome,
    pub stream_len: u64,
    /// What a fold has counted.
    pub tally: Option<Tally>,
    /// How often the agent tried to change something.
    pub tried: u32,
    pub fresh: Fresh,
    pub at_ms: i64,
}

impl Shown {
    pub fn new(launch: Launch) -> Self {
        let Launch { id, session, project, plan, terms, at_ms } = launch;
        let attempts_max = if terms.paid { PAID_ATTEMPTS_MAX } else { ATTEMPTS_MAX };
        Self {
            session,
            project,
            run: Run::new(id, plan, attempts_max),
            terms,
            created_at_ms: at_ms,
            finished_at_ms: None,
            carried_by: Default::default(),
            tasks: Default::default(),
            tried: Default::default(),
        }
    }

    /// The news that it is there, and what is to be done first.
    pub fn begin(self, mut fresh: Fresh, at_ms: i64) -> Result<Vec<Event>, Rejected> {
        let changes = self.run.decide(decide::Input::Begin)?;
        let mut events = vec![Event::FlowRunStarted { run: Box::new(self.clone()) }];
        events.extend(self.told(changes, &mut fresh, at_ms));
        Ok(events)
    }

    pub fn ended(&self, ended: Ended) -> Result<Vec<Event>, Rejected> {
        let Ended { task, attempt, outcome, stream_len, tally, tried: count, mut fresh, at_ms } = ended;
        let task = self.tasks.get(&task).ok_or(Rejected::Stale)?;
        let mut events = task.decide(task::Input::Report { attempt, outcome, stream_len })?;
        let mut now = self.clone();
        events.iter().for_each(|event| now.apply(event));
        let settled = events.iter().find_map(|event| match event {
            Event::TaskSettled { outcome, .. } => Some(outcome.clone()),
            _ => None,
        });
        if let Some(outcome) = settled {
            let step = self.step_of(task.id).ok_or(Rejected::Stale)?.step.id.clone();
            let report = Report { step: step.clone(), attempt, outcome, tally };
            let changes = self.run.decide(decide::Input::Report(report))?;
            events.extend(now.told(changes, &mut fresh, at_ms));
            for event in &mut events {
                if let Event::FlowRunStepUpdated { change, tried, .. } = event
                    && change.step() == Some(&step)
                {
                    *tried = count;
                }
            }
        }
        Ok(events)
    }

    pub fn cancel(&self, mut fresh: Fresh, at_ms: i64) -> Result<Vec<Event>, Rejected> {
        let changes = self.run.decide(decide::Input::Cancel)?;
        Ok(self.told(changes, &mut fresh, at_ms))
    }

    /// Changes as events, with the work that they make or end.
    fn told(&self, changes: Vec<Change>, fresh: &mut Fresh, at_ms: i64) -> Vec<Event> {
        let mut events = Vec::new();
        let mut after = self.run.clone();
        for change in changes {
            after.apply(&change);
            match &change {
                Change::StepReady { step } => {
                    let task = self.task(&after, step, fresh.task(), at_ms);
                    let id = Some(task.id);
                    events.push(Event::TaskQueued { owner: task.owner, task });
                    events.push(self.step_updated(id, change));
                }
                // Its task says so.
                Change::StepCancelling { step } => events.extend(self.stop(step)),
                Change::StepStarted { .. } | Change::StepRequeued { .. } => {}
                Change::StepSettled { step, status: StepStatus::Cancelled } => {
                    events.extend(self.stop(step));
                    events.push(self.step_updated(None, change));
                }
                Change::StepSettled { .. } | Change::StepSkipped { .. } => {
                    events.push(self.step_updated(None, change));
                }
                Change::RoundAdded { .. } | Change::RunCancelling | Change::RunSettled { .. } => {
                    events.push(Event::FlowRunUpdated { run: self.run.id, change: Box::new(change), at_ms });
                }
            }
        }
        events
    }

    fn step_updated(&self, task: Option<TaskId>, change: Change) -> Event {
        Event::FlowRunStepUpdated { run: self.run.id, task, change: Box::new(change), tried: 0 }
    }

    /// Where its task has just ended, or there is none yet, there is nothing to stop.
    fn stop(&self, step: &StepId) -> Vec<Event> {
        let task = self.task_of(step).filter(|task| !task.is_settled());
        task.and_then(|task| task.decide(task::Input::Cancel).ok()).unwrap_or_default()
    }

    fn task(&self, run: &Run, step: &StepId, id: TaskId, at_ms: i64) -> Task {
        let Terms { model, host, .. } = &self.terms;
        let step = run.step(step).map(|step| &step.step);
        let (model, coder) = match step.and_then(|step| step.agent()) {
            Some(agent) => {
                let (backend, host) = (self.terms.backend_of(agent.role), host.clone());
                (model.clone(), Some(Coder { backend, host, carry: false, asks: false }))
            }
            None => (ModelRef { server: slot::STEPS.to_owned(), model: "code".to_owned() }, None),
        };
        let task = Task::new(id, Owner::Run(self.run.id), Work::Step, model, at_ms);
        let attempts_max = step.map_or(task.attempts_max, |step| run.attempts_max_of(step));
        Task { coder, host: Some(host.clone()), attempts_max, ..task }
    }
}
