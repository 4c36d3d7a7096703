//! The checks that code makes after the gate, against the project as it was when the run began. A model is not asked:
//! a path is there or it is not.

mod command;
mod gates;
mod quote;
mod sources;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};

use super::{
    answer::{Finding, Quoted, Trust, is_alike},
    catalogue::COMMAND,
    cited::{ClaimId, Place, Tree, bare_ids_in, ids_in, paths_in, places_in},
    gathered::{Form, Found, Gathered},
    method::{NEXT_STEPS, Part},
    plan,
};

/// At one place, more are not told one by one.
const FLAGS_MAX: usize = 50;

/// The files of the tree that was recorded at the start.
pub trait ProjectText: Tree {
    /// None: there is no such text.
    fn line_count(&self, path: &str) -> Option<usize>;
    /// Counted from 1.
    fn line(&self, path: &str, number: usize) -> Option<Cow<'_, str>>;
}

/// A check that failed, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    pub check: Check,
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Every cited id is there, and once.
    Id,
    /// Every place is there.
    Place,
    /// A quoted line stands where it is said to.
    Quote,
    /// What comes from the web has an address and a date.
    Source,
    /// No claim with a single source stands alone.
    SingleSource,
    /// There are enough attempts to refute it, each with its verdict.
    Attempts,
    Confidence,
    /// The summary is plain: it names no ids and no places.
    Summary,
    /// A command is defined where it is said to be.
    Command,
    /// What was to be chosen from a list is on the list.
    Choice,
}

/// Where in the report a check failed, by its index in what was gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    Head,
    Finding(usize),
    Item(usize),
    Section(usize),
    Attempt(usize),
    Gate(usize),
    /// The summary of one that is not the head's.
    Worker(usize),
    Also(usize),
    Good,
    Deferred,
    Questions,
    NextStep,
}

/// All flags, each with its place.
pub(super) fn check(
    gathered: &Gathered<'_>,
    project: &dyn ProjectText,
    has_web: bool,
) -> BTreeMap<At, Vec<Flag>> {
    let mut checker = Checker {
        gathered,
        project,
        has_web,
        known: known(gathered),
        flags: BTreeMap::new(),
        told: BTreeSet::new(),
    };
    checker.ids_are_given_once();
    for (at, found) in gathered.findings.iter().enumerate() {
        checker.entry(At::Finding(at), &found.finding);
    }
    for (at, item) in gathered.items.iter().enumerate() {
        checker.entry(At::Item(at), &item.finding);
    }
    for (at, written) in gathered.sections.iter().enumerate() {
        checker.text(At::Section(at), &written.text);
    }
    checker.summaries();
    checker.said_besides();
    checker.gates();
    checker.conclusions();
    checker.next_step();
    checker.verbatim();
    checker.flags
}

struct Checker<'a> {
    gathered: &'a Gathered<'a>,
    project: &'a dyn ProjectText,
    has_web: bool,
    known: BTreeSet<ClaimId>,
    flags: BTreeMap<At, Vec<Flag>>,
    /// What is not flagged once more, because what is looked at says again what stands elsewhere.
    told: BTreeSet<String>,
}

