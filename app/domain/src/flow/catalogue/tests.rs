use std::collections::BTreeSet;

use super::*;
use crate::flow::{
    Contract, Diff, Focus, Kind, Role, Signal,
    method::{Form, Part, Pool, Shape, Synthesis, angle, conclusion, section, synthesis},
    rounds::Rounds,
};

/// What is wrong with a method. Whoever plans takes for granted that nothing is.
fn faults(method: &Method) -> Vec<String> {
    let mut faults = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for angle in method.all_angles() {
        // Only what stands before it can be named, so there is no way round in a circle.
        for after in angle.after.iter().filter(|after| !known.contains(*after)) {
            faults.push(format!("{} comes after {after}, which does not stand before it", angle.id));
        }
        if !known.insert(angle.id) {
            faults.push(format!("{} is there twice", angle.id));
        }
        if let Err(problem) = angle.role.instructions() {
            faults.push(format!("{} names the role {}: {problem}", angle.id, angle.role));
        }
    }
    for synthesis in method.synthesis() {
        if !known.insert(synthesis.id) {
            faults.push(format!("{} is there twice", synthesis.id));
        }
        let titles: Vec<_> = method.written_sections().map(|(title, _)| title).collect();
        for title in synthesis.writes.iter().filter(|title| !titles.contains(title)) {
            faults.push(format!("{} writes {title}, which the report does not have", synthesis.id));
        }
    }
    for again in method.rounds.again.iter().filter(|id| method.angle(id).is_none()) {
        faults.push(format!("{again} is asked again and does not exist"));
    }
    if !method.angles.iter().any(|angle| angle.band == crate::flow::Band::Small && angle.signal.is_none()) {
        faults.push("nobody is sure to be asked".to_owned());
    }
    if method.gate.is_empty() {
        faults.push("there is no gate".to_owned());
    }
    let place = |wanted: fn(&Part) -> bool| method.spine.iter().position(|section| wanted(&section.part));
    let validation = place(|part| *part == Part::Validation);
    let conclusion =
        place(|part| matches!(part, Part::Conclusion { .. } | Part::ReviewVerdict | Part::NextStep));
    match (validation, conclusion) {
        (None, _) => faults.push("the validation is not shown".to_owned()),
        (Some(above), Some(below)) if above > below => {
            faults.push("the validation stands below the conclusion".to_owned());
        }
        _ => {}
    }
    faults
}

const SOUND: Method = Method {
    angles: &[angle("one", Role::Investigator, "One", "look")],
    pool: None,
    shape: Shape::Folded(&[]),
    rounds: Rounds::ONE,
    rules: "",
    findings: Form::FINDINGS,
    items: None,
    gate: "attack",
    spine: &[section("Validation", Part::Validation)],
};

#[test]
fn a_method_that_cannot_work_is_told() {
    let check = |method: Method, expected: &[&str]| assert_eq!(faults(&method), expected);
    check(SOUND, &[]);
    check(Method { gate: "", ..SOUND }, &["there is no gate"]);
    check(Method { spine: &[], ..SOUND }, &["the validation is not shown"]);
    check(Method { angles: &[], ..SOUND }, &["nobody is sure to be asked"]);
    const CIRCLE: &[crate::flow::method::Angle] = &[
        angle("one", Role::Investigator, "One", "look").after(&["two"]),
        angle("two", Role::Investigator, "Two", "look").after(&["one"]),
    ];
    check(Method { angles: CIRCLE, ..SOUND }, &["one comes after two, which does not stand before it"]);
    const POOL: &[crate::flow::method::Angle] = &[angle("one", Role::Investigator, "One", "look")];
    let pool = Some(Pool { members: POOL, most: [0, 1, 1] });
    check(Method { pool, ..SOUND }, &["one is there twice"]);
    const WRITES: &[Synthesis] =
        &[Synthesis { writes: &["Nothing"], ..synthesis("end", Role::Investigator, "End", "write") }];
    check(
        Method { shape: Shape::Folded(WRITES), ..SOUND },
        &["end writes Nothing, which the report does not have"],
    );
    let rounds = Rounds { again: &["two"], ..Rounds::ONE };
    check(Method { rounds, ..SOUND }, &["two is asked again and does not exist"]);
    const BELOW: &[crate::flow::method::Section] =
        &[conclusion("Advice", "x", "None."), section("Validation", Part::Validation)];
    check(Method { spine: BELOW, ..SOUND }, &["the validation stands below the conclusion"]);
}

