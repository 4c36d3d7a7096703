//! The APIs by which a model is asked. Every model server speaks chat completions; some agents need another.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    #[default]
    Chat,
    Messages,
    Responses,
    Gemini,
}

impl Protocol {
    /// What a server may speak besides chat completions.
    pub const OTHERS: [Self; 3] = [Self::Messages, Self::Responses, Self::Gemini];

    /// As the settings spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
        }
    }

    /// As people know it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Chat => "OpenAI chat completions",
            Self::Messages => "Anthropic messages",
            Self::Responses => "OpenAI responses",
            Self::Gemini => "Gemini's generateContent",
        }
    }

    /// One of the others by its word; the error says which there are.
    pub fn other(word: &str) -> Result<Self, String> {
        Self::OTHERS.into_iter().find(|protocol| protocol.word() == word).ok_or_else(|| {
            let words = Self::OTHERS.map(|protocol| format!("\"{}\"", protocol.word()));
            format!("\"{word}\" is not a protocol; besides chat completions there are {}", words.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        for protocol in Protocol::OTHERS {
            assert_eq!(Protocol::other(protocol.word()), Ok(protocol));
            assert_eq!(serde_json::to_string(&protocol).unwrap(), format!("\"{}\"", protocol.word()));
        }
        for wrong in ["chat", "Messages", ""] {
            let said = Protocol::other(wrong).unwrap_err();
            assert!(said.ends_with(r#"there are "messages", "responses", "gemini""#), "{said}");
        }
    }
}
