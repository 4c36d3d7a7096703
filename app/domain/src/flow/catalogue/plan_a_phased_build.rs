//! Plan a phased build: a larger goal in phases that can each be shown.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{
        CodebaseExplorer, GapAnalyzer, InformationArchitect, ProjectManager, RiskAnalyst, SoftwareArchitect,
    },
    method::{Form, Method, Part, Shape, angle, conclusion, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::PlanAPhasedBuild,
    name: "plan-a-phased-build",
    title: "Plan a phased build",
    kind: Kind::Draft,
    line: "Cuts a larger goal into phases that can each be shown",
    what: "The goal is cut so that each phase ends with something that somebody can see and judge. Wider \
           bands compare with what is there, and weigh risks and design. The draft says why the order is \
           as it is.",
    when: "When something is too large for one plan and you want to know what comes first.",
    focus: Focus::Needed("What is the goal?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "manager",
            ProjectManager,
            "Phases",
            "\
Cut the goal into phases. Each ends with something that a person can see and judge, and is useful even if \
nothing follows.",
        ),
        angle(
            "shape",
            InformationArchitect,
            "Shape",
            "\
Find the parts of the goal, what depends on what, and in which order somebody would understand and use \
them.",
        ),
        angle(
            "gaps",
            GapAnalyzer,
            "What is there already",
            "\
Compare the goal with the project: what exists, what exists in part, what is missing.",
        )
        .medium(),
        angle(
            "explorer",
            CodebaseExplorer,
            "The code as it is",
            "\
Find the places that each part of the goal touches, and which of them several parts share.",
        )
        .medium(),
        angle(
            "risk",
            RiskAnalyst,
            "Risks",
            "\
Find what is least certain about the goal, and what should therefore be tried early.",
        )
        .large(),
        angle(
            "architect",
            SoftwareArchitect,
            "Design",
            "\
Find the decisions that are hard to change later, and in which phase each has to be made.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        ProjectManager,
        "Draft",
        "\
Write the phases from what everybody found. For each: what it brings, what it contains, how it is shown, \
what it needs from the ones before. What is not needed yet goes to deferred.",
    )]),
    rounds: Rounds::ONE,
    rules: "No dates and no estimates. The first phase is the smallest one that somebody would use.",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: can each phase really be shown by itself, does a phase need something from a later one, \
and is what is least certain tried early?",
    spine: &[
        prose("Goal", "What is reached at the end, and for whom."),
        section("Validation", Part::Validation),
        prose("Shape", "The parts of it, and what depends on what."),
        conclusion(
            "Why this order",
            "Why the phases come in this order and not in another.",
            "No clear order.",
        ),
        prose(
            "Phases",
            "One heading a phase: what it brings, what it contains, how it is shown, what it needs.",
        ),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
