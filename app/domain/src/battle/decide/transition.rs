//! A battle as it will be, with the events that lead there.

use super::super::{
    Battle, CheckState, Contestant, Course, Fresh, Identity, Standing, Status, Stopped, analysis, check,
};
use crate::{
    catalogue::{Lane, ModelRef},
    chat::{Coder, attempts_max},
    feed::Event,
    id::{ContestantId, TaskId},
    slot,
    task::{self, Owner, Task, Work},
};

pub(super) struct Transition {
    pub battle: Battle,
    pub events: Vec<Event>,
}

impl Transition {
    pub fn new(battle: Battle) -> Self {
        Self { battle, events: Vec::new() }
    }

    pub fn push(&mut self, event: Event) {
        self.battle.apply(&event);
        self.events.push(event);
    }

    pub fn push_all(&mut self, events: Vec<Event>) {
        events.into_iter().for_each(|event| self.push(event));
    }

    pub fn change(&mut self, id: ContestantId, change: impl FnOnce(&mut Contestant)) {
        let Ok(contestant) = self.battle.contestant(id) else { return };
        let mut contestant = Box::new(contestant.clone());
        change(&mut contestant);
        let battle_status = self.battle.course.status;
        self.push(Event::ContestantUpdated { battle: self.battle.id, contestant, battle_status });
    }

    pub fn update(&mut self, change: impl FnOnce(&mut Course)) {
        let mut course = self.battle.course.clone();
        change(&mut course);
        if course != self.battle.course {
            self.push(Event::BattleUpdated { battle: self.battle.id, course: Box::new(course) });
        }
    }

    /// Does everything that can be done now, and says how the battle stands then.
    pub fn advance(&mut self, fresh: &mut Fresh, at_ms: i64) {
        let due: Vec<_> = self.battle.due().into_iter().map(|contestant| contestant.id).collect();
        for contestant in due {
            self.dispatch(contestant, fresh.task(), at_ms);
        }
        let status = self.status_after(fresh, at_ms);
        let judged = self.battle.verdict().and_then(|verdict| verdict.winner);
        self.update(|course| {
            course.status = status;
            course.judged = judged;
            course.finished_at_ms = match status {
                Status::Running => None,
                // Comparing again what is there does not begin it again.
                Status::Analysing => course.finished_at_ms,
                Status::Completed | Status::Cancelled => Some(course.finished_at_ms.unwrap_or(at_ms)),
            };
        });
    }

    fn status_after(&mut self, fresh: &mut Fresh, at_ms: i64) -> Status {
        if !self.battle.is_every_contestant_over() {
            return Status::Running;
        }
        if self.battle.course.stopped.is_some() {
            let is_analysing = self.battle.newest_analysis().is_some_and(|analysis| !analysis.is_over());
            return match (self.is_checking(), is_analysing) {
                (true, _) => Status::Running,
                // A person may still ask for an analysis of what there is.
                (false, true) => Status::Analysing,
                (false, false) => Status::Cancelled,
            };
        }
        self.check_results(fresh, at_ms);
        if self.is_checking() {
            return Status::Running;
        }
        let is_compared = self.battle.analyses.iter().any(|analysis| analysis.is_of_now(&self.battle));
        if let Some(judge) = self.battle.terms.judge.clone().filter(|_| !is_compared) {
            self.analyse(&judge, false, fresh, at_ms);
        }
        match self.battle.newest_analysis() {
            Some(analysis) if !analysis.is_over() => Status::Analysing,
            _ => Status::Completed,
        }
    }

    fn dispatch(&mut self, id: ContestantId, task: TaskId, at_ms: i64) {
        let Ok(contestant) = self.battle.contestant(id) else { return };
        let (model, lane) = (contestant.model.clone(), contestant.lane);
        let hands = self.hands(&contestant.identity);
        let new = Task {
            limit_s: Some(self.battle.terms.limit_s),
            attempts_max: attempts_max(lane == Lane::Cloud),
            ..self.task_by(hands, task, Work::Contestant, model, at_ms)
        };
        self.queue(new);
        self.change(id, |contestant| contestant.tries.push(task));
    }

    /// By whose hands, or as whom.
    pub fn hands(&self, identity: &Identity) -> (Option<Coder>, Option<String>) {
        let terms = &self.battle.terms;
        match identity {
            Identity::Backend(backend) => {
                let (backend, host) = (backend.clone(), terms.host.clone());
                (Some(Coder { backend, host, carry: terms.carry, asks: false }), None)
            }
            Identity::Persona(name) => (None, Some(name.clone())),
            Identity::Plain => (None, None),
        }
    }

    /// The project itself first, then each result.
    fn check_results(&mut self, fresh: &mut Fresh, at_ms: i64) {
        if self.battle.terms.check.is_none() || self.battle.survivors().next().is_none() {
            return;
        }
        match self.battle.course.base_check {
            CheckState::None => {
                let task = self.queue_check(fresh.task(), at_ms);
                self.update(|course| course.base_check = CheckState::Pending { task });
            }
            CheckState::Pending { .. } => {}
            CheckState::Done { .. } | CheckState::Void { .. } => {
                let base = self.battle.course.base_check.clone();
                let unchecked = self.battle.survivors().filter(|it| it.check == CheckState::None);
                let unchecked: Vec<_> = unchecked.map(|it| (it.id, it.changed_nothing())).collect();
                for (id, changed_nothing) in unchecked {
                    // It is the project as it was, and would be charged with what fails by chance.
                    let check = match changed_nothing {
                        true => base.clone(),
                        false => CheckState::Pending { task: self.queue_check(fresh.task(), at_ms) },
                    };
                    self.change(id, |contestant| contestant.check = check);
                }
            }
        }
    }

