//! The checks that code makes after the gate, against the project as it was when the run began. A model is not asked:
//! a path is there or it is not.

mod quote;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};

use super::{
    answer::{Finding, Quoted, Source, Trust, is_alike},
    cited::{ClaimId, Place, ids_in, places_in},
    contract::VERDICTS_MIN,
    gathered::{Found, Gathered},
    method::{NEXT_STEPS, Part},
    plan,
};

/// At one place, more are not told one by one.
const FLAGS_MAX: usize = 50;

/// The files of the tree that was recorded at the start.
pub trait ProjectText {
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
    NextStep,
}

/// All flags, each with its place.
pub(super) fn check(
    gathered: &Gathered<'_>,
    project: &dyn ProjectText,
    has_web: bool,
) -> BTreeMap<At, Vec<Flag>> {
    let mut checker = Checker { gathered, project, has_web, known: known(gathered), flags: BTreeMap::new() };
    checker.ids_are_given_once();
    for (at, found) in gathered.findings.iter().enumerate() {
        checker.entry(At::Finding(at), &found.finding);
    }
    for (at, item) in gathered.items.iter().enumerate() {
        checker.entry(At::Item(at), item);
    }
    for (at, written) in gathered.sections.iter().enumerate().filter(|(_, written)| written.is_asked) {
        checker.text(At::Section(at), &written.text);
    }
    checker.attempts();
    checker.recommendations();
    checker.next_step();
    checker.flags
}

struct Checker<'a> {
    gathered: &'a Gathered<'a>,
    project: &'a dyn ProjectText,
    has_web: bool,
    known: BTreeSet<ClaimId>,
    flags: BTreeMap<At, Vec<Flag>>,
}

