//! Update a pull request's description: from the change itself.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{BehavioralAnalyst, JuniorDeveloper, TestEngineer},
    method::{Form, Method, Part, Shape, angle, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::UpdatePrDescription,
    name: "update-pr-description",
    title: "Update a pull request's description",
    kind: Kind::Draft,
    line: "Drafts the description of a change from its diff",
    what: "Reads the change and writes what it does, what behaves differently, where to look first and how \
           it was tested. If the repository has a template of its own, the draft follows that. Wider bands \
           look at tests and behaviour.",
    when: "Before you ask somebody to review a change, or when it has grown since you described it.",
    focus: Focus::Optional("What should the reader know that the change does not show?"),
    diff: Diff::Needed,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "newcomer",
            JuniorDeveloper,
            "What changed",
            "\
Read the change from its first line to its last. Say what it does and why, as far as it shows; what \
behaves differently; which files to read first. Report what you could not understand as questions.",
        ),
        angle(
            "tests",
            TestEngineer,
            "How it is tested",
            "\
Find which tests come with the change, what they protect, and which changed behaviour has none.",
        )
        .medium(),
        angle(
            "behaviour",
            BehavioralAnalyst,
            "What behaves differently",
            "\
Walk through the changed code before and after. What behaves differently, also where nobody meant it to?",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        JuniorDeveloper,
        "Draft",
        "\
Write the description from what was found. Say what changed for the reader of the code and for its users. \
No praise.",
    )]),
    rounds: Rounds::ONE,
    rules: "\
Only what the change shows. If a template of the repository is given, use its headings as the titles of \
your sections, in its order, in place of those named here.",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: is something described that the change does not do, is a change of behaviour left out, \
and is a test claimed that is not there?",
    spine: &[
        section("Validation", Part::Validation),
        prose(
            "Behaviour changes",
            "What behaves differently for whoever uses or calls it; or that nothing does.",
        ),
        prose("Look first", "Where a reviewer should look first, with places, and why."),
        prose("How tested", "Which tests cover it; and what nobody tested."),
        prose("Files", "The changed files in groups, one line each."),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
