//! Architectural decision record: one decision, with what spoke for it.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{CodebaseExplorer, JuniorDeveloper, RiskAnalyst, SoftwareArchitect},
    method::{Form, Method, Part, Shape, angle, conclusion, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::ArchitecturalDecisionRecord,
    name: "architectural-decision-record",
    title: "Architectural decision record",
    kind: Kind::Draft,
    line: "Drafts a record of one decision: drivers, options, consequences",
    what: "One agent collects what the code decides already, another weighs the options; wider bands add \
           risks and a newcomer's questions. The draft has the usual parts of a decision record.",
    when: "When a decision is about to be made, or was made and nobody wrote down why.",
    focus: Focus::Needed("Which decision?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "explorer",
            CodebaseExplorer,
            "What is decided already",
            "\
Find what the project has decided already that bears on this: what is used today, earlier records, \
conventions, limits.",
        ),
        angle(
            "architect",
            SoftwareArchitect,
            "Options",
            "\
Find the options that could really be chosen here, and weigh them by the same few points.",
        ),
        angle(
            "risk",
            RiskAnalyst,
            "Risks",
            "\
Find what could go wrong with each plausible option, and which of them cannot be undone.",
        )
        .medium(),
        angle(
            "newcomer",
            JuniorDeveloper,
            "A newcomer's eye",
            "\
Read the question as somebody who joins next year. What would you want to know about why it was decided \
so?",
        )
        .large(),
        angle(
            "precedents",
            CodebaseExplorer,
            "Precedents",
            "\
Find places in the project and its history where a similar decision was made or taken back, and what came \
of it.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        SoftwareArchitect,
        "Draft",
        "\
Write the record from what everybody found. Status is proposed, unless the code shows that it was decided.",
    )]),
    rounds: Rounds::ONE,
    rules: "One decision. Others that turn up go to deferred.",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: is an option missing that is in use here already, do the drivers really decide, and is a \
consequence left out that somebody will curse?",
    spine: &[
        prose("Status", "Proposed, accepted or replaced, and how that is known."),
        prose("Context", "What is there, and why a decision is needed now."),
        prose("Drivers", "What the decision has to satisfy, the weightiest first; cited by id."),
        prose("Options", "The options by the same points, as a Markdown table."),
        section("Validation", Part::Validation),
        conclusion("Decision", "What is decided, and by which drivers.", "No clear winner."),
        prose(
            "Consequences",
            "What becomes easy, what becomes hard, what has to be done, how it is taken back.",
        ),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
