//! Project discovery: what a repository is made of, and the commands that really exist.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{CodebaseExplorer, ProjectScanner},
    method::{Form, Method, Part, Shape, angle, prose, section, synthesis},
    rounds::Rounds,
};

/// The kind of a finding that names something to run.
pub const COMMAND: &str = "command";

pub static FLOW: Flow = Flow {
    id: FlowId::ProjectDiscovery,
    name: "project-discovery",
    title: "Project discovery",
    kind: Kind::Analysis,
    line: "Takes stock of a repository: parts, commands, tests, documents",
    what: "Scanners read manifests, build files, pipelines and documents. Commands are listed only where a \
           file defines them, with the place, and what contradicts the README is named.",
    when: "When you open a repository for the first time, or before you let agents work in one.",
    focus: Focus::Optional("What do you want to know first?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "scan",
            ProjectScanner,
            "Stock",
            "\
Take stock of the whole target: what it is, its parts, how it is built, run and tested, its configuration \
and documents.",
        ),
        angle(
            "boundaries",
            ProjectScanner,
            "Boundaries",
            "\
Find the boundaries only: which folders are projects of their own, what each is for, and how they depend \
on each other. Others look into them after you.",
        )
        .medium(),
        angle(
            "languages",
            ProjectScanner,
            "Languages and frameworks",
            "\
For each project that was found: languages, frameworks, versions, and where they are pinned.",
        )
        .medium()
        .after(&["boundaries"]),
        angle(
            "commands",
            ProjectScanner,
            "Commands and tests",
            "\
For each project that was found: the commands that exist to build, run, test, lint and release, and what \
the tests need. Each command with the line that defines it.",
        )
        .medium()
        .after(&["boundaries"]),
        angle(
            "documents",
            ProjectScanner,
            "Documents and infrastructure",
            "\
For each project that was found: its documents, pipeline, containers and configuration; and where a \
document says something else than the files.",
        )
        .medium()
        .after(&["boundaries"]),
        angle(
            "explorer",
            CodebaseExplorer,
            "How it fits together",
            "\
Follow the most important thing the project does from its entry to its end, so that a newcomer knows where \
to look.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "together",
        ProjectScanner,
        "Stock, put together",
        "\
Put together what the scanners found. Leave out what two of them said twice. Where they contradict each \
other, look again.",
    )]),
    rounds: Rounds::ONE,
    rules: "\
Only commands that exist, each as kind command with the place that defines it. Where the README \
contradicts the files, report kind contradiction with both places.",
    findings: Form { kinds: &["fact", COMMAND, "contradiction"], ..Form::FINDINGS },
    items: None,
    gate: "\
Attack above all the commands: does each stand in the file that is named, word for word? Then what is said \
to be absent: search for it.",
    spine: &[
        prose("Repository", "What it is, its parts and how they depend on each other."),
        section("Validation", Part::Validation),
        prose("Docs", "Which documents there are, what each is about, and for whom."),
        prose("Projects", "For each project: frameworks, tests, configuration. One heading a project."),
        section("Commands", Part::OfKind(COMMAND)),
        section("Contradictions with the README", Part::OfKind("contradiction")),
    ],
};
