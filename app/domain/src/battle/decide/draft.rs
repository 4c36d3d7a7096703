//! A battle as it will be, with the events that lead there.

use super::super::{
    Analysis, Battle, CheckState, Contestant, Course, Examination, Examiner, Fresh, Identity, Judge, Kind,
    Standing, Status, Stopped, analysis, check,
};
use crate::{
    catalogue::{Lane, ModelRef},
    chat::{Coder, attempts_max},
    feed::Event,
    id::{ContestantId, TaskId},
    slot,
    task::{self, Owner, Task, Work},
};

/// A digest or a judgement that takes longer will not come.
const OPINION_LIMIT_S: u32 = 10 * 60;
const EXAMINATION_LIMIT_S: u32 = 30 * 60;

pub(super) struct Draft {
    pub battle: Battle,
    pub events: Vec<Event>,
}

impl Draft {
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
        self.update(|course| {
            course.status = status;
            course.finished_at_ms = status.is_over().then(|| course.finished_at_ms.unwrap_or(at_ms));
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
        let is_new =
            |battle: &Battle| battle.newest_analysis().is_none_or(|newest| !newest.is_of_now(battle));
        if let Some(judge) = self.battle.terms.judge.clone().filter(|_| is_new(&self.battle)) {
            self.analyse(&judge, fresh, at_ms);
        }
        match self.battle.newest_analysis() {
            Some(analysis) if !analysis.is_over() => Status::Analysing,
            _ => Status::Completed,
        }
    }

    fn dispatch(&mut self, id: ContestantId, task: TaskId, at_ms: i64) {
        let Ok(contestant) = self.battle.contestant(id) else { return };
        let (model, lane) = (contestant.model.clone(), contestant.lane);
        let (coder, persona) = self.hands(&contestant.identity);
        let new = Task {
            persona,
            coder,
            limit_s: Some(self.battle.terms.limit_s),
            attempts_max: attempts_max(lane == Lane::Cloud),
            ..self.task(task, Work::Contestant, model, at_ms)
        };
        self.queue(new);
        self.change(id, |contestant| contestant.tries.push(task));
    }

    /// By whose hands, or as whom.
    fn hands(&self, identity: &Identity) -> (Option<Coder>, Option<String>) {
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
                let unchecked = self.battle.survivors().filter(|it| it.check == CheckState::None);
                for id in unchecked.map(|contestant| contestant.id).collect::<Vec<_>>() {
                    let task = self.queue_check(fresh.task(), at_ms);
                    self.change(id, |contestant| contestant.check = CheckState::Pending { task });
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
            limit_s: Some(check::LIMIT_S),
            ..self.task(task, Work::Check, machine, at_ms)
        };
        self.queue(new);
        task
    }

    /// `false` where there are not two results to compare.
    pub fn analyse(&mut self, judge: &Judge, fresh: &mut Fresh, at_ms: i64) -> bool {
        let Some(analysis) = Analysis::new(&self.battle, judge, fresh, at_ms) else { return false };
        for entrant in &analysis.entrants {
            self.queue_opinion(entrant.digest, Work::Digest, &analysis, at_ms);
        }
        self.show(analysis);
        self.update(|course| (course.status, course.finished_at_ms) = (Status::Analysing, None));
        true
    }

    pub fn queue_opinion(&mut self, id: TaskId, work: Work, of: &Analysis, at_ms: i64) {
        let new = Task {
            limit_s: Some(OPINION_LIMIT_S),
            attempts_max: attempts_max(of.paid),
            ..self.task(id, work, of.model.clone(), at_ms)
        };
        self.queue(new);
    }

    pub fn show(&mut self, analysis: Analysis) {
        self.push(Event::AnalysisUpdated { battle: self.battle.id, analysis: Box::new(analysis) });
    }

    /// Ends the analysis that is under way, and whatever still works for it.
    pub fn end_analysis(&mut self, state: analysis::State, at_ms: i64) {
        let Some(analysis) = self.battle.newest_analysis().filter(|analysis| !analysis.is_over()).cloned()
        else {
            return;
        };
        for task in analysis.tasks() {
            self.cancel(task);
        }
        self.show(Analysis { state, ended_at_ms: Some(at_ms), ..analysis });
    }

    pub fn examine(&mut self, examiner: Examiner, question: Option<String>, id: TaskId, at_ms: i64) {
        let (coder, persona) = self.hands(&examiner.identity);
        let new = Task {
            persona,
            coder,
            limit_s: Some(EXAMINATION_LIMIT_S),
            attempts_max: attempts_max(examiner.paid),
            ..self.task(id, Work::Examination, examiner.model.clone(), at_ms)
        };
        self.queue(new);
        let examination = Examination { task: id, examiner, question, asked_at_ms: at_ms };
        self.push(Event::ExaminationAdded { battle: self.battle.id, examination });
    }

    /// Everything that runs is asked to end; who has not begun is over at once.
    pub fn stop(&mut self, why: Stopped) {
        self.update(|course| course.stopped = Some(why));
        let unfinished = self.battle.contestants.iter().filter(|it| !it.standing.is_over());
        for id in unfinished.map(|contestant| contestant.id).collect::<Vec<_>>() {
            self.stop_contestant(id, why.words());
        }
        let checks =
            self.battle.contestants.iter().map(|it| &it.check).chain([&self.battle.course.base_check]);
        let checks: Vec<_> = checks.filter(|state| state.is_pending()).filter_map(CheckState::task).collect();
        checks.into_iter().for_each(|task| self.cancel_check(task, why.words()));
        let at_ms = self.battle.newest_analysis().map(|analysis| analysis.begun_at_ms).unwrap_or_default();
        self.end_analysis(analysis::State::Stopped, at_ms);
    }

    pub fn stop_contestant(&mut self, id: ContestantId, why: &str) {
        let Ok(contestant) = self.battle.contestant(id) else { return };
        let task = contestant.tries.last().copied();
        if let Some(task) = task {
            self.cancel(task);
        }
        let is_under_way = |draft: &Self| {
            draft.battle.contestant(id).is_ok_and(|it| it.is_under_way(draft.battle.task_of(it)))
        };
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

    fn cancel(&mut self, task: TaskId) {
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
            contestant.check = CheckState::None;
        });
        // What was chosen was chosen for what it made.
        self.update(|course| course.winner = course.winner.filter(|winner| *winner != id));
    }

    pub fn queue(&mut self, task: Task) {
        self.push(Event::TaskQueued { owner: task.owner, task });
    }

    /// What every task of a battle has.
    fn task(&self, id: TaskId, work: Work, model: ModelRef, at_ms: i64) -> Task {
        let host = (self.battle.kind == Kind::Coding).then(|| self.battle.terms.host.clone());
        Task { host, ..Task::new(id, Owner::Battle(self.battle.id), work, model, at_ms) }
    }
}
