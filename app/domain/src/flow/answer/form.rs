//! The form that an answer is asked for in, from one description: as a JSON schema for model servers that hold a model
//! to one, and as an example for the others.

use std::fmt::Write;

use crate::flow::{
    Role,
    contract::VERDICTS_MIN,
    method::{Form, Method, NEXT_STEPS, Part},
};

/// What may stand at one place of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Words, with what they should say.
    Text(String),
    Choice(Vec<&'static str>),
    /// One of these, which come from somewhere else: an example only says what they are.
    Named {
        about: &'static str,
        choices: Vec<String>,
    },
    Flag,
    Number,
    List {
        of: Box<Shape>,
        least: usize,
    },
    Object(Vec<Member>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    name: &'static str,
    shape: Shape,
    is_needed: bool,
}

/// The sections of the report that a step writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writes {
    Nothing,
    /// Titles, each with what it should say.
    Sections(Vec<(&'static str, &'static str)>),
    /// What the repository's own template has for headings.
    Template(Vec<String>),
}

/// What an answer of a step of this flow holds. Whoever writes also gives what else the report needs.
pub fn answer(method: &Method, role: Role, first: u32, writes: &Writes) -> Shape {
    let mut members = vec![
        needed("summary", text("what you found, in two to six plain sentences, without ids and paths")),
        needed("findings", list(entry(&method.findings, role.letters(), first, role), 0)),
    ];
    let titles = match writes {
        Writes::Nothing => None,
        Writes::Sections(sections) if sections.is_empty() => None,
        Writes::Sections(sections) => {
            let titles: Vec<_> = sections.iter().map(|(title, _)| *title).collect();
            Some((titles.len(), Shape(Kind::Choice(titles))))
        }
        Writes::Template(headings) => {
            let (about, choices) = ("a heading of the template, word for word", headings.clone());
            Some((choices.len(), Shape(Kind::Named { about, choices })))
        }
    };
    let is_writer = titles.is_some();
    if let Some((count, title)) = titles {
        let section =
            object(vec![needed("title", title), needed("text", text("Markdown; cite findings as [E1]"))]);
        members.push(needed("sections", list(section, count)));
    }
    if let Some(items) = method.items.as_ref().filter(|_| is_writer) {
        members.push(needed("items", list(entry(items, items.letters, 1, role), 0)));
    }
    if method.has(Part::NextStep) && is_writer {
        members.push(needed("next_step", Shape(Kind::Choice(NEXT_STEPS.to_vec()))));
    }
    if method.has(Part::Good) {
        members.push(optional("good", list(text("one thing that is well done, with its place"), 0)));
    }
    if method.has(Part::Questions) {
        members.push(optional("questions", list(question(), 0)));
    }
    members.push(optional("deferred", list(deferred(), 0)));
    object(members)
}

/// What a gate answers. `first` is the number of its first item.
pub fn verdicts(first: u32) -> Shape {
    let item = object(vec![
        needed("id", text(&format!("V{first}, V{}, …", first + 1))),
        needed("about", list(text("an id such as E1, or recommendation"), 0)),
        needed("hypothesis", text("what would make the claim false")),
        needed("checked", text("what you looked at, with path and line, and what you saw there")),
        needed("verdict", Shape(Kind::Choice(vec!["Confirmed", "Partially refuted", "Refuted"]))),
        needed("impact", text("what this means for the conclusion")),
    ]);
    object(vec![
        needed("items", list(item, VERDICTS_MIN)),
        needed("drops", list(text("the id of a finding that is false"), 0)),
        needed("recommendation", Shape(Kind::Choice(vec!["stands", "weakened", "refuted", "none"]))),
        needed("settle", text("if it does not stand: what would settle the question")),
        needed("confidence", Shape(Kind::Choice(vec!["High", "Medium", "Low"]))),
        needed("reason", text("why this confidence")),
        needed("risks", list(text("a risk that remains"), 0)),
    ])
}

fn entry(form: &Form, letters: &str, first: u32, role: Role) -> Shape {
    let mut members = vec![
        needed("id", text(&format!("{letters}{first}, {letters}{}, …", first + 1))),
        needed("title", text(&format!("the {} in one line", form.name))),
    ];
    if !form.levels.is_empty() {
        members.push(needed("level", Shape(Kind::Choice(form.levels.to_vec()))));
    }
    if !form.kinds.is_empty() {
        members.push(needed("kind", Shape(Kind::Choice(form.kinds.to_vec()))));
    }
    members.push(needed("claim", text("what is so, and what follows from it")));
    members.extend(form.fields.iter().map(|field| needed(field.name, text(field.about))));
    // Nobody is asked for what they cannot have seen.
    let seen = if role.sees_project() { "codebase" } else { "web" };
    members.push(needed("trust", Shape(Kind::Choice(vec![seen, "provided", "reasoning"]))));
    if role.sees_project() {
        let place = object(vec![
            needed("path", text("src/main.rs")),
            needed("line", Shape(Kind::Number)),
            needed("quote", text("the line as it stands there")),
        ]);
        members.push(needed("places", list(place, 0)));
    } else {
        let source = object(vec![
            needed("title", text("name of the page")),
            needed("url", text("https://…")),
            needed("date", text("2026-01-31")),
        ]);
        members.push(needed("sources", list(source, 0)));
        members.push(needed("single_source", Shape(Kind::Flag)));
    }
    members.push(optional("cites", list(text("the id of a finding that this rests on"), 0)));
    object(members)
}

fn question() -> Shape {
    object(vec![
        needed("question", text("what only a person can answer")),
        needed("recommended", text("the answer you recommend, and why")),
    ])
}

