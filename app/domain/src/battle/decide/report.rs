//! What the end of a task means for its battle.

use super::{
    super::{Benchmark, CheckState, Contestant, Fresh, Standing, analysis, digest, judge},
    Marks, Report, Transition,
};
use crate::{
    Rejected,
    battle::blind::Names,
    feed::Event,
    id::{ContestantId, TaskId},
    output::Outcome,
    task::{self, Work},
};

/// What a task is for.
enum Part {
    Contestant(ContestantId),
    Check,
    /// By its place among the entrants of the newest analysis.
    Digest(usize),
    /// By its place among the judgements of the newest analysis.
    Judgement(usize),
    /// A cross-examination, an earlier try, or an analysis that is over: nothing follows.
    Nothing,
}

impl Transition {
    pub fn report(&mut self, report: Report) -> Result<(), Rejected> {
        let Report {
            task,
            attempt,
            outcome,
            stream_len,
            said,
            marks,
            changes,
            unkept,
            checked,
            mut fresh,
            at_ms,
        } = report;
        let known = self.battle.tasks.get(&task).ok_or(Rejected::Stale)?;
        let worked_ms = known.worked_ms(at_ms);
        self.push_all(known.decide(task::Input::Report { attempt, outcome, stream_len })?);
        let Some(task::Status::Settled { outcome, .. }) =
            self.battle.tasks.get(&task).map(|task| task.status.clone())
        else {
            return Ok(());
        };
        match self.part(task) {
            Part::Contestant(id) => {
                let stopped = self.battle.course.stopped.map(|stopped| stopped.words());
                self.change(id, |contestant| {
                    settle(contestant, &outcome, stopped, worked_ms);
                    contestant.changes = changes;
                    contestant.unkept = unkept;
                    look_at_result(contestant, said.as_deref(), marks);
                });
            }
            Part::Check => {
                let state = match (&outcome, checked) {
                    (Outcome::Done { .. }, Some(checked)) => CheckState::Done { task, checked },
                    (outcome, _) => CheckState::Void { reason: why(outcome) },
                };
                self.set_check(task, state);
            }
            Part::Digest(place) => self.digested(place, &outcome, said.as_deref(), &mut fresh, at_ms),
            Part::Judgement(place) => self.judged(place, &outcome, said.as_deref(), &mut fresh, at_ms),
            Part::Nothing => {}
        }
        self.advance(&mut fresh, at_ms);
        Ok(())
    }

    fn part(&self, task: TaskId) -> Part {
        let battle = &self.battle;
        let contestant = battle.contestants.iter().find(|it| it.tries.last() == Some(&task));
        if let Some(contestant) = contestant.filter(|it| !it.standing.is_over()) {
            return Part::Contestant(contestant.id);
        }
        if battle.tasks.get(&task).is_some_and(|task| task.work == Work::Check) {
            return Part::Check;
        }
        let Some(analysis) = battle.newest_analysis().filter(|analysis| !analysis.is_over()) else {
            return Part::Nothing;
        };
        let digest = analysis.entrants.iter().position(|entrant| entrant.digest == task).map(Part::Digest);
        let judgement = || analysis.judgements.iter().position(|it| it.task == task).map(Part::Judgement);
        digest.or_else(judgement).unwrap_or(Part::Nothing)
    }

    fn digested(
        &mut self,
        place: usize,
        outcome: &Outcome,
        said: Option<&str>,
        fresh: &mut Fresh,
        at_ms: i64,
    ) {
        let Some(mut analysis) = self.battle.newest_analysis().cloned() else { return };
        let text = said.filter(|_| matches!(outcome, Outcome::Done { .. })).and_then(digest::kept);
        let Some(text) = text else {
            let reason = match outcome {
                Outcome::Done { .. } => "A description of a result came back empty.".to_owned(),
                outcome => format!("A result could not be described: {}", why(outcome)),
            };
            return self.end_analysis(analysis::State::Failed { reason }, at_ms);
        };
        // The judge must not learn a name that the digest let through.
        let text = Names::of(&self.battle, &[]).hidden(&text);
        let read = match outcome {
            Outcome::Done { measured } => measured.read.as_deref().copied(),
            _ => None,
        };
        let digest = analysis.entrants[place].digest;
        for entrant in analysis.entrants.iter_mut().filter(|entrant| entrant.digest == digest) {
            entrant.text = Some(text.clone());
            entrant.read = read;
        }
        if analysis.entrants.iter().all(|entrant| entrant.text.is_some()) {
            analysis.state = analysis::State::Judging;
            analysis.judgements = analysis.judgements_to_make(fresh);
            for judgement in &analysis.judgements {
                self.queue_opinion(judgement.task, Work::Judgement, &analysis, at_ms);
            }
        }
        self.show(analysis);
    }

