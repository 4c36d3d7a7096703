//! Iterative plan review: a plan is attacked in rounds until they become calm.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{
        AdversarialValidator, ConcurrencyAnalyst, DataEngineer, DevopsEngineer, Investigator,
        JuniorDeveloper, OnCallEngineer, ProjectManager, SecurityAnalyst, SystemArchitect, TestEngineer,
    },
    Signal,
    method::{Field, Form, Method, Part, Pool, Shape, angle, conclusion, field, section, synthesis},
    rounds::{Rounds, Rule},
};

pub static FLOW: Flow = Flow {
    id: FlowId::IterativePlanReview,
    name: "iterative-plan-review",
    title: "Iterative plan review",
    kind: Kind::Draft,
    line: "Attacks a plan in rounds until nothing grave comes up any more",
    what: "Reviewers look for what is wrong or missing in a plan, see each other's findings and look \
           again, up to three times. It ends early when a round brings at most two new findings and none \
           of them major. Edits are suggested, never made.",
    when: "When you have a plan and want it attacked before you spend work on it.",
    focus: Focus::Needed("Which plan should be reviewed? Name its file or put it here."),
    diff: Diff::Unused,
};

const SPECIALIST: &str = "\
Review the plan from your own field. What is wrong, what is missing, what will not work in this project?";

const FIELDS: &[Field] = &[field("edit", "the words that should stand in the plan instead, and where")];

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "validator",
            AdversarialValidator,
            "Contradiction",
            "\
Try to prove the plan wrong. Which of its claims about the project are not so? Which step does not lead to \
the next? What does it take for granted?",
        ),
        angle(
            "newcomer",
            JuniorDeveloper,
            "A newcomer's eye",
            "\
Read the plan as somebody who has to carry it out tomorrow. Where do you stop, and what contradicts what?",
        ),
        angle(
            "investigator",
            Investigator,
            "Claims about the code",
            "\
Check every claim of the plan about the project: open the place, and say whether it is so.",
        )
        .medium(),
    ],
    pool: Some(Pool {
        members: &[
            angle("security", SecurityAnalyst, "Security", SPECIALIST).on(Signal::Security),
            angle("data", DataEngineer, "Data", SPECIALIST).on(Signal::Data),
            angle("concurrency", ConcurrencyAnalyst, "Concurrency", SPECIALIST).on(Signal::Concurrency),
            angle("operation", OnCallEngineer, "Operation", SPECIALIST).on(Signal::Resilience),
            angle("deployment", DevopsEngineer, "Deployment", SPECIALIST).on(Signal::Devops),
            angle("system", SystemArchitect, "Borders between programs", SPECIALIST).on(Signal::Seam),
            angle("tests", TestEngineer, "Tests", SPECIALIST),
        ],
        most: [0, 1, 5],
    }),
    shape: Shape::Folded(&[synthesis(
        "together",
        ProjectManager,
        "Findings, put together",
        "\
Make one list of findings out of all rounds. Join what is the same, leave out what a later round refuted. \
Each entry says major (the plan fails or must be redone) or minor, and cites the findings that it rests \
on.",
    )]),
    rounds: Rounds { most: [1, 2, 3], again: &[], rule: Rule::Calm { new_max: 2, major_max: 0 } },
    rules: "\
Major: the plan fails, or work has to be redone. Minor: it gets worse or slower. Report only what you \
found yourself, and in later rounds only what nobody has said yet.",
    findings: Form { levels: &["major", "minor"], fields: FIELDS, ..Form::FINDINGS },
    items: Some(Form {
        letters: "F",
        name: "finding",
        levels: &["major", "minor"],
        kinds: &[],
        fields: FIELDS,
    }),
    gate: "\
Attack above all the findings called major: would the plan really fail? Then what no round looked at.",
    spine: &[
        section("Validation", Part::Validation),
        section("Findings", Part::Items),
        section("Rounds", Part::Rounds),
        conclusion(
            "Suggested edits",
            "What should be changed in the plan, passage by passage. Nothing was changed.",
            "No edit is suggested.",
        ),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
