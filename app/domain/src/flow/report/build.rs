//! From what was said to sections and blocks.

mod appendix;
mod findings;
mod head;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Block, Material, Report, Section,
    blocks::{checked, missing, points, said, text},
    tables,
};
use crate::flow::{
    Role,
    answer::Finding,
    brief::headings,
    evidence::{self, At, Flag},
    gathered::{Gathered, Worker},
    method::{self, Part},
    plan,
    review::{self, Review, YAGNI},
};

pub(super) fn report(material: &Material<'_>) -> Report {
    let mut gathered = Gathered::new(material.plan, material.outputs);
    gathered.within(material.project);
    let flags = evidence::check(&gathered, material.project, material.has_web);
    let review = reviewed(&gathered);
    let mut builder = Builder { material, gathered: &gathered, review, flags, shown: BTreeSet::new() };
    let mut sections = builder.spine();
    sections.extend(builder.appendix());
    let request = &material.plan.request;
    let mut report = Report { flow: request.flow, band: request.band, head: builder.head(), sections };
    report.head.failed_checks = report.flags().count();
    report
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

struct Builder<'a> {
    material: &'a Material<'a>,
    gathered: &'a Gathered<'a>,
    review: Review,
    flags: BTreeMap<At, Vec<Flag>>,
    /// The findings that stand in the report already.
    shown: BTreeSet<usize>,
}

impl Builder<'_> {
    fn angles(&self) -> impl Iterator<Item = (usize, &Worker<'_>)> {
        self.gathered.workers.iter().enumerate().filter(|(_, worker)| worker.agent.part == plan::Part::Angle)
    }

    fn spine(&mut self) -> Vec<Section> {
        let mut sections = Vec::new();
        for section in self.gathered.method.spine {
            let headings = self.material.template.map(headings);
            if headings.is_some() && matches!(section.part, Part::Prose(_)) {
                continue;
            }
            sections.push(Section { title: section.title.to_owned(), blocks: self.section(section) });
            // What follows the repository's own template stands right below the validation.
            if section.part == Part::Validation {
                let own = headings.into_iter().flatten();
                sections.extend(own.map(|title| Section { blocks: self.prose(&title), title }));
            }
        }
        sections
    }

    fn section(&mut self, section: &method::Section) -> Vec<Block> {
        let gathered = self.gathered;
        let blocks = match section.part {
            Part::Prose(_) => self.prose(section.title),
            Part::Conclusion { refuted, .. } => {
                self.concluded(section.title, refuted, self.prose(section.title))
            }
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
            Part::Good => self.good(),
            Part::ReviewVerdict => vec![said(self.review_verdict())],
            Part::Deferred => self.deferred(),
            Part::Questions => self.questions(),
            Part::Sources => tables::sources(gathered).into_iter().collect(),
            Part::Rounds => {
                let (table, why) = tables::rounds(gathered, self.material.outputs);
                vec![table, said(format!("No further round: {why}."))]
            }
            Part::NextStep => {
                let step = if gathered.next_step.trim().is_empty() { "none" } else { &gathered.next_step };
                let step = text(self.material.project, step, self.flags_at(At::NextStep));
                let refuted = gathered.method.conclusions().find(|(title, _)| *title == section.title);
                let refuted = refuted.map_or("", |(_, refuted)| refuted);
                self.concluded(section.title, refuted, vec![Block::Text(step)])
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

    fn good(&self) -> Vec<Block> {
        let good = &self.gathered.good;
        let told = || points(self.material.project, good, self.flags_at(At::Good));
        (!good.is_empty()).then(told).into_iter().collect()
    }

    fn deferred(&self) -> Vec<Block> {
        let deferred = &self.gathered.deferred;
        let texts = deferred.iter().flat_map(|it| [&it.what, &it.why, &it.reopen_when, &it.source]);
        self.tabled(!deferred.is_empty(), || tables::deferred(deferred), texts, At::Deferred)
    }

    fn questions(&self) -> Vec<Block> {
        let questions = &self.gathered.questions;
        let texts = questions.iter().flat_map(|it| [&it.question, &it.recommended]);
        self.tabled(!questions.is_empty(), || tables::questions(questions), texts, At::Questions)
    }

    /// A table of what was said, and below it the places that it names.
    fn tabled<'b>(
        &self,
        is_there: bool,
        table: impl FnOnce() -> Block,
        texts: impl Iterator<Item = &'b String>,
        at: At,
    ) -> Vec<Block> {
        if !is_there {
            return Vec::new();
        }
        let below = checked(self.material.project, texts, self.flags_at(at));
        [Some(table()), below].into_iter().flatten().collect()
    }

    fn flags_at(&self, at: At) -> Vec<Flag> {
        self.flags.get(&at).cloned().unwrap_or_default()
    }
}

/// `1 finding`, `2 findings`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
