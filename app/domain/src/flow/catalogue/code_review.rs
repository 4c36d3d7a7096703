//! Code review: several dimensions, each with a validator of its own that drops what is false.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{
        BehavioralAnalyst, ConcurrencyAnalyst, DataEngineer, DevopsEngineer, OnCallEngineer, SecurityAnalyst,
        StructuralAnalyst, TestEngineer,
    },
    Signal,
    method::{Form, Method, Part, Shape, angle, field, section},
    review::{CRITICAL, SEVERITIES, SUGGESTION, WARNING, YAGNI},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::CodeReview,
    name: "code-review",
    title: "Code review",
    kind: Kind::Analysis,
    line: "Finds what is wrong with code, and drops what is only suspected",
    what: "Agents review correctness and structure, in wider bands also security, resilience, concurrency, \
           tests, data and deployment. A validator for each tries to refute every finding. What is left is \
           shown by severity, with its place.",
    when: "Before you merge a change, or when you take over code that you do not know.",
    focus: Focus::Optional("What should the reviewers look at in particular?"),
    diff: Diff::Used,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "correctness",
            BehavioralAnalyst,
            "Correctness",
            "\
Review for correctness. Find inputs and states with which the code does something wrong: wrong results, \
lost or doubled work, swallowed errors, broken promises to callers.",
        ),
        angle(
            "structure",
            StructuralAnalyst,
            "Structure",
            "\
Review the structure. Find what will make the next change go wrong: one rule in two places, borders that \
leak, parts that know too much of each other. Report what nobody needs as kind yagni.",
        ),
        angle(
            "security",
            SecurityAnalyst,
            "Security",
            "\
Review for security. Find ways in, each with the path that an attacker takes: who sends what, through \
which lines, and what they gain.",
        )
        .medium(),
        angle(
            "resilience",
            OnCallEngineer,
            "Resilience",
            "\
Review for resilience. Find what happens when something that the code depends on is slow, fails or answers \
twice, and what grows without a bound.",
        )
        .medium(),
        angle(
            "concurrency",
            ConcurrencyAnalyst,
            "Concurrency",
            "\
Review for concurrency. Find what goes wrong when two things happen at the same time. Write down the order \
of events.",
        )
        .large(),
        angle(
            "tests",
            TestEngineer,
            "Tests",
            "\
Review the tests. Find promises of this code that no test would miss, and tests that cannot fail.",
        )
        .large(),
        angle(
            "data",
            DataEngineer,
            "Data",
            "\
Review what is stored. Find ways in which data becomes lost, wrong, stale or slow to reach: schema, \
queries, transactions, migrations.",
        )
        .large()
        .on(Signal::Data),
        angle(
            "deployment",
            DevopsEngineer,
            "Deployment",
            "\
Review how this is built and shipped. Find what fails at build, start, rollout or rollback, and what \
nobody would notice.",
        )
        .large()
        .on(Signal::Devops),
    ],
    pool: None,
    shape: Shape::PerAngle,
    rounds: Rounds::ONE,
    rules: "\
Severity: critical (must not be merged: wrong results, lost data, a way in, an outage), warning (will hurt \
somebody, can wait), suggestion (worth a thought). If you have doubts, look again until you have none, or \
choose the lower one.",
    findings: Form {
        levels: SEVERITIES,
        kinds: &["defect", YAGNI],
        fields: &[
            field("introduced", "yes if the change under review brought it, no if it was there before"),
            field("fix", "the smallest change that mends it"),
        ],
        ..Form::FINDINGS
    },
    items: None,
    gate: "\
You validate one dimension of a code review. Try to refute every finding in it: open the place, look for \
the check, the caller or the test that makes it harmless. List in drops every finding that is false, not \
reachable, or not shown by its evidence. A finding that you could not refute stays.",
    spine: &[
        section("Summary table", Part::FindingCounts),
        section("Validation", Part::Validation),
        section("Recommendation", Part::ReviewVerdict),
        section("Critical", Part::Level(CRITICAL)),
        section("Warnings", Part::Level(WARNING)),
        section("Suggestions", Part::Level(SUGGESTION)),
        section("Advisory YAGNI", Part::OfKind(YAGNI)),
        section("What is good", Part::Good),
        section("Security", Part::Security),
    ],
};
