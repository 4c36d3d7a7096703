//! Project documentation: how a part works, for somebody who has to work with it.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{CodebaseExplorer, ContentAuditor, InformationArchitect},
    method::{Form, Method, Part, Shape, angle, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::ProjectDocumentation,
    name: "project-documentation",
    title: "Project documentation",
    kind: Kind::Draft,
    line: "Drafts how a part of the project works, with places",
    what: "Explorers read the code from several sides; the large band also holds what is written against \
           it. The draft explains architecture, flows, key files, configuration and errors, each with its \
           place.",
    when: "When something works and nobody but its author could explain it.",
    focus: Focus::Optional("Which part, and for which reader?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "structure",
            CodebaseExplorer,
            "Parts",
            "\
Find the parts of the target, what each is responsible for, how they are connected, and which files \
matter.",
        ),
        angle(
            "flows",
            CodebaseExplorer,
            "Flows",
            "\
Follow the two or three most important things that the target does, from entry to end, naming functions in \
their order.",
        ),
        angle(
            "settings",
            CodebaseExplorer,
            "Configuration and errors",
            "\
Find what can be configured, with defaults, and every error that somebody can see: when it comes and what \
to do then.",
        )
        .medium(),
        angle(
            "audit",
            ContentAuditor,
            "What is written",
            "\
Hold what is written about the target against the code. What is wrong, what is stale, what can be linked?",
        )
        .large(),
        angle(
            "readers",
            InformationArchitect,
            "Readers",
            "\
Find who reads this and with which questions, and in which order the answers should stand.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        InformationArchitect,
        "Draft",
        "\
Write the documentation from what the explorers found. Explain what is surprising and why it is so; leave \
out what the code says clearly. Every statement has its place.",
    )]),
    rounds: Rounds::ONE,
    rules: "Write what is, not what should be.",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: walk one of the described flows in the code and see whether each step is so. Then \
defaults, names and errors, word for word.",
    spine: &[
        section("Validation", Part::Validation),
        prose("Architecture", "The parts and how they are connected."),
        prose("How it works", "What happens inside, and why it is done so."),
        prose("Flows", "The most important cases from entry to end, step by step."),
        prose("Key files", "The files to know, one line each."),
        prose("Config", "What can be set, with defaults and places."),
        prose("Errors", "What can be seen when something fails, and what to do then."),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
