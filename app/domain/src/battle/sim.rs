//! Servers that crash, lose, repeat and delay, around battles that people stop, retry and analyse. What must hold
//! whatever happens: see `World::check`.

mod holds;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    decide::{Input, Report},
    tests::{battle, id},
    *,
};
use crate::{
    catalogue::Lane,
    id::Attempt,
    output::{Outcome, Phase},
    sim::{Dice, for_each_seed},
    slot::{self, rank},
    task::{self, Work},
};
use holds::{check_battle, check_turn};

const CLOUD_LIMIT: usize = 3;
const LEASE: i64 = 10;
const SERVERS: usize = 2;

/// What a server process believes it is running. It may be wrong: its lease can be gone.
#[derive(Clone)]
struct Running {
    server: usize,
    battle: BattleId,
    task: TaskId,
    attempt: Attempt,
}

/// A report on its way; networks repeat and delay.
struct Letter {
    battle: BattleId,
    report: Report,
}

struct World {
    dice: Dice,
    now: i64,
    ids: u128,
    begun: BTreeMap<BattleId, Battle>,
    battles: BTreeMap<BattleId, Battle>,
    log: Vec<Event>,
    leases: BTreeMap<TaskId, (usize, i64)>,
    running: Vec<Running>,
    letters: Vec<Letter>,
    executions: BTreeSet<(TaskId, Attempt)>,
    verdicts: BTreeMap<(BattleId, u32), Analysis>,
}

