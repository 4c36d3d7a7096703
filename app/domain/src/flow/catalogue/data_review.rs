//! Data review: what is stored, whether it stays right, and in which order to mend it.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{BehavioralAnalyst, ConcurrencyAnalyst, DataEngineer, SecurityAnalyst},
    method::{Form, Method, Part, Shape, angle, conclusion, field, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::DataReview,
    name: "data-review",
    title: "Data review",
    kind: Kind::Analysis,
    line: "Looks at schema, queries and migrations, and what they do to data",
    what: "A data engineer begins with the questions that decide, then reads schema, queries, transactions \
           and migrations. Wider bands add behaviour, concurrency and security. Each finding says what \
           happens to the data.",
    when: "Before a migration, when queries become slow, or when stored data turned out to be wrong.",
    focus: Focus::Optional("Which data or which question in particular?"),
    diff: Diff::Used,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "data",
            DataEngineer,
            "Schema and queries",
            "\
Review the data of the target. Write down your questions first: volume, growth, readers, what must never \
be lost. Then review schema, queries, transactions and migrations.",
        ),
        angle(
            "behaviour",
            BehavioralAnalyst,
            "How it is written and read",
            "\
Follow the most important records through their life: created, changed, read, deleted. At each step, what \
does the program assume about what is stored, and what if that is not so?",
        )
        .medium(),
        angle(
            "concurrency",
            ConcurrencyAnalyst,
            "Writers at the same time",
            "\
Find every place where two writers, or a writer and a reader, can meet on the same data. What keeps them \
apart, and at which isolation?",
        )
        .large(),
        angle(
            "security",
            SecurityAnalyst,
            "Who can reach it",
            "\
Find who can read and change the data: queries built from input, missing checks of ownership, backups, \
logs, exports.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "together",
        DataEngineer,
        "Order of remedy",
        "\
Put together what was found about the data, and say in which order to mend it: first what loses or leaks, \
then what is wrong, then what is slow. Name what has to be answered before.",
    )]),
    rounds: Rounds::ONE,
    rules: "Questions first: what the project does not tell goes into questions, with the answer you assume.",
    findings: Form {
        fields: &[
            field(
                "impact",
                "lost, wrong, stale, leaked, slow or none yet; then which data and how much of it",
            ),
            field("remedy", "the smallest remedy, and whether it can be undone"),
        ],
        ..Form::FINDINGS
    },
    items: None,
    gate: "\
Attack above all: does the program really reach that state of the data, does a constraint or an index \
exist that was not seen, and is the proposed remedy safe on data that is already there?",
    spine: &[
        prose("Context", "What is stored, where, how much as far as is known, and who reads and writes it."),
        section("Open questions", Part::Questions),
        section("Validation", Part::Validation),
        section("Findings with data impact", Part::Findings),
        conclusion(
            "Order of remedy",
            "What to mend in which order, and why in this order.",
            "No clear order.",
        ),
        section("Deferred", Part::Deferred),
    ],
};
