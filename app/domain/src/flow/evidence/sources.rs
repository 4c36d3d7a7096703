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

    /// Where all that a conclusion or a decision rests on has one source only, it rests on nothing.
    pub(super) fn conclusions(&mut self) {
        let gathered = self.gathered;
        let findings: BTreeMap<ClaimId, &Finding> =
            all(gathered).filter_map(|finding| Some((finding.claim_id()?, finding))).collect();
        let is_alone = |ids: Vec<ClaimId>| {
            basis(&findings, ids)
                .is_some_and(|basis| !basis.is_empty() && basis.iter().all(|finding| is_single(finding)))
        };
        let parts = gathered.method.spine.iter();
        let titles = parts.filter(|section| matches!(section.part, Part::Conclusion { .. }));
        let sections = titles.filter_map(|section| gathered.section(section.title));
        let is_weak = |item: &Finding| {
            let cites = item.cites.iter().filter_map(|cite| ClaimId::read(cite));
            let cites: Vec<_> = cites.chain(item.texts().flat_map(ids_in)).collect();
            let rests_on_itself = cites.is_empty();
            item.places.is_empty() && (if rests_on_itself { is_single(item) } else { is_alone(cites) })
        };
        let mut alone: Vec<At> =
            sections.filter(|at| is_alone(ids_in(&gathered.sections[*at].text))).map(At::Section).collect();
        let items = gathered.items.iter().enumerate().filter(|(_, item)| is_weak(&item.finding));
        alone.extend(items.map(|(at, _)| At::Item(at)));
        for at in alone {
            let words = "Everything that this rests on has a single source.";
            self.flag(at, Check::SingleSource, words.to_owned());
        }
    }
}

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
        let cites: Vec<_> = finding.cites.iter().filter_map(|cite| ClaimId::read(cite)).collect();
        if cites.is_empty() {
            basis.push(finding);
        }
        open.extend(cites);
    }
    Some(basis)
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
