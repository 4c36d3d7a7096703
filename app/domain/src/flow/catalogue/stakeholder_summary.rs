//! Stakeholder summary: what a piece of work means, for people who do not read code.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{GapAnalyzer, InformationArchitect, JuniorDeveloper},
    method::{Form, Method, Part, Shape, angle, conclusion, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::StakeholderSummary,
    name: "stakeholder-summary",
    title: "Stakeholder summary",
    kind: Kind::Draft,
    line: "Explains a piece of work to people who do not read code",
    what: "Says which problem is solved, what that opens, what is different before and after, what is not \
           part of it and what is asked of the reader, in plain words. Wider bands check words, order and \
           what is left open.",
    when: "When somebody has to decide or agree who will not read the plan.",
    focus: Focus::Needed("What should be summarised? Name a plan, a change or a feature."),
    diff: Diff::Used,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "newcomer",
            JuniorDeveloper,
            "In plain words",
            "\
Find out what this piece of work is about and say it in words that somebody without technical knowledge \
understands. What is the problem today, what is different afterwards, what is not part of it?",
        ),
        angle(
            "words",
            InformationArchitect,
            "Words and order",
            "\
Find the words that the readers know, the order of their questions, and what they have to decide.",
        )
        .medium(),
        angle(
            "gaps",
            GapAnalyzer,
            "What stays open",
            "\
Compare what is promised with what this piece of work contains. What will readers expect that is not in \
it?",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        InformationArchitect,
        "Draft",
        "\
Write the summary from what was found. Short sentences, no technical words, no promises that nobody made.",
    )]),
    rounds: Rounds::ONE,
    rules: "No technical words in the sections. No numbers that nobody measured.",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: is something promised that the work does not contain, is a limit left out that readers \
would want to know, and would somebody without technical knowledge misunderstand a sentence?",
    spine: &[
        prose("Problem", "What is hard or impossible today, and for whom."),
        section("Validation", Part::Validation),
        prose("What it opens", "What becomes possible."),
        prose("Today and after", "Side by side, as a Markdown table."),
        prose("Not in this slice", "What is not part of it, and where that stands."),
        conclusion(
            "Asks",
            "What is asked of the reader: a decision, a word, a resource; or nothing.",
            "What to ask for is not settled.",
        ),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