#[test]
fn all_22_are_there_and_sound() {
    let names: BTreeSet<_> = FlowId::ALL.iter().map(|id| id.name()).collect();
    assert_eq!(names.len(), 22);
    for id in FlowId::ALL {
        let flow = id.flow();
        assert_eq!(flow.id, id);
        assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{}\"", flow.name));
        assert_eq!(flow.name.parse(), Ok(id));
        assert_eq!(faults(id.method()), Vec::<String>::new(), "{id}");
    }
    assert_eq!("/research".parse(), Ok(FlowId::Research));
    let no = "research-all".parse::<FlowId>().unwrap_err().to_string();
    assert_eq!(no, "There is no flow \"research-all\".");
}

#[test]
fn eleven_are_read_only_and_in_the_slash_menu() {
    let slash: Vec<_> =
        FlowId::ALL.iter().filter(|id| id.flow().kind.is_in_slash_menu()).map(|id| id.name()).collect();
    let expected = [
        "research",
        "investigate",
        "code-review",
        "architectural-analysis",
        "security-review",
        "gap-analysis",
        "data-review",
        "devops-review",
        "issue-triage",
        "project-discovery",
        "test-planning",
    ];
    assert_eq!(slash, expected);
    assert_eq!(Kind::Analysis.contracts(), [Contract::Evidence]);
    assert_eq!(Kind::Draft.contracts(), [Contract::Evidence, Contract::Yagni]);
}

#[test]
fn every_draft_lists_what_is_open_and_what_was_left_out() {
    for id in FlowId::ALL.into_iter().filter(|id| id.flow().kind == Kind::Draft) {
        assert!(id.method().has(Part::Questions) && id.method().has(Part::Deferred), "{id}");
    }
}

#[test]
fn what_people_read_is_short() {
    for id in FlowId::ALL {
        let Flow { line, what, when, focus, .. } = id.flow();
        assert!((20..=80).contains(&line.len()) && !line.ends_with('.'), "{id}: {line}");
        assert!((100..=330).contains(&what.len()) && what.ends_with('.'), "{id}: {what} {}", what.len());
        assert!((40..=150).contains(&when.len()) && when.ends_with('.'), "{id}: {when}");
        assert!(focus.asks().contains('?'), "{id}");
    }
}

#[test]
fn what_each_needs_is_as_the_catalogue_says() {
    let needed = |id: FlowId| id.flow().focus.is_needed();
    assert!(needed(FlowId::ArchitecturalAnalysis) && !needed(FlowId::CodeReview));
    assert!(matches!(FlowId::Runbook.flow().focus, Focus::Trigger(_)));
    assert!(matches!(FlowId::IssueTriage.flow().focus, Focus::Reported(_)));
    let on_a_change: Vec<_> = FlowId::ALL.into_iter().filter(|id| id.flow().diff == Diff::Needed).collect();
    assert_eq!(on_a_change, [FlowId::UpdatePrDescription]);
}

#[test]
fn every_role_and_every_signal_serves_some_flow() {
    let angles = || FlowId::ALL.iter().flat_map(|id| id.method().all_angles());
    let written = FlowId::ALL.iter().flat_map(|id| id.method().synthesis()).map(|synthesis| synthesis.role);
    let roles: BTreeSet<_> = angles().map(|angle| angle.role).chain(written).collect();
    assert_eq!(roles, Role::ALL.into_iter().collect());
    let signals: BTreeSet<_> = angles().filter_map(|angle| angle.signal).collect();
    assert_eq!(signals, Signal::ALL.into_iter().collect());
}
