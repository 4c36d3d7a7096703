use serde_json::json;

use super::*;

fn check(prompt: &str, rest: &str, directives: Vec<Directive>) {
    assert_eq!(parse(prompt), Ok(Parsed { directives, rest: rest.to_owned() }), "{prompt}");
}

fn check_malformed(prompt: &str, problem: &str) {
    let error = parse(prompt).expect_err(prompt);
    assert!(error.to_string().contains(problem), "{prompt}: {error}");
}

fn fault(fault: Fault) -> Directive {
    Directive::Fault { fault, times: None, step: None }
}

#[test]
fn reads_what_is_said() {
    check("[[say hello world]]", "", vec![Directive::Say("hello world".into())]);
    check("a [[tokens 500]] b", "a  b", vec![Directive::Tokens(500)]);
    check("[[bytes 50]]", "", vec![Directive::Bytes { total: 50, chunk: 1024 }]);
    check("[[bytes 50 chunk 7]]", "", vec![Directive::Bytes { total: 50, chunk: 7 }]);
    check("[[markdown]][[count 3]]", "", vec![Directive::Markdown, Directive::Count(3)]);
}

#[test]
fn reads_faults() {
    check("[[truncate after 5]]", "", vec![fault(Fault::Truncate { after: 5 })]);
    check("[[hang]]", "", vec![fault(Fault::Hang { after: 0 })]);
    check(
        "[[status 429 retry-after 2 times 1]]",
        "",
        vec![Directive::Fault {
            fault: Fault::Status { code: 429, retry_after: Some(2) },
            times: Some(1),
            step: None,
        }],
    );
    check("[[loading 1500 times 1]]", "", vec![Directive::Loading { ms: 1500, times: Some(1) }]);
    check("[[error-shape string]]", "", vec![Directive::ErrorShape(Shape::Text)]);
}

#[test]
fn a_tool_may_hold_brackets() {
    let arguments = json!({"rows": [[1, 2], [3]], "text": "]]"});
    let tool = Directive::Tool { name: "write".into(), arguments: arguments.clone() };
    check(&format!("[[tool write {arguments}]] x"), "x", vec![tool]);
    check("[[tool ls]]", "", vec![Directive::Tool { name: "ls".into(), arguments: json!({}) }]);
}

#[test]
fn foreign_brackets_stay_text() {
    for prompt in ["if [[ -f x ]]; then", "[[bin]]", "[[sayings]]", "[[say unclosed", "[["] {
        check(prompt, prompt, vec![]);
    }
}

#[test]
fn a_slip_is_told() {
    check_malformed("[[tokens many]]", "not a whole number");
    check_malformed("[[tokens 5 6]]", "6 is not understood");
    check_malformed("[[truncate]]", "after N is missing");
    check_malformed("[[status 200]]", "400 to 599");
    check_malformed("[[tool x {oops]]", "not JSON");
    check_malformed("[[bytes 99999999999]]", "more than");
    check_malformed("[[error-shape round]]", "the shape is");
}

#[test]
fn seeds_reach_every_fault() {
    let mut kinds: Vec<String> = (0..200).map(|seed| format!("{:?}", fault_of_seed(seed))).collect();
    kinds.iter_mut().for_each(|kind| kind.retain(|c| !c.is_ascii_digit()));
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    assert_eq!(fault_of_seed(7), fault_of_seed(7));
}
