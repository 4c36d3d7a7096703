//! Runbook: what to do when a certain thing happens.

use crate::flow::{
    Diff, Flow, FlowId, Focus, Kind,
    Role::{CodebaseExplorer, DevopsEngineer, JuniorDeveloper, OnCallEngineer},
    method::{Form, Method, Part, Shape, angle, conclusion, prose, section, synthesis},
    rounds::Rounds,
};

pub static FLOW: Flow = Flow {
    id: FlowId::Runbook,
    name: "runbook",
    title: "Runbook",
    kind: Kind::Draft,
    line: "Drafts what to do when a certain alert or symptom comes up",
    what: "Somebody on call writes the steps from what the code and the deployment show: symptoms, quick \
           fix, steps, how to verify, whom to call, how to go back. Wider bands add delivery, the code and \
           a newcomer who follows it.",
    when: "After an incident, or before something goes live that will have one.",
    focus: Focus::Trigger("What happens? Name the alert, the message or the symptom."),
    diff: Diff::Unused,
};

pub static METHOD: Method = Method {
    angles: &[
        angle(
            "on-call",
            OnCallEngineer,
            "On call",
            "\
Write down what to do when the trigger comes up: what one sees, what it means, the quickest thing that \
helps, the steps to the cause, and how one sees that it is over. Find the trigger in the project first: \
where does it come from?",
        ),
        angle(
            "delivery",
            DevopsEngineer,
            "Delivery",
            "\
Find what somebody needs from the deployment for this trigger: where it runs, how it is restarted, rolled \
back, configured and watched; commands only where a file defines them.",
        )
        .medium(),
        angle(
            "explorer",
            CodebaseExplorer,
            "In the code",
            "\
Find everything in the code that leads to the trigger, and what state is left behind each time.",
        )
        .large(),
        angle(
            "newcomer",
            JuniorDeveloper,
            "A newcomer's eye",
            "\
Imagine that you follow this at night and for the first time. What would you have to know at each step, \
and what could you make worse?",
        )
        .large(),
    ],
    pool: None,
    shape: Shape::Folded(&[synthesis(
        "draft",
        OnCallEngineer,
        "Draft",
        "\
Write the runbook from what everybody found. Short steps, one action each, with what one sees when it \
worked. Commands exactly as the files have them.",
    )]),
    rounds: Rounds::ONE,
    rules: "\
The trigger must be real: find the alert, the message or the path that produces it. If the project does \
not have it, say so in the first section and write only what is certain. No command that no file defines.",
    findings: Form::FINDINGS,
    items: None,
    gate: "\
Attack above all: can the trigger come up, is each command defined somewhere, can a step make it worse, \
and does Verify really show that it is over?",
    spine: &[
        prose("Trigger", "What starts this, and where in the project it comes from."),
        section("Validation", Part::Validation),
        prose("Symptoms", "What one sees, and what it looks like when it is something else."),
        prose("Prerequisites", "What one needs before the first step: access, tools, knowledge."),
        conclusion("Quick fix", "The quickest thing that helps, and what it costs.", "No clear quick fix."),
        prose("Steps", "Numbered; one action each, with what one sees then."),
        prose("Verify", "How one sees that it is over."),
        prose("Escalate", "When to stop and whom or what to turn to."),
        prose("Rollback", "How to undo each step that changed something."),
        section("Deferred", Part::Deferred),
        section("Open questions", Part::Questions),
    ],
};
