//! Gap analysis: what should be, against what is.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{
        AdversarialValidator, DataEngineer, DevopsEngineer, GapAnalyzer, JuniorDeveloper, OnCallEngineer,
        ProjectManager, SecurityAnalyst, StructuralAnalyst,
    },
    Signal,
    method::{Form, LEVELS, Method, Part, Pool, Shape, angle, conclusion, field, section, synthesis},
    rounds::{Rounds, Rule},
};

pub static FLOW: Flow = Flow {
    id: FlowId::GapAnalysis,
    name: "gap-analysis",
    title: "Gap analysis",
    kind: Kind::Analysis,
    line: "Compares what should be with what is, gap by gap",
    what: "One agent takes the wanted state apart and looks for each statement in the project. Others \
           contradict it and add what it missed; if they find much, it looks once more. Gaps are missing, \
           partial, divergent or implicit.",
    when: "When you have a specification, a promise or a standard and want to know what is still lacking.",
    focus: Focus::Needed("What should be there? Name a text or a file that says so."),
    diff: Diff::Unused,
};

/// A finding of this kind says that a gap is none.
pub const CONTRADICTS: &str = "contradicts";

const SPECIALIST: &str = "\
Look at the gaps in your own field. Which are real, which are not (kind contradicts, and cite the gap's \
id), and which are missing from the list?";

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "gaps",
            GapAnalyzer,
            "Gaps",
            "\
Compare the wanted state with the project. Take it apart into single statements, search for each, and \
report every gap with its kind.",
        ),
        angle(
            "validator",
            AdversarialValidator,
            "Contradiction",
            "\
Try to refute each gap: search for what is said to be missing, with other words and in other places. \
Report a gap that is none as kind contradicts, and cite its id. Report gaps that were overlooked with \
their own kind.",
        )
        .after(&["gaps"]),
        angle(
            "newcomer",
            JuniorDeveloper,
            "A newcomer's eye",
            "\
Read the wanted state as somebody who must build it. Which statements could not be checked because they \
are unclear? Which gaps are missing from the list? Which contradict each other?",
        )
        .after(&["gaps"]),
        angle(
            "manager",
            ProjectManager,
            "What matters",
            "\
Look at the gaps from the side of those who wanted this. Which of them keep somebody from their goal, and \
which statements of the wanted state did nobody look at?",
        )
        .medium()
        .after(&["gaps"]),
    ],
    pool: Some(Pool {
        members: &[
            angle("security", SecurityAnalyst, "Security", SPECIALIST).on(Signal::Security).after(&["gaps"]),
            angle("data", DataEngineer, "Data", SPECIALIST).on(Signal::Data).after(&["gaps"]),
            angle("deployment", DevopsEngineer, "Deployment", SPECIALIST).on(Signal::Devops).after(&["gaps"]),
            angle("operation", OnCallEngineer, "Operation", SPECIALIST)
                .on(Signal::Resilience)
                .after(&["gaps"]),
            angle("structure", StructuralAnalyst, "Structure", SPECIALIST).after(&["gaps"]),
        ],
        most: [0, 2, 4],
    }),
    shape: Shape::Folded(&[synthesis(
        "together",
        GapAnalyzer,
        "Gaps, put together",
        "\
Make one list of gaps out of what everybody found. Leave out what was contradicted with evidence. Join \
what is the same. Each entry cites the findings that it rests on.",
    )]),
    rounds: Rounds {
        most: [2, 2, 2],
        again: &["gaps"],
        rule: Rule::Doubt { new_min: 3, contradicted_percent_min: 20 },
    },
    rules: "",
    findings: Form {
        kinds: &["missing", "partial", "divergent", "implicit", CONTRADICTS],
        fields: &[field("wanted", "the wanted statement, word for word, and where it stands")],
        ..Form::FINDINGS
    },
    items: Some(Form {
        letters: "G",
        name: "gap",
        levels: LEVELS,
        kinds: &["missing", "partial", "divergent", "implicit"],
        fields: &[
            field("wanted", "the wanted statement, word for word, and where it stands"),
            field("present", "what is there today, with its place, or the words searched for in vain"),
            field("confidence", "high, medium or low, and why"),
        ],
    }),
    gate: "\
Attack above all the gaps called missing: search for each with other words. Then the wanted state: was a \
statement left out, or one invented that nobody wrote?",
    spine: &[
        section("Validation", Part::Validation),
        conclusion(
            "Bottom line",
            "How far the project is from what is wanted, and which gaps decide, in a few sentences.",
            "How far it is from what is wanted is not settled.",
        ),
        section("Magnitude", Part::ItemCounts),
        section("Gaps", Part::Items),
        section("Confidence", Part::ItemConfidence),
    ],
};
