//! Security review: ways in, each with the path that an attacker takes.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{BehavioralAnalyst, DataEngineer, DevopsEngineer, SecurityAnalyst},
    method::{Form, Method, Part, Shape, angle, field, prose, section, synthesis},
    review::{CVE, EXPLOIT},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::SecurityReview,
    name: "security-review",
    title: "Security review",
    kind: Kind::Analysis,
    line: "Finds ways in, each with the path an attacker takes",
    what: "A security analyst follows what can be reached from outside to where it does harm; wider bands \
           add how input flows, the supply chain, and data about people. A finding without an exploit path \
           or a CVE does not survive.",
    when: "Before something is exposed to others, and after a change to logins, uploads, queries or permissions.",
    focus: Focus::Optional("What worries you in particular?"),
    diff: Diff::Used,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "security",
            SecurityAnalyst,
            "Ways in",
            "\
Review the target for security. Begin with what can be reached from outside and by whom. Report each way \
in with its exploit path, and as improvements what would make the target safer without being a way in \
today.",
        ),
        angle(
            "input",
            BehavioralAnalyst,
            "From input to effect",
            "\
Follow input to where it has an effect. For each input that somebody else controls: every step from where \
it enters to the query, command, path, page or permission that it reaches, with each check on the way. \
Report inputs that arrive unchecked.",
        )
        .medium(),
        angle(
            "supply-chain",
            DevopsEngineer,
            "Supply chain",
            "\
Review what is fetched and trusted at build and at run time: packages and their lock files, base images, \
scripts, actions, update mechanisms, secrets in pipelines. Who could put something in, and where would it \
run?",
        )
        .large(),
        angle(
            "personal-data",
            DataEngineer,
            "Data about people",
            "\
Find data about people: where it enters, where it is stored, logged and sent, who can read it, how long it \
stays, how it is deleted. Report where somebody could see what is not theirs.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "together",
        SecurityAnalyst,
        "Findings, put together",
        "\
Put together what was found. Join findings that are the same way in. Complete the exploit path of each \
from everybody's evidence. Findings without one become improvements.",
    )]),
    rounds: Rounds::ONE,
    rules: "\
A finding needs an exploit path (who sends what, through which lines, what they gain) or the number of a \
published weakness (CVE). Without either it goes under improvements.",
    findings: Form {
        levels: &["critical", "high", "medium", "low"],
        fields: &[
            field(EXPLOIT, "who sends what, through which lines, and what they gain, step by step"),
            field(CVE, "the number of the published weakness, if there is one"),
            field("fix", "the change that removes this class of fault here"),
        ],
        ..Form::FINDINGS
    },
    items: None,
    gate: "\
Take each exploit path step by step. Is every step possible? Is there a check on the way that was not \
seen? Can the attacker who is named get to the first step? A finding whose path breaks, or that has \
neither path nor CVE, goes to drops.",
    spine: &[
        prose(
            "Scope",
            "What was looked at, what can be reached from outside, by whom, and what was not looked at.",
        ),
        section("Validation", Part::Validation),
        section("Findings", Part::Findings),
        prose(
            "Improvements",
            "What would make it safer without being a way in today, the most useful first.",
        ),
    ],
};
