//! Models that have opinions. They follow no script: whatever stands in the question is somebody else's text.
//!
//! `judge` prefers the result that says "good" more often than "bad"; `biased-judge` the one that it is shown first;
//! `mumbling-judge` never answers in shape. Asked to describe a result, each says its first words.

use serde_json::{Value, json};

use crate::ask::Ask;

const WORDS: usize = 60;

pub fn of(ask: &Ask) -> Option<String> {
    let judge = Judge::called(&ask.model)?;
    match choices(ask.schema.as_ref()) {
        Some((first, second)) => Some(judge.choose(&ask.prompt, &first, &second)),
        None => Some(described(&ask.prompt)),
    }
}

enum Judge {
    Fair,
    Biased,
    Mumbling,
}

impl Judge {
    fn called(model: &str) -> Option<Self> {
        match model {
            "judge" => Some(Self::Fair),
            "biased-judge" => Some(Self::Biased),
            "mumbling-judge" => Some(Self::Mumbling),
            _ => None,
        }
    }

    fn choose(&self, prompt: &str, first: &str, second: &str) -> String {
        let worth = |letter: &str| {
            let text = block(prompt, &format!("result {letter}")).unwrap_or_default().to_lowercase();
            text.matches("good").count() as i64 - text.matches("bad").count() as i64
        };
        let better = match self {
            Self::Mumbling => return "It is hard to say, they both have something.".to_owned(),
            Self::Biased => first,
            Self::Fair => match worth(first).cmp(&worth(second)) {
                std::cmp::Ordering::Greater => first,
                std::cmp::Ordering::Less => second,
                std::cmp::Ordering::Equal => "neither",
            },
        };
        json!({"reason": "By what they say of themselves.", "better": better}).to_string()
    }
}

/// The two letters between which a schema lets a judge choose.
fn choices(schema: Option<&Value>) -> Option<(String, String)> {
    let letters = schema?.pointer("/properties/better/enum")?.as_array()?;
    let letter = |place: usize| Some(letters.get(place)?.as_str()?.to_owned());
    Some((letter(0)?, letter(1)?))
}

fn described(prompt: &str) -> String {
    let first = |text: &str, count: usize| text.split_whitespace().take(count).collect::<Vec<_>>().join(" ");
    let notes = ["notes on the pieces of the result, in order", "notes on pieces that follow each other"];
    if let Some(notes) = notes.iter().find_map(|name| block(prompt, name)) {
        // Something of each, so that what stands in a late one is not lost.
        let notes: Vec<_> = notes.split("\n\n").collect();
        return notes.iter().map(|note| first(note, WORDS / notes.len())).collect::<Vec<_>>().join(" ");
    }
    let head = prompt.lines().find(|line| line.starts_with("<<<data ") && line.contains(" piece "));
    let piece = head.and_then(|head| head.split_once(" piece ")).map(|(_, name)| format!("piece {name}"));
    let names = ["the result".to_owned()].into_iter().chain(piece);
    first(names.into_iter().find_map(|name| block(prompt, &name)).unwrap_or(prompt), WORDS)
}

/// What stands between the marks of the block with this name.
fn block<'a>(prompt: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = prompt;
    while let Some((_, after)) = rest.split_once("<<<data ") {
        let (head, body) = after.split_once('\n')?;
        let (mark, called) = head.split_once(' ')?;
        let (text, next) = body.split_once(&format!("data {mark}>>>"))?;
        if called == name {
            return Some(text);
        }
        rest = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(model: &str, schema: bool) -> Ask {
        let prompt = "Rules.\n<<<data x1 the task\n[[die]]\ndata x1>>>\n<<<data x1 result P\nIt is bad.\ndata x1>>>\n\
                      <<<data x1 result Q\nGood, and good.\ndata x1>>>\n<<<data x1 the result\nIt did so.\ndata x1>>>";
        let schema = schema.then(|| json!({"properties": {"better": {"enum": ["P", "Q", "neither"]}}}));
        Ask { model: model.into(), prompt: prompt.into(), schema, ..Ask::default() }
    }

    #[test]
    fn each_judge_has_its_way() {
        let better = |model: &str| {
            let said = of(&ask(model, true)).unwrap();
            serde_json::from_str::<Value>(&said).ok().map(|said| said["better"].as_str().unwrap().to_owned())
        };
        assert_eq!(better("judge").as_deref(), Some("Q"));
        assert_eq!(better("biased-judge").as_deref(), Some("P"));
        assert_eq!(better("mumbling-judge"), None);
        assert_eq!(of(&ask("small", true)), None);
    }

    #[test]
    fn a_result_is_described_by_its_words() {
        assert_eq!(of(&ask("judge", false)).as_deref(), Some("It did so."));
        let described = |name: &str, text: &str| {
            let prompt = format!(
                "A piece of it.\n<<<data x1 the task\nDo\ndata x1>>>\n<<<data x1 {name}\n{text}\ndata x1>>>"
            );
            of(&Ask { model: "judge".into(), prompt, ..Ask::default() }).unwrap()
        };
        assert_eq!(described("piece 2 of 3 of the result", "so and so"), "so and so");
        let notes = format!("{}\n\n{}", "a ".repeat(90), "b ".repeat(90));
        let told = described("notes on the pieces of the result, in order", &notes);
        assert_eq!((told.matches('a').count(), told.matches('b').count()), (30, 30));
    }
}
