//! What the word of a gate does to what others said.

use super::*;

/// The gate's word on `about`, with more of its fields.
fn gate(about: &str, verdict: &str, more: &str) -> String {
    let tried = FIVE.replace("[\"D1\"]", &format!("[\"{about}\"]")).replacen(
        "\"Confirmed\"",
        &format!("\"{verdict}\""),
        1,
    );
    tried.replace("\"drops\": [], \"recommendation\": \"stands\"", more)
}

fn texts(section: &Section) -> Vec<String> {
    let words = |block: &Block| match block {
        Block::Text(text) => Some(text.markdown.clone()),
        Block::Overturned(text) => Some(format!("overturned: {}", text.markdown)),
        Block::Heading(title) => Some(format!("# {title}")),
        _ => None,
    };
    section.blocks.iter().filter_map(words).collect()
}

#[test]
fn what_a_validator_refuted_is_dropped_and_what_the_gate_doubts_is_marked() {
    let story = review_small().says("check-correctness", &gate("B5", "Refuted", "\"drops\": []"));
    let refuted = story.report().to_markdown();
    assert!(
        refuted.contains("### B5 Old warning\n\n*warning · codebase · dropped by the gate · refuted in V1*")
    );
    let story = Story::new(FlowId::SecurityReview, Band::Small)
        .says("security", r#"{"findings": [{"id": "B5", "title": "In", "exploit": "x"}]}"#)
        .says("gate", &gate("B5", "Partially refuted", "\"drops\": []"));
    let text = story.report().to_markdown();
    assert!(text.contains("### B5 In\n\n*no trust class · partially refuted in V1*"), "{text}");
}

/// A numbered entry of a report is under the gate's word as any finding is.
#[test]
fn what_the_gate_drops_leaves_the_list_the_counts_and_the_confidence() {
    let gaps = r#"{"summary": "s", "items": [
        {"id": "G-001", "title": "No export", "level": "high", "kind": "missing", "confidence": "high"},
        {"id": "G-2", "title": "Half a login", "level": "low", "kind": "partial", "confidence": "low"},
        {"id": "G-003", "title": "Invented", "level": "high", "kind": "missing", "confidence": "high"}]}"#;
    let story = Story::new(FlowId::GapAnalysis, Band::Small)
        .says("together", gaps)
        .says("gate", &gate("G-002", "Partially refuted", "\"drops\": [\"G3\"]"));
    let report = story.report();
    let magnitude = section(&report, "Magnitude");
    let Block::Table(table) = &magnitude.blocks[0] else { panic!("{magnitude:?}") };
    assert_eq!(table.rows.last().unwrap().join(" "), "all 1 0 1 2");
    let confidence = section(&report, "Confidence");
    let Block::Table(table) = &confidence.blocks[0] else { panic!("{confidence:?}") };
    let rows: Vec<_> = table.rows.iter().map(|row| row.join(" ")).collect();
    assert_eq!(rows, ["G-001 No export high", "G-002 Half a login low, partially refuted in V1"]);
    let gaps = section(&report, "Gaps");
    assert_eq!(ids(gaps), ["G-001", "G-002", "G-003"]);
    assert!(matches!(&gaps.blocks[2], Block::Heading(title) if title == "Dropped by the gate"));
    let badges = |at: usize| match &gaps.blocks[at] {
        Block::Entry(entry) => entry.badges.last().unwrap().text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((badges(1).as_str(), badges(3).as_str()), ("partially refuted in V1", "dropped by the gate"));
}

