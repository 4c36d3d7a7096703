//! Architectural analysis: how a part of the project is built, what that risks, and what to do about it.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{
        BehavioralAnalyst, CodebaseExplorer, ConcurrencyAnalyst, DataEngineer, DevopsEngineer,
        OnCallEngineer, RiskAnalyst, SecurityAnalyst, SoftwareArchitect, StructuralAnalyst, SystemArchitect,
    },
    Signal,
    method::{Form, Method, Part, Pool, Shape, Synthesis, angle, conclusion, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::ArchitecturalAnalysis,
    name: "architectural-analysis",
    title: "Architectural analysis",
    kind: Kind::Analysis,
    line: "Shows how a part is built, what that risks and what to change",
    what: "Several views of one area: structure, behaviour, and what the project calls for of concurrency, \
           security, data, deployment and operation. Then risks are weighed, recommendations made, and all \
           of it attacked.",
    when: "Before a larger change to an area, or when work in it has become slow and nobody can say why.",
    focus: Focus::Needed("Which area of the project should be analysed?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "structure",
            StructuralAnalyst,
            "Structure",
            "\
Analyse the structure of the area: its parts, what each is responsible for, who depends on whom, what \
crosses its borders, and where that makes the next change hard.",
        ),
        angle(
            "behaviour",
            BehavioralAnalyst,
            "Behaviour",
            "\
Analyse how the area behaves: walk its two or three most important cases from entry to end. Where do \
errors go, where is state kept, what happens halfway?",
        ),
        angle(
            "concurrency",
            ConcurrencyAnalyst,
            "Concurrency",
            "\
Analyse what runs at the same time in the area, what it shares, and what keeps it apart.",
        )
        .on(Signal::Concurrency),
        angle(
            "explorer",
            CodebaseExplorer,
            "Surroundings",
            "\
Find out how the rest of the project uses the area: every caller, every assumption about it, every place \
that does the same thing on its own.",
        )
        .large(),
        angle(
            "system",
            SystemArchitect,
            "Borders between programs",
            "\
Analyse the borders between programs that the area touches: stores, services, files, formats. What must \
change together, and what does each side assume of the other?",
        )
        .large(),
    ],
    pool: Some(Pool {
        members: &[
            angle(
                "security",
                SecurityAnalyst,
                "Security",
                "\
Analyse who can reach the area, what it trusts, and where a check is made only once or only by custom.",
            )
            .on(Signal::Security),
            angle(
                "data",
                DataEngineer,
                "Data",
                "\
Analyse what the area stores: which store is the truth, what keeps it consistent, how it grows, how its \
shape can change.",
            )
            .on(Signal::Data),
            angle(
                "deployment",
                DevopsEngineer,
                "Deployment",
                "\
Analyse how the area is built, configured, rolled out and watched, and what its structure makes hard about \
that.",
            )
            .on(Signal::Devops),
            angle(
                "operation",
                OnCallEngineer,
                "Operation",
                "\
Analyse what the area calls outside of itself, how it fails with that, and what somebody sees at night.",
            )
            .on(Signal::Resilience),
        ],
        most: [0, 2, 4],
    }),
    shape: Shape::Folded(&[
        Synthesis {
            writes: &["Risk"],
            ..synthesis(
                "risk",
                RiskAnalyst,
                "Risks",
                "\
Weigh what the views found. Which of it will hurt, whom, how likely, and what already lowers it? Order the \
risks.",
            )
        },
        synthesis(
            "architect",
            SoftwareArchitect,
            "Recommendations",
            "\
Recommend what to do about the area, the most useful first. Each recommendation names the risk that it \
answers, the evidence, the smallest step, and what it costs. What is not worth it now goes to deferred.",
        ),
    ]),
    rounds: Rounds::ONE,
    rules: "Stay with the area that was named. What lies outside matters only where it touches the area.",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: does each recommendation answer a risk that was shown, would a smaller step do, does it \
break a caller that nobody looked at, and which view is missing?",
    spine: &[
        prose(
            "Executive summary",
            "What the area is, how it stands, and the two or three things to know about it.",
        ),
        section("Dimensions", Part::Angles),
        prose(
            "Risk",
            "The risks in their order: because of what, what may happen, what is lost; cited by id.",
        ),
        section("Validation", Part::Validation),
        conclusion(
            "Recommendations",
            "What to do, the most useful first, each with its evidence.",
            "No clear recommendation.",
        ),
        section("Deferred", Part::Deferred),
    ],
};
