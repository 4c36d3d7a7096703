//! Counts what a round brought, so that code can decide about another.

use std::collections::BTreeSet;

use super::{
    Plan,
    answer::Finding,
    catalogue::CONTRADICTS,
    cited::ClaimId,
    fold::Output,
    gathered::{Found, Gathered},
    rounds::Tally,
};

/// Of the last round among `outputs`, against all that was said before it. In a first round those who came after
/// others bring what is new, and may contradict what those found.
pub fn tally(plan: &Plan, outputs: &[Output<'_>]) -> Tally {
    let angles: Vec<_> = outputs.iter().filter(|output| output.step.as_angle().is_some()).cloned().collect();
    let gathered = Gathered::new(plan, &angles);
    let form = &gathered.method.findings;
    let step = |found: &Found| gathered.workers[found.worker].step;
    let last = gathered.findings.iter().map(|found| step(found).round).max().unwrap_or(1);
    let is_later =
        |found: &Found| if last > 1 { step(found).round == last } else { !is_first(&gathered, found) };
    let (later, earlier): (Vec<&Found>, Vec<&Found>) =
        gathered.findings.iter().partition(|found| is_later(found));
    let contradicts = |found: &&&Found| form.kind(&found.finding.kind) == Some(CONTRADICTS);
    let mut tally = Tally { known: earlier.len(), ..Tally::default() };
    let mut seen: Vec<&Finding> = earlier.iter().map(|found| &found.finding).collect();
    for found in later.iter().filter(|found| !contradicts(found)) {
        if seen.iter().any(|other| is_same(other, &found.finding)) {
            continue;
        }
        seen.push(&found.finding);
        tally.new += 1;
        tally.major += usize::from(form.rank(&found.finding.level) == 0);
    }
    let known: BTreeSet<_> = earlier.iter().filter_map(|found| found.finding.claim_id()).collect();
    let cited = later.iter().filter(contradicts).flat_map(|found| &found.finding.cites);
    let contradicted: BTreeSet<_> = cited.filter_map(|cite| ClaimId::read(cite)).collect();
    tally.contradicted = contradicted.intersection(&known).count();
    tally
}

/// Whether nobody was heard before whoever found this. Where nobody waits for anybody, all of a first round is new.
fn is_first(gathered: &Gathered<'_>, found: &Found) -> bool {
    let waits = |worker: usize| !gathered.workers[worker].step.needs.is_empty();
    (0..gathered.workers.len()).any(waits) && !waits(found.worker)
}

/// The same place, or the same words.
fn is_same(one: &Finding, other: &Finding) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let shares_place = || {
        let places = |finding: &Finding| -> BTreeSet<_> {
            finding
                .places
                .iter()
                .filter(|quoted| quoted.place.line.is_some())
                .map(|quoted| quoted.place.clone())
                .collect()
        };
        !places(one).is_disjoint(&places(other))
    };
    let (title, other_title) = (plain(&one.title), plain(&other.title));
    (!title.is_empty() && title == other_title) || shares_place()
}
