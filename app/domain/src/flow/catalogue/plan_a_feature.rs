//! Plan a feature: what it is for, how it goes, how it fails, and what is left out.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{
        DevopsEngineer, EdgeCaseExplorer, GapAnalyzer, JuniorDeveloper, OnCallEngineer, ProjectManager,
        RiskAnalyst, SecurityAnalyst, UserExperienceDesigner,
    },
    Signal,
    method::{Form, Method, Part, Pool, Shape, angle, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::PlanAFeature,
    name: "plan-a-feature",
    title: "Plan a feature",
    kind: Kind::Draft,
    line: "Drafts what a feature does, how it fails and what is left out",
    what: "A project manager and a newcomer work out what is wanted; wider bands add use, edge cases, \
           security, operation and risks. The draft lists its decisions and its open questions, each with \
           a recommended answer.",
    when: "When you have a wish and want to agree on what exactly it means before anybody plans the code.",
    focus: Focus::Needed("What should people be able to do?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "manager",
            ProjectManager,
            "Outcome and border",
            "\
Work out what is wanted: the outcome, who acts, what starts it, the main course of events, what is in and \
what is out. Look into the project for what exists already.",
        ),
        angle(
            "newcomer",
            JuniorDeveloper,
            "Open questions",
            "\
Read the wish as somebody who has to build it tomorrow. Which questions block you, and which answers would \
you assume?",
        ),
        angle(
            "use",
            UserExperienceDesigner,
            "Use",
            "\
Walk through the feature as each person who uses it: what they see, what they do, what they see when it \
fails. Look at how the project does similar things.",
        )
        .medium(),
        angle(
            "edge-cases",
            EdgeCaseExplorer,
            "Edge cases",
            "\
Find the cases that the wish does not mention and that will happen: empty, many, twice, interrupted, not \
allowed.",
        )
        .medium(),
        angle(
            "security",
            SecurityAnalyst,
            "Security",
            "\
Find what the feature opens to somebody who means harm, and what it has to check.",
        )
        .medium()
        .on(Signal::Security),
        angle(
            "risk",
            RiskAnalyst,
            "Risks",
            "\
Weigh what could go wrong with this feature for those who use it and for what exists already.",
        )
        .large(),
        angle(
            "gaps",
            GapAnalyzer,
            "What is there already",
            "\
Compare what the wish needs with what the project has: what exists, what exists in part, what is missing.",
        )
        .large(),
    ],
    pool: Some(Pool {
        members: &[
            angle(
                "deployment",
                DevopsEngineer,
                "Deployment",
                "\
Find what the feature needs to be shipped, configured, watched and switched off.",
            )
            .on(Signal::Devops),
            angle(
                "operation",
                OnCallEngineer,
                "Operation",
                "\
Find how the feature fails when something it depends on is slow or gone, and what somebody on call would \
need.",
            ),
        ],
        most: [0, 0, 1],
    }),
    shape: Shape::Folded(&[synthesis(
        "draft",
        ProjectManager,
        "Draft",
        "\
Write the draft of the feature from what everybody found. Each decision is an entry with its reason. Each \
open question has a recommended answer. What is not needed yet goes to deferred.",
    )]),
    rounds: Rounds::ONE,
    rules: "Plan what the feature does, not how it is coded.",
    findings: Form::FINDINGS,
    items: Some(Form::DECISIONS),
    gate: "\
Attack above all: was something added that nobody asked for, is a case missing that will happen on the \
first day, and is a decision made that only the person who asked can make?",
    spine: &[
        prose("Outcome", "Who can do what afterwards that they cannot do now."),
        section("Validation", Part::Validation),
        prose("Actors and triggers", "Who or what takes part, and what starts it."),
        prose("Primary flow", "The main course of events, step by step."),
        prose("Alternates", "Other courses that are allowed."),
        prose("Failure", "What can fail, what people see then, what is kept."),
        prose("Out of scope", "What this is not."),
        section("Deferred", Part::Deferred),
        section("Open items", Part::Questions),
        section("Decisions", Part::Items),
    ],
};
