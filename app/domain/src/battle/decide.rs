//! What may happen to a battle next.

mod opinions;
mod report;
mod transition;

use super::{
    ANALYSES_MAX, Battle, Contestant, Examination, Examiner, Fresh, Judge, Standing, Status, Stopped,
    TRIES_MAX, check::Checked,
};
use crate::{
    Rejected,
    feed::Event,
    id::{Attempt, ContestantId, TaskId},
    output::{Outcome, Phase},
    task,
    worktree::Changes,
};
pub use opinions::OPINION_LIMIT_S;
use transition::Transition;

/// What is asked of a battle or seen of its tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Phase {
        task: TaskId,
        attempt: Attempt,
        phase: Phase,
        at_ms: i64,
    },
    /// A task has used so many tokens more.
    Used {
        task: TaskId,
        attempt: Attempt,
        tokens: u64,
        fresh: Fresh,
        at_ms: i64,
    },
    Report(Box<Report>),
    Stop {
        fresh: Fresh,
        at_ms: i64,
    },
    StopContestant {
        contestant: ContestantId,
        fresh: Fresh,
        at_ms: i64,
    },
    /// Another try from the beginning; what the last one made stays to be looked at.
    Retry {
        contestant: ContestantId,
        fresh: Fresh,
        at_ms: i64,
    },
    Analyse {
        judge: Judge,
        fresh: Fresh,
        at_ms: i64,
    },
    StopAnalysis {
        fresh: Fresh,
        at_ms: i64,
    },
    Examine {
        examiner: Examiner,
        question: Option<String>,
        fresh: Fresh,
        at_ms: i64,
    },
    StopExamination {
        task: TaskId,
    },
    /// The results folder was written, or why it could not be.
    Written {
        failure: Option<String>,
    },
    /// The person's own choice; none takes it back.
    SetWinner {
        winner: Option<ContestantId>,
    },
}

impl Input {
    /// Whether a person gives somebody work with it.
    pub fn begins(&self) -> bool {
        matches!(self, Self::Retry { .. } | Self::Analyse { .. } | Self::Examine { .. })
    }
}

/// The end of an attempt, with all that what follows may need.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub task: TaskId,
    pub attempt: Attempt,
    pub outcome: Outcome,
    pub stream_len: u64,
    /// What it said, where the battle reads it: a contestant, a digest, a judgement. None where that is not known.
    pub said: Option<String>,
    pub marks: Marks,
    /// What its worktree holds by now.
    pub changes: Option<Changes>,
    /// Why that could not be kept.
    pub unkept: Option<String>,
    /// How a check ended.
    pub checked: Option<Checked>,
    pub fresh: Fresh,
    pub at_ms: i64,
}

/// What is the same for the same words and for the same change. None where there is none, or it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub said: Option<String>,
    pub patch: Option<String>,
}

impl Battle {
    /// The news that it is there, and what is to be done first.
    pub fn begin(self, mut fresh: Fresh, at_ms: i64) -> Vec<Event> {
        let mut next = Transition::new(self.clone());
        next.push(Event::BattleStarted { battle: Box::new(self) });
        next.advance(&mut fresh, at_ms);
        next.events
    }