#[test]
fn nothing_breaks_a_battle() {
    for_each_seed(10_000, |seed| World::new(seed).live());
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            now: 0,
            ids: 1_000_000,
            begun: BTreeMap::new(),
            battles: BTreeMap::new(),
            log: Vec::new(),
            leases: BTreeMap::new(),
            running: Vec::new(),
            letters: Vec::new(),
            executions: BTreeSet::new(),
            verdicts: BTreeMap::new(),
        }
    }

    fn live(&mut self) {
        self.launch();
        for _ in 0..70 {
            self.now += 1;
            match self.dice.roll(16) {
                0 if self.battles.len() < 3 => self.launch(),
                0..=4 => self.claim(),
                5..=7 => self.finish(),
                8 | 9 => self.deliver(),
                10 => self.crash(),
                11 => self.reap(),
                12 => self.speak(),
                _ => self.ask(),
            }
            self.check();
        }
        // The weather clears: everything that was begun comes to an end.
        for _ in 0..1_500 {
            if self.battles.values().all(|battle| battle.course.status.is_over())
                && self.open().next().is_none()
            {
                break;
            }
            self.now += 1;
            self.reap();
            self.claim();
            self.finish();
            self.deliver();
            self.check();
        }
        self.check_over();
    }

    fn fresh(&mut self) -> Fresh {
        self.ids += 1_000;
        Fresh::new(id(self.ids))
    }

    fn open(&self) -> impl Iterator<Item = &Task> {
        self.battles.values().flat_map(|battle| battle.tasks.values()).filter(|task| !task.is_settled())
    }

    fn launch(&mut self) {
        let count = 2 + self.dice.roll(3);
        let mut roster = Vec::new();
        for place in 0..count {
            roster.push(format!("{}{place}", if self.dice.chance(50) { "L" } else { "C" }));
        }
        let (judged, checked, capped) = (self.dice.chance(70), self.dice.chance(40), self.dice.chance(15));
        let mut new = battle(Kind::Coding, &roster.join(" "), |terms| {
            let model = ModelRef { server: "local".into(), model: "judge".into() };
            terms.judge = judged.then_some(Judge { model, paid: false });
            terms.check = checked.then(|| "make".to_owned());
            terms.tokens_max = capped.then_some(100);
        });
        new.id = BattleId(id(10 + self.battles.len() as u128));
        for (place, contestant) in new.contestants.iter_mut().enumerate() {
            contestant.id = ContestantId(id(100 * (1 + self.battles.len() as u128) + place as u128));
        }
        self.begun.insert(new.id, new.clone());
        self.battles.insert(new.id, new.clone());
        let fresh = self.fresh();
        let (battle, events) = (new.id, new.begin(fresh, self.now));
        self.commit(battle, events);
    }

    fn commit(&mut self, battle: BattleId, events: Vec<Event>) {
        for event in events {
            if let Event::TaskSettled { task, .. } | Event::TaskRequeued { task, .. } = &event {
                self.leases.remove(task);
            }
            if let Event::BattleStarted { battle } = &event {
                assert_eq!(**battle, self.begun[&battle.id], "the news is not what began");
            }
            if let Event::ContestantUpdated { contestant, .. } = &event {
                check_turn(&self.battles[&battle], contestant);
            }
            self.battles.get_mut(&battle).unwrap().apply(&event);
            self.log.push(event);
        }
    }

    fn pick(&mut self) -> BattleId {
        let nth = self.dice.roll(self.battles.len());
        *self.battles.keys().nth(nth).unwrap()
    }

    /// A person does something, which may be refused.
    fn ask(&mut self) {
        let battle = self.pick();
        let nth = self.dice.roll(self.battles[&battle].contestants.len());
        let contestant = self.battles[&battle].contestants[nth].id;
        let (fresh, at_ms) = (self.fresh(), self.now);
        let model = ModelRef { server: "local".into(), model: "judge".into() };
        let input = match self.dice.roll(12) {
            0 => Input::Stop { fresh, at_ms },
            1 | 2 => Input::StopContestant { contestant, fresh, at_ms },
            3..=5 => Input::Retry { contestant, fresh, at_ms },
            6 | 7 => Input::Analyse { judge: Judge { model, paid: false }, fresh, at_ms },
            8 => Input::StopAnalysis { fresh, at_ms },
            9 => {
                let examiner = Examiner { identity: Identity::Plain, model, paid: false };
                Input::Examine { examiner, question: None, fresh, at_ms }
            }
            10 => Input::SetWinner { winner: None },
            _ => Input::SetWinner { winner: Some(contestant) },
        };
        if let Ok(events) = self.battles[&battle].decide(input) {
            self.commit(battle, events);
        }
    }

    /// Something that runs says that it goes on, or what it used.
    fn speak(&mut self) {
        if self.running.is_empty() {
            return;
        }
        let nth = self.dice.roll(self.running.len());
        let Running { battle, task, attempt, .. } = self.running[nth].clone();
        let input = match self.dice.chance(50) {
            true => Input::Used { task, attempt, tokens: 30, fresh: self.fresh(), at_ms: self.now },
            false => Input::Phase { task, attempt, phase: Phase::Generating, at_ms: self.now },
        };
        if let Ok(events) = self.battles[&battle].decide(input) {
            self.commit(battle, events);
        }
    }

    /// What the claim statement does, but for ageing: the queued task of the lowest rank whose server has a free place.
    fn claim(&mut self) {
        let queued = self.open().filter(|task| matches!(task.status, task::Status::Queued));
        let free = |task: &&Task| self.in_use(&task.model.server) < limit(&task.model.server);
        let next = queued.filter(free).min_by_key(|task| (rank(task.priority(), task.queued_at_ms), task.id));
        let Some(task) = next.cloned() else { return };
        let Owner::Battle(battle) = task.owner else { panic!("a task of no battle") };
        let server = self.dice.roll(SERVERS);
        let events = task.decide(task::Input::Claim { at_ms: self.now }).unwrap();
        self.commit(battle, events);
        self.leases.insert(task.id, (server, self.now + LEASE));
        let attempt = task.next_attempt();
        assert!(self.executions.insert((task.id, attempt)), "an attempt started twice");
        self.running.push(Running { server, battle, task: task.id, attempt });
    }

    fn in_use(&self, server: &str) -> usize {
        let runs =
            |task: &&Task| matches!(task.status, task::Status::Running { .. }) && task.model.server == server;
        self.open().filter(runs).count()
    }

    /// A server ends one piece of work and sends its report, perhaps twice.
    fn finish(&mut self) {
        if self.running.is_empty() {
            return;
        }
        let nth = self.dice.roll(self.running.len());
        let work = self.running.remove(nth);
        let task = &self.battles[&work.battle].tasks[&work.task];
        let cancelling = matches!(task.status, task::Status::Running { cancelling: true, .. });
        let (kind, roll) = (task.work, self.dice.roll(12));
        let outcome = match roll {
            _ if cancelling && roll < 10 => Outcome::Cancelled,
            0 => Outcome::Failed { reason: "no".into() },
            1 => Outcome::Void { reason: "down".into() },
            _ => Outcome::Done { measured: Default::default() },
        };
        let said = match (kind, self.dice.roll(5)) {
            (Work::Judgement, 0) => "nonsense".to_owned(),
            (Work::Judgement, side) => {
                let analysis = self.battles[&work.battle].newest_analysis().unwrap();
                let judged = analysis.judgements.iter().find(|judgement| judgement.task == work.task);
                let letter = judged.map_or('P', |it| it.letters()[usize::from(side >= 3)]);
                format!("{{\"better\": \"{letter}\"}}")
            }
            (Work::Contestant, 0) => String::new(),
            _ => "words".to_owned(),
        };
        // Some of them make the same.
        let marks = Marks { said: Some(self.dice.roll(4).to_string()), patch: None };
        let copies = 1 + usize::from(self.dice.chance(25));
        for _ in 0..copies {
            let report = Report {
                task: work.task,
                attempt: work.attempt,
                outcome: outcome.clone(),
                stream_len: 5,
                said: Some(said.clone()),
                marks: marks.clone(),
                changes: None,
                unkept: None,
                checked: (kind == Work::Check).then(|| Checked::new(Some(0), 1, "")),
                fresh: self.fresh(),
                at_ms: self.now,
            };
            self.letters.push(Letter { battle: work.battle, report });
        }
    }

    /// Letters arrive in any order, and some never do.
    fn deliver(&mut self) {
        if self.letters.is_empty() {
            return;
        }
        let nth = self.dice.roll(self.letters.len());
        let letter = self.letters.remove(nth);
        if self.dice.chance(10) {
            return;
        }
        let before = &self.battles[&letter.battle];
        let status = &before.tasks[&letter.report.task].status;
        let current =
            matches!(status, task::Status::Running { attempt, .. } if *attempt == letter.report.attempt);
        match before.decide(Input::Report(Box::new(letter.report))) {
            Ok(events) => {
                assert!(current, "a stale report was accepted");
                self.commit(letter.battle, events);
            }
            Err(no) => assert!(!current && no == Rejected::Stale, "a current report was refused: {no}"),
        }
    }

    /// A server dies: what it ran is never heard of again.
    fn crash(&mut self) {
        let dead = self.dice.roll(SERVERS);
        self.running.retain(|work| work.server != dead);
    }

    /// Leases of the living are renewed; what nobody renews is reported lost. Sometimes a living server is merely
    /// slow, and its lease runs out under it.
    fn reap(&mut self) {
        let slow = self.dice.chance(10);
        for work in self.running.iter().filter(|_| !slow) {
            let current = self.battles[&work.battle].tasks[&work.task].attempts().last().map(|last| last.0);
            if let Some(lease) = self.leases.get_mut(&work.task).filter(|_| current == Some(work.attempt)) {
                lease.1 = self.now + LEASE;
            }
        }
        let expired: Vec<_> =
            self.leases.iter().filter(|(_, lease)| lease.1 < self.now).map(|(task, _)| *task).collect();
        for task in expired {
            let owner = self.battles.values().find(|battle| battle.tasks.contains_key(&task)).unwrap();
            let (battle, task::Status::Running { attempt, .. }) = (owner.id, &owner.tasks[&task].status)
            else {
                panic!("a lease without a running task")
            };
            let report = Report {
                task,
                attempt: *attempt,
                outcome: Outcome::Lost,
                stream_len: 2,
                said: None,
                marks: Marks::default(),
                changes: None,
                unkept: None,
                checked: None,
                fresh: self.fresh(),
                at_ms: self.now,
            };
            let events = self.battles[&battle].decide(Input::Report(Box::new(report))).unwrap();
            self.commit(battle, events);
        }
    }

    fn check(&mut self) {
        for server in ["local", slot::MACHINE] {
            assert!(self.in_use(server) <= 1, "two tasks at {server}");
        }
        for battle in self.battles.values() {
            check_battle(battle);
            for task in battle.tasks.values() {
                let tried = task.attempts().last().map_or(0, |last| last.0.0);
                assert!(tried <= task.attempts_max, "more attempts than allowed");
                let running = matches!(task.status, task::Status::Running { .. });
                assert_eq!(running, self.leases.contains_key(&task.id), "running means leased");
            }
            for analysis in battle.analyses.iter().filter(|analysis| analysis.is_over()) {
                let known =
                    self.verdicts.entry((battle.id, analysis.number)).or_insert_with(|| analysis.clone());
                assert_eq!(known, analysis, "an analysis that was over changed");
                let ended = analysis.ended_at_ms.expect("an analysis that is over has no end");
                assert!(ended >= analysis.begun_at_ms, "an analysis ended before it began");
            }
        }
    }

    fn check_over(&self) {
        assert_eq!(self.open().count(), 0, "work was left behind");
        for (id, battle) in &self.battles {
            assert!(battle.course.status.is_over(), "a battle did not end");
            let mut replayed = self.begun[id].clone();
            self.log.iter().for_each(|event| replayed.apply(event));
            assert_eq!(&replayed, battle, "replay equals state");
        }
    }
}

fn limit(server: &str) -> usize {
    if server == "cloud" { CLOUD_LIMIT } else { 1 }
}
