//! Research: what the world and the code know about a question, and which option follows.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{CodebaseExplorer, ResearchAnalyst, SoftwareArchitect},
    method::{Form, Method, Part, Shape, angle, conclusion, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::Research,
    name: "research",
    title: "Research",
    kind: Kind::Analysis,
    line: "Answers a question from the web and from your code, with sources",
    what: "Analysts read the web and one agent reads your project, apart from each other. Their sources \
           become one list, options are compared by the same points, and what is recommended is attacked \
           before you see it.",
    when: "Before you choose a library, a design or a way to do something, and want to know why rather than what.",
    focus: Focus::Needed("What do you want to know?"),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "options",
            ResearchAnalyst,
            "Options on the web",
            "\
Find the options that people really use to do what the question asks for. For each: what it is, what it is \
good at, what it costs, how it fails, whether it is kept up, and since when. Then answer the question as \
far as the web allows.",
        ),
        angle(
            "project",
            CodebaseExplorer,
            "What the project has",
            "\
Find out what the project already has that bears on the question: what it uses today, what it would have \
to fit to, which limits and conventions hold, what was tried before. Facts only, each with its place.",
        ),
        angle(
            "alternatives",
            ResearchAnalyst,
            "A second group of options",
            "\
Find options that are not the obvious ones: an older and simpler way, doing without, a standard feature of \
the platform, what people moved to after the usual choice. For each, the same points: what it is, good at, \
cost, failures, upkeep.",
        )
        .medium(),
        angle(
            "cost",
            ResearchAnalyst,
            "Cost and licence",
            "\
Find what each usual option costs over time: licence and its limits, price, size, what it needs to run, \
the work to adopt it and the work to get rid of it.",
        )
        .large(),
        angle(
            "safety",
            ResearchAnalyst,
            "Security and trust",
            "\
Find what is known about the safety of each usual option: published weaknesses and how fast they were \
mended, who maintains it, how releases are made, what it asks you to trust.",
        )
        .large(),
        angle(
            "operation",
            ResearchAnalyst,
            "Operation and speed",
            "\
Find how each usual option behaves under load and when things go wrong: measurements with their \
conditions, limits, known failures, how one watches and restores it.",
        )
        .large(),
        angle(
            "experience",
            ResearchAnalyst,
            "Experience of others",
            "\
Find reports of people who used these options for a year or more: why they stayed, why they left, what \
they did not expect. Prefer reports that name numbers and circumstances.",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "weigh",
        SoftwareArchitect,
        "Weighing the options",
        "\
Put together what the analysts and the explorer found. Compare the options by the same few points. \
Recommend one, or say that there is no clear winner and what would settle it. Use only what they found, \
and cite it by id.",
    )]),
    rounds: Rounds::ONE,
    rules: "",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: is a source quoted for what it does not say, is it old, do two sources depend on each \
other, does the recommended option fit what the project has, and was an obvious option left out?",
    spine: &[
        prose("Results", "What was found out, point by point, each with the ids it rests on."),
        prose("Options", "The options side by side, as a Markdown table with the same points for each."),
        section("Validation", Part::Validation),
        conclusion(
            "Recommendation and its basis",
            "One option, why, by which findings, and what would change it. Or: no clear winner, and what would settle it.",
            "No clear winner.",
        ),
        section("Sources", Part::Sources),
    ],
};
