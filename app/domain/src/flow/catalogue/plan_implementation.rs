//! Plan an implementation: in rounds, until a round brings nothing new.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{
        CodebaseExplorer, DataEngineer, DevopsEngineer, JuniorDeveloper, OnCallEngineer, ProjectManager,
        SecurityAnalyst, SoftwareArchitect, StructuralAnalyst, TestEngineer,
    },
    Signal,
    method::{Form, Method, Part, Shape, angle, conclusion, prose, section, synthesis},
    rounds::{Rounds, Rule},
};

pub static FLOW: Flow = Flow {
    id: FlowId::PlanImplementation,
    name: "plan-implementation",
    title: "Plan an implementation",
    kind: Kind::Draft,
    line: "Drafts how something is built, in which order, and how one sees it is done",
    what: "Agents look at the code, the order of work, tests, security, operation and data, in up to three \
           rounds: each round sees what the one before it said. The draft lists decisions, risks and open \
           questions with recommended answers.",
    when: "When it is clear what is wanted and you want a plan that fits the code as it is.",
    focus: Focus::Needed("What should be implemented?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "manager",
            ProjectManager,
            "Outcome and order",
            "\
Work out what done means and which pieces lead there, in an order in which each can be shown and judged.",
        ),
        angle(
            "newcomer",
            JuniorDeveloper,
            "Open questions",
            "\
Read the task as somebody who has to do it tomorrow. What blocks you, what is assumed, what is simpler \
than it looks?",
        ),
        angle(
            "explorer",
            CodebaseExplorer,
            "The code as it is",
            "\
Find the places that have to change, everything that depends on them, and how the project does similar \
things today.",
        ),
        angle(
            "architect",
            SoftwareArchitect,
            "Approach",
            "\
Find two or three ways to build it that fit the code as it is. Say what each makes easy, what it makes \
hard, and which you would take.",
        )
        .medium(),
        angle(
            "tests",
            TestEngineer,
            "Tests",
            "\
Find how one will see that it works and keeps working: which tests, where, in the style of those that \
exist.",
        )
        .medium(),
        angle(
            "security",
            SecurityAnalyst,
            "Security",
            "\
Find what the change opens to somebody who means harm, and what it has to check.",
        )
        .medium()
        .on(Signal::Security),
        angle(
            "structure",
            StructuralAnalyst,
            "Structure",
            "\
Find where the change fits into the structure, and where it would put one rule in two places or bend a \
border.",
        )
        .large(),
        angle(
            "deployment",
            DevopsEngineer,
            "Deployment",
            "\
Find what the change means for build, configuration, rollout and rollback.",
        )
        .large(),
        angle(
            "operation",
            OnCallEngineer,
            "Operation",
            "\
Find how the change can fail in operation, and what somebody on call needs to see and do.",
        )
        .large(),
        angle(
            "data",
            DataEngineer,
            "Data",
            "\
Find what the change means for what is stored: schema, migration, volume, the way back.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        ProjectManager,
        "Draft",
        "\
Write the plan from what everybody found. Each decision is an entry with its reason. Name files and \
places. Each open question has a recommended answer. What is not needed yet goes to deferred.",
    )]),
    rounds: Rounds { most: [1, 2, 3], again: &[], rule: Rule::NothingNew },
    rules: "Plan, do not build. The way it is done in this project already is the first choice.",
    findings: Form::FINDINGS,
    items: Some(Form::DECISIONS),
    gate: "\
Attack above all: does the approach fit the code that is there, does the order really work piece by piece, \
what breaks for others who use the changed places, and which part could be left out?",
    spine: &[
        prose("Outcome", "What is different when this is done."),
        prose("Context", "What is there today and what the change has to fit, with places."),
        section("Validation", Part::Validation),
        conclusion("Approach", "How it is built, and why so.", "No clear approach."),
        prose("Sequencing", "The pieces in their order; each can be shown and judged by itself."),
        prose("Risks", "What could go wrong, how one would notice, what lowers it."),
        prose("Tests", "Which tests, where, and what each protects."),
        prose("Security", "What has to be checked, and by whom."),
        prose("Operations", "Rollout, rollback, configuration, what is watched."),
        prose("Done means", "How one sees that it is done."),
        section("Deferred", Part::Deferred),
        section("Open", Part::Questions),
        section("Decisions", Part::Items),
    ],
};
