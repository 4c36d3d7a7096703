use super::*;
use crate::{
    Rejected,
    flow::{
        Band, FlowId,
        plan::tests::{request, signals},
        rounds::Tally,
    },
    output::Outcome,
};

pub(crate) use super::carried::tests::shown;

pub(super) fn run(flow: FlowId, band: Band) -> Run {
    let plan = Plan::new(request(flow, band, false), &signals(&[]));
    Run::new(RunId(uuid::Uuid::from_u128(1)), plan, 2)
}

/// Tells a story in words: `begin`, `cancel`, `step` (claimed and done), `step:fail`, `step:lost`, `step:stop`,
/// `step:claim`, `step:done` (of the attempt that runs), `fold+new` (a fold that counted something new).
fn tell(run: &mut Run, story: &str) -> Vec<Change> {
    let mut log = Vec::new();
    for word in story.split_whitespace() {
        for input in inputs(run, word) {
            let changes = run.decide(input).unwrap_or_else(|no| panic!("{word}: {no}"));
            for change in changes {
                run.apply(&change);
                log.push(change);
            }
        }
    }
    log
}

fn inputs(run: &Run, word: &str) -> Vec<Input> {
    let (name, how) = word.split_once(':').unwrap_or((word, ""));
    let (name, new) = name.split_once('+').map_or((name, 0), |(name, new)| (name, new.parse().unwrap()));
    let step = StepId(name.to_owned());
    let attempt = |run: &Run| run.step(&step).map_or(Attempt(1), RunStep::next_attempt);
    let tally = Some(Tally { new, major: new, ..Tally::default() });
    let report =
        |outcome| Input::Report(Report { step: step.clone(), attempt: attempt(run), outcome, tally });
    let claim = Input::Claim { step: step.clone(), at_ms: 1 };
    let done = report(Outcome::Done { measured: Default::default() });
    match (name, how) {
        ("begin", _) => vec![Input::Begin],
        ("cancel", _) => vec![Input::Cancel],
        (_, "") => vec![claim, done],
        (_, "claim") => vec![claim],
        (_, "done") => vec![done],
        (_, "fail") => vec![claim, report(Outcome::Failed { reason: "no".into() })],
        (_, "lost") => vec![claim, report(Outcome::Lost)],
        (_, "stop") => vec![report(Outcome::Cancelled)],
        (_, other) => panic!("unknown word {other}"),
    }
}

/// The state after the story: each step with the first letter of its status, then the run.
fn check(flow: FlowId, band: Band, story: &str, expected: &str) {
    let mut run = run(flow, band);
    tell(&mut run, story);
    let steps: Vec<_> =
        run.steps.iter().map(|step| format!("{}={}", step.step.id, &step.status.label()[..1])).collect();
    let end = match &run.status {
        Status::Failed { reason } => format!("Failed({reason})"),
        status => status.label().to_owned(),
    };
    assert_eq!(format!("{} {end}", steps.join(" ")), expected, "{story}");
}

const SMALL: Band = Band::Small;

#[test]
fn steps_begin_when_what_they_need_is_there() {
    let research = |story: &str, expected: &str| check(FlowId::Research, SMALL, story, expected);
    research("", "options=W project=W fold=W weigh=W gate=W render=W Queued");
    research("begin", "options=Q project=Q fold=W weigh=W gate=W render=W Queued");
    research("begin begin", "options=Q project=Q fold=W weigh=W gate=W render=W Queued");
    research("begin options:claim", "options=R project=Q fold=W weigh=W gate=W render=W Running");
    research("begin options", "options=D project=Q fold=W weigh=W gate=W render=W Running");
    research("begin options project", "options=D project=D fold=Q weigh=W gate=W render=W Running");
    research(
        "begin options project fold weigh",
        "options=D project=D fold=D weigh=D gate=Q render=W Running",
    );
    research(
        "begin options project fold weigh gate render",
        "options=D project=D fold=D weigh=D gate=D render=D Done",
    );
}

#[test]
fn a_failed_angle_is_carried_as_missing() {
    let research = |story: &str, expected: &str| check(FlowId::Research, SMALL, story, expected);
    research("begin options:fail project", "options=F project=D fold=Q weigh=W gate=W render=W Running");
    research(
        "begin options:fail project fold weigh gate render",
        "options=F project=D fold=D weigh=D gate=D render=D Done",
    );
    research(
        "begin options:fail project:fail fold",
        "options=F project=F fold=D weigh=S gate=S render=Q Running",
    );
    research(
        "begin options:fail project:fail fold render",
        "options=F project=F fold=D weigh=S gate=S render=D Failed(Gate was skipped: nobody answered)",
    );
}

