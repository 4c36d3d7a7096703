//! What this process did since it started, counted for whoever watches it.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::output::Outcome;

#[derive(Debug, Default)]
pub struct Tally {
    claims: AtomicU64,
    reports: [AtomicU64; ENDS.len()],
}

/// How an attempt may end, in the order of the counters.
const ENDS: [&str; 5] = ["done", "failed", "void", "lost", "cancelled"];

impl Tally {
    pub(super) fn claimed(&self) {
        self.claims.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn reported(&self, outcome: &Outcome) {
        let place = match outcome {
            Outcome::Done { .. } => 0,
            Outcome::Failed { .. } => 1,
            Outcome::Void { .. } => 2,
            Outcome::Lost => 3,
            Outcome::Cancelled => 4,
        };
        self.reports[place].fetch_add(1, Ordering::Relaxed);
    }

    pub fn claims(&self) -> u64 {
        self.claims.load(Ordering::Relaxed)
    }

    /// Each way to end, with how many reports said so.
    pub fn reports(&self) -> [(&'static str, u64); ENDS.len()] {
        std::array::from_fn(|place| (ENDS[place], self.reports[place].load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_counter() {
        let tally = Tally::default();
        let reason = || "no".to_owned();
        let ends = [
            Outcome::Done { measured: Default::default() },
            Outcome::Failed { reason: reason() },
            Outcome::Void { reason: reason() },
            Outcome::Lost,
            Outcome::Cancelled,
        ];
        for (nth, outcome) in ends.iter().enumerate() {
            (0..=nth).for_each(|_| tally.reported(outcome));
        }
        tally.claimed();
        assert_eq!(tally.claims(), 1);
        assert_eq!(tally.reports(), [("done", 1), ("failed", 2), ("void", 3), ("lost", 4), ("cancelled", 5)]);
    }
}
