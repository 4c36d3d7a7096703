//! Counts what a round brought, so that code can decide about another.

use std::collections::BTreeSet;

use super::{
    Plan,
    answer::{Finding, Quoted, plain},
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
    // A round in which nobody found anything is one too.
    let last = gathered.workers.iter().map(|worker| worker.step.round).max().unwrap_or(1);
    let is_later =
        |found: &Found| if last > 1 { step(found).round == last } else { !is_first(&gathered, found) };
    let (later, earlier): (Vec<&Found>, Vec<&Found>) =
        gathered.findings.iter().partition(|found| is_later(found));
    let contradicts = |found: &&&Found| form.kind(&found.finding.kind) == Some(CONTRADICTS);
    let mut tally = Tally { known: earlier.len(), ..Tally::default() };
    let mut seen = Seen::default();
    for found in &earlier {
        seen.is_new(&found.finding);
    }
    for found in later.iter().filter(|found| !contradicts(found)) {
        if seen.is_new(&found.finding) {
            tally.new += 1;
            tally.major += usize::from(form.rank(&found.finding.level) == 0);
        }
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

/// What was said so far. A finding at the same place, or in the same words, is the same.
#[derive(Default)]
struct Seen {
    titles: BTreeSet<String>,
    places: BTreeSet<(String, Option<u32>)>,
}

impl Seen {
    fn is_new(&mut self, finding: &Finding) -> bool {
        let title: String = plain(&finding.title).collect();
        let mut is_new = title.is_empty() || self.titles.insert(title);
        for Quoted { place, .. } in finding.places.iter().filter(|quoted| quoted.place.line.is_some()) {
            is_new &= self.places.insert((place.path.clone(), place.line));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{
        Band, FlowId,
        fold::Ended,
        plan::tests::{request, signals},
    };

    /// What each step found, as the entries of its list.
    fn check(flow: FlowId, rounds: u32, said: &[(&str, &str)], expected: Tally) {
        let mut plan = Plan::new(request(flow, Band::Large, false), &signals(&[]));
        for round in 1..rounds {
            plan.steps.extend(plan.next_round(round));
        }
        let outputs: Vec<_> = plan
            .steps
            .iter()
            .filter(|step| step.agent().is_some())
            .map(|step| {
                let found = said.iter().find(|(id, _)| step.id.0 == *id).map(|(_, findings)| findings);
                let failed = || Ended::Failed("it said nothing".into());
                let ended = found.map(|findings| Ended::Said(format!("{{\"findings\": [{findings}]}}")));
                Output { step, ended: ended.unwrap_or_else(failed) }
            })
            .collect();
        assert_eq!(tally(&plan, &outputs), expected, "{said:?}");
    }

    #[test]
    fn all_of_a_first_round_is_new_where_nobody_waits() {
        let flow = FlowId::IterativePlanReview;
        let one = r#"{"id": "V101", "title": "Same", "level": "major"}, {"id": "V102", "title": "b"}"#;
        let other = r#"{"id": "JD1", "title": "same!", "level": "major"}, {"id": "JD2", "title": "c", "level": "Minor"}"#;
        check(flow, 1, &[], Tally::default());
        check(
            flow,
            1,
            &[("validator", one), ("newcomer", other)],
            Tally { new: 3, major: 1, ..Tally::default() },
        );
    }

    #[test]
    fn a_later_round_counts_only_what_it_adds() {
        let flow = FlowId::IterativePlanReview;
        let first = r#"{"id": "V101", "title": "a", "places": ["src/a.rs:1"]}"#;
        let again = r#"{"id": "V201", "title": "other words", "places": ["src/a.rs:1"]}, {"id": "V202", "title": "c"}"#;
        let said = [("validator", first), ("validator@2", again)];
        check(flow, 2, &said, Tally { new: 1, known: 1, ..Tally::default() });
        check(flow, 2, &said[..1], Tally { new: 0, known: 1, ..Tally::default() });
    }

    #[test]
    fn reviewers_of_gaps_add_and_contradict() {
        let gaps = r#"{"id": "GAP1", "title": "a", "kind": "missing"}, {"id": "GAP2", "title": "b", "kind": "partial"}"#;
        let against =
            r#"{"id": "V101", "title": "is there", "kind": "contradicts", "cites": ["GAP-1", "GAP9"]}"#;
        let more = r#"{"id": "JD1", "title": "c", "kind": "Missing", "level": "high"}, {"id": "JD2", "title": "B"},
            {"id": "JD3", "title": "no", "kind": "contradicts", "cites": ["GAP1"]}"#;
        let said = [("gaps", gaps), ("validator", against), ("newcomer", more)];
        check(FlowId::GapAnalysis, 1, &said, Tally { new: 1, major: 1, known: 2, contradicted: 1 });
    }
}
