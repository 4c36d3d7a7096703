//! Who won, in a line: what a person says, what the judge says, and why there is nothing to be said.

use super::{
    Battle,
    analysis::{Analysis, State},
    verdict::Verdict,
};
use crate::id::ContestantId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub is_won: bool,
    pub words: String,
    /// Comparing them again may bring a verdict.
    pub may_compare_again: bool,
}

impl Battle {
    /// The newest verdict on the results that are there now. One on a try that was made again tells nothing any more.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.analyses.iter().rev().filter(|analysis| analysis.is_of_now(self)).find_map(Analysis::verdict)
    }

    /// Who is ahead: whom the person chose, or else whom the verdict names.
    pub fn leader(&self) -> Option<ContestantId> {
        self.course.winner.or_else(|| self.verdict()?.winner)
    }

    /// None while nothing can be said yet.
    pub fn told(&self) -> Option<Told> {
        let verdict = self.verdict();
        if let Some(chosen) = self.course.winner {
            let judge = match verdict.map(|verdict| verdict.winner) {
                None => String::new(),
                Some(None) => " The judge named nobody.".to_owned(),
                Some(Some(winner)) if winner == chosen => " The judge says so too.".to_owned(),
                Some(Some(winner)) => format!(" The judge named {}.", self.letter(winner)),
            };
            let words = format!("You chose {}.{judge}", self.letter(chosen));
            return Some(Told { is_won: true, words, may_compare_again: false });
        }
        let failure = self.why_no_verdict();
        let may_compare_again = failure.is_some();
        if let Some(verdict) = verdict {
            let words = match failure {
                Some((number, why)) => {
                    format!("{} Analysis {number} brought no verdict: {why}", verdict.sentence)
                }
                None => verdict.sentence.clone(),
            };
            return Some(Told { is_won: verdict.winner.is_some(), words, may_compare_again });
        }
        if !self.course.status.is_over() {
            return None;
        }
        let words = match (failure, self.survivors().count()) {
            (Some((_, why)), _) => format!("No verdict: {why}"),
            (None, 0) => "No winner: nobody has a result.".to_owned(),
            (None, 1) => "No winner: only one has a result.".to_owned(),
            (None, _) => return None,
        };
        Some(Told { is_won: false, words, may_compare_again })
    }

    /// Why the newest comparison of what is there now ended without a verdict, and which one that is.
    fn why_no_verdict(&self) -> Option<(u32, String)> {
        let newest = self.newest_analysis().filter(|newest| newest.is_of_now(self))?;
        let why = match &newest.state {
            State::Failed { reason } => ended(reason),
            State::Stopped => "it was stopped.".to_owned(),
            State::Digesting | State::Judging | State::Done { .. } => return None,
        };
        Some((newest.number, why))
    }
}

/// With an end, as sentences have one.
fn ended(words: &str) -> String {
    let words = words.trim();
    if words.ends_with(['.', '!', '?']) { words.to_owned() } else { format!("{words}.") }
}
