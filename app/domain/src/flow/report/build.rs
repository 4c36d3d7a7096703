//! From what was said to sections and blocks.

mod appendix;
mod findings;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Block, Head, Material, Missing, Report, Section,
    blocks::{missing, points, said, text},
    tables,
};
use crate::flow::{
    Role,
    answer::{Finding, Verdict},
    cited::ClaimId,
    evidence::{self, At, Flag},
    gathered::{Gathered, Worker, Written},
    method::{self, Part, Shape},
    plan,
    review::{self, Review, YAGNI},
};

pub(super) fn report(material: &Material<'_>) -> Report {
    let gathered = Gathered::new(material.plan, material.outputs);
    let flags = evidence::check(&gathered, material.project, material.has_web);
    let review = reviewed(&gathered);
    let (attacked, shown) = (attacked(&gathered), BTreeSet::new());
    let mut builder = Builder { material, gathered: &gathered, review, flags, attacked, shown };
    let mut sections = builder.spine();
    sections.extend(builder.appendix());
    let request = &material.plan.request;
    Report { flow: request.flow, band: request.band, head: builder.head(), sections }
}

/// What a review shows of what its validators left.
fn reviewed(gathered: &Gathered<'_>) -> Review {
    let form = &gathered.method.findings;
    let findings: Vec<(usize, Role, &Finding)> = gathered
        .findings
        .iter()
        .enumerate()
        .filter(|(_, found)| !found.is_dropped && form.kind(&found.finding.kind) != Some(YAGNI))
        .map(|(at, found)| (at, gathered.workers[found.worker].agent.role, &found.finding))
        .collect();
    review::review(&findings, gathered.plan.request.band, |words| form.level(words))
}

/// What the gate made of each finding that it did not confirm.
fn attacked(gathered: &Gathered<'_>) -> BTreeMap<ClaimId, Vec<String>> {
    let mut attacked: BTreeMap<ClaimId, Vec<String>> = BTreeMap::new();
    for attempt in gathered.attempts() {
        let Some(verdict) = attempt.verdict.filter(|verdict| *verdict != Verdict::Confirmed) else {
            continue;
        };
        let words = format!("{} in {}", verdict.words().to_lowercase(), attempt.id.trim());
        for id in attempt.about.iter().filter_map(|about| ClaimId::read(about)) {
            attacked.entry(id).or_default().push(words.clone());
        }
    }
    attacked
}

struct Builder<'a> {
    material: &'a Material<'a>,
    gathered: &'a Gathered<'a>,
    review: Review,
    flags: BTreeMap<At, Vec<Flag>>,
    attacked: BTreeMap<ClaimId, Vec<String>>,
    /// The findings that stand in the report already.
    shown: BTreeSet<usize>,
}

