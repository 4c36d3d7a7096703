//! Coding standard: one rule, from how the project does it.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{CodebaseExplorer, InformationArchitect, JuniorDeveloper},
    method::{Form, Method, Part, Shape, angle, conclusion, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::CodingStandard,
    name: "coding-standard",
    title: "Coding standard",
    kind: Kind::Draft,
    line: "Drafts one rule from how the project does it, with examples",
    what: "Explorers collect how a thing is done in the project, how often and with which exceptions. The \
           draft gives one rule with a good and a bad example from the code, and how it can be verified.",
    when: "When the same remark comes up in review again and again.",
    focus: Focus::Needed("What should the rule be about?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "patterns",
            CodebaseExplorer,
            "Patterns in the code",
            "\
Find how the project does this today. Collect at least five places. Which way is the most common, which \
ways differ, and can you see why?",
        ),
        angle(
            "documents",
            CodebaseExplorer,
            "What is written",
            "\
Find what is written about this already: documents, comments, linter settings, templates, review remarks \
in the history.",
        )
        .medium(),
        angle(
            "newcomer",
            JuniorDeveloper,
            "A newcomer's eye",
            "\
Try to follow the rule that the patterns suggest. Where would you not know what to do?",
        )
        .large(),
        angle(
            "place",
            InformationArchitect,
            "Words and place",
            "\
Find where such rules stand in this project and which words they use, so that this one is found.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        CodebaseExplorer,
        "Draft",
        "\
Write the rule from what was found. Take examples from the code, with their places. If the project does it \
in two ways, say which is the rule and why.",
    )]),
    rounds: Rounds::ONE,
    rules: "The rule follows from what the project does. What nobody does here yet is no rule.",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: do the examples really stand there, how many places break the rule today and are they \
right to, and can the check that is proposed tell good from bad?",
    spine: &[
        prose("Purpose", "What goes wrong without the rule."),
        section("Validation", Part::Validation),
        prose("When", "Where it applies."),
        prose("When not", "Where it does not, and why."),
        conclusion(
            "Rule",
            "The rule in one or two sentences, then a good and a bad example from the code.",
            "No clear rule.",
        ),
        prose("How to verify", "A search, a linter rule or a test that finds what breaks it."),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
