use std::collections::BTreeMap;

use super::*;
use crate::{
    backend::Backend,
    feed::StreamId,
    flow::{Band, FlowId, Signals},
    run::{Draft, RunStep, Status, tests::run as planned},
    task::Status as TaskStatus,
};

fn terms(paid: bool) -> Terms {
    Terms {
        backend: Backend("qwen".into()),
        model: ModelRef { server: "local".into(), model: "small".into() },
        paid,
        host: "here".into(),
        base: "abc".into(),
        signals: Signals::default(),
        since: None,
        template: None,
        has_web: false,
        recorded: None,
    }
}

pub(crate) fn shown(flow: FlowId, band: Band) -> Shown {
    let run = planned(flow, band);
    Shown::new(Launch {
        id: run.id,
        session: SessionId(uuid::Uuid::from_u128(20)),
        project: ProjectId(uuid::Uuid::from_u128(30)),
        plan: run.plan(),
        terms: terms(false),
        at_ms: 5,
    })
}

/// A run, and everything that was told about it.
struct Story {
    start: Shown,
    now: Shown,
    told: Vec<Event>,
    ids: u128,
    tried: u32,
}

impl Story {
    fn new(flow: FlowId, band: Band) -> Self {
        let start = shown(flow, band);
        let mut story =
            Self { now: start.clone(), start: start.clone(), told: Vec::new(), ids: 1_000, tried: 0 };
        let events = start.begin(story.fresh(), 5).unwrap();
        story.tell(events);
        story
    }

    fn fresh(&mut self) -> Fresh {
        self.ids += 1_000;
        Fresh::new(uuid::Uuid::from_u128(self.ids))
    }

    fn tell(&mut self, events: Vec<Event>) {
        events.iter().for_each(|event| self.now.apply(event));
        self.told.extend(events);
    }

    fn task(&self, step: &str) -> Task {
        self.now.task_of(&StepId(step.into())).cloned().unwrap_or_else(|| panic!("{step} has no task"))
    }

    fn claim(&mut self, step: &str) -> Attempt {
        let task = self.task(step);
        self.tell(task.decide(task::Input::Claim { at_ms: 6 }).unwrap());
        task.next_attempt()
    }

    fn end(&mut self, step: &str, outcome: Outcome) {
        let attempt = self.claim(step);
        let fresh = self.fresh();
        let task = self.task(step).id;
        let ended =
            Ended { task, attempt, outcome, stream_len: 3, tally: None, tried: self.tried, fresh, at_ms: 7 };
        self.tell(self.now.ended(ended).unwrap());
    }

    fn done(&mut self, steps: &str) {
        steps.split(' ').for_each(|step| self.end(step, Outcome::Done { measured: Default::default() }));
    }

    /// What must hold whatever was told.
    fn check(&self) {
        let mut again = self.start.clone();
        self.told.iter().for_each(|event| again.apply(event));
        assert_eq!(again, self.now, "replay gives the same");
        for RunStep { step, status, .. } in &self.now.run.steps {
            let task = self.now.task_of(&step.id).map(|task| &task.status);
            let fits = match status {
                StepStatus::Waiting | StepStatus::Skipped { .. } => task.is_none(),
                StepStatus::Queued => matches!(task, Some(TaskStatus::Queued)),
                StepStatus::Running { .. } => matches!(task, Some(TaskStatus::Running { .. })),
                StepStatus::Done { .. } | StepStatus::Failed { .. } => {
                    matches!(task, Some(TaskStatus::Settled { .. }))
                }
                StepStatus::Cancelled => task.is_none_or(|it| matches!(it, TaskStatus::Settled { .. })),
            };
            assert!(fits, "{}: {status:?} and {task:?}", step.id);
        }
    }
}

#[test]
fn whoever_reads_the_web_is_our_own_agent() {
    let check = |has_web: bool, step: &str, expected: &str| {
        let mut start = shown(FlowId::Research, Band::Small);
        start.terms.has_web = has_web;
        let task = start.task(&start.run, &StepId(step.to_owned()), TaskId(uuid::Uuid::nil()), 5);
        assert_eq!(task.coder.map(|coder| coder.backend.0).as_deref(), Some(expected), "{step} {has_web}");
    };
    check(true, "options", "native");
    check(false, "options", "qwen");
    check(true, "project", "qwen");
    check(true, "gate", "qwen");
}

#[test]
fn a_run_is_carried_out_by_tasks() {
    let mut story = Story::new(FlowId::Research, Band::Small);
    story.check();
    let (agent, code) = (story.task("options"), "fold");
    assert_eq!((agent.model.server.as_str(), agent.host.as_deref()), ("local", Some("here")));
    assert_eq!(agent.coder.map(|coder| coder.backend), Some(Backend("qwen".into())));
    story.done("options project");
    let task = story.task(code);
    assert_eq!(
        (task.model.server.as_str(), task.coder, task.host.as_deref()),
        (slot::STEPS, None, Some("here"))
    );
    story.done("fold weigh gate render");
    assert_eq!(story.now.run.status, Status::Done);
    assert_eq!((story.now.finished_at_ms, story.now.has_report()), (Some(7), true));
    assert_eq!(story.now.progress(), (6, 6));
    story.check();
}

