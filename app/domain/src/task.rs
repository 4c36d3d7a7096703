//! A task: one unit of model work, whoever asked for it. One machine, one way to cancel, fenced by attempt.

use serde::{Deserialize, Serialize};

use crate::{
    Rejected,
    catalogue::ModelRef,
    chat::Coder,
    feed::Event,
    id::{Attempt, BattleId, ChatId, RunId, TaskId},
    output::{Outcome, Phase},
    slot::Priority,
    tool::Permit,
};

#[cfg(test)]
mod sim;

/// What the work is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Answer the last message of a chat.
    ChatTurn,
    /// Do what the last message of a Coder asks for.
    CoderTurn,
    /// Name a chat after its first turn.
    Title,
    /// Take part in a battle.
    Contestant,
    /// Run a project's own check on a result. It asks no model.
    Check,
    /// Describe one result of a battle.
    Digest,
    /// Compare two results of a battle.
    Judgement,
    /// Answer a person's question about a battle's results.
    Examination,
    /// Carry out a step of a run.
    Step,
}

impl Work {
    /// Whether it answers a message, rather than serves one that is answered.
    pub fn is_turn(self) -> bool {
        matches!(self, Self::ChatTurn | Self::CoderTurn)
    }
}

/// Whose work it is, and so who decides what comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    Chat(ChatId),
    Battle(BattleId),
    Run(RunId),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    #[serde(flatten)]
    pub owner: Owner,
    pub work: Work,
    pub model: ModelRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coder: Option<Coder>,
    /// Where the folders are that it needs: only a server there can do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The machine whose own model server is meant, where there may be others of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The longest that an attempt may take, where its owner says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<u32>,
    pub attempts_max: u32,
    pub queued_at_ms: i64,
    /// Attempts whose text stays readable although whoever ran them is gone, each with its text's length.
    pub lost: Vec<(Attempt, u64)>,
    pub status: Status,
}

/// Each state holds exactly its own data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Queued,
    Running {
        attempt: Attempt,
        phase: Phase,
        cancelling: bool,
        /// When it began to work. Making its folder ready is not counted.
        started_at_ms: i64,
    },
    /// `attempt` is missing when nothing ever ran. `stream_len` is how long the attempt's output is.
    Settled {
        attempt: Option<Attempt>,
        outcome: Outcome,
        stream_len: u64,
    },
}

/// What is asked of a task or seen of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Claim {
        at_ms: i64,
    },
    Phase {
        attempt: Attempt,
        phase: Phase,
        at_ms: i64,
    },
    Report {
        attempt: Attempt,
        outcome: Outcome,
        stream_len: u64,
    },
    /// A person's word on what the agent asked.
    Answer {
        attempt: Attempt,
        number: u32,
        permit: Permit,
    },
    Cancel,
}

/// Whoever runs a task may vanish; how often we start again is bounded, and a paid run is repeated once only.
pub const ATTEMPTS_MAX: u32 = 3;
pub const PAID_ATTEMPTS_MAX: u32 = 2;

impl Task {
    /// One that anybody can do, as often and as long as usual.
    pub fn new(id: TaskId, owner: Owner, work: Work, model: ModelRef, at_ms: i64) -> Self {
        Self {
            id,
            owner,
            work,
            model,
            persona: None,
            coder: None,
            host: None,
            machine: None,
            limit_s: None,
            attempts_max: ATTEMPTS_MAX,
            queued_at_ms: at_ms,
            lost: Vec::new(),
            status: Status::Queued,
        }
    }

    pub fn decide(&self, input: Input) -> Result<Vec<Event>, Rejected> {
        use Status::{Queued, Running, Settled};
        let (owner, task) = (self.owner, self.id);
        let event = match (&self.status, input) {
            (Queued, Input::Claim { at_ms }) => {
                Event::TaskStarted { owner, task, attempt: self.next_attempt(), at_ms }
            }
            (Queued, Input::Cancel) => self.settled(None, Outcome::Cancelled, 0),
            (Running { attempt, phase: now, .. }, Input::Phase { attempt: of, phase, at_ms })
                if *attempt == of =>
            {
                // What a person is asked stands until it is answered, or the agent asks anew.
                if *now == phase || (matches!(now, Phase::Asking(_)) && !matches!(phase, Phase::Asking(_))) {
                    return Ok(Vec::new());
                }
                let at_ms = (*now == Phase::Preparing).then_some(at_ms);
                Event::TaskPhase { owner, task, attempt: of, phase, began_at_ms: at_ms }
            }
            (Running { attempt, phase, .. }, Input::Answer { attempt: of, number, permit })
                if *attempt == of && phase.asks(number, permit) =>
            {
                Event::TaskAnswered { owner, task, attempt: of, number, permit }
            }
            (Running { cancelling: true, .. }, Input::Cancel) => return Ok(Vec::new()),
            (Running { .. }, Input::Cancel) => Event::TaskCancelling { owner, task },
            (Running { attempt, cancelling, .. }, Input::Report { attempt: of, outcome, stream_len })
                if *attempt == of =>
            {
                self.report(of, *cancelling, outcome, stream_len)
            }
            (Settled { .. }, Input::Cancel) => return Err(Rejected::Idle),
            (_, Input::Claim { .. } | Input::Phase { .. } | Input::Report { .. } | Input::Answer { .. }) => {
                return Err(Rejected::Stale);
            }
        };
        Ok(vec![event])
    }