    /// Also while one that nobody wants any more is being ended.
    fn is_checking(&self) -> bool {
        self.battle.tasks.values().any(|task| task.work == Work::Check && !task.is_settled())
    }

    fn queue_check(&mut self, task: TaskId, at_ms: i64) -> TaskId {
        let machine = ModelRef { server: slot::MACHINE.to_owned(), model: "check".to_owned() };
        let new = Task {
            host: Some(self.battle.terms.host.clone()),
            limit_s: Some(check::TASK_LIMIT_S),
            ..self.task(task, Work::Check, machine, at_ms)
        };
        self.queue(new);
        task
    }

    /// Everything that runs is asked to end; who has not begun is over at once.
    pub fn stop(&mut self, why: Stopped, at_ms: i64) {
        self.update(|course| course.stopped = Some(why));
        let unfinished = self.battle.contestants.iter().filter(|it| !it.standing.is_over());
        for id in unfinished.map(|contestant| contestant.id).collect::<Vec<_>>() {
            self.stop_contestant(id, why.words());
        }
        let checks =
            self.battle.contestants.iter().map(|it| &it.check).chain([&self.battle.course.base_check]);
        let checks: Vec<_> = checks.filter(|state| state.is_pending()).filter_map(CheckState::task).collect();
        checks.into_iter().for_each(|task| self.cancel_check(task, why.words()));
        self.end_analysis(analysis::State::Stopped, at_ms);
    }

    pub fn stop_contestant(&mut self, id: ContestantId, why: &str) {
        let Ok(contestant) = self.battle.contestant(id) else { return };
        let task = contestant.tries.last().copied();
        if let Some(task) = task {
            self.cancel(task);
        }
        let is_under_way =
            |next: &Self| next.battle.contestant(id).is_ok_and(|it| it.is_under_way(next.battle.task_of(it)));
        if !is_under_way(self) {
            let standing = Standing::Cancelled { reason: why.to_owned() };
            self.change(id, |contestant| contestant.standing = standing);
        }
    }

    /// One that nobody has begun is over at once; the report of one that runs comes.
    fn cancel_check(&mut self, task: TaskId, why: &str) {
        self.cancel(task);
        if self.battle.tasks.get(&task).is_some_and(Task::is_settled) {
            self.set_check(task, CheckState::Void { reason: why.to_owned() });
        }
    }

    pub fn set_check(&mut self, task: TaskId, state: CheckState) {
        if self.battle.course.base_check.task() == Some(task) {
            self.update(|course| course.base_check = state);
        } else if let Some(id) =
            self.battle.contestants.iter().find(|it| it.check.task() == Some(task)).map(|it| it.id)
        {
            self.change(id, |contestant| contestant.check = state);
        }
    }

    pub fn cancel(&mut self, task: TaskId) {
        let task = self.battle.tasks.get(&task).filter(|task| !task.is_settled());
        let events = task.and_then(|task| task.decide(task::Input::Cancel).ok()).unwrap_or_default();
        self.push_all(events);
    }

    /// As it was before it began; what is known of the tries before stays with them.
    pub fn renew(&mut self, id: ContestantId) {
        self.update(|course| course.stopped = None);
        if let Some(check) = self.battle.contestant(id).ok().and_then(|contestant| contestant.check.task()) {
            self.cancel(check);
        }
        self.change(id, |contestant| {
            contestant.standing = Standing::Queued;
            contestant.benchmark = None;
            contestant.changes = None;
            contestant.unkept = None;
            contestant.mark = None;
            contestant.check = CheckState::None;
        });
        // What was chosen was chosen for what it made.
        self.update(|course| course.winner = course.winner.filter(|winner| *winner != id));
        self.check_again();
    }

    /// What could not be run may be run now.
    fn check_again(&mut self) {
        if self.battle.course.base_check.is_void() {
            self.update(|course| course.base_check = CheckState::None);
        }
        let void = self.battle.contestants.iter().filter(|contestant| contestant.check.is_void());
        for id in void.map(|contestant| contestant.id).collect::<Vec<_>>() {
            self.change(id, |contestant| contestant.check = CheckState::None);
        }
    }

    pub fn queue(&mut self, task: Task) {
        self.push(Event::TaskQueued { owner: task.owner, task });
    }

    pub fn task(&self, id: TaskId, work: Work, model: ModelRef, at_ms: i64) -> Task {
        let machine = self.battle.terms.machines.get(&model.server).cloned();
        Task { machine, ..Task::new(id, Owner::Battle(self.battle.id), work, model, at_ms) }
    }

    /// Agents work in folders, which only their host has.
    pub fn task_by(
        &self,
        (coder, persona): (Option<Coder>, Option<String>),
        id: TaskId,
        work: Work,
        model: ModelRef,
        at_ms: i64,
    ) -> Task {
        let host = coder.as_ref().map(|coder| coder.host.clone());
        Task { coder, persona, host, ..self.task(id, work, model, at_ms) }
    }
}
