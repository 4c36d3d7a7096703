use proptest::prelude::*;

use super::*;

const FULL: &str = r#"{
  "summary": "The cart loses items.",
  "findings": [{
    "id": "E1", "title": "Lost update", "level": "high", "kind": "defect", "claim": "Two writers race.",
    "trust": "codebase", "places": [{"path": "src/cart.rs", "line": 12, "quote": "let n = load();"}],
    "sources": [{"title": "Docs", "url": "https://example.org/a", "date": "2026-01-31"}],
    "single_source": true, "cites": ["B2"], "fix": "Lock it."
  }],
  "sections": [{"title": "Root cause", "text": "A race [E1]."}],
  "deferred": [{"what": "Sharding", "why": "no need", "reopen_when": "10x load", "source": "E1"}],
  "questions": [{"question": "How many users?", "recommended": "Assume 100."}],
  "good": ["Clear names"],
  "next_step": "investigate"
}"#;

fn full() -> Answer {
    let named = |name: &str, text: &str| Named { name: name.into(), text: text.into() };
    Answer {
        summary: "The cart loses items.".into(),
        findings: vec![Finding {
            id: "E1".into(),
            title: "Lost update".into(),
            claim: "Two writers race.".into(),
            level: "high".into(),
            kind: "defect".into(),
            trust: Some(Trust::Codebase),
            places: vec![Quoted {
                place: Place { path: "src/cart.rs".into(), line: Some(12), until: None },
                quote: "let n = load();".into(),
            }],
            sources: vec![Source {
                title: "Docs".into(),
                url: "https://example.org/a".into(),
                date: "2026-01-31".into(),
            }],
            cites: vec!["B2".into()],
            single_source: true,
            fields: vec![named("fix", "Lock it.")],
        }],
        sections: vec![Said { title: "Root cause".into(), text: "A race [E1].".into() }],
        deferred: vec![Deferred {
            what: "Sharding".into(),
            why: "no need".into(),
            reopen_when: "10x load".into(),
            source: "E1".into(),
        }],
        questions: vec![Question { question: "How many users?".into(), recommended: "Assume 100.".into() }],
        good: vec!["Clear names".into()],
        next_step: "investigate".into(),
        ..Answer::default()
    }
}

#[test]
fn an_answer_in_form_is_read_whole_wherever_it_stands() {
    let check = |text: &str, is_mended: bool, loose: Option<&str>| {
        let reading = read_answer(text);
        assert_eq!(reading.value, full(), "{text}");
        assert_eq!([reading.before, reading.json, reading.after].concat(), text);
        assert_eq!(reading.is_mended, is_mended, "{text}");
        assert_eq!(reading.loose().as_deref(), loose, "{text}");
    };
    check(FULL, false, None);
    check(&format!("```json\n{FULL}\n```"), false, None);
    check(&format!("```\n{FULL}\n```\n"), false, None);
    check(&format!("Here it is: {FULL} That is all."), false, Some("Here it is:\n\nThat is all."));
    check(&format!("Like {{\"summary\": \"…\"}}:\n{FULL}"), false, Some("Like {\"summary\": \"…\"}:"));
    check(&format!("fn main() {{ x }}\n\n{FULL}\n"), false, Some("fn main() { x }"));
    check(&format!("{{\"answer\": {FULL}}}"), false, Some("{\"answer\":\n\n}"));
    let cut = FULL.trim_end().strip_suffix('}').unwrap();
    check(cut, true, Some(cut));
    let comma = FULL.replace("\"investigate\"", "\"investigate\",");
    check(&comma, true, Some(&comma));
}

