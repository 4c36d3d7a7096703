//! Comparing results, asking others about them, and what all of it uses.

use super::{
    super::{Analysis, Examination, Examiner, Fresh, Judge, Status, Stopped, analysis},
    Transition,
};
use crate::{
    chat::attempts_max,
    feed::Event,
    id::TaskId,
    task::{Task, Work},
};

/// A judgement that takes longer will not come, and neither will one answer on the way to a digest.
pub const OPINION_LIMIT_S: u32 = 10 * 60;
/// A long result is read in many pieces.
const DIGEST_LIMIT_S: u32 = 2 * 60 * 60;
const EXAMINATION_LIMIT_S: u32 = 30 * 60;

impl Transition {
    /// `false` where there are not two results to compare.
    pub fn analyse(&mut self, judge: &Judge, by_person: bool, fresh: &mut Fresh, at_ms: i64) -> bool {
        let Some(analysis) = Analysis::new(&self.battle, judge, by_person, fresh, at_ms) else {
            return false;
        };
        if analysis.is_over() {
            self.show(analysis);
            return true;
        }
        for digest in analysis.digests() {
            self.queue_opinion(digest, Work::Digest, &analysis, at_ms);
        }
        self.show(analysis);
        self.update(|course| course.status = Status::Analysing);
        true
    }

    pub fn queue_opinion(&mut self, id: TaskId, work: Work, of: &Analysis, at_ms: i64) {
        let limit_s = if work == Work::Digest { DIGEST_LIMIT_S } else { OPINION_LIMIT_S };
        let new = Task {
            limit_s: Some(limit_s),
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
        let hands = self.hands(&examiner.identity);
        let new = Task {
            limit_s: Some(EXAMINATION_LIMIT_S),
            attempts_max: attempts_max(examiner.paid),
            ..self.task_by(hands, id, Work::Examination, examiner.model.clone(), at_ms)
        };
        self.queue(new);
        let examination = Examination { task: id, examiner, question, asked_at_ms: at_ms };
        self.push(Event::ExaminationAdded { battle: self.battle.id, examination });
    }

    /// What was used is counted while it runs, and only then. Past what the battle may use, whatever it does by itself is ended; what
    /// a person asks for besides is not.
    pub fn count(&mut self, task: TaskId, tokens: u64, fresh: &mut Fresh, at_ms: i64) {
        let contestant = self.battle.contestants.iter().find(|it| it.tries.last() == Some(&task));
        match contestant.map(|contestant| contestant.id) {
            Some(id) => self.change(id, |it| it.tokens = Some(it.tokens.unwrap_or_default() + tokens)),
            None => self.update(|course| course.opinion_tokens += tokens),
        }
        if !self.battle.is_spent() || self.battle.course.stopped.is_some() {
            return;
        }
        if self.battle.course.status == Status::Running {
            // Each of them reports its own end, and so does a check.
            return self.stop(Stopped::Spent, at_ms);
        }
        let is_own = |analysis: &Analysis| !analysis.is_over() && !analysis.by_person;
        if self.battle.newest_analysis().is_some_and(is_own) {
            self.end_analysis(analysis::State::Failed { reason: Stopped::Spent.words().to_owned() }, at_ms);
            self.advance(fresh, at_ms);
        }
    }
}