impl Builder<'_> {
    fn head(&self) -> Head {
        let gathered = self.gathered;
        let of_workers = gathered.workers.iter().map(|worker| (worker.step, &worker.missing));
        let of_gates = gathered.gates.iter().map(|gate| (gate.step, &gate.missing));
        let gone = |(step, why): (&plan::Step, &Option<String>)| {
            why.clone().map(|why| Missing { what: step.label.clone(), why })
        };
        let mut notes = self.material.notes.clone();
        if !self.material.has_web && gathered.workers.iter().any(|worker| !worker.agent.role.sees_project()) {
            notes.push("No web was available: what is said about the world is reasoning.".to_owned());
        }
        if gathered.is_refuted() {
            notes.push("What was recommended was refuted, so there is no clear winner.".to_owned());
        }
        let summary = match (self.summarizer(), &gathered.method.shape) {
            (Some(at), _) => gathered.workers[at].summary.trim().to_owned(),
            (None, Shape::PerAngle) => self.review_summary(),
            (None, Shape::Folded(_)) => "Nobody wrote a summary.".to_owned(),
        };
        Head {
            summary,
            confidence: gathered.confidence(),
            reason: self.reason(),
            failed_checks: self.flags.values().map(Vec::len).sum(),
            flags: self.flags_at(At::Head),
            missing: of_workers.chain(of_gates).filter_map(gone).collect(),
            notes,
        }
    }

    /// Whose summary the head shows: the last who wrote for the report.
    fn summarizer(&self) -> Option<usize> {
        let is_review = matches!(self.gathered.method.shape, Shape::PerAngle);
        let writes = |worker: &Worker<'_>| {
            worker.agent.part == plan::Part::Synthesis || (self.gathered.plan.angles_write() && !is_review)
        };
        self.gathered.workers.iter().rposition(|worker| writes(worker) && !worker.summary.trim().is_empty())
    }

    fn angles(&self) -> impl Iterator<Item = (usize, &Worker<'_>)> {
        self.gathered.workers.iter().enumerate().filter(|(_, worker)| worker.agent.part == plan::Part::Angle)
    }

    fn spine(&mut self) -> Vec<Section> {
        let mut sections = Vec::new();
        for section in self.gathered.method.spine {
            if self.material.has_template && matches!(section.part, Part::Prose(_)) {
                continue;
            }
            sections.push(Section { title: section.title.to_owned(), blocks: self.section(section) });
            // What follows the repository's own template stands right below the validation.
            if self.material.has_template && section.part == Part::Validation {
                let asked = self.gathered.sections.iter().enumerate().filter(|(_, written)| written.is_asked);
                let own = |(at, written): (usize, &Written)| Section {
                    title: written.title.clone(),
                    blocks: vec![self.written(at)],
                };
                sections.extend(asked.map(own));
            }
        }
        sections
    }

    fn section(&mut self, section: &method::Section) -> Vec<Block> {
        let gathered = self.gathered;
        let blocks = match section.part {
            Part::Prose(_) => self.prose(section.title),
            Part::Recommendation(_) => self.recommendation(section.title),
            Part::Validation => self.validation(),
            Part::Findings => self.all_findings(),
            Part::Level(level) => self.level(level),
            Part::OfKind(kind) => self.of_kind(kind),
            Part::Angles => self.by_angle(),
            Part::Items => self.items(),
            Part::FindingCounts => vec![tables::finding_counts(gathered, &self.review)],
            Part::ItemCounts => tables::item_counts(gathered).into_iter().collect(),
            Part::ItemConfidence => vec![tables::item_confidence(gathered)],
            Part::Security => self.security(),
            Part::Good if gathered.good.is_empty() => Vec::new(),
            Part::Good => vec![points(self.material.project, &gathered.good)],
            Part::ReviewVerdict => vec![said(self.review_verdict())],
            Part::Deferred if gathered.deferred.is_empty() => Vec::new(),
            Part::Deferred => vec![tables::deferred(&gathered.deferred)],
            Part::Questions if gathered.questions.is_empty() => Vec::new(),
            Part::Questions => vec![tables::questions(&gathered.questions)],
            Part::Sources => tables::sources(gathered).into_iter().collect(),
            Part::Rounds => {
                let (table, why) = tables::rounds(gathered, self.material.outputs);
                vec![table, said(format!("No further round: {why}."))]
            }
            Part::NextStep => {
                let step = if gathered.next_step.trim().is_empty() { "none" } else { &gathered.next_step };
                vec![Block::Text(text(self.material.project, step, self.flags_at(At::NextStep)))]
            }
        };
        if blocks.is_empty() { vec![said("Nothing.")] } else { blocks }
    }

    fn prose(&self, title: &str) -> Vec<Block> {
        match self.gathered.section(title) {
            Some(at) => vec![self.written(at)],
            None => vec![missing(title, "nobody wrote this section")],
        }
    }

    /// A section as it was written.
    fn written(&self, at: usize) -> Block {
        let words = &self.gathered.sections[at].text;
        Block::Text(text(self.material.project, words, self.flags_at(At::Section(at))))
    }

    fn flags_at(&self, at: At) -> Vec<Flag> {
        self.flags.get(&at).cloned().unwrap_or_default()
    }
}

/// `1 finding`, `2 findings`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