#[test]
fn a_lost_attempt_is_tried_again_and_its_text_stays() {
    let mut story = Story::new(FlowId::Research, Band::Small);
    story.end("options", Outcome::Lost);
    story.check();
    assert_eq!(story.now.run.step(&StepId("options".into())).map(|step| step.lost), Some(1));
    story.claim("project");
    let (growing, project) = (story.now.growing_streams(), story.task("project").id);
    assert_eq!(growing, [(StreamId { task: project, attempt: Attempt(1) }, None)], "what is over is not");
    story.done("options");
    let streams = story.now.streams_of(&StepId("options".into()));
    assert_eq!(streams.iter().map(|stream| stream.attempt.0).collect::<Vec<_>>(), [1, 2]);
    story.check();
    let mut gone = Story::new(FlowId::Research, Band::Small);
    for _ in 0..3 {
        gone.end("options", Outcome::Lost);
    }
    gone.check();
    let step = gone.now.run.step(&StepId("options".into())).map(|step| step.status.word());
    assert_eq!(step, Some("failed"));
}

#[test]
fn cancel_ends_what_waits_and_asks_what_runs_to_stop() {
    let mut story = Story::new(FlowId::Research, Band::Small);
    let attempt = story.claim("options");
    let fresh = story.fresh();
    let events = story.now.cancel(fresh, 8).unwrap();
    story.tell(events);
    story.check();
    assert_eq!(story.now.run.status, Status::Running { cancelling: true });
    let words: BTreeMap<_, _> =
        story.now.run.steps.iter().map(|step| (step.step.id.0.as_str(), step.status.label())).collect();
    assert_eq!((words["options"], words["project"], words["render"]), ("Stopping", "Cancelled", "Cancelled"));
    let (task, fresh) = (story.task("options").id, story.fresh());
    let outcome = Outcome::Cancelled;
    let ended = Ended { task, attempt, outcome, stream_len: 0, tally: None, tried: 0, fresh, at_ms: 9 };
    let events = story.now.ended(ended.clone()).unwrap();
    story.tell(events);
    story.check();
    assert_eq!((&story.now.run.status, story.now.finished_at_ms), (&Status::Cancelled, Some(9)));
    assert_eq!(story.now.ended(ended), Err(Rejected::Stale), "told twice, it counts once");
    let fresh = story.fresh();
    assert_eq!(story.now.cancel(fresh, 10), Err(Rejected::Idle));
}

#[test]
fn what_ends_as_stopped_by_itself_is_not_stopped_again() {
    let mut story = Story::new(FlowId::Research, Band::Small);
    story.end("options", Outcome::Cancelled);
    let stops = story.told.iter().filter(|event| matches!(event, Event::TaskCancelling { .. })).count();
    assert_eq!(stops, 0);
    story.check();
}

#[test]
fn how_often_an_agent_tried_to_write_is_told_with_its_step() {
    let mut story = Story::new(FlowId::Research, Band::Small);
    story.tried = 2;
    story.done("options");
    story.tried = 0;
    story.done("project");
    assert_eq!(story.now.tried, [(StepId("options".into()), 2)].into());
    story.check();
}

#[test]
fn a_launch_is_the_same_if_all_of_it_is() {
    let shown = shown(FlowId::Research, Band::Small);
    let same = shown.again(shown.id(), Band::Small);
    assert!(shown.is_of(&same));
    let other = SessionId(uuid::Uuid::from_u128(21));
    for draft in [
        shown.again(shown.id(), Band::Large),
        Draft { focus: "Something else".into(), ..same.clone() },
        Draft { session: other, ..same.clone() },
        Draft { flow: "dance".into(), ..same },
    ] {
        assert!(!shown.is_of(&draft), "{draft:?}");
    }
}

#[test]
fn the_same_question_can_be_asked_in_another_band() {
    let shown = shown(FlowId::Research, Band::Small);
    let draft = shown.again(RunId(uuid::Uuid::from_u128(9)), Band::Large);
    let request = draft.request(false).unwrap();
    assert_eq!((request.band, request.flow), (Band::Large, FlowId::Research));
    assert_eq!((request.focus, draft.backend), (shown.run.request.focus.clone(), "qwen".to_owned()));
    assert_eq!(draft.model, "local/small");
}

#[test]
fn an_agent_on_its_own_login_is_held_to_its_calls_alone() {
    let limits = crate::flow::plan::Limits { steps: 8, calls: 20 };
    let mut terms = terms(false);
    assert_eq!(terms.held_to(limits), "has to answer after 8 steps or 20 calls");
    terms.model.server = terms.backend.login_server();
    assert_eq!(terms.held_to(limits), "is stopped after 20 calls");
}