    fn judged(&mut self, place: usize, outcome: &Outcome, said: Option<&str>, fresh: &mut Fresh, at_ms: i64) {
        let Some(analysis) = self.battle.newest_analysis().cloned() else { return };
        let mut judgement = analysis.judgements[place].clone();
        let answer = match outcome {
            Outcome::Done { .. } => said.and_then(|said| judge::parse(said, judgement.letters())),
            outcome => {
                let reason = format!("The judge could not be asked: {}", why(outcome));
                return self.end_analysis(analysis::State::Failed { reason }, at_ms);
            }
        };
        match answer {
            Some(answer) => judgement.answer = Some(answer),
            None if judgement.tries >= judge::TRIES_MAX => {
                let reason = "The judge did not answer in the form that was asked for, twice.".to_owned();
                return self.end_analysis(analysis::State::Failed { reason }, at_ms);
            }
            None => {
                judgement.tries += 1;
                judgement.task = fresh.task();
                self.queue_opinion(judgement.task, Work::Judgement, &analysis, at_ms);
            }
        }
        let (battle, number, place) = (self.battle.id, analysis.number, place as u32);
        self.push(Event::JudgementMade { battle, analysis: number, place, judgement });
        self.name_winner(at_ms);
    }

    /// Once every pair was judged.
    fn name_winner(&mut self, at_ms: i64) {
        let Some(analysis) = self.battle.newest_analysis() else { return };
        if analysis.judgements.iter().any(|judgement| judgement.answer.is_none()) {
            return;
        }
        let done = analysis.clone().judged(&self.battle, at_ms);
        self.show(done);
    }
}

/// `worked_ms` is how long it was at work, where its clock had begun: all that is known of one that came to no end. What
/// it used was counted while it ran.
fn settle(contestant: &mut Contestant, outcome: &Outcome, stopped: Option<&str>, worked_ms: Option<u64>) {
    contestant.standing = match (Standing::after(outcome), stopped) {
        (Standing::Cancelled { .. }, Some(why)) => Standing::Cancelled { reason: why.to_owned() },
        (standing, _) => standing,
    };
    contestant.benchmark = match outcome {
        Outcome::Done { measured } => Some(Benchmark::of(measured)),
        _ => worked_ms.map(|duration_ms| Benchmark { duration_ms, ..Benchmark::default() }),
    };
}

/// Whoever came to an end with nothing has no result. What is not known is not held against anybody.
fn look_at_result(contestant: &mut Contestant, said: Option<&str>, marks: Marks) {
    if contestant.standing != Standing::Done {
        return;
    }
    let is_silent = said.is_some_and(|said| said.trim().is_empty());
    contestant.mark = match &contestant.changes {
        Some(changes) if !changes.left_out.is_empty() => None,
        Some(changes) if !changes.files.is_empty() => marks.patch.map(|mark| format!("patch {mark}")),
        Some(_) | None if !is_silent => marks.said.map(|mark| format!("said {mark}")),
        changes => {
            let reason =
                if changes.is_some() { "It said nothing and changed nothing." } else { "It said nothing." };
            contestant.standing = Standing::Failed { reason: reason.to_owned() };
            None
        }
    };
}

fn why(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed { reason } | Outcome::Void { reason } => reason.clone(),
        Outcome::Lost => "whoever ran it, or the database, went away each time.".to_owned(),
        Outcome::Cancelled => "it was stopped.".to_owned(),
        Outcome::Done { .. } => "it said nothing of use.".to_owned(),
    }
}
