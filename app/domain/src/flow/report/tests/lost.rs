//! Whatever agents say, in whatever form, every word of it can be read in the report.

use proptest::prelude::*;

use super::*;

fn token() -> &'static str {
    "q[0-9]{6}z"
}

/// What a word may begin with that code understands, so that the rest of it is easily lost.
fn known() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just(""),
        Just("critical, "),
        Just("high, "),
        Just("low: "),
        Just("defect, "),
        Just("missing, ")
    ]
}

/// An answer of any form, each word of it made up.
fn answer() -> impl Strategy<Value = String> {
    let words = (token(), token(), known(), known());
    let finding = (words, token(), token(), token()).prop_map(|((level, kind, is, of), title, claim, quote)| {
        format!(r#"{{"id": "{title}", "title": "{title}", "level": "{is}{level}", "kind": "{of}{kind}", "claim": "{claim}", "odd": "{claim}", "places": [{{"path": "{quote}", "quote": "{quote}"}}]}}"#)
    });
    let whole = (proptest::collection::vec(finding, 0..3), token(), token(), token(), token()).prop_map(
        |(findings, summary, section, deferred, odd)| {
            format!(
                r#"{{"summary": "{summary}", "findings": [{}], "items": ["{odd}"], "sections": [{{"title": "{section}", "text": "{section}"}}],
                    "deferred": ["{deferred}"], "questions": ["{deferred}"], "good": ["{odd}"], "next_step": "{odd}", "more": {{"deep": ["{odd}"]}}}}"#,
                findings.join(", ")
            )
        },
    );
    prop_oneof![3 => whole, 1 => loose()]
}

/// The same of a gate.
fn verdicts() -> impl Strategy<Value = String> {
    let tried = (token(), token(), token(), token(), token()).prop_map(|(id, about, guess, checked, odd)| {
        format!(r#"{{"id": "{id}", "about": ["{about}"], "hypothesis": "{guess}", "checked": "{checked}", "verdict": "{odd}", "impact": "{odd}", "odd": "{odd}"}}"#)
    });
    let stand = prop_oneof![Just("stands"), Just("weakened"), Just("refuted"), Just("none")];
    let whole = (proptest::collection::vec(tried, 0..3), stand, token(), token(), token(), token()).prop_map(
        |(tried, stand, drop, settle, reason, risk)| {
            format!(
                r#"{{"items": [{}], "drops": ["{drop}"], "recommendation": "{stand}", "settle": "{settle}", "confidence": "{reason}",
                    "reason": "{reason}", "risks": ["{risk}"], "more": "{risk}"}}"#,
                tried.join(", ")
            )
        },
    );
    prop_oneof![3 => whole, 1 => loose()]
}

fn loose() -> impl Strategy<Value = String> {
    let prose = token().prop_map(|token| format!("only prose {token}"));
    prop_oneof![prose, token().prop_map(|token| format!("{{\"summary\": \"{token}"))]
}

/// In the large band, because in the smaller ones a code review leaves something out, and says how much.
fn story(flow: FlowId, said: &[String], gates: &[String]) -> Story {
    let mut story = Story::new(flow, Band::Large);
    let (mut said, mut gates) = (said.iter(), gates.iter());
    for step in story.plan.steps.iter().filter(|step| step.agent().is_some()) {
        let words = if step.is_gate() { gates.next() } else { said.next() };
        let ended = words.map(|words| (step.id.0.clone(), Ended::Said(words.clone())));
        story.ended.extend(ended);
    }
    story
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_word_is_lost_on_the_way_to_the_report(
        flow in 0..FlowId::ALL.len(),
        said in proptest::collection::vec(answer(), 16),
        gates in proptest::collection::vec(verdicts(), 8),
    ) {
        let story = story(FlowId::ALL[flow], &said, &gates);
        let report = story.report();
        let markdown = report.to_markdown();
        for (_, ended) in &story.ended {
            let Ended::Said(text) = ended else { continue };
            for token in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() == 8 && word.starts_with('q')) {
                prop_assert!(markdown.contains(token), "{token} of {text}\nis not in {markdown}");
            }
        }
        prop_assert_eq!(markdown.matches("⚠").count(), report.head.failed_checks, "what is counted is told");
    }

    #[test]
    fn any_output_gives_a_report(flow in 0..FlowId::ALL.len(), said in proptest::collection::vec(any::<String>(), 24)) {
        let report = story(FlowId::ALL[flow], &said[..16], &said[16..]).report();
        prop_assert!(!report.to_markdown().is_empty());
    }
}

#[test]
fn a_severity_in_other_words_is_shown_with_them() {
    let findings = r#"{"summary": "s", "findings": [
        {"id": "B1", "title": "One", "level": "blocker", "claim": "c"}, {"id": "B2", "title": "Two", "level": "awful", "claim": "c"},
        {"id": "B3", "title": "Three", "level": "critical, loses data", "claim": "c"}, {"id": "B4", "title": "Four", "level": "Warnings"}]}"#;
    let text =
        Story::new(FlowId::CodeReview, Band::Small).says("correctness", findings).report().to_markdown();
    for words in [
        "### B1 One\n\n*critical · given as \"blocker\" ·",
        "### B2 Two\n\n*warning · given as \"awful\" ·",
        "### B3 Three\n\n*critical · given as \"critical, loses data\" ·",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("B4 Four") && text.contains("1 finding not shown in the small band."));
}
