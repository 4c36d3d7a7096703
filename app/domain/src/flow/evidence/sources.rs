//! Where claims come from that nobody saw in the code, and what may be concluded from them.

use std::collections::{BTreeMap, BTreeSet};

use super::{At, Check, Checker, all};
use crate::flow::{
    answer::{Finding, Source, Trust},
    cited::{ClaimId, ids_in},
    method::Part,
};

impl Checker<'_> {
    pub(super) fn sources(&mut self, at: At, finding: &Finding) {
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

    /// Where all that a conclusion or a decision rests on has one source only, it rests on nothing. A conclusion that
    /// cites only what was concluded rests on nothing either; one that cites nothing claims no basis.
    pub(super) fn conclusions(&mut self) {
        let gathered = self.gathered;
        let findings: BTreeMap<ClaimId, &Finding> =
            all(gathered).filter_map(|finding| Some((finding.claim_id()?, finding))).collect();
        let fault = |ids: Vec<ClaimId>| {
            let basis = basis(&findings, ids)?;
            let mut evidence = basis.iter().filter(|finding| !is_reasoned(finding)).peekable();
            match evidence.peek() {
                None => (!basis.is_empty()).then_some(REASONED),
                Some(_) => evidence.all(|finding| is_single(finding)).then_some(ALONE),
            }
        };
        let parts = gathered.method.spine.iter();
        let titles = parts.filter(|section| matches!(section.part, Part::Conclusion { .. }));
        let sections = titles.filter_map(|section| gathered.section(section.title));
        let is_weak = |item: &Finding| {
            let cites = item.cites.iter().filter_map(|cite| ClaimId::read(cite));
            let cites: Vec<_> = cites.chain(item.texts().flat_map(ids_in)).collect();
            let rests_on_itself = cites.is_empty();
            item.places.is_empty()
                && (if rests_on_itself { is_single(item) } else { fault(cites) == Some(ALONE) })
        };
        let fault_of = |at: usize| Some((At::Section(at), fault(ids_in(&gathered.sections[at].text))?));
        let mut faults: Vec<(At, &str)> = sections.filter_map(fault_of).collect();
        let items = gathered.items.iter().enumerate().filter(|(_, item)| is_weak(&item.finding));
        faults.extend(items.map(|(at, _)| (At::Item(at), ALONE)));
        for (at, words) in faults {
            self.flag(at, Check::SingleSource, words.to_owned());
        }
    }
}

const ALONE: &str = "Everything that this rests on has a single source.";
const REASONED: &str = "Everything that this rests on is reasoning, which is no evidence.";

/// What rests on more than this is not followed to its end: nobody rests on so much by honest means.
const FOLLOWED_MAX: usize = 1_000;

/// The findings that these ids lead to in the end: through what they cite, to those that cite nothing.
fn basis<'a>(findings: &BTreeMap<ClaimId, &'a Finding>, ids: Vec<ClaimId>) -> Option<Vec<&'a Finding>> {
    let (mut open, mut seen, mut basis) = (ids, BTreeSet::new(), Vec::new());
    while let Some(id) = open.pop() {
        let Some(finding) = findings.get(&id).copied() else { continue };
        if !seen.insert(id) {
            continue;
        }
        if seen.len() > FOLLOWED_MAX {
            return None;
        }
        let mut cites: Vec<_> = finding.cites.iter().filter_map(|cite| ClaimId::read(cite)).collect();
        // Weak models say in words what they conclude from.
        if cites.is_empty() && is_reasoned(finding) {
            cites = finding.texts().flat_map(ids_in).collect();
        }
        if cites.is_empty() {
            basis.push(finding);
        }
        open.extend(cites);
    }
    Some(basis)
}

/// Only concluded, by whoever says it.
fn is_reasoned(finding: &Finding) -> bool {
    finding.trust == Some(Trust::Reasoning) && finding.places.is_empty() && finding.sources.is_empty()
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