/// A comma too many loses nothing. What breaks off may have gone on.
#[test]
fn what_breaks_off_is_known_from_what_is_only_mended() {
    let check = |text: &str, is_cut: bool| assert_eq!(read_answer(text).is_cut, is_cut, "{text}");
    check(FULL, false);
    check(&FULL.replace("\"investigate\"", "\"investigate\","), false);
    check(r#"{"summary": "s", "findings": [{"id": "E1"}}"#, false);
    check(FULL.trim_end().strip_suffix('}').unwrap(), true);
    check(r#"{"summary": "s", "findings": [{"id": "E1"}, {"id"#, true);
    check(r#"{"summary": "s", "findings": [{"id": "E1", "claim": "it ra"#, true);
    check(r#"{"summary": "s", "findings": [{"id": "E1"}"#, true);
}

/// Reads an answer and tells the claim of its one finding.
fn check_claim(text: &str, claim: &str) {
    let answer = read_answer(text).value;
    let claims: Vec<_> = answer.findings.iter().map(|finding| finding.claim.as_str()).collect();
    assert_eq!(claims, [claim], "{text}\n{answer:?}");
}

#[test]
fn faults_that_weak_models_make_are_mended() {
    check_claim(r#"{"findings": [{"claim": "a",}],}"#, "a");
    check_claim(r#"{"findings": [{"claim": "a"}]"#, "a");
    check_claim(r#"{"findings": [{"claim": "a"#, "a");
    check_claim(r#"{"findings": [{"claim": "a"}"#, "a");
    check_claim("{'findings': [{'claim': 'it''s'}]}", "it''s");
    check_claim("{findings: [{claim: a b c}]}", "a b c");
    check_claim("{\"findings\": [{\"claim\": \"two\nlines\"}]}", "two\nlines");
    check_claim(r#"{"findings": [{"claim": "he said "no" to it"}]}"#, "he said \"no\" to it");
    check_claim("{\"findings\": [{\"claim\": \"a\" // why\n /* and */ }]}", "a");
    check_claim("{“findings”: [{“claim”: “a”}]}", "a");
    check_claim(r#"{"findings": [{"claim": "a" "level": "high"}]}"#, "a");
    check_claim(r#"{"findings": [{"id": None, "single_source": True, "claim": "a"}]}"#, "a");
    check_claim(r#"{"findings": [{"claim": "\ud83d\ude00 \u00e9 \q \ud83d"}]}"#, "😀 é \\q \\ud83d");
    check_claim(r#"{"findings": [{"claim": "a\u0000b"}]}"#, "a\u{fffd}b");
    check_claim(r#"{"findings": {"claim": "a"}}"#, "a");
    check_claim(r#"{"findings": ["a"]}"#, "a");
    check_claim(r#"{"Findings": [{"Description": "a"}]}"#, "a");
    check_claim(r#"[{"id": "E1", "claim": "a"}]"#, "a");
    check_claim("Here:\n```json\n[{\"id\": \"E1\", \"claim\": \"a\"}]\n```", "a");
    check_claim(r#"{"findings": [{"claim": "a", "places": }]}"#, "a");
    check_claim(r#"{"findings": [{"claim": "a"}}"#, "a");
    check_claim(r#"{"findings": [{"claim": "a"}], Hope this helps! }"#, "a");
}

#[test]
fn places_and_sources_come_in_many_forms() {
    let check = |fields: &str, expected: &str| {
        let text = format!("{{\"findings\": [{{\"claim\": \"x\", {fields}}}]}}");
        let finding = read_answer(&text).value.findings.remove(0);
        let places = finding.places.iter().map(|quoted| format!("{} {:?}", quoted.place, quoted.quote));
        let sources = finding.sources.iter().map(|source| format!("{} {}", source.url, source.date));
        let fields = finding.fields.iter().map(|field| format!("{}={}", field.name, field.text));
        assert_eq!(places.chain(sources).chain(fields).collect::<Vec<_>>().join(", "), expected, "{text}");
    };
    check(r#""places": ["src/a.rs:12"]"#, "src/a.rs:12 \"\"");
    check(r#""places": "src/a.rs:12""#, "src/a.rs:12 \"\"");
    check(r#""place": {"file": "src/a.rs", "line_number": "12-15", "code": "x"}"#, "src/a.rs:12-15 \"x\"");
    check(r#""path": "src/a.rs", "line": 3, "quote": "y""#, "src/a.rs:3 \"y\"");
    check(r#""places": [{"path": "src/a.rs", "line": "soon", "odd": 1}]"#, "src/a.rs \"\", line=soon, odd=1");
    check(r#""places": [{"path": "", "line": 4, "quote": "z"}]"#, "line=4, quote=z");
    check(r#""sources": ["https://example.org"]"#, "https://example.org ");
    check(r#""url": "https://example.org", "date": "2026""#, "https://example.org 2026");
    check(r#""trust": "hearsay""#, "trust=hearsay");
    check(r#""trust": "codebase, as I saw myself""#, "trust=codebase, as I saw myself");
}

#[test]
fn sections_may_be_an_object() {
    let answer = read_answer(r#"{"sections": {"Root cause": "a race", "Problem": ["x", "y"]}}"#).value;
    let said: Vec<_> = answer.sections.iter().map(|said| (said.title.as_str(), said.text.as_str())).collect();
    assert_eq!(said, [("Root cause", "a race"), ("Problem", "x\ny")]);
    let answer = read_answer(r#"{"sections": [{"heading": "A", "body": "b", "note": "c"}]}"#).value;
    assert_eq!(answer.sections, [Said { title: "A".into(), text: "b\nnote: c".into() }]);
}

#[test]
fn what_cannot_be_read_is_kept_as_it_is() {
    for text in [
        "",
        "No idea.",
        "{",
        "}{",
        "{}",
        "[]",
        "{\"other\": 1}",
        "```json\nnothing\n```",
        "[1, 2]",
        "{\"a\":",
    ] {
        let reading = read_answer(text);
        assert!(!reading.is_structured(), "{text}");
        assert_eq!((reading.before, reading.value), (text, Answer::default()));
    }
    let reading = read_answer(r#"{"summary": "a", "mood": {"today": ["good", 3]}}"#);
    assert_eq!(reading.value.extra, [Named { name: "mood".into(), text: "today: good\n3".into() }]);
}

#[test]
fn verdicts_are_read() {
    let check = |text: &str, expected: &str| {
        let Verdicts { items, drops, recommendation, confidence, reason, extra, .. } =
            read_verdicts(text).value;
        let items: Vec<_> = items.iter().map(|item| format!("{} {:?}", item.id, item.verdict)).collect();
        let extra: Vec<_> = extra.iter().map(|field| format!("{}={}", field.name, field.text)).collect();
        let all = format!(
            "{} | {} | {recommendation:?} {confidence:?} {reason} | {}",
            items.join(" "),
            drops.join(" "),
            extra.join(" ")
        );
        assert_eq!(all, expected, "{text}");
    };
    check(
        r#"{"items": [{"id": "V1", "verdict": "Confirmed"}, {"id": "V2", "verdict": "PARTIALLY REFUTED"},
            {"id": "V3", "verdict": "refuted."}, {"id": "V4", "verdict": "not confirmed"}],
            "drops": ["E1"], "recommendation": "refuted", "confidence": "High", "reason": "r"}"#,
        "V1 Some(Confirmed) V2 Some(PartiallyRefuted) V3 Some(Refuted) V4 None | E1 | Some(Refuted) Some(High) r | ",
    );
    check(r#"{"confidence": {"level": "low", "reason": "few"}}"#, " |  | None Some(Low) few | ");
    check(
        r#"{"confidence": "medium, since few looked"}"#,
        " |  | None Some(Medium)  | confidence=medium, since few looked",
    );
    check(r#"{"confidence": "87 %"}"#, " |  | None None  | confidence=87 %");
    check("Nothing to say.", " |  | None None  | ");
}

#[test]
fn a_conclusion_falls_as_a_whole_or_by_an_attempt_on_it() {
    let check = |text: &str, expected: Option<Stand>| {
        assert_eq!(read_verdicts(text).value.stand_of("Planned fix per file"), expected, "{text}");
    };
    check(r#"{"recommendation": "refuted"}"#, Some(Stand::Refuted));
    check(r#"{"recommendation": "weakened"}"#, Some(Stand::Weakened));
    check(r#"{"recommendation": "stands"}"#, Some(Stand::Stands));
    check(r#"{"items": [{"about": ["The recommendation"], "verdict": "Refuted"}]}"#, Some(Stand::Refuted));
    check(r#"{"items": [{"about": ["planned fix"], "verdict": "Refuted"}]}"#, Some(Stand::Refuted));
    check(
        r#"{"items": [{"about": "recommendation", "verdict": "Partially refuted"}], "recommendation": "stands"}"#,
        Some(Stand::Weakened),
    );
    check(r#"{"items": [{"about": ["root cause", "E1", "fix"], "verdict": "Refuted"}]}"#, None);
    check("", None);
}

/// JSON with the names that answers have and values of any kind, each text a token of its own.
fn json(depth: u32) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => "[qxz][0-9]{6}[qxz]".prop_map(|token| format!("\"{token}\"")),
        1 => Just("null".to_owned()),
        1 => Just("7".to_owned()),
    ];
    leaf.prop_recursive(depth, 40, 5, |inner| {
        let names = proptest::sample::select(vec![
            "summary",
            "findings",
            "items",
            "sections",
            "deferred",
            "questions",
            "good",
            "id",
            "claim",
            "title",
            "level",
            "trust",
            "places",
            "path",
            "line",
            "quote",
            "sources",
            "url",
            "date",
            "cites",
            "text",
            "odd",
            "single_source",
            "what",
            "why",
            "verdict",
            "about",
            "confidence",
            "drops",
            "reason",
            "level",
        ]);
        let fields = proptest::collection::vec((names, inner.clone()), 1..6);
        prop_oneof![
            fields.prop_map(|fields| {
                let fields: Vec<_> =
                    fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
                format!("{{{}}}", fields.join(", "))
            }),
            proptest::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
        ]
    })
}

/// The made-up words of a text.
fn tokens(text: &str) -> Vec<&str> {
    let is_token = |word: &&str| word.len() == 8 && word.starts_with(['q', 'x', 'z']);
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_token).collect()
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_loss(text in any::<String>()) {
        let reading = read_answer(&text);
        prop_assert_eq!([reading.before, reading.json, reading.after].concat(), text.clone());
        let reading = read_verdicts(&text);
        prop_assert_eq!([reading.before, reading.json, reading.after].concat(), text.clone());
    }

    /// Pieces of JSON in every disorder.
    #[test]
    fn broken_json_is_read_without_a_loss(
        pieces in proptest::collection::vec(proptest::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "'", "\\", "\n", "```", "\"findings\": ", "\"claim\": ",
            "\"items\": ", "true", "7", "“", "é", "//", "/*", "a b",
        ]), 0..60)
    ) {
        let text = pieces.concat();
        let answer = read_answer(&text);
        prop_assert_eq!([answer.before, answer.json, answer.after].concat(), text.clone());
        let verdicts = read_verdicts(&text);
        prop_assert_eq!([verdicts.before, verdicts.json, verdicts.after].concat(), text);
    }

    /// Whatever form it has, every word is either in the value or in what is shown as it was.
    #[test]
    fn no_word_of_a_readable_answer_is_lost(text in json(4)) {
        let answer = read_answer(&text);
        let kept = format!("{:?} {}", answer.value, answer.loose().unwrap_or_default());
        for token in tokens(&text) {
            prop_assert!(kept.contains(token), "{token} of {text}\nis not in {kept}");
        }
        let verdicts = read_verdicts(&text);
        let kept = format!("{:?} {}", verdicts.value, verdicts.loose().unwrap_or_default());
        for token in tokens(&text) {
            prop_assert!(kept.contains(token), "{token} of {text}\nis not in {kept}");
        }
    }

    /// An answer that is cut off anywhere still gives what was said before.
    #[test]
    fn an_answer_cut_off_anywhere_is_read_as_far_as_it_goes(cut in 0..FULL.len()) {
        let text = &FULL[..FULL.floor_char_boundary(cut)];
        let reading = read_answer(text);
        let kept = format!("{:?} {}", reading.value, reading.loose().unwrap_or_default());
        if text.contains("The cart loses items.\"") {
            prop_assert_eq!(&reading.value.summary, "The cart loses items.");
        }
        prop_assert!(text.is_empty() || kept.contains(text.trim()) || reading.is_structured());
    }
}

#[test]
fn a_text_full_of_brackets_is_given_up_in_time() {
    for piece in ["{", "[", "{\"", "{\"a\":", "[{\"a\":[", "{'", "{\"a\" \"", "{\"findings\":["] {
        let text = piece.repeat(200_000 / piece.len());
        let reading = read_answer(&text);
        assert_eq!(reading.before.len() + reading.json.len() + reading.after.len(), text.len());
    }
}