#[test]
fn every_kind_of_entry_is_under_the_gates_word() {
    let entries = [
        (FlowId::TestPlanning, "TP-001"),
        (FlowId::PlanWorkItems, "W-1"),
        (FlowId::IterativePlanReview, "F1"),
        (FlowId::PlanAFeature, "D1"),
    ];
    for (flow, id) in entries {
        let mut story = Story::new(flow, Band::Small);
        let writer = story.plan.steps.iter().rfind(|step| step.agent().is_some() && !step.is_gate()).unwrap();
        let step = writer.id.0.clone();
        story = story
            .says(&step, &format!(r#"{{"summary": "s", "items": [{{"id": "{id}", "title": "It"}}]}}"#))
            .says("gate", &gate(id, "Refuted", &format!("\"drops\": [\"{id}\"]")));
        let text = story.report().to_markdown();
        let marked = format!("### {id} It\n\n*no trust class · dropped by the gate · refuted in V1*");
        assert!(text.contains(&marked), "{flow}: {text}");
    }
}

#[test]
fn a_refuted_recommendation_is_no_clear_winner() {
    let report = research_refuted().report();
    let expected = ["**No clear winner.** What would settle it: A measurement.", "overturned: Take x [A1]."];
    assert_eq!(texts(section(&report, "Recommendation and its basis")), expected);
    let summary = "**What was concluded was refuted. No clear winner.**\n\nWritten before that: Take x.";
    assert_eq!(report.head.summary, summary, "what was refuted is not asserted");
}

/// A cause that does not hold carries no plan; a plan that does not hold leaves the cause as it is.
#[test]
fn an_investigation_asserts_no_refuted_cause() {
    let told = |about: &str, verdict: &str, more: &str| {
        let report = Story::new(FlowId::Investigate, Band::Small)
            .says(
                "root-cause",
                r#"{"summary": "s", "sections": [{"title": "Root cause", "text": "The lock."}]}"#,
            )
            .says(
                "fix-plan",
                r#"{"summary": "s", "sections": [{"title": "Planned fix per file", "text": "Take it."}]}"#,
            )
            .says("gate", &gate(about, verdict, &format!("\"settle\": \"A trace.\", {more}")))
            .report();
        let of = |title: &str| texts(section(&report, title)).join(" / ");
        let first = report.head.summary.strip_suffix("\n\nWritten before that: s").unwrap_or_default();
        (of("Root cause"), of("Planned fix per file"), first.trim_matches('*').to_owned())
    };
    let cause =
        "**The cause is not settled.** What would settle it: A trace. / overturned: The lock.".to_owned();
    let fix = "**No clear fix.** What would settle it: A trace. / overturned: Take it.".to_owned();
    let both = "What was concluded was refuted. The cause is not settled. No clear fix.".to_owned();
    let refuted = (cause, fix.clone(), both);
    assert_eq!(told("E1", "Confirmed", "\"recommendation\": \"refuted\""), refuted);
    assert_eq!(told("root cause", "Refuted", "\"recommendation\": \"stands\""), refuted);
    let plan = ("The lock.".to_owned(), fix, "What was concluded was refuted. No clear fix.".to_owned());
    assert_eq!(told("Planned fix", "Refuted", "\"recommendation\": \"stands\""), plan);
    let part = "**The gate holds this only in part.**";
    let weak = (
        format!("{part} / The lock."),
        format!("{part} / Take it."),
        "The gate holds what is concluded only in part: see the validation.".to_owned(),
    );
    assert_eq!(told("E1", "Confirmed", "\"recommendation\": \"weakened\""), weak);
    let stands = ("The lock.".to_owned(), "Take it.".to_owned(), String::new());
    assert_eq!(told("E1", "Confirmed", "\"recommendation\": \"stands\""), stands);
}

#[test]
fn a_refuted_next_step_is_none() {
    let report = Story::new(FlowId::IssueTriage, Band::Small)
        .says("triager", r#"{"summary": "s", "next_step": "answer"}"#)
        .says("gate", &gate("E1", "Confirmed", "\"recommendation\": \"refuted\", \"settle\": \"Ask.\""))
        .report();
    let expected = ["**No clear next step.** What would settle it: Ask.", "overturned: answer"];
    assert_eq!(texts(section(&report, "Next step")), expected);
    let summary = "**What was concluded was refuted. No clear next step.**\n\nWritten before that: s";
    assert_eq!(report.head.summary, summary);
}

/// Whether a flow has a conclusion of its own or not, the gate's last word is in its report.
#[test]
fn what_would_settle_it_is_told_in_every_flow() {
    for flow in FlowId::ALL.into_iter().filter(|flow| *flow != FlowId::CodeReview) {
        for (word, note) in [("refuted", true), ("weakened", true), ("stands", false)] {
            let more = format!("\"recommendation\": \"{word}\", \"settle\": \"A measurement.\"");
            let report = Story::new(flow, Band::Small).says("gate", &gate("E1", "Confirmed", &more)).report();
            let validation = texts(section(&report, "Validation"));
            assert!(
                validation.contains(&"What would settle what is open: A measurement.".to_owned()),
                "{flow}: {validation:?}"
            );
            assert_eq!(report.head.summary.contains("Written before that"), note, "{flow}");
        }
    }
}

#[test]
fn each_validator_of_a_review_answers_for_its_own_dimension() {
    let report = review_small()
        .says(
            "check-correctness",
            &FIVE.replace("\"drops\": []", "\"settle\": \"One.\"").replace("[\"D1\"]", "[\"B1\"]"),
        )
        .says("check-structure", "Looks fine to me.")
        .report();
    let text = report.to_markdown();
    assert!(text.contains("Not validated: Structure (no attempt to refute it)."), "{text}");
    // The first who reads it is told: one of two is no confidence in the whole.
    assert_eq!(report.head.confidence, Some(Confidence::Low));
    let missing: Vec<_> = report.head.missing.iter().map(|it| (it.what.as_str(), it.why.as_str())).collect();
    assert_eq!(missing, [("Validator of Structure", "no attempt to refute it")]);
    let whole = review_small().says("check-correctness", FIVE).says("check-structure", FIVE).report();
    assert_eq!((whole.head.confidence, whole.head.missing.len()), (Some(Confidence::Medium), 0));
    let Block::Table(table) = &section(&report, "Summary table").blocks[0] else { panic!() };
    let states: Vec<_> = table.rows.iter().map(|row| row.last().unwrap().as_str()).collect();
    assert_eq!(states, ["reviewed", "reviewed, not validated: no attempt to refute it"]);
    let validation = section(&report, "Validation");
    let flags: Vec<_> =
        validation.blocks.iter().flat_map(Block::flags).map(|flag| flag.words.as_str()).collect();
    assert_eq!(
        flags,
        ["0 attempts were made to refute this; 5 are the least.", "The gate gave no confidence."],
        "those of one are not counted for another"
    );
    assert!(texts(validation).contains(&"What would settle what is open: One.".to_owned()));
}

/// What whoever puts together says again is part of what they say: listed once, and below as it was found.
#[test]
fn findings_that_were_joined_are_listed_once() {
    let report = Story::new(FlowId::SecurityReview, Band::Medium)
        .says("security", r#"{"findings": [{"id": "SEC1", "title": "One", "exploit": "x"}, {"id": "SEC2", "title": "Two", "exploit": "x"}]}"#)
        .says("input", r#"{"findings": [{"id": "B1", "title": "The same", "exploit": "x"}, {"id": "B2", "title": "Alone", "exploit": "x"}]}"#)
        .says("together", r#"{"findings": [{"id": "SEC101", "title": "Joined", "exploit": "x", "cites": ["SEC-1", "B1"]}, {"id": "SEC2", "title": "Two, whole", "exploit": "y"}]}"#)
        .says("gate", FIVE)
        .report();
    assert_eq!(ids(section(&report, "Findings")), ["B2", "SEC101", "SEC2"]);
    assert_eq!(ids(section(&report, "What each agent found")), ["SEC1", "SEC2", "B1"]);
}

/// What is dropped stands for nothing, and what is of another kind for itself.
#[test]
fn a_finding_is_hidden_only_behind_one_that_stands_for_it() {
    let check = |joined: &str, drops: &str, expected: &[&str]| {
        let together = format!(r#"{{"findings": [{{"id": "SEC101", "title": "Joined", {joined}}}]}}"#);
        let report = Story::new(FlowId::SecurityReview, Band::Medium)
            .says("security", r#"{"findings": [{"id": "SEC1", "title": "One", "exploit": "x"}]}"#)
            .says("together", &together)
            .says("gate", &FIVE.replace("\"drops\": []", &format!("\"drops\": [{drops}]")))
            .report();
        assert_eq!(ids(section(&report, "Findings")), expected, "{joined} {drops}");
    };
    check(r#""exploit": "x", "cites": ["SEC1"]"#, "", &["SEC101"]);
    check(r#""exploit": "x", "cites": ["SEC1"]"#, r#""SEC101""#, &["SEC1"]);
    check(r#""exploit": "x", "cites": ["SEC1"]"#, r#""SEC101", "SEC1""#, &[]);
    check(r#""cites": ["SEC1"]"#, "", &["SEC1", "SEC101"]);
    let of_kind = |kind: &str| {
        let together = format!(
            r#"{{"summary": "s", "findings": [{{"id": "PS101", "title": "x", "kind": "{kind}", "cites": ["PS1"]}}]}}"#
        );
        let report = Story::new(FlowId::ProjectDiscovery, Band::Medium)
            .says("scan", r#"{"findings": [{"id": "PS1", "title": "cargo test", "kind": "command"}]}"#)
            .says("together", &together)
            .says("gate", FIVE)
            .report();
        report
            .sections
            .iter()
            .take(FlowId::ProjectDiscovery.method().spine.len())
            .flat_map(ids)
            .filter(|id| *id == "PS1")
            .count()
    };
    assert_eq!((of_kind("command"), of_kind("contradiction")), (0, 1));
}

#[test]
fn an_angles_own_next_step_is_not_lost() {
    let report = Story::new(FlowId::IssueTriage, Band::Medium)
        .says("triager", r#"{"summary": "s", "next_step": "investigate"}"#)
        .says("together", r#"{"summary": "s", "next_step": "clarify"}"#)
        .says("gate", FIVE)
        .report();
    let Block::Text(step) = &section(&report, "Next step").blocks[0] else { panic!() };
    assert_eq!(step.markdown, "clarify");
    assert!(texts(section(&report, "Also said")).contains(&"investigate".to_owned()));
}
