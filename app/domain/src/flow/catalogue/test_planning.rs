//! Test planning: which tests are worth writing, the most needed first.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{
        ConcurrencyAnalyst, EdgeCaseExplorer, InformationArchitect, JuniorDeveloper, SecurityAnalyst,
        TestEngineer,
    },
    Signal,
    method::{Form, Method, Part, Shape, angle, field, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::TestPlanning,
    name: "test-planning",
    title: "Test planning",
    kind: Kind::Analysis,
    line: "Lists the tests that are worth writing, the most needed first",
    what: "A test engineer and an explorer of edge cases read the code and the tests that exist. Wider \
           bands add concurrency, security and a newcomer's eye. The report names each test with what it \
           protects, at most 40 besides security.",
    when: "Before or after a change, when you want to know what would break unnoticed.",
    focus: Focus::Optional("Which behaviour should be tested?"),
    diff: Diff::Used,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "tests",
            TestEngineer,
            "What is not covered",
            "\
Find the promises of the target that no test would miss, and tests that cannot fail. Propose tests in the \
style of those that exist.",
        ),
        angle(
            "edge-cases",
            EdgeCaseExplorer,
            "Edge cases",
            "\
Find the inputs and moments that the target handles wrongly or that nobody tested. For each: what should \
happen?",
        ),
        angle(
            "concurrency",
            ConcurrencyAnalyst,
            "Concurrency",
            "\
Find orders of events that a test should force: who is held where, who runs then, and what must be seen.",
        )
        .medium()
        .on(Signal::Concurrency),
        angle(
            "security",
            SecurityAnalyst,
            "Security",
            "\
Find attacks that a test should try: each with its control, that is, proof that the attack works without \
the guard.",
        )
        .medium()
        .on(Signal::Security),
        angle(
            "newcomer",
            JuniorDeveloper,
            "A newcomer's eye",
            "\
Read the target as somebody who has to change it tomorrow. What would you break without noticing?",
        )
        .large(),
        angle(
            "order",
            InformationArchitect,
            "Order and names",
            "\
Find how the tests are ordered and named today, and where new ones belong so that somebody finds them.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "together",
        TestEngineer,
        "Test plan",
        "\
Make one plan out of what was found. Join tests that protect the same promise. Rank them by the harm that \
goes unnoticed without them. At most 40, not counting those for security.",
    )]),
    rounds: Rounds::ONE,
    rules: "",
    findings: Form::FINDINGS,
    items: Some(Form {
        letters: "TP",
        name: "test",
        levels: &["crit", "high", "med", "low"],
        kinds: &["security", "behaviour"],
        fields: &[
            field("covers", "the promise that it protects, with its place"),
            field("test", "what is set up, what is done, what must be seen"),
            field("where", "the file that it belongs in"),
        ],
    }),
    gate: "\
Attack above all: does such a test exist already, would it fail for the right reason, can the case occur, \
and which grave case has no test in the plan?",
    spine: &[
        prose("Themes", "What the tests are about, theme by theme, and why these matter most."),
        section("Validation", Part::Validation),
        section("What each test covers", Part::Items),
        section("Reference", Part::Findings),
    ],
};
