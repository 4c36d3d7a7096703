//! The sections that list findings and entries.

use super::{
    super::{
        Block,
        blocks::{Mark, entry, missing, said, table, text},
    },
    Builder, counted,
};
use crate::flow::{
    FlowId, Role,
    answer::Finding,
    evidence::At,
    gathered::Found,
    review::{self, Judged},
};

impl Builder<'_> {
    /// One finding, and that it stands in the report now.
    fn finding(&mut self, at: usize, mut mark: Mark) -> Block {
        let found = &self.gathered.findings[at];
        self.shown.insert(at);
        mark.doubts.extend(doubts(found));
        let form = &self.gathered.method.findings;
        entry(self.material.project, form, &found.finding, mark, self.flags_at(At::Finding(at)))
    }

    /// The indexes of findings that were not dropped and are not part of another, the gravest first.
    fn standing(&self, wanted: impl Fn(&Finding) -> bool) -> Vec<usize> {
        let (findings, form) = (&self.gathered.findings, &self.gathered.method.findings);
        let stands = |found: &Found| !found.is_dropped && !found.is_joined;
        let fits = |at: &usize| stands(&findings[*at]) && wanted(&findings[*at].finding);
        let mut standing: Vec<usize> = (0..findings.len()).filter(fits).collect();
        standing.sort_by_key(|at| form.rank(&findings[*at].finding.level));
        standing
    }

    /// In a flow whose findings are ways in, one without a way is shown as what it is.
    pub(super) fn all_findings(&mut self) -> Vec<Block> {
        let fields = self.gathered.method.findings.fields;
        let needs_exploit = fields.iter().any(|field| field.name == review::EXPLOIT);
        let lives = |finding: &Finding| !needs_exploit || review::has_exploit(finding);
        let (alive, dead) = (self.standing(lives), self.standing(|finding| !lives(finding)));
        let mut blocks: Vec<_> = alive.into_iter().map(|at| self.finding(at, Mark::default())).collect();
        if !dead.is_empty() {
            blocks.push(Block::Heading("No finding: neither an exploit path nor a CVE".to_owned()));
        }
        blocks.extend(dead.into_iter().map(|at| self.finding(at, Mark::doubt("no way in"))));
        blocks
    }

    pub(super) fn level(&mut self, level: &str) -> Vec<Block> {
        let is_it = |judged: &&Judged| judged.severity.name() == level;
        let shown: Vec<Judged> = self.review.shown.iter().filter(is_it).copied().collect();
        let hidden = self.review.hidden.iter().filter(is_it).count();
        let cut = self.review.cut.iter().filter(is_it).count();
        let mut blocks = Vec::new();
        for Judged { at, severity, doubt } in shown {
            let doubts = doubt.map(|word| format!("one level less for \"{word}\""));
            let mark = Mark { level: Some(severity.name()), doubts: doubts.into_iter().collect() };
            blocks.push(self.finding(at, mark));
        }
        if hidden > 0 {
            let band = self.gathered.plan.request.band;
            blocks.push(said(format!("{} not shown in the {band} band.", counted(hidden, "finding"))));
        }
        if cut > 0 {
            let most = review::FINDINGS_MAX;
            blocks.push(said(format!("{} not shown: {most} are the most.", counted(cut, "more finding"))));
        }
        blocks
    }

    pub(super) fn of_kind(&mut self, kind: &'static str) -> Vec<Block> {
        let form = &self.gathered.method.findings;
        let of_kind = self.standing(|finding| form.kind(&finding.kind) == Some(kind));
        of_kind.into_iter().map(|at| self.finding(at, Mark::default())).collect()
    }

    pub(super) fn by_angle(&mut self) -> Vec<Block> {
        let angles: Vec<usize> = self.angles().map(|(at, _)| at).collect();
        angles.into_iter().flat_map(|worker| self.of_worker(worker, |found| !found.is_dropped)).collect()
    }

    /// What somebody found and that does not stand in the report yet, below what they said about it.
    pub(super) fn of_worker(&mut self, at: usize, wanted: impl Fn(&Found) -> bool) -> Vec<Block> {
        let worker = &self.gathered.workers[at];
        let round =
            if worker.step.round > 1 { format!(", round {}", worker.step.round) } else { String::new() };
        let mut blocks = vec![Block::Heading(format!("{}{round}", worker.step.label))];
        if let Some(why) = &worker.missing {
            blocks.push(missing(&worker.step.label, why));
        } else if !worker.summary.trim().is_empty() {
            let flags = self.flags_at(At::Worker(at));
            blocks.push(Block::Text(text(self.material.project, &worker.summary, flags)));
        }
        for at in self.unshown(at, wanted) {
            blocks.push(self.finding(at, Mark::default()));
        }
        blocks
    }

    pub(super) fn unshown(&self, worker: usize, wanted: impl Fn(&Found) -> bool) -> Vec<usize> {
        let findings = &self.gathered.findings;
        let fits =
            |at: &usize| findings[*at].worker == worker && !self.shown.contains(at) && wanted(&findings[*at]);
        (0..findings.len()).filter(fits).collect()
    }

    pub(super) fn items(&self) -> Vec<Block> {
        let Some(form) = &self.gathered.method.items else { return Vec::new() };
        let items = &self.gathered.items;
        let (standing, dropped): (Vec<usize>, Vec<usize>) =
            (0..items.len()).partition(|at| !items[*at].is_dropped);
        let (shown, cut) = match self.gathered.plan.request.flow {
            FlowId::TestPlanning => {
                review::tests(standing, |at| &items[at].finding, |level| form.rank(level))
            }
            _ => (standing, Vec::new()),
        };
        let block = |at: usize| {
            let (item, flags) = (&items[at], self.flags_at(At::Item(at)));
            let mark = Mark { level: None, doubts: doubts(item).collect() };
            entry(self.material.project, form, &item.finding, mark, flags)
        };
        let mut blocks: Vec<_> = shown.into_iter().map(block).collect();
        if !cut.is_empty() {
            let titles: Vec<_> = cut.iter().map(|at| items[*at].finding.title.trim()).collect();
            let most = review::TESTS_MAX;
            blocks.push(said(format!("Not shown, because {most} are the most: {}.", titles.join("; "))));
        }
        if !dropped.is_empty() {
            blocks.push(Block::Heading("Dropped by the gate".to_owned()));
        }
        blocks.extend(dropped.into_iter().map(block));
        blocks
    }

    pub(super) fn security(&self) -> Vec<Block> {
        let findings = &self.gathered.findings;
        let is_security = |judged: &&Judged| {
            let found = &findings[judged.at];
            review::is_security(self.gathered.workers[found.worker].agent.role, &found.finding)
        };
        let row = |judged: &Judged| {
            let finding = &findings[judged.at].finding;
            vec![finding.shown_id(), finding.title.clone(), judged.severity.name().to_owned()]
        };
        let rows: Vec<_> = self.review.shown.iter().filter(is_security).map(row).collect();
        let was_asked = self.angles().any(|(_, worker)| worker.agent.role == Role::SecurityAnalyst);
        match rows.is_empty() {
            false => vec![table(&["Id", "Finding", "Severity"], rows)],
            true if was_asked => vec![said("Nothing was found.")],
            true => vec![said("Nobody was asked about security in this band.")],
        }
    }
}

/// What speaks against it, in the words of a badge.
fn doubts(found: &Found) -> impl Iterator<Item = String> {
    let dropped = found.is_dropped.then(|| "dropped by the gate".to_owned());
    dropped.into_iter().chain(found.doubts.iter().cloned())
}
