use std::sync::LazyLock;

use super::*;
use crate::flow::{
    Band, FlowId, Plan,
    fold::{Ended, Output},
    plan::tests::{request, signals},
};

/// A project of two files.
pub(crate) struct Files;

const CART: [&str; 12] = [
    "pub fn add(cart: &mut Cart) {",
    "    let n = load(cart);",
    "    // look, then act",
    "",
    "    store(cart, n + 1);",
    "}",
    "",
    "fn load(cart: &Cart) -> u32 {",
    "\tcart.items",
    "}",
    "",
    "fn store(cart: &mut Cart, n: u32) {}",
];

impl Tree for Files {
    fn holds(&self, path: &str) -> bool {
        self.line_count(path).is_some()
    }

    fn folders(&self) -> &[String] {
        static FOLDERS: LazyLock<[String; 1]> = LazyLock::new(|| ["/home/me/shop".to_owned()]);
        &*FOLDERS
    }
}

impl ProjectText for Files {
    fn line_count(&self, path: &str) -> Option<usize> {
        match path {
            "src/cart.rs" => Some(CART.len()),
            "README.md" => Some(1),
            _ => None,
        }
    }

    fn line(&self, path: &str, number: usize) -> Option<Cow<'_, str>> {
        let lines: &[&'static str] = if path == "src/cart.rs" { &CART } else { &["# Shop"] };
        lines.get(number - 1).map(|line| Cow::Borrowed(*line))
    }
}

pub(crate) const FIVE: &str = r#"{"items": [
    {"id": "V1", "about": ["D1"], "hypothesis": "h", "checked": "src/cart.rs:2", "verdict": "Confirmed", "impact": "i"},
    {"id": "V2", "about": [], "verdict": "Confirmed"}, {"id": "V3", "verdict": "Confirmed"},
    {"id": "V4", "verdict": "Confirmed"}, {"id": "V5", "verdict": "Partially refuted"}],
    "drops": [], "recommendation": "stands", "confidence": "Medium", "reason": "Few looked."}"#;

/// The flags of a small data review whose one agent said this, and then the gate that.
fn flags(answer: &str, gate: &str) -> Vec<String> {
    let plan = Plan::new(request(FlowId::DataReview, Band::Small, false), &signals(&[]));
    let outputs: Vec<_> = plan
        .steps
        .iter()
        .filter(|step| step.agent().is_some())
        .zip([answer, gate])
        .map(|(step, said)| Output { step, ended: Ended::Said(said.to_owned()) })
        .collect();
    let gathered = Gathered::new(&plan, &outputs);
    let flags = check(&gathered, &Files, true);
    let told = |(at, flags): (&At, &Vec<Flag>)| -> Vec<String> {
        flags.iter().map(|flag| format!("{at:?} {:?}: {}", flag.check, flag.words)).collect()
    };
    flags.iter().flat_map(told).collect()
}

