//! Plan work items: a plan as pieces that somebody can pick up.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{CodebaseExplorer, JuniorDeveloper, ProjectManager, TestEngineer},
    method::{Form, Method, Part, Shape, angle, field, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::PlanWorkItems,
    name: "plan-work-items",
    title: "Plan work items",
    kind: Kind::Draft,
    line: "Turns a plan into pieces of work that somebody can pick up",
    what: "Each item says what to do, how it is tested, when it is accepted and what it depends on. Wider \
           bands look into the code, at the tests, and at what a newcomer would not understand.",
    when: "When a plan stands and you want to hand it out.",
    focus: Focus::Needed("Which plan should be cut into work items? Name its file or put it here."),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "manager",
            ProjectManager,
            "Pieces",
            "\
Cut the plan into work items. Each can be done, tested and judged by itself, and says what it depends on.",
        ),
        angle(
            "explorer",
            CodebaseExplorer,
            "Places",
            "\
Find the places in the project that the plan touches, so that each item can name them.",
        )
        .medium(),
        angle(
            "tests",
            TestEngineer,
            "Tests",
            "\
Find for each part of the plan how one tests it, and where the tests belong.",
        )
        .large(),
        angle(
            "newcomer",
            JuniorDeveloper,
            "A newcomer's eye",
            "\
Read the plan as somebody who gets one item of it and nothing else. What would you have to ask?",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        ProjectManager,
        "Draft",
        "\
Write the work items from what everybody found. What several items need stands once under the shared \
references.",
    )]),
    rounds: Rounds::ONE,
    rules: "Only what the plan says. An item that the plan does not ask for goes to deferred.",
    findings: Form::FINDINGS,
    items: Some(Form {
        letters: "W",
        name: "work item",
        levels: &[],
        kinds: &[],
        fields: &[
            field("tests", "how it is tested, and where"),
            field("acceptance", "what somebody does and sees when it is done"),
            field("depends_on", "the ids of the items that must be done before, or nothing"),
        ],
    }),
    gate: "\
Attack above all: is a part of the plan in no item, is an item too large to judge, does it depend on one \
that is not named, and could acceptance be met without the thing being done?",
    spine: &[
        prose(
            "Shared references",
            "What all items build on: texts, places, words, conventions; with places.",
        ),
        section("Validation", Part::Validation),
        section("Work items", Part::Items),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
