//! Whether those who were to attack the result did, each of them.

use super::{At, Check, Checker};
use crate::flow::{cited::ClaimId, contract::VERDICTS_MIN, gathered::Guard};

impl Checker<'_> {
    pub(super) fn gates(&mut self) {
        let gathered = self.gathered;
        for (at, attempt) in gathered.attempts().enumerate() {
            let at = At::Attempt(at);
            attempt.about.iter().filter_map(|about| ClaimId::read(about)).for_each(|id| self.cited(at, &id));
            if attempt.verdict.is_none() {
                self.flag(at, Check::Attempts, "It has no verdict.".to_owned());
            }
            attempt.texts().for_each(|text| self.text(at, text));
        }
        let is_alone = gathered.gates.len() == 1;
        for (number, gate) in gathered.gates.iter().enumerate() {
            let at = if is_alone { At::Head } else { At::Gate(number) };
            self.gate(at, gate, is_alone);
        }
        if !is_alone && gathered.confidence().is_none() {
            self.flag(At::Head, Check::Confidence, "Nobody gave a confidence.".to_owned());
        }
    }

    fn gate(&mut self, at: At, gate: &Guard<'_>, is_alone: bool) {
        let verdicts = &gate.verdicts;
        // A reader meets the reason in the head, and all else where the gate speaks.
        self.text(At::Head, &verdicts.reason);
        self.text(at, &verdicts.settle);
        verdicts.risks.iter().for_each(|risk| self.text(at, risk));
        verdicts.drops.iter().filter_map(|drop| ClaimId::read(drop)).for_each(|id| self.cited(at, &id));
        // One of several that had nothing to validate is told as missing.
        if gate.missing.is_some() && !is_alone {
            return;
        }
        let count = verdicts.items.len();
        if count < VERDICTS_MIN {
            let attempts =
                if count == 1 { "1 attempt was".to_owned() } else { format!("{count} attempts were") };
            let words = format!("{attempts} made to refute this; {VERDICTS_MIN} are the least.");
            self.flag(at, Check::Attempts, words);
        }
        if verdicts.confidence.is_none() {
            self.flag(at, Check::Confidence, "The gate gave no confidence.".to_owned());
        }
    }
}
