//! `docs/battles.md` shows what is really answered: its examples are had with a server, one after the other.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;
use uuid::Uuid;

use super::{Field, contestant, over};
use crate::harness::World;

const PROMPT: &str =
    "[[on small]][[shell echo good >> main.txt]][[say It is good.]][[on large]][[say A bad one.]]";

/// A request of the document, what goes with it, and what is said to come back.
struct Example {
    asked: String,
    body: Option<String>,
    /// The words after the language: a status, and how it is compared.
    about: String,
    answer: String,
}

fn examples(text: &str) -> Vec<Example> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let inside: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((info, inside.join("\n")));
        }
    }
    let mut examples = Vec::new();
    let mut blocks = blocks.into_iter();
    while let Some((info, asked)) = blocks.next() {
        assert_eq!(info, "http", "{asked}");
        let (mut info, mut inside) = blocks.next().unwrap();
        let body = (info == "json").then(|| std::mem::take(&mut inside));
        if body.is_some() {
            (info, inside) = blocks.next().unwrap();
        }
        let about = info.split_once(' ').unwrap().1.to_owned();
        examples.push(Example { asked, body, about, answer: inside });
    }
    examples
}

/// What stands for something that differs from run to run.
struct Names(BTreeMap<&'static str, String>);

impl Names {
    fn filled(&self, text: &str) -> String {
        // The longest first: one name may be a part of another.
        let mut names: Vec<_> = self.0.iter().collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let quoted = |text: String, (name, value): &(&&str, &String)| {
            let text = text.replace(&format!("\"{name}\""), &Value::String((*value).clone()).to_string());
            ["/", "="].iter().fold(text, |text, before| {
                text.replace(&format!("{before}{name}"), &format!("{before}{value}"))
            })
        };
        names.iter().fold(text.to_owned(), quoted)
    }
}

/// Where the document says something else. How a battle stands changes while one looks.
fn differs(at: &str, told: &Value, real: &Value, among_others: bool) -> Option<String> {
    let is_id = |text: &str| text.parse::<Uuid>().is_ok();
    match (told, real) {
        (Value::Object(told), Value::Object(real)) => {
            if let Some(new) = real.keys().find(|key| !told.contains_key(*key))
                && !among_others
                && !told.is_empty()
            {
                return Some(format!("{at}.{new} is not told"));
            }
            told.iter().find_map(|(key, value)| {
                let at = format!("{at}.{key}");
                match real.get(key) {
                    Some(real) => differs(&at, value, real, among_others),
                    None => Some(format!("{at} is not answered")),
                }
            })
        }
        (Value::Array(told), Value::Array(real)) => told.iter().enumerate().find_map(|(place, value)| {
            let at = format!("{at}[{place}]");
            real.get(place)
                .map_or(Some(format!("{at} is not answered")), |real| differs(&at, value, real, among_others))
        }),
        (Value::Number(_), Value::Number(_)) => None,
        (Value::String(told), Value::String(real))
            if is_id(told) && is_id(real) && told.starts_with("0199f2a0") =>
        {
            None
        }
        (Value::String(_), Value::String(_)) if at.ends_with(".status") || at.ends_with(".title") => None,
        // How long a check took is told with it.
        (Value::String(_), Value::String(_)) if at.ends_with(".base_check_told") => None,
        // A pair stands in the order in which it was dealt.
        (Value::String(_), Value::String(_)) if at.ends_with(".one") || at.ends_with(".other") => None,
        (told, real) => (told != real).then(|| format!("{at} is {real}, not {told}")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_for_scripts_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/battles.md");
    let examples = examples(&fs::read_to_string(path).unwrap());
    assert!(examples.len() > 8);
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut names = Names(BTreeMap::new());
    names.0.insert("SESSION", field.session.to_string());
    names.0.insert("PROMPT", PROMPT.to_owned());
    for Example { asked, body, about, answer } in examples {
        let asked = names.filled(&asked);
        let (method, path) = asked.split_once(' ').unwrap();
        if let Some(id) =
            names.0.get("BATTLE").filter(|_| about.contains("when over") || !path.ends_with("/stop"))
        {
            over(&server, id).await;
        }
        let body = body.map(|body| serde_json::from_str::<Value>(&names.filled(&body)).unwrap());
        assert_eq!(method == "POST", body.is_some(), "{asked}");
        let (status, real) = server.script(path, body).await;
        if !names.0.contains_key("BATTLE") {
            names.0.insert("BATTLE", real["id"].as_str().unwrap().to_owned());
            names.0.insert("SEQ", real["seq"].to_string());
            names.0.insert("ID-OF-A", contestant(&real, 0));
            names.0.insert("ID-OF-B", contestant(&real, 1));
        }
        assert_eq!(status.as_str(), &about[..3], "{asked}: {real}");
        match &real {
            Value::String(text) => assert!(text.starts_with(&answer), "{asked}: {text}"),
            real => {
                let told: Value = serde_json::from_str(&names.filled(&answer)).unwrap();
                let fault = differs("", &told, real, about.contains("among others"));
                assert_eq!(fault, None, "{asked}: {real:#}");
            }
        }
    }
}
