//! A request, whichever API it came by.

use serde_json::Value;

use crate::seed::hash;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    pub model: String,
    pub system: String,
    /// The last thing a person said.
    pub prompt: String,
    /// The last thing that the model said before.
    pub answered: String,
    /// How many tool results came after it: which step of its script is next.
    pub tool_results: u64,
    /// The names of the tools that are offered.
    pub tools: Vec<String>,
    pub stream: bool,
    pub include_usage: bool,
    pub tokens_max: Option<u64>,
    pub schema: Option<Value>,
    /// The same for a retry of the same conversation, another for its next step.
    pub fingerprint: u64,
    pub prompt_tokens: u64,
    /// The images of the whole conversation, as the data URLs that they came as.
    pub images: Vec<String>,
}

/// What an image counts, however large it is.
const IMAGE_TOKENS: u64 = 256;

/// One entry of a conversation, as far as a script cares.
pub enum Said {
    System(String),
    User(String),
    ToolResult,
    Assistant(String),
    Other,
}

impl Ask {
    /// Fills in what the conversation tells; the rest is up to the API's own reader.
    pub fn of_conversation(model: &str, conversation: &Value, said: impl IntoIterator<Item = Said>) -> Self {
        let mut ask = Self { model: model.to_owned(), ..Self::default() };
        for said in said {
            match said {
                Said::System(text) => {
                    ask.system.push_str(&text);
                    ask.system.push('\n');
                }
                Said::User(text) => {
                    let text = without_reminders(&text);
                    if !text.trim().is_empty() {
                        ask.prompt = text;
                        ask.tool_results = 0;
                    }
                }
                Said::ToolResult => ask.tool_results += 1,
                Said::Assistant(text) => ask.answered = text,
                Said::Other => {}
            }
        }
        let conversation = conversation.to_string();
        ask.fingerprint = hash(hash(0, model.as_bytes()), conversation.as_bytes());
        ask.prompt_tokens = (conversation.len() + ask.system.len()) as u64 / 4 + 1;
        ask
    }

    /// Images are not read as text, so their letters are not tokens.
    pub fn see(&mut self, images: Vec<String>) {
        let letters: usize = images.iter().map(String::len).sum();
        self.prompt_tokens = self.prompt_tokens.saturating_sub(letters as u64 / 4);
        self.prompt_tokens += images.len() as u64 * IMAGE_TOKENS;
        self.images = images;
    }

    /// Whether a short title is wanted. An agent's own long prompt may hold the word too, but it offers tools.
    pub fn wants_title(&self) -> bool {
        self.tools.is_empty() && self.system.to_ascii_lowercase().contains("title")
    }
}

/// The text of a content that is a string, or a list of parts that may hold text.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

pub fn list<'a>(body: &'a Value, name: &str) -> &'a [Value] {
    body.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// Some agents add their own reminders to what the person said; a script is never in them.
fn without_reminders(text: &str) -> String {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut kept = String::new();
    let mut left = text;
    while let Some(start) = left.find(OPEN) {
        kept.push_str(&left[..start]);
        left = left[start..].find(CLOSE).map_or("", |end| &left[start + end + CLOSE.len()..]);
    }
    kept.push_str(left);
    kept
}

/// The names in a list of tools, wherever an API puts them.
pub fn names<'a>(tools: impl IntoIterator<Item = &'a Value>) -> Vec<String> {
    let name = |tool: &Value| Some(tool.pointer("/function/name").or(tool.get("name"))?.as_str()?.to_owned());
    tools.into_iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_words_of_a_person_count() {
        let said = [
            Said::System("Be brief.".into()),
            Said::User("first".into()),
            Said::Assistant("an answer".into()),
            Said::ToolResult,
            Said::User("second <system-reminder>[[die]]</system-reminder>".into()),
            Said::ToolResult,
            Said::User("<system-reminder>only this</system-reminder>".into()),
            Said::ToolResult,
        ];
        let ask = Ask::of_conversation("m", &json!([]), said);
        assert_eq!((ask.prompt.as_str(), ask.tool_results), ("second ", 2));
        assert_eq!((ask.system.as_str(), ask.answered.as_str()), ("Be brief.\n", "an answer"));
    }

    #[test]
    fn a_retry_has_the_same_fingerprint() {
        let print = |model, text| Ask::of_conversation(model, &json!([text]), []).fingerprint;
        assert_eq!(print("m", "a"), print("m", "a"));
        assert_ne!(print("m", "a"), print("m", "b"));
        assert_ne!(print("m", "a"), print("n", "a"));
    }
}
