//! A plan: the exact steps of a run, decided by code before the first agent is asked. The same request and signals
//! always give the same plan.

mod numbers;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Band, Request, Role, Signals,
    method::{Angle, Method, Pool, Shape},
};
use numbers::Numbers;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub request: Request,
    /// In the order of the roster. A step needs only steps that stand before it.
    pub steps: Vec<Step>,
}

/// Unique within a run: the id of its angle, and its round from the second on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub String);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub id: StepId,
    pub label: String,
    pub work: Work,
    /// From 1.
    pub round: u32,
    pub needs: Vec<StepId>,
    /// Why it will not run, where that is clear from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    Agent(Agent),
    /// Takes the answers together, verbatim.
    Fold,
    /// Makes the report and checks its evidence.
    Render,
}

/// An agent's step: dispatched to a backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub role: Role,
    pub part: Part,
    /// The angle or synthesis of the method that this step carries out; for a validator, the angle it validates.
    pub of: String,
    /// The number of its first finding. Two agents of one role number from different hundreds, so that no id is
    /// given twice.
    pub first: u32,
    pub limits: Limits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Angle,
    Synthesis,
    Gate,
}

/// What an agent may spend, enforced by whoever runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub steps: u32,
    pub calls: u32,
}

impl Limits {
    pub const FULL: Self = Self { steps: 40, calls: 120 };
    /// Of a worker in fast mode. Whoever attacks the result keeps the full ones.
    pub const FAST: Self = Self { steps: 8, calls: 20 };
}

pub const FOLD: &str = "fold";
pub const GATE: &str = "gate";
pub const RENDER: &str = "render";

impl Plan {
    pub fn new(request: Request, signals: &Signals) -> Self {
        let method = request.flow.method();
        let mut planner = Planner::new(&request, method);
        match method.shape {
            Shape::Folded(_) => planner.folded(signals),
            Shape::PerAngle => planner.per_angle(signals),
        }
        let steps = planner.steps;
        Self { request, steps }
    }

    /// The steps that another round after `round` adds: the angles that are asked again, and a fold.
    pub fn next_round(&self, round: u32) -> Vec<Step> {
        let method = self.request.flow.method();
        let again = |id: &str| method.rounds.again.is_empty() || method.rounds.again.contains(&id);
        let mut planner = Planner::new(&self.request, method);
        planner.numbers = Numbers::of(method, &self.steps);
        let first = self.steps.iter().filter(|step| step.round == 1 && step.skip.is_none());
        for agent in first.filter_map(Step::as_angle).filter(|agent| again(&agent.of)) {
            if let Some(angle) = method.angle(&agent.of) {
                planner.angle(angle, round + 1, None);
            }
        }
        planner.fold(round + 1);
        planner.steps
    }

    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == *id)
    }

    /// Whether an angle writes the sections of the report itself, because nobody puts several together.
    pub fn angles_write(&self) -> bool {
        !self
            .steps
            .iter()
            .any(|step| matches!(&step.work, Work::Agent(agent) if agent.part == Part::Synthesis))
    }
}

impl Step {
    pub fn agent(&self) -> Option<&Agent> {
        match &self.work {
            Work::Agent(agent) => Some(agent),
            Work::Fold | Work::Render => None,
        }
    }

    pub fn as_angle(&self) -> Option<&Agent> {
        self.agent().filter(|agent| agent.part == Part::Angle)
    }

    pub fn is_gate(&self) -> bool {
        self.agent().is_some_and(|agent| agent.part == Part::Gate)
    }
}

impl StepId {
    fn of(name: &str, round: u32) -> Self {
        Self(if round == 1 { name.to_owned() } else { format!("{name}@{round}") })
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

struct Planner<'a> {
    request: &'a Request,
    method: &'static Method,
    numbers: Numbers,
    steps: Vec<Step>,
}

impl<'a> Planner<'a> {
    fn new(request: &'a Request, method: &'static Method) -> Self {
        Self { request, method, numbers: Numbers::of(method, &[]), steps: Vec::new() }
    }

    fn folded(&mut self, signals: &Signals) {
        self.roster(signals);
        // Each builds on the fold and on whoever put it together before.
        let mut needs = vec![self.fold(1)];
        // One who worked alone has nobody to be put together with, and writes the report.
        let workers =
            self.steps.iter().filter(|step| step.as_angle().is_some() && step.skip.is_none()).count();
        for synthesis in self.method.synthesis().iter().filter(|_| workers > 1) {
            let first = self.numbers.next(synthesis.role);
            let agent = worker(synthesis.role, Part::Synthesis, synthesis.id, first, Limits::FULL);
            needs.push(self.push(synthesis.id, synthesis.label, agent, needs.clone()));
        }
        let gate = self.gate(GATE, GATE, "Gate", needs);
        self.push(RENDER, "Report", Work::Render, vec![gate]);
    }

