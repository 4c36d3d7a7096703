//! What nobody said, or nobody could read, is not taken for a word in favour.

use super::*;

const CLEAN: &str = r#"{"summary": "Sound.", "findings": []}"#;

/// The verdict of a small review whose two reviewers ended so.
fn verdict(correctness: Ended, structure: Ended) -> (String, Vec<String>) {
    let report = Story::new(FlowId::CodeReview, Band::Small)
        .ends("correctness", correctness)
        .ends("structure", structure)
        .says("check-correctness", FIVE)
        .says("check-structure", FIVE)
        .report();
    let Block::Text(text) = &section(&report, "Recommendation").blocks[0] else { panic!() };
    (text.markdown.clone(), report.head.notes)
}

fn said(text: &str) -> Ended {
    Ended::Said(text.to_owned())
}

#[test]
fn a_review_that_could_not_be_read_approves_nothing() {
    let check = |ended: Ended, why: Option<&str>| {
        let (words, notes) = verdict(ended.clone(), said(CLEAN));
        assert_eq!(words.starts_with("**No verdict.**"), why.is_some(), "{ended:?}: {words}");
        assert_eq!(words.starts_with("**Approve.**"), why.is_none(), "{ended:?}: {words}");
        assert_eq!(
            notes.iter().any(|note| note.starts_with("There is no verdict")),
            why.is_some(),
            "{notes:?}"
        );
        assert!(words.contains(why.unwrap_or("")), "{words}");
    };
    check(said(CLEAN), None);
    check(said(&format!("I looked at everything first.\n{CLEAN}")), None);
    check(said(&CLEAN.replace("[]", "[],")), None);
    check(
        said("Critical: the cart loses updates in add()."),
        Some("Not read as a whole: Correctness (it has no form)."),
    );
    check(said(""), Some("it has no form"));
    check(
        said(r#"{"summary": "Bad.", "findings": [{"title": "x", "level": "suggestion"}], "good": ["cl"#),
        Some("it is not whole"),
    );
    check(
        said(r#"{"summary": "Bad.", "issues": ["The cart loses updates."]}"#),
        Some("it is in fields of its own"),
    );
    let more = Ended::SaidMore { text: CLEAN.to_owned(), left_out: 3_000 };
    check(more, Some("it is not whole"));
    check(Ended::Failed("out of memory".into()), Some("Not reviewed: Correctness (failed: out of memory)."));
    check(Ended::Cancelled, Some("Not reviewed: Correctness (cancelled)."));
}

#[test]
fn where_nobody_reviewed_nothing_is_approved() {
    let gone = || Ended::Failed("it said nothing".into());
    assert!(verdict(gone(), gone()).0.starts_with("**No verdict.**"));
    let report = Story::new(FlowId::CodeReview, Band::Small).report();
    assert_eq!(report.head.summary, "Nobody reviewed the code.");
}

/// Whom the plan did not ask is missed by nobody.
#[test]
fn an_angle_without_its_signal_leaves_the_verdict() {
    let mut story = Story::new(FlowId::CodeReview, Band::Large);
    story.plan = Plan::new(request(FlowId::CodeReview, Band::Large, false), &signals(&[]));
    assert!(story.plan.steps.iter().any(|step| step.as_angle().is_some() && step.skip.is_some()));
    for step in story.plan.steps.clone().iter().filter(|step| step.agent().is_some() && step.skip.is_none()) {
        story = story.says(&step.id.0, if step.is_gate() { FIVE } else { CLEAN });
    }
    let report = story.report();
    let Block::Text(text) = &section(&report, "Recommendation").blocks[0] else { panic!() };
    assert!(text.markdown.starts_with("**Approve.**"), "{}", text.markdown);
}
