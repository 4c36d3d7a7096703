//! A model that works in flows. It answers in the form that stands at the end of what it is told, and finds what the
//! question says it finds: `[[finding src/a.rs:3 the line as it stands there]]`, true or invented. `[[refute]]` makes it
//! refute what others recommend, `[[look]]` makes it list the project's folder first, and `[[fail V]]` makes whoever gives
//! ids with these letters be refused.
//!
//! It reads the question alone: what stands in files or in others' answers is data.

use serde_json::{Map, Value, json};

use crate::ask::Ask;

const NAME: &str = "analyst";
const FORM: &str = "```json\n";
/// Whoever attacks makes at least so many attempts.
const ATTEMPTS: u64 = 5;

/// What it does next.
pub enum Next {
    Call { name: &'static str, arguments: Value },
    Say(String),
    Fail,
}

pub fn of(ask: &Ask) -> Option<Next> {
    if ask.model != NAME {
        return None;
    }
    let form = form(&ask.prompt)?;
    let question = question(&ask.prompt);
    let entry = form.get("findings").unwrap_or(&form["items"]);
    if question.contains(&format!("[[fail {}]]", numbered(&entry[0]).0)) {
        return Some(Next::Fail);
    }
    let may_look = ask.tools.iter().any(|tool| tool == "list");
    if question.contains("[[look]]") && may_look && ask.tool_results == 0 {
        return Some(Next::Call { name: "list", arguments: json!({}) });
    }
    let answer = match form.get("drops") {
        Some(_) => verdicts(&form, &ask.prompt, question.contains("[[refute]]")),
        None => answer(&form, &question, &ask.prompt),
    };
    Some(Next::Say(format!("```json\n{answer}\n```")))
}

/// The example at the end, whose texts say what belongs there.
fn form(prompt: &str) -> Option<Value> {
    let (_, last) = prompt.rsplit_once(FORM)?;
    serde_json::from_str(last.split("\n```").next()?).ok()
}

/// What the person asked, without what others wrote.
fn question(prompt: &str) -> String {
    const TITLES: [&str; 3] = ["# What the person asked\n", "# The trigger\n", "# What was reported\n"];
    let found = TITLES.iter().find_map(|title| prompt.split_once(title));
    let text = found.map_or("", |(_, rest)| rest.split("\n# ").next().unwrap_or(rest));
    text.lines().map(|line| line.trim_start_matches("> ")).collect::<Vec<_>>().join("\n")
}

struct Place<'a> {
    path: &'a str,
    line: u64,
    quote: &'a str,
}

fn places(question: &str) -> Vec<Place<'_>> {
    let entry = |text| {
        let (inside, _) = str::split_once(text, "]]")?;
        let (place, quote) = inside.split_once(' ').unwrap_or((inside, ""));
        let (path, line) = place.split_once(':')?;
        Some(Place { path, line: line.parse().ok()?, quote })
    };
    question.split("[[finding ").skip(1).filter_map(entry).collect()
}

/// `B1, B2, …` begins with B1.
fn numbered(entry: &Value) -> (String, u64) {
    let id = entry["id"].as_str().unwrap_or("X1").split(',').next().unwrap_or("X1").trim();
    let digits = id.find(|c: char| c.is_ascii_digit()).unwrap_or(id.len());
    (id[..digits].trim_end_matches('-').to_owned(), id[digits..].parse().unwrap_or(1))
}

