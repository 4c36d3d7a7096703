//! What the word of the gates does to what others said.

use std::collections::{BTreeMap, BTreeSet};

use super::{Found, Gathered, Guard};
use crate::flow::{
    answer::{Attempt, Confidence, Stand, Verdict},
    cited::ClaimId,
    method::Shape,
};

impl Guard<'_> {
    /// Why what it was to attack was not attacked.
    pub(in crate::flow) fn unvalidated(&self) -> Option<String> {
        let silent = || self.verdicts.items.is_empty().then(|| "no attempt to refute it".to_owned());
        self.missing.clone().or_else(silent)
    }
}

impl Gathered<'_> {
    /// A validator of one dimension speaks about that one only, and what it refuted is false even if it forgot to
    /// list it.
    pub(super) fn hear_gates(&mut self) {
        let is_review = matches!(self.method.shape, Shape::PerAngle);
        for gate in &self.gates {
            let refuted = gate.verdicts.items.iter().filter_map(|attempt| match attempt.about.as_slice() {
                [about] if attempt.verdict == Some(Verdict::Refuted) => Some(about),
                _ => None,
            });
            let named = gate.verdicts.drops.iter().chain(refuted.filter(|_| is_review));
            let drops: BTreeSet<_> = named.filter_map(|drop| ClaimId::read(drop)).collect();
            let doubts = doubts(&gate.verdicts.items);
            if drops.is_empty() && doubts.is_empty() {
                continue;
            }
            let workers = &self.workers;
            for found in self.findings.iter_mut().chain(&mut self.items) {
                let is_theirs = !is_review || workers[found.worker].agent.of == gate.of;
                if let Some(id) = found.finding.claim_id().filter(|_| is_theirs) {
                    found.is_dropped |= drops.contains(&id);
                    found.doubts.extend(doubts.get(&id).into_iter().flatten().cloned());
                }
            }
        }
    }

    /// The lowest that any gate gave: a chain holds as well as its weakest link. Where one attacked nothing, what the
    /// others gave is not for the whole.
    pub(in crate::flow) fn confidence(&self) -> Option<Confidence> {
        let lowest = self.gates.iter().filter_map(|gate| gate.verdicts.confidence).min()?;
        let is_whole = self.gates.iter().all(|gate| gate.unvalidated().is_none());
        Some(if is_whole { lowest } else { Confidence::Low })
    }

    /// What the gates made of a conclusion. It stands no better than those above it, on which it rests.
    pub(in crate::flow) fn stand(&self, title: &str) -> Stand {
        let titles = || self.method.conclusions().map(|(title, _)| title);
        let until = titles().position(|other| other == title).map_or(0, |at| at + 1);
        let words =
            self.gates.iter().flat_map(|gate| titles().take(until).map(|it| gate.verdicts.stand_of(it)));
        words.flatten().max().unwrap_or(Stand::Stands)
    }

    /// What the gates made of the whole. Validators of single dimensions do not speak about it.
    pub(in crate::flow) fn stand_of_all(&self) -> Stand {
        if matches!(self.method.shape, Shape::PerAngle) {
            return Stand::Stands;
        }
        let of_all = self.gates.iter().filter_map(|gate| gate.verdicts.stand_of(""));
        let of_each = self.method.conclusions().map(|(title, _)| self.stand(title));
        of_all.chain(of_each).max().unwrap_or(Stand::Stands)
    }

    /// Of all gates, in their order.
    pub(in crate::flow) fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.gates.iter().flat_map(|gate| &gate.verdicts.items)
    }

    /// Those that stand in the report as its own.
    pub(in crate::flow) fn standing_items(&self) -> impl Iterator<Item = &Found> {
        self.items.iter().filter(|item| !item.is_dropped)
    }
}

/// What a gate made of each finding that it did not confirm.
fn doubts(attempts: &[Attempt]) -> BTreeMap<ClaimId, Vec<String>> {
    let mut doubts: BTreeMap<ClaimId, Vec<String>> = BTreeMap::new();
    for attempt in attempts {
        let Some(verdict) = attempt.verdict.filter(|verdict| *verdict != Verdict::Confirmed) else {
            continue;
        };
        let words = format!("{} in {}", verdict.words().to_lowercase(), attempt.id.trim());
        for id in attempt.about.iter().filter_map(|about| ClaimId::read(about)) {
            doubts.entry(id).or_default().push(words.clone());
        }
    }
    doubts
}
