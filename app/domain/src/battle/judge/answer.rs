//! How a judge's answer is read: in the shape that was asked for, or not at all.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const REASON_CHARS_MAX: usize = 1_000;

/// Which of the two that were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    First,
    Second,
    Neither,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub better: Better,
    pub reason: String,
}

/// The shape of an answer, for servers that hold a model to one.
pub fn schema([first, second]: [char; 2]) -> Value {
    json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string", "maxLength": REASON_CHARS_MAX},
            "better": {"type": "string", "enum": [first.to_string(), second.to_string(), "neither"]},
        },
        "required": ["reason", "better"],
        "additionalProperties": false,
    })
}

#[derive(Deserialize)]
struct Said {
    better: String,
    #[serde(default)]
    reason: String,
}

/// The answer in what a model said: one object, perhaps in a block of code or after a few words. Anything else is
/// out of shape, and is no answer.
pub fn parse(said: &str, [first, second]: [char; 2]) -> Option<Answer> {
    let found: Vec<Answer> = objects(said).into_iter().filter_map(|text| read(text, first, second)).collect();
    // Two that disagree are none.
    let (answer, rest) = found.split_first()?;
    rest.iter().all(|other| other.better == answer.better).then(|| answer.clone())
}

fn read(text: &str, first: char, second: char) -> Option<Answer> {
    let Said { better, reason } = serde_json::from_str(text).ok()?;
    let word = better.trim().to_lowercase();
    let is = |letter: char| word == letter.to_lowercase().to_string();
    let better = match () {
        () if is(first) => Better::First,
        () if is(second) => Better::Second,
        () if word == "neither" => Better::Neither,
        () => return None,
    };
    Some(Answer { better, reason: reason.trim().chars().take(REASON_CHARS_MAX).collect() })
}

/// Every `{…}` of a text that is closed, the outermost each time. Braces in strings do not count.
fn objects(text: &str) -> Vec<&str> {
    let (mut found, mut open, mut depth) = (Vec::new(), 0, 0u32);
    let (mut in_string, mut escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' if depth > 0 => in_string = !in_string,
            _ if in_string => {}
            '{' => {
                if depth == 0 {
                    open = at;
                }
                depth += 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.push(&text[open..=at]);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_or_out_of_shape() {
        let check = |said: &str, expected: Option<(Better, &str)>| {
            let answer = parse(said, ['P', 'Q']).map(|answer| (answer.better, answer.reason));
            assert_eq!(answer, expected.map(|(better, reason)| (better, reason.to_owned())), "{said}");
        };
        use Better::{First, Neither, Second};
        check(r#"{"reason": "It works.", "better": "P"}"#, Some((First, "It works.")));
        check("```json\n{\"better\": \"q\", \"reason\": \"a {b} c\"}\n```", Some((Second, "a {b} c")));
        check(r#"Let me see. {"better": " neither "} That is all."#, Some((Neither, "")));
        check(r#"{"reason": "a \" } b", "better": "Q"}"#, Some((Second, "a \" } b")));
        check(r#"{"better": "P"} and again {"better": "P"}"#, Some((First, "")));
        for wrong in [
            "",
            "P",
            "The better one is P.",
            r#"{"better": "A"}"#,
            r#"{"better": 1}"#,
            r#"{"better": "P""#,
            r#"{"better": "P"} no: {"better": "Q"}"#,
            r#"{"winner": "P"}"#,
        ] {
            check(wrong, None);
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_never_breaks(said in ".{0,200}") {
            let _ = parse(&said, ['P', 'Q']);
        }
    }
}
