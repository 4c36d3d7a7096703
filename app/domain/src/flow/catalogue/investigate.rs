//! Investigate: from a failure that was seen to its cause and a planned mend.

use crate::flow::{
    Band, Diff, Flow, FlowId, Focus, Kind,
    Role::{BehavioralAnalyst, ConcurrencyAnalyst, DataEngineer, Investigator, SoftwareArchitect},
    Signal,
    method::{Form, Method, Part, Shape, Synthesis, angle, conclusion, field, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::Investigate,
    name: "investigate",
    title: "Investigate",
    kind: Kind::Analysis,
    line: "Follows a failure to its cause and plans the mend",
    what: "Investigators collect evidence from several sides without seeing each other's ideas. One step \
           names the root cause, another plans the mend file by file, and a third attacks evidence, cause \
           and plan.",
    when: "When something fails or behaves oddly and you want the cause before anybody changes code.",
    focus: Focus::Needed("What went wrong, and what did you expect?"),
    diff: Diff::Used,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "error-path",
            Investigator,
            "Error path",
            "\
Your line of inquiry is the error itself. Find every place that can produce what was seen. Go backwards \
from there: which condition leads to it, who calls, which input makes the condition true?",
        ),
        angle(
            "data-flow",
            Investigator,
            "Data flow",
            "\
Your line of inquiry is the data. Find the values that matter for the failure. Follow each from where it \
enters to where it is used: who changes it, which form does it have, where is it lost, doubled, cut or \
mistaken for another?",
        ),
        angle(
            "recent-changes",
            Investigator,
            "Recent changes",
            "\
Your line of inquiry is what changed. Read the history of the files that take part (git log, git show). \
Which change could have brought the failure, and what did it assume? Look also at settings and \
dependencies that changed.",
        )
        .medium(),
        angle(
            "concurrency",
            ConcurrencyAnalyst,
            "Concurrency",
            "\
Ask whether the failure can come from two things that happen at the same time. Find what runs at once \
around the place of the failure and what it shares. Write down the order of events that would produce what \
was seen.",
        )
        .medium()
        .on(Signal::Concurrency)
        .always_from(Band::Large),
        angle(
            "behaviour",
            BehavioralAnalyst,
            "Behaviour across borders",
            "\
Walk through the failing case step by step, across every border it passes: function, module, process, \
service. At each border compare what one side sends with what the other expects.",
        )
        .medium()
        .on(Signal::Seam)
        .always_from(Band::Large),
        angle(
            "data",
            DataEngineer,
            "Stored data",
            "\
Ask whether the failure can come from what is stored: a row that should not exist, a missing one, an old \
format, a constraint that only the program keeps, a transaction that ends too early.",
        )
        .medium()
        .on(Signal::Data)
        .always_from(Band::Large),
    ],
    pool: None,
    shape: Shape::Folded(&[
        Synthesis {
            writes: &["Problem", "Evidence", "Root cause"],
            ..synthesis(
                "root-cause",
                Investigator,
                "Root cause",
                "\
Find the root cause from everybody's evidence. Write down each explanation that is possible. For each, \
which evidence supports it and which speaks against it? Choose the one that explains everything that was \
seen. Ask why until the answer is a line of code or a fact about the world. If two remain, say so and name \
what would tell them apart.",
            )
        },
        synthesis(
            "fix-plan",
            SoftwareArchitect,
            "Planned fix",
            "\
Plan the mend of the root cause that was named. The smallest change that removes the cause, not the \
symptom. For each file: what changes and why, cited by id. Then a test that fails without the mend. Change \
nothing yourself. If the cause is not sure, plan what to measure instead.",
        ),
    ]),
    rounds: Rounds::ONE,
    rules: "Do not change anything, and do not run anything: read.",
    findings: Form {
        fields: &[field("weighs", "which explanation this supports or excludes, and how strongly")],
        ..Form::FINDINGS
    },
    items: None,
    gate: "\
Attack all three: the evidence (is it there, does it mean that?), the root cause (what else explains the \
same evidence?), and the planned fix (does it remove the cause, what else does it break, would the named \
test really fail without it?). In about, write root cause or planned fix where an item concerns only one of \
them; recommendation means both.",
    spine: &[
        prose("Problem", "What was seen and what was expected, in the words of the person who asked."),
        prose("Evidence", "The facts that decide, each with its id, and what they support or exclude."),
        section("Validation", Part::Validation),
        conclusion(
            "Root cause",
            "The one cause that explains everything that was seen, with the ids it rests on.",
            "The cause is not settled.",
        ),
        conclusion(
            "Planned fix per file",
            "For each file: what to change and why. Then the test that fails without it.",
            "No clear fix.",
        ),
    ],
};
