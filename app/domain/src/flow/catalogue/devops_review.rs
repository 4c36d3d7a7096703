//! DevOps review: how it is built, shipped, watched and brought back.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{DataEngineer, DevopsEngineer, OnCallEngineer, SecurityAnalyst},
    method::{Form, Method, Part, Shape, angle, conclusion, field, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::DevopsReview,
    name: "devops-review",
    title: "DevOps review",
    kind: Kind::Analysis,
    line: "Looks at build, rollout, rollback and what somebody sees at night",
    what: "A DevOps engineer reads how the project is built, configured, shipped and watched. Wider bands \
           add the view of who is on call, of security and of data. The report says how ready it is and \
           how to roll out and back.",
    when: "Before something goes into production, or after an incident that nobody noticed in time.",
    focus: Focus::Optional("Which environment or which change in particular?"),
    diff: Diff::Used,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "delivery",
            DevopsEngineer,
            "Build and delivery",
            "\
Review how the target is built, checked, configured, shipped, started, watched and rolled back. Begin with \
the production profile.",
        ),
        angle(
            "on-call",
            OnCallEngineer,
            "On call",
            "\
Review it as the one who is woken: what fails, how is it noticed, what does one see, what does one do, can \
it be undone?",
        )
        .medium(),
        angle(
            "security",
            SecurityAnalyst,
            "Secrets and access",
            "\
Review secrets, permissions and trust in build and deployment: who can read what, who can change what \
runs?",
        )
        .large(),
        angle(
            "data",
            DataEngineer,
            "Migrations and backups",
            "\
Review what happens to stored data at rollout and rollback: migrations, order, backups and whether one was \
ever restored.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "together",
        DevopsEngineer,
        "Readiness",
        "\
Put together what was found, judge how ready this is for production, and write how to roll it out and \
back.",
    )]),
    rounds: Rounds::ONE,
    rules: "Judge by what this project is and where it runs. What the files do not tell is an open question.",
    findings: Form {
        fields: &[
            field("noticed", "how and when somebody would notice"),
            field("remedy", "the smallest remedy"),
        ],
        ..Form::FINDINGS
    },
    items: None,
    gate: "\
Attack above all: is what is said to be missing done elsewhere (another file, a platform default), would \
the rollback really work with what was written meanwhile, and does a remedy fit the size of this project?",
    spine: &[
        prose(
            "Production profile",
            "What is deployed, where, how many, with which state, and what calls it.",
        ),
        section("Validation", Part::Validation),
        conclusion(
            "Readiness",
            "Ready, ready with conditions, or not ready; and why, by id.",
            "Whether it is ready is not settled.",
        ),
        section("Findings", Part::Findings),
        prose(
            "Rollout and rollback",
            "The steps forward and the steps back, and how one sees that each worked.",
        ),
        section("Deferred", Part::Deferred),
    ],
};
