//! What the gate says, and what code concludes from it.

use super::{
    super::{
        Block,
        blocks::{attempt, checked, missing, points, said, text},
    },
    Builder, counted,
};
use crate::flow::{answer::Stand, evidence::At, gathered::Guard, method::Part, review::Severity};

impl Builder<'_> {
    pub(super) fn validation(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut at = 0;
        for (number, gate) in self.gathered.gates.iter().enumerate() {
            if self.gathered.gates.len() > 1 {
                blocks.push(Block::Heading(gate.step.label.clone()));
            }
            if let Some(why) = &gate.missing {
                let why = format!("{why}. Nobody tried to refute what it was to attack");
                blocks.push(missing(&gate.step.label, why));
            }
            for tried in &gate.verdicts.items {
                blocks.push(attempt(self.material.project, tried, self.flags_at(At::Attempt(at))));
                at += 1;
            }
            blocks.extend(self.closing(gate));
            blocks.extend(checked(self.material.project, [].into_iter(), self.flags_at(At::Gate(number))));
        }
        blocks
    }

    fn closing(&self, gate: &Guard<'_>) -> Vec<Block> {
        let (project, verdicts) = (self.material.project, &gate.verdicts);
        let mut blocks = Vec::new();
        match verdicts.recommendation {
            Some(Stand::Weakened) => blocks.push(said("What was concluded holds only in part.")),
            Some(Stand::Refuted) => blocks.push(said("What was concluded does not hold.")),
            Some(Stand::Stands) | None => {}
        }
        if !verdicts.drops.is_empty() {
            blocks.push(said(format!("Found to be false and dropped: {}.", verdicts.drops.join(", "))));
        }
        if !verdicts.risks.is_empty() {
            blocks.push(said("Risks that remain:"));
            blocks.push(points(project, &verdicts.risks, Vec::new()));
        }
        if !verdicts.settle.trim().is_empty() {
            let words = format!("What would settle what is open: {}", verdicts.settle.trim());
            blocks.push(Block::Text(text(project, &words, Vec::new())));
        }
        blocks
    }

    /// Why the confidence is what it is, in the gate's words.
    pub(super) fn reason(&self) -> String {
        let gates = &self.gathered.gates;
        let told = gates.iter().filter(|gate| !gate.verdicts.reason.trim().is_empty());
        let words = |gate: &Guard<'_>| match gates.len() {
            1 => gate.verdicts.reason.trim().to_owned(),
            _ => format!("{}: {}", gate.step.label, gate.verdicts.reason.trim()),
        };
        told.map(words).collect::<Vec<_>>().join(" ")
    }

    /// A conclusion as far as the gates left it. Of one that they refuted, the reader is told what would settle it.
    pub(super) fn concluded(&self, title: &str, refuted: &str, blocks: Vec<Block>) -> Vec<Block> {
        let first = match self.gathered.stand(title) {
            Stand::Stands => return blocks,
            Stand::Weakened => "**The gate holds this only in part.**".to_owned(),
            Stand::Refuted => format!("**{refuted}** What would settle it: {}", self.settle()),
        };
        let overturned = |block| match block {
            Block::Text(text) if self.gathered.stand(title) == Stand::Refuted => Block::Overturned(text),
            other => other,
        };
        std::iter::once(said(first)).chain(blocks.into_iter().map(overturned)).collect()
    }

    fn settle(&self) -> String {
        let told = self.gathered.gates.iter().map(|gate| gate.verdicts.settle.trim());
        let told: Vec<_> = told.filter(|text| !text.is_empty()).collect();
        if told.is_empty() { "The gate did not say.".to_owned() } else { told.join(" ") }
    }

    pub(super) fn review_summary(&self) -> String {
        let reviewed = self.angles().filter(|(_, worker)| worker.missing.is_none());
        let names: Vec<_> = reviewed.map(|(_, worker)| worker.step.label.to_lowercase()).collect();
        if names.is_empty() {
            return "Nobody reviewed the code.".to_owned();
        }
        let [critical, warnings, suggestions] = Severity::ALL.map(|severity| self.count(severity));
        let dropped = self.gathered.findings.iter().filter(|found| found.is_dropped).count();
        format!(
            "The code was reviewed in {}: {}. What is left after validation: {critical} critical, {} and {}. \
             Dropped because it turned out to be false: {}.",
            counted(names.len(), "dimension"),
            names.join(", "),
            counted(warnings, "warning"),
            counted(suggestions, "suggestion"),
            counted(dropped, "finding"),
        )
    }

    /// What the findings mean for whoever wants to merge: decided by rules, not by a model.
    pub(super) fn review_verdict(&self) -> String {
        let (grave, warnings) = (self.count(Severity::Critical), self.count(Severity::Warning));
        let mut words = match (grave, warnings) {
            (0, 0) if !self.is_all_read() => "**No verdict.** Nothing can be concluded from finding nothing \
                                              where not every answer was there and could be read."
                .to_owned(),
            (0, 0) => "**Approve.** Nothing was found that should keep this from being merged.".to_owned(),
            (0, many) => {
                format!("**Approve with comments.** {} to look at, none critical.", counted(many, "warning"))
            }
            (many, _) => format!("**Request changes.** {}.", counted(many, "critical finding")),
        };
        let gone = |why: Option<String>, label: &str| why.map(|why| format!("{label} ({why})"));
        let angles = self.angles().filter_map(|(_, worker)| gone(worker.missing.clone(), &worker.step.label));
        let dimension = |gate: &Guard<'_>| {
            let of = self.angles().find(|(_, worker)| worker.agent.of == gate.of);
            of.map_or_else(|| gate.step.label.clone(), |(_, worker)| worker.step.label.clone())
        };
        let unread = self.angles().filter_map(|(_, worker)| {
            let why = worker.unread?;
            Some(format!("{} ({why})", worker.step.label))
        });
        let gates = self.gathered.gates.iter();
        let gates = gates.filter_map(|gate| gone(gate.unvalidated(), &dimension(gate)));
        let (angles, unread, gates): (Vec<_>, Vec<_>, Vec<_>) =
            (angles.collect(), unread.collect(), gates.collect());
        for (what, names) in
            [("Not reviewed", angles), ("Not read as a whole", unread), ("Not validated", gates)]
        {
            if !names.is_empty() {
                words.push_str(&format!(" {what}: {}.", names.join(", ")));
            }
        }
        words
    }

    /// Whether everybody who was asked answered, and all of it was understood. Only then finding nothing says something.
    fn is_all_read(&self) -> bool {
        let asked = self.angles().filter(|(_, worker)| worker.step.skip.is_none());
        let mut read =
            asked.map(|(_, worker)| worker.missing.is_none() && worker.unread.is_none()).peekable();
        read.peek().is_some() && read.all(|is_read| is_read)
    }

    /// What the reader of a review without a verdict has to know first.
    pub(super) fn unjudged(&self) -> Option<String> {
        let is_open = self.count(Severity::Critical) + self.count(Severity::Warning) == 0;
        let is_open = is_open && self.gathered.method.has(Part::ReviewVerdict) && !self.is_all_read();
        is_open.then(|| {
            "There is no verdict: nothing grave was found, and not every reviewer gave an answer that could be read."
                .to_owned()
        })
    }

    /// Shown or not.
    fn count(&self, severity: Severity) -> usize {
        let all = self.review.shown.iter().chain(&self.review.hidden).chain(&self.review.cut);
        all.filter(|judged| judged.severity == severity).count()
    }
}