#[test]
fn what_fails_from_the_fold_on_fails_the_run_with_what_there_is() {
    let research = |story: &str, expected: &str| check(FlowId::Research, SMALL, story, expected);
    research(
        "begin options project fold weigh gate:fail render",
        "options=D project=D fold=D weigh=D gate=F render=D Failed(Gate failed: no)",
    );
    research(
        "begin options project fold weigh:fail render",
        "options=D project=D fold=D weigh=F gate=S render=D Failed(Gate was skipped: Weighing the options failed: no)",
    );
    research(
        "begin options project fold:fail render",
        "options=D project=D fold=F weigh=S gate=S render=D Failed(Gate was skipped: Fold failed: no)",
    );
    research(
        "begin options project fold weigh gate render:fail",
        "options=D project=D fold=D weigh=D gate=D render=F Failed(Report failed: no)",
    );
}

#[test]
fn a_lost_attempt_is_repeated_within_the_bound() {
    let research = |story: &str, expected: &str| check(FlowId::Research, SMALL, story, expected);
    research("begin options:lost", "options=Q project=Q fold=W weigh=W gate=W render=W Running");
    research("begin options:lost options", "options=D project=Q fold=W weigh=W gate=W render=W Running");
    research("begin options:lost options:lost", "options=F project=Q fold=W weigh=W gate=W render=W Running");
    // What code does costs nothing, and what was answered must not be lost with it.
    let answered = "begin options project fold weigh gate";
    let lost = |times: usize| format!("{answered}{}", " render:lost".repeat(times));
    research(&lost(9), "options=D project=D fold=D weigh=D gate=D render=Q Running");
    research(
        &lost(10),
        "options=D project=D fold=D weigh=D gate=D render=F Failed(Report failed: whoever carried it out, or the database, went away each time)",
    );
}

#[test]
fn cancel_ends_every_step() {
    let research = |story: &str, expected: &str| check(FlowId::Research, SMALL, story, expected);
    research("cancel", "options=C project=C fold=C weigh=C gate=C render=C Cancelled");
    research("begin options:claim cancel", "options=S project=C fold=C weigh=C gate=C render=C Stopping");
    research(
        "begin options:claim cancel cancel",
        "options=S project=C fold=C weigh=C gate=C render=C Stopping",
    );
    research(
        "begin options:claim cancel options:stop",
        "options=C project=C fold=C weigh=C gate=C render=C Cancelled",
    );
    research(
        "begin options:claim cancel options:done",
        "options=D project=C fold=C weigh=C gate=C render=C Cancelled",
    );
    research(
        "begin options project fold weigh gate render:claim cancel render:done",
        "options=D project=D fold=D weigh=D gate=D render=D Done",
    );
}

#[test]
fn what_comes_too_late_changes_nothing() {
    let mut run = run(FlowId::Research, SMALL);
    tell(&mut run, "begin options:lost options:claim");
    let report = |attempt| {
        Input::Report(Report {
            step: StepId("options".into()),
            attempt: Attempt(attempt),
            outcome: Outcome::Done { measured: Default::default() },
            tally: None,
        })
    };
    assert_eq!(run.decide(report(1)), Err(Rejected::Stale));
    assert_eq!(run.decide(Input::Claim { step: StepId("options".into()), at_ms: 1 }), Err(Rejected::Stale));
    assert_eq!(run.decide(Input::Claim { step: StepId("gate".into()), at_ms: 1 }), Err(Rejected::Stale));
    assert_eq!(run.decide(Input::Claim { step: StepId("nobody".into()), at_ms: 1 }), Err(Rejected::Stale));
    tell(&mut run, "options:done project fold weigh gate render");
    assert_eq!(run.decide(report(2)), Err(Rejected::Stale));
    assert_eq!(run.decide(Input::Cancel), Err(Rejected::Idle));
    assert_eq!(run.decide(Input::Begin), Ok(Vec::new()));
}