    pub fn decide(&self, input: Input) -> Result<Vec<Event>, Rejected> {
        let no = |words: &str| Err(Rejected::Invalid(words.to_owned()));
        let not_now = |words: &str| Err(Rejected::NotNow(words.to_owned()));
        let mut next = Transition::new(self.clone());
        match input {
            Input::Phase { task, attempt, phase, at_ms } => {
                let task = self.tasks.get(&task).ok_or(Rejected::Stale)?;
                next.push_all(task.decide(task::Input::Phase { attempt, phase, at_ms })?);
            }
            Input::Used { task, attempt, tokens, mut fresh, at_ms } => {
                self.check_runs(task, attempt)?;
                next.count(task, tokens, &mut fresh, at_ms);
            }
            Input::Report(report) => next.report(*report)?,
            // What was finished stays so: all that runs of it is another comparison.
            Input::Stop { mut fresh, at_ms } if self.is_compared_again() => {
                next.end_analysis(super::analysis::State::Stopped, at_ms);
                next.advance(&mut fresh, at_ms);
            }
            Input::Stop { mut fresh, at_ms } => {
                if self.course.status.is_over() || self.course.stopped.is_some() {
                    return Err(Rejected::Idle);
                }
                next.stop(Stopped::ByPerson, at_ms);
                next.advance(&mut fresh, at_ms);
            }
            Input::StopContestant { contestant, mut fresh, at_ms } => {
                let contestant = self.contestant(contestant)?;
                if contestant.standing.is_over() {
                    return Err(Rejected::Idle);
                }
                next.stop_contestant(contestant.id, "It was stopped.");
                next.advance(&mut fresh, at_ms);
            }
            Input::Retry { contestant, mut fresh, at_ms } => {
                let contestant = self.contestant(contestant)?;
                self.may_retry(contestant)?;
                next.renew(contestant.id);
                next.advance(&mut fresh, at_ms);
            }
            Input::Analyse { judge, mut fresh, at_ms } => {
                match self.course.status {
                    Status::Running => {
                        return not_now("The battle is still running. Analyse it when it is over.");
                    }
                    Status::Analysing => return not_now("An analysis is under way."),
                    Status::Completed | Status::Cancelled => {}
                }
                if self.analyses.len() >= ANALYSES_MAX {
                    return no("The battle has been analysed often enough.");
                }
                if !next.analyse(&judge, true, &mut fresh, at_ms) {
                    return no("Fewer than two contestants have a result, so there is nothing to compare.");
                }
                next.advance(&mut fresh, at_ms);
            }
            Input::StopAnalysis { mut fresh, at_ms } => {
                if self.course.status != Status::Analysing {
                    return Err(Rejected::Idle);
                }
                next.end_analysis(super::analysis::State::Stopped, at_ms);
                next.advance(&mut fresh, at_ms);
            }
            Input::Examine { examiner, question, mut fresh, at_ms } => {
                let question =
                    question.map(|words| words.trim().to_owned()).filter(|words| !words.is_empty());
                Examination::check(self, question.as_deref())?;
                next.examine(examiner, question, fresh.task(), at_ms);
            }
            Input::StopExamination { task } => {
                let known = self.examinations.iter().any(|examination| examination.task == task);
                let task = self.tasks.get(&task).filter(|_| known);
                let task = task.ok_or_else(|| Rejected::missing("cross-examination"))?;
                next.push_all(task.decide(task::Input::Cancel)?);
            }
            Input::Written { failure } => next.update(|course| course.unwritten = failure),
            Input::SetWinner { winner } => {
                if let Some(winner) = winner {
                    let contestant = self.contestant(winner)?;
                    if contestant.standing != Standing::Done {
                        return no("Only a contestant that has a result can win.");
                    }
                }
                if !self.contestants.iter().all(|contestant| contestant.standing.is_over()) {
                    return not_now("The battle is still running. Choose a winner when all are over.");
                }
                if winner != self.course.winner {
                    next.update(|course| course.winner = winner);
                }
            }
        }
        Ok(next.events)
    }

    fn check_runs(&self, task: TaskId, attempt: Attempt) -> Result<(), Rejected> {
        match self.tasks.get(&task).map(|task| &task.status) {
            Some(task::Status::Running { attempt: now, .. }) if *now == attempt => Ok(()),
            _ => Err(Rejected::Stale),
        }
    }

    fn is_compared_again(&self) -> bool {
        self.course.status == Status::Analysing && self.course.finished_at_ms.is_some()
    }

    /// Whether it has used more tokens than it may.
    pub(super) fn is_spent(&self) -> bool {
        self.terms.tokens_max.is_some_and(|max| self.spent() > max)
    }

    fn may_retry(&self, contestant: &Contestant) -> Result<(), Rejected> {
        let no = |words: &str| Err(Rejected::Invalid(words.to_owned()));
        let not_now = |words: &str| Err(Rejected::NotNow(words.to_owned()));
        if !contestant.standing.is_over() {
            return not_now("It is not over yet. Stop it first.");
        }
        if self.course.status == Status::Analysing {
            return not_now("Its result is being compared. Wait for the analysis, or stop it.");
        }
        if self.course.stopped.is_some() && !self.course.status.is_over() {
            return not_now("The battle is being stopped.");
        }
        if self.course.stopped == Some(Stopped::Spent) || self.is_spent() {
            return no(
                "The battle has used all the tokens that it may, with what you asked for besides. Begin a new one.",
            );
        }
        if contestant.tries.len() >= TRIES_MAX {
            return no("It was tried often enough.");
        }
        Ok(())
    }
}