fn deferred() -> Shape {
    object(vec![
        needed("what", text("what is left out")),
        needed("why", text("why it is not needed now")),
        needed("reopen_when", text("the event that would bring it back")),
        needed("source", text("whose idea it was: a person, a place or an id")),
    ])
}

fn text(about: &str) -> Shape {
    Shape(Kind::Text(about.to_owned()))
}

fn list(of: Shape, least: usize) -> Shape {
    Shape(Kind::List { of: Box::new(of), least })
}

fn object(members: Vec<Member>) -> Shape {
    Shape(Kind::Object(members))
}

fn needed(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_needed: true }
}

fn optional(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_needed: false }
}

impl Shape {
    /// For `response_format`. Written in the order of the description, because servers make a model answer in it.
    pub fn schema(&self) -> String {
        let mut out = String::new();
        self.write_schema(&mut out);
        out
    }

    fn write_schema(&self, out: &mut String) {
        match &self.0 {
            Kind::Text(_) => out.push_str(r#"{"type":"string"}"#),
            Kind::Flag => out.push_str(r#"{"type":"boolean"}"#),
            Kind::Number => out.push_str(r#"{"type":"integer","minimum":1}"#),
            Kind::Choice(choices) => write_choices(out, choices.iter().copied()),
            Kind::Named { choices, .. } => write_choices(out, choices.iter().map(String::as_str)),
            Kind::List { of, least } => {
                out.push_str(r#"{"type":"array","items":"#);
                of.write_schema(out);
                if *least > 0 {
                    push(out, format_args!(r#","minItems":{least}"#));
                }
                out.push('}');
            }
            Kind::Object(members) => {
                out.push_str(r#"{"type":"object","properties":{"#);
                for (at, member) in members.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    push(out, format_args!("{comma}{}:", quoted(member.name)));
                    member.shape.write_schema(out);
                }
                let needed: Vec<_> = members
                    .iter()
                    .filter(|member| member.is_needed)
                    .map(|member| quoted(member.name))
                    .collect();
                push(
                    out,
                    format_args!(r#"}},"required":[{}],"additionalProperties":false}}"#, needed.join(",")),
                );
            }
        }
    }

    /// What a model is shown: JSON with what each place is for.
    pub fn example(&self) -> String {
        let mut out = String::new();
        self.write_example(&mut out, 0);
        out
    }

    fn write_example(&self, out: &mut String, depth: usize) {
        match &self.0 {
            Kind::Text(about) => out.push_str(&quoted(about)),
            Kind::Named { about, .. } => out.push_str(&quoted(about)),
            Kind::Choice(choices) => out.push_str(&quoted(&choices.join(" | "))),
            Kind::Flag => out.push_str("false"),
            Kind::Number => out.push_str("12"),
            Kind::List { of, .. } => {
                out.push('[');
                of.write_example(out, depth);
                out.push(']');
            }
            Kind::Object(members) => {
                out.push('{');
                for (at, member) in members.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    push(out, format_args!("{comma}\n{}{}: ", "  ".repeat(depth + 1), quoted(member.name)));
                    member.shape.write_example(out, depth + 1);
                }
                push(out, format_args!("\n{}}}", "  ".repeat(depth)));
            }
        }
    }
}

fn write_choices<'a>(out: &mut String, choices: impl Iterator<Item = &'a str>) {
    let names: Vec<_> = choices.map(quoted).collect();
    push(out, format_args!(r#"{{"type":"string","enum":[{}]}}"#, names.join(",")));
}

fn push(out: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(words);
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{FlowId, answer};
    use serde_json::Value;

    fn shapes() -> Vec<(String, Shape)> {
        let mut shapes = vec![("gate".to_owned(), verdicts(101))];
        for flow in FlowId::ALL {
            let method = flow.method();
            let mut add = |name: &str, role, first, writes| {
                shapes.push((format!("{flow} {name}"), super::answer(method, role, first, &writes)));
            };
            add("worker", Role::ResearchAnalyst, 1, Writes::Nothing);
            let sections = Writes::Sections(method.written_sections().collect());
            add("writer", Role::Investigator, 101, sections);
            add("template", Role::JuniorDeveloper, 1, Writes::Template(vec!["Why \"so\"?".into()]));
        }
        shapes
    }

    #[test]
    fn schema_and_example_are_json_and_agree() {
        for (name, shape) in shapes() {
            let schema: Value = serde_json::from_str(&shape.schema()).unwrap();
            let example: Value = serde_json::from_str(&shape.example()).unwrap();
            let names =
                |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
            assert_eq!(names(&schema["properties"]), names(&example), "{name}");
            for needed in schema["required"].as_array().unwrap() {
                assert!(example.get(needed.as_str().unwrap()).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn what_is_asked_for_is_what_is_read() {
        for (name, shape) in shapes() {
            let example = shape.example();
            let left = match name.as_str() {
                "gate" => answer::read_verdicts(&example).value.extra,
                _ => answer::read_answer(&example).value.extra,
            };
            // A choice shows all that may be chosen, which is none of them.
            let odd: Vec<_> = left
                .iter()
                .filter(|field| !matches!(field.name.as_str(), "recommendation" | "confidence"))
                .collect();
            assert!(odd.is_empty(), "{name}: {odd:?}");
        }
    }

    #[test]
    fn the_order_of_the_schema_is_that_of_the_description() {
        let schema = verdicts(1).schema();
        let places: Vec<_> =
            ["\"items\":", "\"drops\":", "\"confidence\":", "\"risks\":"].map(|key| schema.find(key)).into();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{schema}");
        assert!(schema.contains(r#""minItems":5"#));
        assert!(verdicts(101).example().contains("V101, V102"));
    }
}