#[test]
fn each_dimension_of_a_review_has_its_own_validator() {
    let review = |story: &str, expected: &str| check(FlowId::CodeReview, SMALL, story, expected);
    let names = "correctness={} structure={} check-correctness={} check-structure={} render={} {}";
    let state = |letters: [&str; 5], end: &str| {
        letters.iter().chain([&end]).fold(names.to_owned(), |text, letter| text.replacen("{}", letter, 1))
    };
    review("begin correctness", &state(["D", "Q", "Q", "W", "W"], "Running"));
    review("begin correctness check-correctness", &state(["D", "Q", "D", "W", "W"], "Running"));
    review("begin correctness:fail structure", &state(["F", "D", "S", "Q", "W"], "Running"));
    review(
        "begin correctness:fail structure check-structure render",
        &state(["F", "D", "S", "D", "D"], "Done"),
    );
    review(
        "begin correctness structure check-correctness:fail check-structure render",
        &state(["D", "D", "F", "D", "D"], "Failed(Validator of Correctness failed: no)"),
    );
    review(
        "begin correctness:fail structure:fail render",
        &state(
            ["F", "F", "S", "S", "D"],
            "Failed(Validator of Correctness was skipped: Correctness failed: no)",
        ),
    );
}

#[test]
fn rounds_are_added_while_they_are_worth_it() {
    let flow = FlowId::IterativePlanReview;
    let angles = "begin validator newcomer investigator tests";
    let mut once = run(flow, Band::Medium);
    tell(&mut once, &format!("{angles} fold+0"));
    assert_eq!(once.steps.iter().map(|step| step.step.round).max(), Some(1), "a calm round is the last");

    let mut twice = run(flow, Band::Medium);
    let log = tell(&mut twice, &format!("{angles} fold+1"));
    assert!(log.iter().any(|change| matches!(change, Change::RoundAdded { .. })));
    let queued: Vec<_> = twice
        .steps
        .iter()
        .filter(|step| step.status == StepStatus::Queued)
        .map(|step| step.step.id.0.as_str())
        .collect();
    assert_eq!(queued, ["validator@2", "newcomer@2", "investigator@2", "tests@2"]);
    let gate = twice.step(&StepId("gate".into())).unwrap();
    assert_eq!(twice.waits_for(gate), ["Fold of round 2", "Findings, put together"]);
    tell(&mut twice, "validator@2 newcomer@2 investigator@2 tests@2 fold@2+9 together gate render");
    assert_eq!(twice.status, Status::Done, "the medium band has two rounds, whatever they bring");
}

#[test]
fn one_more_look_at_gaps_only_when_in_doubt() {
    let check = |tally: Tally, again: bool| {
        let mut run = run(FlowId::GapAnalysis, SMALL);
        tell(&mut run, "begin gaps validator newcomer fold:claim");
        let outcome = Outcome::Done { measured: Default::default() };
        let report = Report { step: StepId("fold".into()), attempt: Attempt(1), outcome, tally: Some(tally) };
        let changes = run.decide(Input::Report(report)).unwrap();
        let added: Vec<_> = changes
            .iter()
            .filter_map(|change| match change {
                Change::RoundAdded { steps, .. } => {
                    Some(steps.iter().map(|step| step.id.0.as_str()).collect::<Vec<_>>())
                }
                _ => None,
            })
            .collect();
        let expected: Vec<Vec<&str>> = if again { vec![vec!["gaps@2", "fold@2"]] } else { vec![] };
        assert_eq!(added, expected, "{tally:?}");
    };
    check(Tally { new: 2, known: 10, contradicted: 1, ..Tally::default() }, false);
    check(Tally { new: 3, known: 10, contradicted: 0, ..Tally::default() }, true);
    check(Tally { new: 0, known: 10, contradicted: 2, ..Tally::default() }, true);
}

#[test]
fn progress_is_told_in_a_line() {
    let mut run = run(FlowId::Investigate, Band::Medium);
    tell(&mut run, "begin error-path data-flow:claim");
    assert_eq!(run.words(), "9 agents · 1 running · 1 queued · 3 waiting · 1 done · 3 skipped");
}

#[test]
fn a_run_and_its_changes_come_back_from_the_wire_as_they_were() {
    let mut run = run(FlowId::GapAnalysis, Band::Medium);
    let log = tell(
        &mut run,
        "begin gaps:lost gaps validator:fail newcomer manager structure fold+9 gaps@2:claim cancel",
    );
    let json = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&json).unwrap(), run);
    assert_eq!(crate::json::read::<Run>(&json).unwrap(), run);
    for change in log {
        let json = serde_json::to_string(&change).unwrap();
        assert_eq!(crate::json::read::<Change>(&json).unwrap(), change, "{json}");
    }
}
