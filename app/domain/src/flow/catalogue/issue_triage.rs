//! Issue triage: what is known of a report, what is missing, and the one next step.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{CodebaseExplorer, Investigator, ProjectManager},
    method::{Form, Method, Part, Shape, angle, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::IssueTriage,
    name: "issue-triage",
    title: "Issue triage",
    kind: Kind::Analysis,
    line: "Sorts a report: type, severity, what is known, one next step",
    what: "Keeps to what was reported, says what is missing, and names exactly one next step: clarify, \
           investigate, research, plan a feature, plan the implementation, or answer. Wider bands look \
           into the code for it.",
    when: "When a report comes in and you want to know what to do with it before anybody works on it.",
    focus: Focus::Reported("What was reported?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "triager",
            ProjectManager,
            "Triage",
            "\
Sort the report. What type is it (fault, wish, question, task), how grave, can it be reproduced from what \
is written, what is known for sure, what is missing? Then choose the one next step.",
        ),
        angle(
            "explorer",
            CodebaseExplorer,
            "In the code",
            "\
Find the places in the project that the report speaks of: the message, the screen, the command, the \
setting. Does it exist as described? Facts with places; no cause.",
        )
        .medium(),
        angle(
            "investigator",
            Investigator,
            "A first look",
            "\
Take a first look at whether what was reported can happen: find the path in the code from the reported \
action to the reported effect. Say where the trail ends.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "together",
        ProjectManager,
        "Next step",
        "\
Put the triage together with what the code shows, and choose the one next step.",
    )]),
    rounds: Rounds::ONE,
    rules: "\
Only what was reported is known. What nobody wrote is missing, however likely it is. Do not name a cause. \
Choose exactly one next step: clarify (too much is missing), investigate (a fault with an unknown cause), \
research (a question about the world), plan-a-feature (a wish), plan-implementation (a clear task), answer \
(it can be answered now).",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: was something added that nobody reported, is the severity shown or assumed, and would \
another next step serve the reporter better?",
    spine: &[
        prose("Type", "Fault, wish, question or task, in one sentence."),
        prose("Severity", "Who is hurt, how much, and how that is known."),
        prose("Reproducibility", "Whether it can be reproduced from what is written, and how."),
        prose("Known", "The reported facts, one line each."),
        prose("Missing", "What has to be asked, one question a line."),
        section("Validation", Part::Validation),
        section("Next step", Part::NextStep),
    ],
};