impl Checker<'_> {
    fn flag(&mut self, at: At, check: Check, words: String) {
        let flags = self.flags.entry(at).or_default();
        // The same place is often named in a field and in the text.
        let is_told = self.told.contains(&words) || flags.iter().any(|flag| flag.words == words);
        if flags.len() > FLAGS_MAX || is_told {
            return;
        }
        let words = if flags.len() == FLAGS_MAX { "There is more of this here.".to_owned() } else { words };
        flags.push(Flag { check, words });
    }

    /// Whoever puts together may say again what others found: that is the same finding.
    fn ids_are_given_once(&mut self) {
        let gathered = self.gathered;
        let is_angles = |found: &Found| gathered.workers[found.worker].agent.part == plan::Part::Angle;
        let findings = gathered.findings.iter().enumerate().filter(|(_, found)| is_angles(found));
        let findings = findings.map(|(at, found)| (At::Finding(at), found.finding.claim_id()));
        let items = gathered.items.iter().enumerate();
        let items = items.map(|(at, item)| (At::Item(at), item.finding.claim_id()));
        let attempts = gathered.attempts().enumerate();
        let attempts = attempts.map(|(at, attempt)| (At::Attempt(at), ClaimId::read(&attempt.id)));
        let mut seen = BTreeSet::new();
        for (at, id) in findings.chain(items).chain(attempts) {
            if let Some(id) = id.filter(|id| !seen.insert(id.clone())) {
                let words = format!("The id {id} is given twice, so whoever cites it may mean another.");
                self.flag(at, Check::Id, words);
            }
        }
    }

    fn entry(&mut self, at: At, finding: &Finding) {
        for cite in &finding.cites {
            match ClaimId::read(cite) {
                Some(id) => self.cited(at, &id),
                None => self.flag(at, Check::Id, format!("\"{}\" is cited and is no id.", cite.trim())),
            }
        }
        for Quoted { place, quote } in &finding.places {
            self.place(at, place, quote);
        }
        if finding.trust == Some(Trust::Codebase) && finding.places.is_empty() {
            self.flag(
                at,
                Check::Place,
                "It is said to be seen in the code, and no place is named.".to_owned(),
            );
        }
        self.sources(at, finding);
        finding.texts().for_each(|text| self.text(at, text));
        if self.gathered.method.findings.kind(&finding.kind) == Some(COMMAND)
            && let Some(words) = command::fault(self.project, finding)
        {
            self.flag(at, Check::Command, words);
        }
    }

    /// The one that everybody reads first names nothing that only the rest of the report explains.
    fn summaries(&mut self) {
        let gathered = self.gathered;
        let first = gathered.summarizer();
        for (number, worker) in gathered.workers.iter().enumerate() {
            if first != Some(number) {
                self.text(At::Worker(number), &worker.summary);
                continue;
            }
            self.text(At::Head, &worker.summary);
            let bare = bare_ids_in(&worker.summary).into_iter().filter(|id| self.known.contains(id));
            let ids = ids_in(&worker.summary).into_iter().chain(bare).map(|id| id.to_string());
            let places = places_in(&worker.summary, self.project).into_iter().map(|place| place.path);
            let mut named: Vec<String> = Vec::new();
            for name in ids.chain(paths_in(&worker.summary)).chain(places) {
                if !named.contains(&name) {
                    named.push(name);
                }
            }
            if !named.is_empty() {
                let words = format!("The summary is to be plain, and names {}.", named.join(", "));
                self.flag(At::Head, Check::Summary, words);
            }
        }
    }

    fn said_besides(&mut self) {
        let gathered = self.gathered;
        for (number, also) in gathered.also.iter().enumerate().filter(|(_, also)| also.form == Form::Field) {
            self.text(At::Also(number), &also.text);
        }
        gathered.good.iter().for_each(|text| self.text(At::Good, text));
        for deferred in &gathered.deferred {
            let texts = [&deferred.what, &deferred.why, &deferred.reopen_when, &deferred.source];
            texts.into_iter().for_each(|text| self.text(At::Deferred, text));
        }
        for question in &gathered.questions {
            self.text(At::Questions, &question.question);
            self.text(At::Questions, &question.recommended);
        }
    }

    /// What has no form is checked as far as any text is. What was mended is checked where it stands, and here for what
    /// the mending lost.
    fn verbatim(&mut self) {
        let gathered = self.gathered;
        let told: BTreeSet<_> = self.flags.values().flatten().map(|flag| flag.words.clone()).collect();
        for (number, also) in gathered.also.iter().enumerate() {
            self.told = match also.form {
                Form::Field => continue,
                Form::Verbatim => BTreeSet::new(),
                Form::Mended => told.clone(),
            };
            self.text(At::Also(number), &also.text);
        }
        self.told.clear();
    }

    fn text(&mut self, at: At, text: &str) {
        ids_in(text).iter().for_each(|id| self.cited(at, id));
        places_in(text, self.project).iter().for_each(|place| self.place(at, place, ""));
    }

    fn cited(&mut self, at: At, id: &ClaimId) {
        if !self.known.contains(id) {
            self.flag(at, Check::Id, format!("{id} is cited and does not exist."));
        }
    }

    fn place(&mut self, at: At, place: &Place, quote: &str) {
        if let Some(Flag { check, words }) = place_fault(self.project, place, quote) {
            self.flag(at, check, words);
        }
    }

    fn next_step(&mut self) {
        let step = self.gathered.next_step.trim();
        if self.gathered.method.has(Part::NextStep) && !NEXT_STEPS.iter().any(|known| is_alike(known, step)) {
            let words = format!("\"{step}\" is none of {}.", NEXT_STEPS.join(", "));
            self.flag(At::NextStep, Check::Choice, words);
        }
    }
}

/// What is wrong with a place, or with the line that is said to stand there.
pub(super) fn place_fault(project: &dyn ProjectText, place: &Place, quote: &str) -> Option<Flag> {
    let flag = |check, words| Some(Flag { check, words });
    let Place { path, line, until } = place;
    let Some(count) = place.is_inside().then(|| project.line_count(path)).flatten() else {
        return flag(Check::Place, format!("{path} is not in the project."));
    };
    let Some(line) = line.map(|line| line as usize) else {
        return flag(Check::Place, format!("No line of {path} is named."));
    };
    if line > count {
        return flag(Check::Place, format!("{path} has {count} lines, and line {line} is cited."));
    }
    let until = until.map(|until| until as usize);
    match until {
        Some(until) if until > count => {
            let words = format!("{path} has {count} lines, and lines {line} to {until} are cited.");
            return flag(Check::Place, words);
        }
        Some(until) if until < line => {
            return flag(Check::Place, format!("{place} ends before it begins."));
        }
        _ => {}
    }
    match quote::find(project, path, line..=until.unwrap_or(line), count, quote) {
        quote::Found::There => None,
        quote::Found::Elsewhere(other) => {
            let cited = until.map_or_else(|| line.to_string(), |until| format!("{line} to {until}"));
            flag(Check::Quote, format!("The quoted line stands in line {other} of {path}, not in {cited}."))
        }
        quote::Found::Nowhere => {
            flag(Check::Quote, format!("The quoted line does not stand at {place}, white space aside."))
        }
    }
}

fn known(gathered: &Gathered<'_>) -> BTreeSet<ClaimId> {
    let attempts = gathered.attempts().filter_map(|attempt| ClaimId::read(&attempt.id));
    all(gathered).filter_map(Finding::claim_id).chain(attempts).collect()
}

/// Whatever has an id that can be rested on.
fn all<'a>(gathered: &'a Gathered<'_>) -> impl Iterator<Item = &'a Finding> {
    gathered.findings.iter().chain(&gathered.items).map(|found| &found.finding)
}