impl Checker<'_> {
    fn flag(&mut self, at: At, check: Check, words: String) {
        let flags = self.flags.entry(at).or_default();
        // The same place is often named in a field and in the text.
        if flags.len() > FLAGS_MAX || flags.iter().any(|flag| flag.words == words) {
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
        let items = gathered.items.iter().enumerate().map(|(at, item)| (At::Item(at), item.claim_id()));
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
        self.text(at, &finding.claim);
        finding.fields.iter().for_each(|field| self.text(at, &field.text));
    }

    fn text(&mut self, at: At, text: &str) {
        ids_in(text).iter().for_each(|id| self.cited(at, id));
        places_in(text).iter().for_each(|place| self.place(at, place, ""));
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

    fn sources(&mut self, at: At, finding: &Finding) {
        for source in &finding.sources {
            let url = source.url.trim();
            if host(url).is_none() {
                self.flag(at, Check::Source, format!("\"{url}\" is no address of a page."));
            } else if !has_year(&source.date) {
                self.flag(at, Check::Source, format!("{url} has no date."));
            }
        }
        if finding.trust != Some(Trust::Web) {
            return;
        }
        if !self.has_web {
            self.flag(at, Check::Source, "No web was available, so it cannot come from there.".to_owned());
        } else if finding.sources.is_empty() {
            self.flag(at, Check::Source, "It is said to come from the web, and no page is named.".to_owned());
        }
        if hosts(&finding.sources) < 2 && !is_marked(finding) {
            let words = "It has no second, independent source and is not marked as single-source.";
            self.flag(at, Check::SingleSource, words.to_owned());
        }
    }

    fn attempts(&mut self) {
        let gathered = self.gathered;
        let mut count = 0;
        for (at, attempt) in gathered.attempts().enumerate() {
            count += 1;
            let at = At::Attempt(at);
            attempt.about.iter().filter_map(|about| ClaimId::read(about)).for_each(|id| self.cited(at, &id));
            if attempt.verdict.is_none() {
                self.flag(at, Check::Attempts, "It has no verdict.".to_owned());
            }
            self.text(at, &attempt.checked);
        }
        if count < VERDICTS_MIN {
            let words = format!("{count} attempts were made to refute this; {VERDICTS_MIN} are the least.");
            self.flag(At::Head, Check::Attempts, words);
        }
        if gathered.confidence().is_none() {
            self.flag(At::Head, Check::Confidence, "The gate gave no confidence.".to_owned());
        }
        for gate in &gathered.gates {
            for id in gate.verdicts.drops.iter().filter_map(|drop| ClaimId::read(drop)) {
                self.cited(At::Head, &id);
            }
        }
    }

    /// Where all that a recommendation rests on has one source only, it rests on nothing.
    fn recommendations(&mut self) {
        let gathered = self.gathered;
        let parts = gathered.method.spine.iter();
        let titles = parts.filter(|section| matches!(section.part, Part::Recommendation(_)));
        for at in titles.filter_map(|section| gathered.section(section.title)) {
            let basis = basis(gathered, ids_in(&gathered.sections[at].text));
            if !basis.is_empty() && basis.iter().all(|finding| is_single(finding)) {
                let words = "Everything that this rests on has a single source.";
                self.flag(At::Section(at), Check::SingleSource, words.to_owned());
            }
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
    let Place { path, line } = place;
    let Some(count) = place.is_inside().then(|| project.line_count(path)).flatten() else {
        return flag(Check::Place, format!("{path} is not in the project."));
    };
    let Some(line) = line.map(|line| line as usize) else {
        return flag(Check::Place, format!("No line of {path} is named."));
    };
    if line > count {
        return flag(Check::Place, format!("{path} has {count} lines, and line {line} is cited."));
    }
    match quote::find(project, path, line, count, quote) {
        quote::Found::There => None,
        quote::Found::Elsewhere(other) => {
            flag(Check::Quote, format!("The quoted line stands in line {other} of {path}, not in {line}."))
        }
        quote::Found::Nowhere => {
            flag(Check::Quote, format!("The quoted line does not stand at {place}, white space aside."))
        }
    }
}

fn known(gathered: &Gathered<'_>) -> BTreeSet<ClaimId> {
    let findings = gathered.findings.iter().map(|found| &found.finding).chain(&gathered.items);
    let attempts = gathered.attempts().filter_map(|attempt| ClaimId::read(&attempt.id));
    findings.filter_map(Finding::claim_id).chain(attempts).collect()
}

/// The findings that these ids lead to in the end: through what they cite, to those that cite nothing.
fn basis<'a>(gathered: &'a Gathered<'_>, ids: Vec<ClaimId>) -> Vec<&'a Finding> {
    let findings = gathered.findings.iter().map(|found| &found.finding).chain(&gathered.items);
    let all: BTreeMap<_, _> = findings.filter_map(|finding| Some((finding.claim_id()?, finding))).collect();
    let (mut open, mut seen, mut basis) = (ids, BTreeSet::new(), Vec::new());
    while let Some(id) = open.pop() {
        let Some(finding) = all.get(&id).copied() else { continue };
        if !seen.insert(id) {
            continue;
        }
        let cites: Vec<_> = finding.cites.iter().filter_map(|cite| ClaimId::read(cite)).collect();
        if cites.is_empty() {
            basis.push(finding);
        }
        open.extend(cites);
    }
    basis
}

fn is_single(finding: &Finding) -> bool {
    let is_web =
        finding.trust == Some(Trust::Web) || (finding.trust.is_none() && !finding.sources.is_empty());
    is_web && finding.places.is_empty() && (is_marked(finding) || hosts(&finding.sources) < 2)
}

fn is_marked(finding: &Finding) -> bool {
    let says = |text: &str| text.to_ascii_lowercase().contains("[single-source]");
    finding.single_source || says(&finding.claim) || says(&finding.title)
}

/// How many do not depend on each other, as far as their addresses tell.
fn hosts(sources: &[Source]) -> usize {
    sources.iter().filter_map(|source| host(source.url.trim())).collect::<BTreeSet<_>>().len()
}

fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    (host.contains('.') && !host.contains(char::is_whitespace)).then_some(host)
}

fn has_year(date: &str) -> bool {
    let is_year = |digits: &str| digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    date.split(|c: char| !c.is_ascii_digit()).any(is_year)
}
