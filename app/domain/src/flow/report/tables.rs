//! The parts of a report that are counted.

use std::collections::BTreeMap;

use super::{Block, blocks::table};
use crate::flow::{
    answer::{Deferred, Question, Source},
    fold::Output,
    gathered::{Found, Gathered, Guard},
    plan::Part,
    review::{Judged, Review, Severity},
    rounds::Next,
    tally,
};

/// Findings that stand, by dimension and severity, shown or not.
pub(super) fn finding_counts(gathered: &Gathered<'_>, review: &Review) -> Block {
    let judged: Vec<&Judged> = review.shown.iter().chain(&review.hidden).chain(&review.cut).collect();
    let angles = gathered.workers.iter().enumerate().filter(|(_, worker)| worker.agent.part == Part::Angle);
    let rows = angles.map(|(at, worker)| {
        let of = |judged: &&&Judged| gathered.findings[judged.at].worker == at;
        let counts = Severity::ALL.map(|severity| {
            judged.iter().filter(of).filter(|judged| judged.severity == severity).count().to_string()
        });
        let dropped = gathered.findings.iter().filter(|found| found.worker == at && found.is_dropped).count();
        let gate = gathered.gates.iter().find(|gate| gate.of == worker.agent.of);
        let state = match (&worker.missing, worker.unread, gate.and_then(Guard::unvalidated)) {
            (Some(why), ..) => why.clone(),
            (None, Some(why), _) => format!("not read as a whole: {why}"),
            (None, None, Some(why)) => format!("reviewed, not validated: {why}"),
            (None, None, None) => "reviewed".to_owned(),
        };
        let mut row = vec![worker.step.label.clone()];
        row.extend(counts);
        row.extend([dropped.to_string(), state]);
        row
    });
    table(&["Dimension", "Critical", "Warnings", "Suggestions", "Dropped", "State"], rows.collect())
}

/// Entries by kind and level.
pub(super) fn item_counts(gathered: &Gathered<'_>) -> Option<Block> {
    let form = gathered.method.items.as_ref()?;
    let count = |kind: Option<&str>, level: Option<&str>| {
        let of_kind = |kind_of: &str| kind.is_none() || form.kind(kind_of) == kind;
        let of_level = |level_of: &str| level.is_none() || form.level(level_of) == level;
        let items = gathered.standing_items().map(|found| &found.finding);
        items.filter(|item| of_kind(&item.kind) && of_level(&item.level)).count().to_string()
    };
    let row = |name: &str, kind: Option<&str>| {
        let levels = form.levels.iter().map(|level| count(kind, Some(level)));
        std::iter::once(name.to_owned()).chain(levels).chain([count(kind, None)]).collect()
    };
    let rows = form.kinds.iter().map(|kind| row(kind, Some(kind))).chain([row("all", None)]).collect();
    let head: Vec<_> = std::iter::once("Kind").chain(form.levels.iter().copied()).chain(["all"]).collect();
    Some(table(&head, rows))
}

pub(super) fn item_confidence(gathered: &Gathered<'_>) -> Block {
    let row = |Found { finding, doubts, .. }: &Found| {
        let own = finding.field("confidence").unwrap_or("not told").to_owned();
        let confidence = std::iter::once(own).chain(doubts.iter().cloned()).collect::<Vec<_>>().join(", ");
        vec![finding.shown_id(), finding.title.clone(), confidence]
    };
    table(&["Id", "What", "Confidence"], gathered.standing_items().map(row).collect())
}

pub(super) fn deferred(deferred: &[Deferred]) -> Block {
    let row = |Deferred { what, why, reopen_when, source }: &Deferred| {
        vec![what.clone(), why.clone(), reopen_when.clone(), source.clone()]
    };
    table(&["What", "Why not now", "Reopen when", "Source"], deferred.iter().map(row).collect())
}

pub(super) fn questions(questions: &[Question]) -> Block {
    let row = |Question { question, recommended }: &Question| vec![question.clone(), recommended.clone()];
    table(&["Question", "Recommended answer"], questions.iter().map(row).collect())
}

/// Everybody's sources as one list, each page once, with who cites it.
pub(super) fn sources(gathered: &Gathered<'_>) -> Option<Block> {
    let mut registry: BTreeMap<&str, (&Source, Vec<String>)> = BTreeMap::new();
    for found in &gathered.findings {
        let finding = &found.finding;
        for source in &finding.sources {
            let url = source.url.trim().trim_end_matches('/');
            let (known, cited_by) = registry.entry(url).or_insert((source, Vec::new()));
            if known.date.trim().is_empty() {
                *known = source;
            }
            let id = finding.shown_id();
            if cited_by.last() != Some(&id) {
                cited_by.push(id);
            }
        }
    }
    let row = |(source, cited_by): &(&Source, Vec<String>)| {
        vec![source.title.clone(), source.url.clone(), source.date.clone(), cited_by.join(", ")]
    };
    let rows: Vec<_> = registry.values().map(row).collect();
    (!rows.is_empty()).then(|| table(&["Page", "Address", "Date", "Cited by"], rows))
}

/// What each round brought, and why the last one was the last.
pub(super) fn rounds(gathered: &Gathered<'_>, outputs: &[Output<'_>]) -> (Block, String) {
    let plan = gathered.plan;
    let angles: Vec<_> = outputs.iter().filter(|output| output.step.as_angle().is_some()).collect();
    let last = angles.iter().map(|output| output.step.round).max().unwrap_or(1);
    let mut rows = Vec::new();
    let mut why = String::new();
    for round in 1..=last {
        let so_far: Vec<_> = angles
            .iter()
            .filter(|output| output.step.round <= round)
            .map(|output| (*output).clone())
            .collect();
        let agents =
            so_far.iter().filter(|output| output.step.round == round && output.said().is_some()).count();
        let tally = tally(plan, &so_far);
        rows.push([round as usize, agents, tally.new, tally.major].map(|count| count.to_string()).into());
        if let Next::Enough(words) = gathered.method.rounds.after(plan.request.band, round, Some(tally)) {
            why = words;
        }
    }
    (table(&["Round", "Agents", "New findings", "Major"], rows), why)
}
