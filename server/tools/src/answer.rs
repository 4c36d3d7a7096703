//! What a tool says.

use serde::{Deserialize, Serialize};

/// A model's context is small and every word in it costs.
const TEXT_BYTES_MAX: usize = 32 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub text: String,
    pub failed: bool,
}

impl Answer {
    pub fn done(text: impl Into<String>) -> Self {
        Self { text: bounded(text.into()), failed: false }
    }

    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: bounded(text.into()), failed: true }
    }
}

/// The beginning and the end: of a failed build the end says why.
fn bounded(text: String) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let head = text.floor_char_boundary(TEXT_BYTES_MAX / 2);
    let tail = text.ceil_char_boundary(text.len() - TEXT_BYTES_MAX / 2);
    format!("{}\n… {} bytes left out …\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_keeps_its_beginning_and_its_end() {
        let answer = Answer::done(format!("begin {} end", "é".repeat(40_000)));
        assert!(
            answer.text.starts_with("begin é") && answer.text.ends_with("é end"),
            "{}",
            answer.text.len()
        );
        assert!(answer.text.len() < TEXT_BYTES_MAX + 100 && answer.text.contains("bytes left out"));
        assert_eq!(Answer::done("short").text, "short");
    }
}