    fn per_angle(&mut self, signals: &Signals) {
        self.roster(signals);
        let angles = self.steps.clone();
        let mut gates = Vec::new();
        for step in &angles {
            let Some(agent) = step.as_angle().filter(|_| step.skip.is_none()) else { continue };
            let (id, label) = (format!("check-{}", agent.of), format!("Validator of {}", step.label));
            gates.push(self.gate(&id, &agent.of, &label, vec![step.id.clone()]));
        }
        self.push(RENDER, "Report", Work::Render, gates);
    }

    /// The angles of the band, and those of the pool that are taken.
    fn roster(&mut self, signals: &Signals) {
        let band = self.request.band;
        for angle in self.method.angles.iter().filter(|angle| angle.band <= band) {
            let needs_signal = angle.signal.filter(|_| angle.always_from.is_none_or(|from| from > band));
            let absent = needs_signal.filter(|signal| !signals.has(*signal));
            self.angle(angle, 1, absent.map(|signal| signals.absence(signal)));
        }
        if let Some(pool) = &self.method.pool {
            self.pool(pool, signals);
        }
    }

    fn pool(&mut self, pool: &'static Pool, signals: &Signals) {
        let most = pool.most[self.request.band as usize];
        if most == 0 {
            return;
        }
        let mut taken = 0;
        for angle in pool.members {
            let absent = angle.signal.filter(|signal| !signals.has(*signal));
            let skip = match absent {
                Some(signal) => Some(signals.absence(signal)),
                None if taken == most => Some(full(self.request.band, most)),
                None => None,
            };
            taken += usize::from(skip.is_none());
            self.angle(angle, 1, skip);
        }
    }

    fn angle(&mut self, angle: &Angle, round: u32, skip: Option<String>) {
        let limits = if self.request.fast { Limits::FAST } else { Limits::FULL };
        // One that does not run leaves its numbers to others.
        let first = if skip.is_none() { self.numbers.next(angle.role) } else { 0 };
        let work = worker(angle.role, Part::Angle, angle.id, first, limits);
        let before = (round > 1).then(|| StepId::of(FOLD, round - 1));
        // Who is not asked in this round cannot be waited for.
        let after = angle.after.iter().map(|id| StepId::of(id, round)).filter(|id| self.has(id));
        let needs = before.into_iter().chain(after).collect();
        let (id, label) = (StepId::of(angle.id, round), angle.label.to_owned());
        self.steps.push(Step { id, label, work, round, needs, skip });
    }

    fn fold(&mut self, round: u32) -> StepId {
        let angles = self.steps.iter().filter(|step| step.as_angle().is_some());
        let needs = angles.map(|step| step.id.clone()).collect();
        let label = if round == 1 { "Fold".to_owned() } else { format!("Fold of round {round}") };
        let id = StepId::of(FOLD, round);
        self.steps.push(Step { id: id.clone(), label, work: Work::Fold, round, needs, skip: None });
        id
    }

    fn gate(&mut self, id: &str, of: &str, label: &str, needs: Vec<StepId>) -> StepId {
        let first = self.numbers.next_gate();
        let agent = worker(Role::AdversarialValidator, Part::Gate, of, first, Limits::FULL);
        self.push(id, label, agent, needs)
    }

    /// What is there once, whichever round it is.
    fn push(&mut self, id: &str, label: &str, work: Work, needs: Vec<StepId>) -> StepId {
        let id = StepId::of(id, 1);
        self.steps.push(Step { id: id.clone(), label: label.to_owned(), work, round: 1, needs, skip: None });
        id
    }

    fn has(&self, id: &StepId) -> bool {
        self.steps.iter().any(|step| step.id == *id)
    }
}

fn worker(role: Role, part: Part, of: &str, first: u32, limits: Limits) -> Work {
    Work::Agent(Agent { role, part, of: of.to_owned(), first, limits })
}

fn full(band: Band, most: usize) -> String {
    match most {
        1 => format!("the {band} band takes one specialist"),
        most => format!("the {band} band takes {most} specialists"),
    }
}
