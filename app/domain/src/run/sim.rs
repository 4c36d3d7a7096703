//! Servers that crash, lose, repeat and delay, around several runs of any flow. What must hold whatever happens: see
//! `World::check`.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::{
    Rejected,
    flow::{
        Band, FlowId, Signal,
        plan::tests::{request, signals},
        rounds::Tally,
    },
    output::Outcome,
    sim::{Dice, for_each_seed},
};

const SERVERS: usize = 2;
const LEASE: i64 = 8;
const ATTEMPTS_MAX: u32 = 3;

/// What a server process believes it is running. It may be wrong: its lease can be gone.
#[derive(Clone)]
struct Work {
    server: usize,
    run: usize,
    step: StepId,
    attempt: Attempt,
}

/// A report on its way; networks repeat and delay.
struct Letter {
    run: usize,
    report: Report,
}

struct World {
    dice: Dice,
    now: i64,
    runs: Vec<Run>,
    /// The plans they began with, and all that happened since.
    logs: Vec<(Plan, Vec<Change>)>,
    leases: BTreeMap<(usize, StepId), i64>,
    working: Vec<Work>,
    letters: Vec<Letter>,
    begun: BTreeSet<(usize, StepId, Attempt)>,
}

#[test]
fn nothing_breaks_a_run() {
    for_each_seed(10_000, |seed| World::new(seed).live());
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            dice: Dice::new(seed),
            now: 0,
            runs: Vec::new(),
            logs: Vec::new(),
            leases: BTreeMap::new(),
            working: Vec::new(),
            letters: Vec::new(),
            begun: BTreeSet::new(),
        };
        for _ in 0..1 + world.dice.roll(2) {
            let flow = FlowId::ALL[world.dice.roll(FlowId::ALL.len())];
            let band = Band::ALL[world.dice.roll(3)];
            let present: Vec<_> = Signal::ALL.into_iter().filter(|_| world.dice.chance(50)).collect();
            let plan = Plan::new(request(flow, band, false), &signals(&present));
            let id = RunId(uuid::Uuid::from_u128(world.runs.len() as u128));
            world.runs.push(Run::new(id, plan.clone(), ATTEMPTS_MAX));
            world.logs.push((plan, Vec::new()));
        }
        world
    }

    fn live(&mut self) {
        for _ in 0..60 {
            self.now += 1;
            match self.dice.roll(14) {
                0 => self.begin(),
                1..=5 => self.claim(),
                6..=8 => self.finish(),
                9 | 10 => self.deliver(),
                11 => self.crash(),
                12 => self.reap(),
                _ => self.cancel(),
            }
            self.check();
        }
        // The weather clears: everything that was asked for comes to an end.
        for _ in 0..600 {
            if self.runs.iter().all(Run::is_over) {
                break;
            }
            self.now += 1;
            self.begin();
            self.reap();
            self.claim();
            self.finish();
            self.deliver();
            self.check();
        }
        self.check_over();
    }

    fn commit(&mut self, run: usize, changes: Vec<Change>) {
        for change in changes {
            if let Change::StepSettled { step, .. } | Change::StepRequeued { step, .. } = &change {
                self.leases.remove(&(run, step.clone()));
            }
            self.runs[run].apply(&change);
            self.logs[run].1.push(change);
        }
    }

    fn begin(&mut self) {
        for run in 0..self.runs.len() {
            let changes = self.runs[run].decide(Input::Begin).unwrap();
            self.commit(run, changes);
        }
    }

    fn cancel(&mut self) {
        let run = self.dice.roll(self.runs.len());
        // Seldom: most runs should come to their end.
        if self.dice.chance(10)
            && let Ok(changes) = self.runs[run].decide(Input::Cancel)
        {
            self.commit(run, changes);
        }
    }

    fn claim(&mut self) {
        let queued = |run: usize| {
            let steps = self.runs[run].steps.iter().filter(|step| step.status == StepStatus::Queued);
            steps.map(move |step| (run, step.step.id.clone()))
        };
        let queued: Vec<_> = (0..self.runs.len()).flat_map(queued).collect();
        if queued.is_empty() {
            return;
        }
        let (run, step) = queued[self.dice.roll(queued.len())].clone();
        let changes = self.runs[run].decide(Input::Claim { step: step.clone(), at_ms: self.now }).unwrap();
        let attempt = self.runs[run].step(&step).unwrap().next_attempt();
        self.commit(run, changes);
        assert!(self.begun.insert((run, step.clone(), attempt)), "an attempt began twice");
        self.leases.insert((run, step.clone()), self.now + LEASE);
        let server = self.dice.roll(SERVERS);
        self.working.push(Work { server, run, step, attempt });
    }

    /// A server ends one piece of work and sends its report, perhaps twice.
    fn finish(&mut self) {
        if self.working.is_empty() {
            return;
        }
        let nth = self.dice.roll(self.working.len());
        let Work { run, step, attempt, .. } = self.working.remove(nth);
        let status = &self.runs[run].step(&step).unwrap().status;
        let outcome = match self.dice.roll(12) {
            _ if matches!(status, StepStatus::Running { cancelling: true, .. }) => Outcome::Cancelled,
            0 => Outcome::Failed { reason: "no".into() },
            1 => Outcome::Void { reason: "down".into() },
            2 if self.dice.chance(20) => Outcome::Cancelled,
            _ => Outcome::Done { measured: Default::default() },
        };
        let mut count = || self.dice.roll(5);
        let tally = Tally { new: count(), major: count() / 3, known: count(), contradicted: count() / 3 };
        let tally = Some(tally).filter(|_| self.dice.chance(90));
        for _ in 0..1 + usize::from(self.dice.chance(25)) {
            let report = Report { step: step.clone(), attempt, outcome: outcome.clone(), tally };
            self.letters.push(Letter { run, report });
        }
    }

    /// Letters arrive in any order, and some never do.
    fn deliver(&mut self) {
        if self.letters.is_empty() {
            return;
        }
        let nth = self.dice.roll(self.letters.len());
        let Letter { run, report } = self.letters.remove(nth);
        if self.dice.chance(10) {
            return;
        }
        let is_current = self.is_current(run, &report.step, report.attempt);
        match self.runs[run].decide(Input::Report(report)) {
            Ok(changes) => {
                assert!(is_current, "a stale report was accepted");
                self.commit(run, changes);
            }
            Err(no) => assert!(!is_current && no == Rejected::Stale, "a current report was refused: {no}"),
        }
    }

    fn is_current(&self, run: usize, step: &StepId, attempt: Attempt) -> bool {
        let status = self.runs[run].step(step).map(|step| &step.status);
        matches!(status, Some(StepStatus::Running { attempt: current, .. }) if *current == attempt)
    }

    /// A server dies: what it ran is never heard of again.
    fn crash(&mut self) {
        let dead = self.dice.roll(SERVERS);
        self.working.retain(|work| work.server != dead);
    }

    /// Leases of the living are renewed; what nobody renews is reported lost. Sometimes a living server is merely
    /// slow, and its lease runs out under it.
    fn reap(&mut self) {
        let is_slow = self.dice.chance(10);
        for Work { run, step, attempt, .. } in self.working.clone().into_iter().filter(|_| !is_slow) {
            if self.is_current(run, &step, attempt) {
                self.leases.insert((run, step), self.now + LEASE);
            }
        }
        let is_expired = |(_, until): &(&(usize, StepId), &i64)| **until < self.now;
        let expired: Vec<_> = self.leases.iter().filter(is_expired).map(|(key, _)| key.clone()).collect();
        for (run, step) in expired {
            let StepStatus::Running { attempt, .. } = self.runs[run].step(&step).unwrap().status else {
                panic!("a lease without a running step")
            };
            let report = Report { step, attempt, outcome: Outcome::Lost, tally: None };
            let changes = self.runs[run].decide(Input::Report(report)).unwrap();
            self.commit(run, changes);
        }
    }

    fn check(&self) {
        for (at, run) in self.runs.iter().enumerate() {
            let mut ids = BTreeSet::new();
            for RunStep { step, status, lost } in &run.steps {
                assert!(ids.insert(&step.id), "{} is there twice", step.id);
                assert!(*lost < run.attempts_max_of(step), "more attempts than allowed");
                let is_running = matches!(status, StepStatus::Running { .. });
                assert_eq!(
                    is_running,
                    self.leases.contains_key(&(at, step.id.clone())),
                    "running means leased"
                );
                let has_begun = is_running || matches!(status, StepStatus::Queued | StepStatus::Done { .. });
                let ready = |need: &StepId| run.step(need).is_some_and(RunStep::is_settled);
                assert!(!has_begun || step.needs.iter().all(ready), "{} began before what it needs", step.id);
                assert!(!has_begun || step.skip.is_none(), "{} should have been skipped", step.id);
                assert!(
                    !run.is_over() || !matches!(status, StepStatus::Waiting | StepStatus::Queued),
                    "over means all over"
                );
                assert!(!run.is_over() || !is_running, "over means all over");
            }
            let has_begun = run.steps.iter().any(|step| step.status != StepStatus::Waiting);
            let in_flight =
                |step: &RunStep| matches!(step.status, StepStatus::Queued | StepStatus::Running { .. });
            assert!(
                !has_begun || run.is_over() || run.steps.iter().any(in_flight),
                "a run has nothing in flight"
            );
            self.check_end(run);
        }
    }

    /// What a run that is done can be trusted for.
    fn check_end(&self, run: &Run) {
        let gates: Vec<_> = run.steps.iter().filter(|step| step.step.is_gate()).collect();
        let render = run.steps.iter().find(|step| step.step.work == crate::flow::plan::Work::Render).unwrap();
        match &run.status {
            Status::Done => {
                assert!(gates.iter().any(|gate| gate.is_done()) && render.is_done());
                assert!(
                    !gates.iter().any(|gate| matches!(gate.status, StepStatus::Failed { .. })),
                    "a failed gate"
                );
            }
            Status::Failed { reason } => assert!(!reason.trim().is_empty()),
            Status::Cancelled => assert!(run.steps.iter().any(|step| step.status == StepStatus::Cancelled)),
            Status::Queued | Status::Running { .. } => {}
        }
    }

    fn check_over(&self) {
        for (run, (plan, log)) in self.runs.iter().zip(&self.logs) {
            assert!(run.is_over(), "work was left behind: {}", run.words());
            let mut replayed = Run::new(run.id, plan.clone(), ATTEMPTS_MAX);
            log.iter().for_each(|change| replayed.apply(change));
            assert_eq!(&replayed, run, "replay equals state");
            let rounds = run.steps.iter().map(|step| step.step.round).max().unwrap();
            assert!(rounds <= run.request.flow.method().rounds.most(run.request.band), "too many rounds");
        }
    }
}