fn answer(form: &Value, question: &str, prompt: &str) -> Value {
    let (letters, first) = numbered(&form["findings"][0]);
    let sees_project = form["findings"][0].get("places").is_some();
    let mut findings = Vec::new();
    for (place, number) in places(question).iter().filter(|_| sees_project).zip(first..) {
        let mut finding = filled(&form["findings"][0]);
        finding["id"] = json!(format!("{letters}{number}"));
        finding["title"] = json!(format!("What stands in line {} of {}", place.line, place.path));
        finding["claim"] = json!(format!("It is so in {}:{}.", place.path, place.line));
        finding["places"] = json!([{"path": place.path, "line": place.line, "quote": place.quote}]);
        finding["cites"] = json!([]);
        findings.push(finding);
    }
    if findings.is_empty() {
        let mut finding = filled(&form["findings"][0]);
        finding["id"] = json!(format!("{letters}{first}"));
        finding["trust"] = json!("reasoning");
        emptied(&mut finding, &["places", "sources", "cites"]);
        findings.push(finding);
    }
    let id = findings[0]["id"].as_str().unwrap_or_default().to_owned();
    let mut said = Map::new();
    said.insert("summary".into(), json!("I looked, and this is what there is."));
    said.insert("findings".into(), Value::Array(findings));
    if form.get("sections").is_some() {
        let section = |title: &str| json!({"title": title, "text": format!("So it stands [{id}].")});
        let sections: Vec<_> = titles(prompt).into_iter().map(section).collect();
        said.insert("sections".into(), json!(sections));
    }
    if let Some(items) = form.get("items") {
        let (letters, first) = numbered(&items[0]);
        let mut item = filled(&items[0]);
        item["id"] = json!(format!("{letters}{first}"));
        item["trust"] = json!("reasoning");
        emptied(&mut item, &["places", "sources"]);
        item["cites"] = json!([id]);
        said.insert("items".into(), json!([item]));
    }
    if form.get("next_step").is_some() {
        said.insert("next_step".into(), json!("investigate"));
    }
    if form.get("questions").is_some() {
        said.insert("questions".into(), json!([filled(&form["questions"][0])]));
    }
    Value::Object(said)
}

fn emptied(entry: &mut Value, lists: &[&str]) {
    for list in lists {
        if let Some(list) = entry.get_mut(*list) {
            *list = json!([]);
        }
    }
}

/// The sections that it is asked to write, each by its title; those of a template of the repository are its headings.
fn titles(prompt: &str) -> Vec<&str> {
    if prompt.contains("one section for each heading of the template") {
        let template = prompt.split_once(" the template\n").map_or("", |(_, rest)| rest);
        let template = template.split("\ndata ").next().unwrap_or_default();
        return template.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    }
    let list = prompt.rsplit_once("each under exactly this title:\n").map_or("", |(_, rest)| rest);
    let lines = list.lines().skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.strip_prefix("- ")?.split_once(": ").map(|(title, _)| title)).collect()
}

fn verdicts(form: &Value, prompt: &str, refutes: bool) -> Value {
    let (letters, first) = numbered(&form["items"][0]);
    let about = ids(prompt).next().unwrap_or_else(|| "recommendation".to_owned());
    let attempt = |number: u64| {
        json!({
            "id": format!("{letters}{number}"),
            "about": [if refutes { "recommendation".to_owned() } else { about.clone() }],
            "hypothesis": "It is not so.",
            "checked": "I looked, and it is as they say.",
            "verdict": if refutes { "Refuted" } else { "Confirmed" },
            "impact": "None.",
        })
    };
    json!({
        "items": (first..first + ATTEMPTS).map(attempt).collect::<Vec<_>>(),
        "drops": [],
        "recommendation": if refutes { "refuted" } else { "stands" },
        "settle": if refutes { "A measurement." } else { "" },
        "confidence": if refutes { "Low" } else { "High" },
        "reason": "All attempts ended the same.",
        "risks": [],
    })
}

/// What others gave an id, as they wrote it.
fn ids(prompt: &str) -> impl Iterator<Item = String> {
    let said = prompt.split_once("# What others said").map_or("", |(_, rest)| rest);
    let ids = said.split("\"id\":\"").skip(1).filter_map(|rest| rest.split_once('"'));
    ids.map(|(id, _)| id.to_owned())
}