fn check_finding(fields: &str, expected: &[&str]) {
    let answer = format!(r#"{{"findings": [{{"id": "D1", {fields}}}]}}"#);
    let expected: Vec<_> = expected.iter().map(|words| format!("Finding(0) {words}")).collect();
    assert_eq!(flags(&answer, FIVE), expected, "{fields}");
}

#[test]
fn what_is_true_passes() {
    check_finding(
        r#""trust": "codebase", "places": [{"path": "src/cart.rs", "line": 2, "quote": "let n = load(cart);"}]"#,
        &[],
    );
    check_finding(
        r#""trust": "codebase", "places": [{"path": "./src/cart.rs", "line": 9, "quote": "cart.items"}]"#,
        &[],
    );
    check_finding(r#""trust": "provided""#, &[]);
    check_finding(r#""trust": "reasoning", "cites": ["D1", "V2"]"#, &[]);
    check_finding(
        r#""trust": "web", "sources": [{"url": "https://a.org/x", "date": "2026-01-02"}, {"url": "http://www.b.org", "date": "May 2025"}]"#,
        &[],
    );
    check_finding(
        r#""trust": "web", "single_source": true, "sources": [{"url": "https://a.org", "date": "2026"}]"#,
        &[],
    );
}

#[test]
fn ids_must_resolve() {
    check_finding(r#""cites": ["E9"]"#, &["Id: E9 is cited and does not exist."]);
    check_finding(r#""cites": ["the docs"]"#, &["Id: \"the docs\" is cited and is no id."]);
    check_finding(r#""claim": "as [D1] and [D-007] say""#, &["Id: D7 is cited and does not exist."]);
    check_finding(r#""fix": "see [X3]""#, &["Id: X3 is cited and does not exist."]);
}

#[test]
fn places_must_be_there() {
    let place = |path: &str, line: &str| format!(r#""places": [{{"path": "{path}", "line": {line}}}]"#);
    check_finding(&place("src/car.rs", "2"), &["Place: src/car.rs is not in the project."]);
    check_finding(&place("../src/cart.rs", "2"), &["Place: ../src/cart.rs is not in the project."]);
    check_finding(&place("/src/cart.rs", "2"), &["Place: /src/cart.rs is not in the project."]);
    check_finding(&place("src/cart.rs", "13"), &["Place: src/cart.rs has 12 lines, and line 13 is cited."]);
    check_finding(&place("src/cart.rs", "12"), &[]);
    check_finding(&place("src/cart.rs", "null"), &["Place: No line of src/cart.rs is named."]);
    check_finding(
        r#""trust": "codebase""#,
        &["Place: It is said to be seen in the code, and no place is named."],
    );
    check_finding(
        r#""claim": "see src/cart.rs:99""#,
        &["Place: src/cart.rs has 12 lines, and line 99 is cited."],
    );
}

#[test]
fn all_of_a_range_must_be_there() {
    let place = |lines: &str| format!(r#""places": [{{"path": "src/cart.rs", "line": "{lines}"}}]"#);
    check_finding(&place("2-5"), &[]);
    check_finding(&place("2-9999"), &["Place: src/cart.rs has 12 lines, and lines 2 to 9999 are cited."]);
    check_finding(&place("5-2"), &["Place: src/cart.rs:5-2 ends before it begins."]);
    check_finding(
        r#""claim": "see src/cart.rs:12-13""#,
        &["Place: src/cart.rs has 12 lines, and lines 12 to 13 are cited."],
    );
}

/// Whatever an agent says, a place that it makes up is found.
#[test]
fn nothing_that_is_said_goes_unchecked() {
    let gone = "Place: src/gone.rs is not in the project.";
    let check = |answer: &str, gate: &str, expected: &[&str]| {
        let answer = format!(r#"{{"findings": [{{"id": "D1"}}], {answer}}}"#);
        assert_eq!(flags(&answer, gate), expected, "{answer} {gate}");
    };
    check(
        r#""summary": "See src/gone.rs:1 and [D1].""#,
        FIVE,
        &[&format!("Head {gone}"), "Head Summary: The summary is to be plain, and names D1, src/gone.rs."],
    );
    check(r#""summary": "All is well in E7 and at 12:30.""#, FIVE, &[]);
    check(
        r#""summary": "D1 shows it: D1.""#,
        FIVE,
        &["Head Summary: The summary is to be plain, and names D1."],
    );
    let main = "Head Place: main.rs is not in the project.";
    let plain = "Head Summary: The summary is to be plain, and names main.rs.";
    check(r#""summary": "It begins at main.rs:3.""#, FIVE, &[main, plain]);
    check(r#""good": ["src/gone.rs:1"]"#, FIVE, &[&format!("Good {gone}")]);
    check(r#""deferred": [{"what": "x", "source": "src/gone.rs:1"}]"#, FIVE, &[&format!("Deferred {gone}")]);
    check(r#""questions": [{"question": "src/gone.rs:1?"}]"#, FIVE, &[&format!("Questions {gone}")]);
    check(r#""remark": "src/gone.rs:1""#, FIVE, &[&format!("Also(0) {gone}")]);
    check(
        r#""sections": [{"title": "Own", "text": "src/gone.rs:1"}]"#,
        FIVE,
        &[&format!("Section(0) {gone}")],
    );
    for field in ["hypothesis", "impact"] {
        let text = if field == "impact" { "\"i\"" } else { "\"h\"" };
        let gate =
            FIVE.replacen(&format!("\"{field}\": {text}"), &format!("\"{field}\": \"src/gone.rs:1\""), 1);
        check(r#""good": []"#, &gate, &[&format!("Attempt(0) {gone}")]);
    }
    for field in ["\"settle\": \"src/gone.rs:1\"", "\"risks\": [\"src/gone.rs:1\"]"] {
        check(r#""good": []"#, &FIVE.replace("\"drops\": []", field), &[&format!("Head {gone}")]);
    }
    check(r#""good": []"#, &FIVE.replace("Few looked.", "src/gone.rs:1"), &[&format!("Head {gone}")]);
}

/// Nor is what has no form, or lost it. What was mended is flagged where it stands.
#[test]
fn what_cannot_be_read_is_checked_as_text() {
    let (gone, cited) = ("Place: src/gone.rs is not in the project.", "Id: E9 is cited and does not exist.");
    let check = |answer: &str, expected: &[&str]| assert_eq!(flags(answer, FIVE), expected, "{answer}");
    let no_id = "Attempt(0) Id: D1 is cited and does not exist.";
    check(
        "It races at src/gone.rs:1, as [E9] says; see src/cart.rs:2.",
        &[no_id, &format!("Also(0) {cited}"), &format!("Also(0) {gone}")],
    );
    let finding = r#"{"findings": [{"id": "D1", "claim": "See src/gone.rs:1."}]}"#;
    check(
        &format!("First I saw src/gone.rs:1.\n{finding}"),
        &[&format!("Finding(0) {gone}"), &format!("Also(0) {gone}")],
    );
    let mended = finding.replace("}]}", "},]}");
    check(&mended, &[&format!("Finding(0) {gone}")]);
    check(&format!("[E9] says it.\n{mended}"), &[&format!("Finding(0) {gone}"), &format!("Also(0) {cited}")]);
}

#[test]
fn a_decision_does_not_stand_on_single_sources_alone() {
    let plan = Plan::new(request(FlowId::PlanAFeature, Band::Small, false), &signals(&[]));
    let check = |decision: &str, expected: &[&str]| {
        let said = |step: &str| match step {
            "manager" => r#"{"findings": [{"id": "PM1", "trust": "web", "single_source": true,
                "sources": [{"url": "https://a.org", "date": "2026"}]}, {"id": "PM2", "trust": "provided"}]}"#
                .to_owned(),
            "gate" => FIVE.replace("[\"D1\"]", "[]"),
            "newcomer" => "{}".to_owned(),
            _ => format!(r#"{{"items": [{{"id": "D1", {decision}}}]}}"#),
        };
        let agents = plan.steps.iter().filter(|step| step.agent().is_some());
        let outputs: Vec<_> =
            agents.map(|step| Output { step, ended: Ended::Said(said(&step.id.0)) }).collect();
        let flags = super::check(&Gathered::new(&plan, &outputs), &Files, true);
        let words: Vec<_> = flags.values().flatten().map(|flag| flag.words.as_str()).collect();
        assert_eq!(words, expected, "{decision}");
    };
    let alone = "Everything that this rests on has a single source.";
    check(r#""cites": ["PM1"]"#, &[alone]);
    check(r#""why": "So it is [PM1].""#, &[alone]);
    check(r#""cites": ["PM1", "PM2"]"#, &[]);
    check(r#""cites": ["PM1"], "places": ["src/cart.rs:1"]"#, &[]);
    check(
        r#""trust": "web", "single_source": true, "sources": [{"url": "https://a.org", "date": "2026"}]"#,
        &[alone],
    );
    check(r#""trust": "provided""#, &[]);
}

#[test]
fn a_quote_must_stand_there_white_space_aside() {
    let check = |line: usize, quote: &str, expected: &[&str]| {
        let quote = serde_json::to_string(quote).unwrap();
        check_finding(
            &format!(r#""places": [{{"path": "src/cart.rs", "line": {line}, "quote": {quote}}}]"#),
            expected,
        );
    };
    check(2, "", &[]);
    check(2, "  let  n=load( cart );", &[]);
    check(2, "load(cart)", &[]);
    check(2, "    2  let n = load(cart);", &[]);
    check(2, "2: let n = load(cart);", &[]);
    check(2, "let n = load(cart);\n// look, then act\nstore(cart, n + 1);", &[]);
    check(2, "`let n = load(cart);`", &[]);
    check(2, "```rust\nlet n = load(cart);\n// look, then act\n```", &[]);
    check(2, "+    let n = load(cart);", &[]);
    check(2, "+let n = load(cart);\n+    // look, then act", &[]);
    check(2, "`- let n = load(cart);`", &[]);
    check(1, "pub fn add(cart: &mut Cart) {\nlet n = load(cart);", &[]);
    check(3, "let n = load(cart);", &["Quote: The quoted line stands in line 2 of src/cart.rs, not in 3."]);
    let nowhere = "Quote: The quoted line does not stand at src/cart.rs:2, white space aside.";
    check(2, "let m = load(cart);", &[nowhere]);
    check(2, "let n = load(cart);\nstore(cart, n + 2);", &[nowhere]);
    check(2, "+++", &[nowhere]);
    check(2, "`-`", &[nowhere]);
    check(12, "pub fn add", &["Quote: The quoted line does not stand at src/cart.rs:12, white space aside."]);
}

#[test]
fn a_quote_of_a_range_may_stand_anywhere_in_it() {
    let check = |lines: &str, expected: &[&str]| {
        let place = format!(
            r#""places": [{{"path": "src/cart.rs", "line": "{lines}", "quote": "let n = load(cart);"}}]"#
        );
        check_finding(&place, expected);
    };
    check("1-2", &[]);
    check("1-12", &[]);
    check("2-2", &[]);
    check("3-5", &["Quote: The quoted line stands in line 2 of src/cart.rs, not in 3 to 5."]);
    check("8-12", &["Quote: The quoted line does not stand at src/cart.rs:8-12, white space aside."]);
}

#[test]
fn the_web_has_addresses_dates_and_a_second_voice() {
    let single = "SingleSource: It has no second, independent source and is not marked as single-source.";
    check_finding(
        r#""trust": "web""#,
        &["Source: It is said to come from the web, and no page is named.", single],
    );
    check_finding(
        r#""trust": "web", "sources": ["https://a.org"]"#,
        &["Source: https://a.org has no date.", single],
    );
    check_finding(
        r#""trust": "web", "sources": [{"url": "https://a.org/1", "date": "2026"}, {"url": "https://www.a.org/2", "date": "2026"}]"#,
        &[single],
    );
    check_finding(
        r#""single_source": true, "trust": "web", "sources": [{"url": "a book", "date": "2026"}]"#,
        &["Source: \"a book\" is no address of a page."],
    );
    check_finding(
        r#""claim": "so it is [single-source]", "trust": "web", "sources": [{"url": "https://a.org", "date": "2026"}]"#,
        &[],
    );
}

#[test]
fn an_id_is_given_once() {
    let twice = "The id D1 is given twice, so whoever cites it may mean another.";
    let answer = r#"{"findings": [{"id": "D1"}, {"id": "D-1"}]}"#;
    assert_eq!(flags(answer, FIVE), [format!("Finding(1) Id: {twice}")]);
}

#[test]
fn a_gate_makes_five_attempts_and_gives_a_confidence() {
    let check =
        |gate: &str, expected: &[&str]| assert_eq!(flags(r#"{"findings": [{"id": "D1"}]}"#, gate), expected);
    let few = "Head Attempts: 0 attempts were made to refute this; 5 are the least.";
    let none = "Head Confidence: The gate gave no confidence.";
    check("I think it is fine.", &[few, none]);
    check(r#"{"confidence": "High"}"#, &[few]);
    check(&FIVE.replace("\"Medium\"", "\"87 %\""), &[none]);
    check(
        &FIVE.replace("\"V5\", \"verdict\": \"Partially refuted\"", "\"V5\", \"verdict\": \"who knows\""),
        &["Attempt(4) Attempts: It has no verdict."],
    );
    check(
        &FIVE.replace("[\"D1\"]", "[\"D9\", \"the plan\"]"),
        &["Attempt(0) Id: D9 is cited and does not exist."],
    );
    check(
        &FIVE.replace("\"drops\": []", "\"drops\": [\"D8\"]"),
        &["Head Id: D8 is cited and does not exist."],
    );
    check(
        &FIVE.replace("src/cart.rs:2", "src/other.rs:2"),
        &["Attempt(0) Place: src/other.rs is not in the project."],
    );
}

#[test]
fn a_recommendation_does_not_stand_on_single_sources_alone() {
    let check = |cites: &str, expected: &[&str]| {
        let answer = format!(
            r#"{{"findings": [
                {{"id": "D1", "trust": "web", "single_source": true, "sources": [{{"url": "https://a.org", "date": "2026"}}]}},
                {{"id": "D2", "trust": "codebase", "places": ["src/cart.rs:1"]}},
                {{"id": "D3", "trust": "reasoning", "cites": ["D1"]}},
                {{"id": "D4", "trust": "reasoning", "cites": ["D1", "D2", "D4"]}},
                {{"id": "D5", "trust": "reasoning"}}, {{"id": "D6", "trust": "reasoning", "cites": ["D5"]}},
                {{"id": "D7", "trust": "reasoning", "claim": "As [D2] shows."}}, {{"id": "D8"}}],
              "sections": [{{"title": "Order of remedy", "text": "Do it {cites}."}}]}}"#
        );
        assert_eq!(flags(&answer, FIVE), expected, "{cites}");
    };
    let alone = "Section(0) SingleSource: Everything that this rests on has a single source.";
    check("[D1]", &[alone]);
    check("[D3]", &[alone]);
    check("[D1, D2]", &[]);
    check("[D4]", &[]);
    check("", &[]);
    check("[D1, D5]", &[alone]);
    check("[D3, D6]", &[alone]);
    check("[D2, D5]", &[]);
    check("[D1, D7]", &[]);
    check("[D7]", &[]);
    check("[D8]", &[]);
    let reasoned =
        "Section(0) SingleSource: Everything that this rests on is reasoning, which is no evidence.";
    check("[D5]", &[reasoned]);
    check("[D6]", &[reasoned]);
}