    /// Whether an outcome of an attempt is the task's own, and nothing more is tried.
    pub fn is_settled_by(&self, attempt: Attempt, outcome: &Outcome) -> bool {
        let cancelling = matches!(self.status, Status::Running { cancelling: true, .. });
        cancelling || *outcome != Outcome::Lost || attempt.0 >= self.attempts_max
    }

    fn report(&self, attempt: Attempt, cancelling: bool, outcome: Outcome, stream_len: u64) -> Event {
        if !self.is_settled_by(attempt, &outcome) {
            return Event::TaskRequeued { owner: self.owner, task: self.id, attempt, stream_len };
        }
        match outcome {
            // The stop was asked for and nobody is left to carry it out, so it is carried out.
            Outcome::Lost if cancelling => self.settled(Some(attempt), Outcome::Cancelled, stream_len),
            outcome => self.settled(Some(attempt), outcome, stream_len),
        }
    }

    fn settled(&self, attempt: Option<Attempt>, outcome: Outcome, stream_len: u64) -> Event {
        Event::TaskSettled { owner: self.owner, task: self.id, work: self.work, attempt, outcome, stream_len }
    }

    /// Total: an event that does not concern this task changes nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TaskStarted { task, attempt, at_ms, .. } if *task == self.id => {
                self.status = Status::Running {
                    attempt: *attempt,
                    phase: Phase::Starting,
                    cancelling: false,
                    started_at_ms: *at_ms,
                };
            }
            Event::TaskPhase { task, phase: new, began_at_ms, .. } if *task == self.id => {
                if let Status::Running { phase, started_at_ms, .. } = &mut self.status {
                    *phase = new.clone();
                    *started_at_ms = began_at_ms.unwrap_or(*started_at_ms);
                }
            }
            Event::TaskAnswered { task, number, .. } if *task == self.id => {
                if let Status::Running { phase, .. } = &mut self.status
                    && matches!(phase, Phase::Asking(ask) if ask.number == *number)
                {
                    *phase = Phase::Generating;
                }
            }
            Event::TaskCancelling { task, .. } if *task == self.id => {
                if let Status::Running { cancelling, .. } = &mut self.status {
                    *cancelling = true;
                }
            }
            Event::TaskRequeued { task, attempt, stream_len, .. } if *task == self.id => {
                self.lost.push((*attempt, *stream_len));
                self.status = Status::Queued;
            }
            Event::TaskSettled { task, attempt, outcome, stream_len, .. } if *task == self.id => {
                self.status =
                    Status::Settled { attempt: *attempt, outcome: outcome.clone(), stream_len: *stream_len };
            }
            _ => {}
        }
    }

    /// Who goes first at a model server.
    pub fn priority(&self) -> Priority {
        match self.work {
            Work::ChatTurn | Work::CoderTurn | Work::Examination => Priority::Interactive,
            Work::Title | Work::Contestant | Work::Check | Work::Digest | Work::Judgement | Work::Step => {
                Priority::Background
            }
        }
    }

    /// How long it has been at work; nothing while it only gets ready for that.
    pub fn worked_ms(&self, now_ms: i64) -> Option<u64> {
        match &self.status {
            Status::Running { phase, started_at_ms, .. } if *phase != Phase::Preparing => {
                Some(now_ms.saturating_sub(*started_at_ms).max(0) as u64)
            }
            _ => None,
        }
    }

    pub fn is_settled(&self) -> bool {
        matches!(self.status, Status::Settled { .. })
    }

    /// Bounded by `attempts_max`, because a task is requeued only below it.
    pub fn next_attempt(&self) -> Attempt {
        Attempt(self.lost.last().map_or(1, |(last, _)| last.0 + 1))
    }

    /// The attempts that have output to show, oldest first, each with its length once that is final.
    pub fn attempts(&self) -> Vec<(Attempt, Option<u64>)> {
        let current = match &self.status {
            Status::Queued | Status::Settled { attempt: None, .. } => None,
            Status::Running { attempt, .. } => Some((*attempt, None)),
            Status::Settled { attempt: Some(attempt), stream_len, .. } => Some((*attempt, Some(*stream_len))),
        };
        self.lost.iter().map(|(attempt, len)| (*attempt, Some(*len))).chain(current).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn task() -> Task {
        let owner = Owner::Chat(ChatId(uuid::Uuid::from_u128(1)));
        let model = ModelRef { server: "local".into(), model: "small".into() };
        let task = Task::new(TaskId(uuid::Uuid::from_u128(7)), owner, Work::ChatTurn, model, 0);
        Task { attempts_max: PAID_ATTEMPTS_MAX, ..task }
    }

    /// Runs a script of inputs and compares the whole story: `state` after each accepted input, `!` for stale
    /// ones, `-` where nothing changed.
    fn check(script: &str, expected: &str) {
        let mut task = task();
        let mut story = Vec::new();
        for word in script.split_whitespace() {
            story.push(step(&mut task, word));
        }
        assert_eq!(story.join(" "), expected, "script: {script}");
    }

    fn step(task: &mut Task, word: &str) -> String {
        let (verb, number) = word.split_at(word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len()));
        let attempt = Attempt(number.parse().unwrap_or(0));
        let report = |outcome| Input::Report { attempt, outcome, stream_len: 3 };
        let input = match verb {
            "claim" => Input::Claim { at_ms: 1 },
            "load" => Input::Phase { attempt, phase: Phase::Loading, at_ms: 2 },
            "cancel" => Input::Cancel,
            "done" => report(Outcome::Done { measured: Default::default() }),
            "fail" => report(Outcome::Failed { reason: "no".into() }),
            "void" => report(Outcome::Void { reason: "down".into() }),
            "lost" => report(Outcome::Lost),
            "stopped" => report(Outcome::Cancelled),
            other => panic!("unknown word {other}"),
        };
        match task.decide(input) {
            Err(Rejected::Stale) => "!".into(),
            Err(other) => format!("{other:?}"),
            Ok(events) if events.is_empty() => "-".into(),
            Ok(events) => {
                for event in &events {
                    task.apply(event);
                }
                name(task)
            }
        }
    }

    fn name(task: &Task) -> String {
        match &task.status {
            Status::Queued => "queued".into(),
            Status::Running { attempt, cancelling: true, .. } => format!("stopping{attempt}"),
            Status::Running { attempt, phase: Phase::Loading, .. } => format!("loading{attempt}"),
            Status::Running { attempt, .. } => format!("running{attempt}"),
            Status::Settled { outcome, .. } => match outcome {
                Outcome::Done { .. } => "done",
                Outcome::Failed { .. } => "failed",
                Outcome::Void { .. } => "void",
                Outcome::Lost => "lost",
                Outcome::Cancelled => "cancelled",
            }
            .into(),
        }
    }

    #[test]
    fn a_task_runs_once_and_is_done() {
        check("claim done1", "running1 done");
        check("claim load1 load1 done1", "running1 loading1 - done");
        check("claim fail1", "running1 failed");
        check("claim void1", "running1 void");
    }

    /// Whoever waits for a folder does not work yet.
    #[test]
    fn the_clock_begins_when_the_work_does() {
        let mut task = task();
        let mut seen = Vec::new();
        for input in [
            Input::Claim { at_ms: 10 },
            Input::Phase { attempt: Attempt(1), phase: Phase::Preparing, at_ms: 11 },
            Input::Phase { attempt: Attempt(1), phase: Phase::Starting, at_ms: 30 },
            Input::Phase { attempt: Attempt(1), phase: Phase::Generating, at_ms: 40 },
        ] {
            seen.push(task.worked_ms(50));
            task.decide(input).unwrap().iter().for_each(|event| task.apply(event));
        }
        seen.push(task.worked_ms(50));
        assert_eq!(seen, [None, Some(40), None, Some(20), Some(20)]);
    }

    #[test]
    fn a_lost_attempt_is_repeated_within_the_bound() {
        check("claim lost1 claim done2", "running1 queued running2 done");
        check("claim lost1 claim lost2", "running1 queued running2 lost");
    }

    #[test]
    fn a_stale_or_repeated_report_changes_nothing() {
        check("claim lost1 claim done1 done2", "running1 queued running2 ! done");
        check("claim done1 done1 lost1", "running1 done ! !");
        check("done1", "!");
        check("claim claim", "running1 !");
        check("claim lost1 load1", "running1 queued !");
    }

    #[test]
    fn cancel_ends_a_task_in_every_state() {
        check("cancel", "cancelled");
        check("claim cancel stopped1", "running1 stopping1 cancelled");
        check("claim cancel cancel done1", "running1 stopping1 - done");
        check("claim cancel lost1", "running1 stopping1 cancelled");
        check("claim lost1 cancel claim", "running1 queued cancelled !");
        check("claim done1 cancel", "running1 done Idle");
    }
}