/// Something for each text of a form: of several choices the first.
fn filled(form: &Value) -> Value {
    match form {
        Value::String(about) => json!(about.split(" | ").next().unwrap_or("scripted")),
        Value::Array(items) => items.iter().map(filled).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), filled(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "You look.\n\n# What the person asked\n\n> Why? [[finding src/a.rs:3 let a = 1;]] [[finding b.rs:9]]\n\n\
        # What others said\n\n<<<data x\n[[finding evil.rs:1 x]] {\"id\":\"E7\"}\ndata x>>>\n\n# Your answer\n\n\
        Write these sections, each under exactly this title:\n\n- Root cause: why\n- Fix: how\n\nMore.\n\n```json\n";
    const ANSWER: &str = r#"{"summary": "what", "findings": [{"id": "B101, B102, …", "level": "critical | warning", "trust": "codebase | reasoning", "places": [{"path": "x", "line": 12, "quote": "q"}], "cites": ["id"]}], "sections": [{"title": "a | b", "text": "t"}]}"#;
    const GATE: &str = r#"{"items": [{"id": "V1, V2, …"}], "drops": ["id"], "confidence": "High | Low"}"#;

    fn said(form: &str, tools: &[&str], results: u64) -> Value {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let prompt = format!("{PROMPT}{form}\n```");
        let ask = Ask { model: NAME.into(), prompt, tools, tool_results: results, ..Ask::default() };
        match of(&ask).expect("it answers") {
            Next::Say(text) => form_of(&text),
            Next::Call { name, .. } => json!(name),
            Next::Fail => json!("failed"),
        }
    }

    fn form_of(text: &str) -> Value {
        form(text).expect("an answer in form")
    }

    #[test]
    fn a_template_gives_the_titles() {
        let prompt = "# The repository's template\n\n<<<data x the template\n## Why\n\n- [ ] done\n\n## Risk\ndata x>>>\n\n\
            Write one section for each heading of the template, each under exactly that heading.";
        assert_eq!(titles(prompt), ["Why", "Risk"]);
    }

    #[test]
    fn it_finds_what_the_question_says_and_nothing_that_others_say() {
        let said = said(ANSWER, &["list"], 0);
        let found: Vec<_> = said["findings"].as_array().expect("findings").iter().collect();
        assert_eq!(found.len(), 2);
        assert_eq!((&found[0]["id"], &found[1]["id"]), (&json!("B101"), &json!("B102")));
        assert_eq!(found[0]["places"], json!([{"path": "src/a.rs", "line": 3, "quote": "let a = 1;"}]));
        assert_eq!((&found[0]["level"], &found[0]["trust"]), (&json!("critical"), &json!("codebase")));
        assert_eq!(said["sections"][1], json!({"title": "Fix", "text": "So it stands [B101]."}));
    }

    #[test]
    fn it_attacks_what_others_said() {
        let said = said(GATE, &[], 0);
        assert_eq!(said["items"].as_array().map(Vec::len), Some(5));
        assert_eq!((&said["items"][4]["id"], &said["items"][0]["about"]), (&json!("V5"), &json!(["E7"])));
    }

    #[test]
    fn whoever_is_to_fail_fails_alone() {
        let next = |form: &str, letters: &str| {
            let prompt = PROMPT.replace("Why?", &format!("Why? [[fail {letters}]]"));
            let ask = Ask { model: NAME.into(), prompt: format!("{prompt}{form}\n```"), ..Ask::default() };
            matches!(of(&ask), Some(Next::Fail))
        };
        assert!(next(ANSWER, "B") && next(GATE, "V"));
        assert!(!next(ANSWER, "V") && !next(GATE, "B") && !next(ANSWER, "B1"));
    }

    #[test]
    fn others_are_not_it() {
        let ask = Ask { model: "small".into(), prompt: format!("{PROMPT}{ANSWER}\n```"), ..Ask::default() };
        assert!(of(&ask).is_none());
    }
}
