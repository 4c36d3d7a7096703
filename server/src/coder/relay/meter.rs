//! What a model server says of its own work, read from an answer on its way to an agent, whichever API that is of.

use std::time::Duration;

use domain::{
    completion::timings,
    output::{Measured, Timings, Usage},
    protocol::Protocol,
};
use serde_json::Value;
use tokio::time::Instant;

/// The last event of the Responses API repeats the whole answer. What is longer is passed on unread.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Reads one answer, streamed or whole, piece by piece.
pub struct Meter {
    protocol: Protocol,
    asked_at: Instant,
    /// When the model's first word came, by our clock. A whole answer does not tell.
    first_token: Option<Duration>,
    line: Vec<u8>,
    is_too_long: bool,
    usage: Option<Usage>,
    timings: Option<Timings>,
}

impl Meter {
    pub fn new(protocol: Protocol, asked_at: Instant) -> Self {
        Self {
            protocol,
            asked_at,
            first_token: None,
            line: Vec::new(),
            is_too_long: false,
            usage: None,
            timings: None,
        }
    }

    pub fn look(&mut self, piece: &[u8]) {
        let mut lines = piece.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = lines.next() {
            self.is_too_long |= self.line.len() + part.len() > LINE_BYTES_MAX;
            if !self.is_too_long {
                self.line.extend_from_slice(part);
            }
            if lines.peek().is_some() {
                self.end_line();
            }
        }
    }

    /// What it said until now.
    pub fn measured(&mut self) -> Measured {
        self.end_line();
        let by_our_clock = self.first_token.map(|after| after.as_millis() as u64);
        Measured {
            first_token_ms: self.timings.and_then(Timings::first_token_ms).or(by_our_clock),
            usage: self.usage.or(self.timings.map(counted)),
            timings: self.timings,
            ..Measured::default()
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            return;
        }
        let streamed = line.strip_prefix(b"data:");
        let json = streamed.unwrap_or(&line);
        let holds = |word: &[u8]| json.windows(word.len()).any(|window| window == word);
        if self.first_token.is_none() && streamed.is_some() && is_of_model(self.protocol, json) {
            self.first_token = Some(self.asked_at.elapsed());
        }
        if !holds(b"\"usage") && !holds(b"\"timings\"") {
            return;
        }
        let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
        self.timings = timings(&value["timings"]).or(self.timings);
        for told in [
            &value["usage"],
            &value["message"]["usage"],
            &value["response"]["usage"],
            &value["usageMetadata"],
        ] {
            self.take(told);
        }
    }

    /// A later word goes before an earlier one: some servers count on while they stream.
    fn take(&mut self, told: &Value) {
        let sum = |keys: &[&str]| keys.iter().filter_map(|key| told[*key].as_u64()).reduce(|a, b| a + b);
        let prompt = sum(&["prompt_tokens"])
            .or_else(|| sum(&["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]))
            .or_else(|| sum(&["promptTokenCount"]));
        let completion = sum(&["completion_tokens"])
            .or_else(|| sum(&["output_tokens"]))
            .or_else(|| sum(&["candidatesTokenCount", "thoughtsTokenCount"]));
        if prompt.is_none() && completion.is_none() {
            return;
        }
        let before = self.usage.unwrap_or_default();
        self.usage = Some(Usage {
            prompt_tokens: prompt.or(before.prompt_tokens),
            completion_tokens: completion.or(before.completion_tokens),
        });
    }
}

/// Whether an event brings something of the model itself, thoughts and calls included.
fn is_of_model(protocol: Protocol, json: &[u8]) -> bool {
    let holds = |word: &[u8]| json.windows(word.len()).any(|window| window == word);
    match protocol {
        // The first chunk has a role, and a content that is null or empty.
        Protocol::Chat => {
            has_text(json, b"content\":") || has_text(json, b"reasoning\":") || holds(b"\"tool_calls\"")
        }
        Protocol::Messages => holds(b"content_block_delta"),
        Protocol::Responses => holds(b".delta\""),
        Protocol::Gemini => holds(b"\"text\"") || holds(b"\"functionCall\""),
    }
}

/// Whether what follows the key, wherever it stands, is a text with something in it.
fn has_text(json: &[u8], key: &[u8]) -> bool {
    let after = |at: usize| json[at + key.len()..].trim_ascii_start();
    let mut places = json.windows(key.len()).enumerate().filter(|(_, window)| *window == key);
    places.any(|(at, _)| matches!(after(at), [b'"', next, ..] if *next != b'"'))
}

/// A llama.cpp that was not asked for its usage tells it in its timings.
fn counted(timings: Timings) -> Usage {
    Usage {
        prompt_tokens: Some(timings.prompt_n + timings.cache_n),
        completion_tokens: Some(timings.predicted_n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: Option<(u64, u64)>) {
        for at in 0..=answer.len() {
            let mut meter = Meter::new(Protocol::Chat, Instant::now());
            meter.look(&answer.as_bytes()[..at]);
            meter.look(&answer.as_bytes()[at..]);
            let usage = expected.map(|(prompt, completion)| Usage {
                prompt_tokens: Some(prompt),
                completion_tokens: Some(completion),
            });
            assert_eq!(meter.measured().usage, usage, "{answer} cut at {at}");
        }
    }

    #[test]
    fn every_api_says_what_it_used() {
        check(
            "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\"\"}}],\"usage\":null}\n\n\
             data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
            Some((9, 2)),
        );
        check(
            "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":4,\
             \"output_tokens\":1}}}\n\nevent: message_delta\ndata: {\"usage\":{\"output_tokens\":7}}\n\n",
            Some((9, 7)),
        );
        check(
            "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}}\r\n\r\n",
            Some((3, 4)),
        );
        check(
            "data: {\"usageMetadata\":{\"promptTokenCount\":8,\"candidatesTokenCount\":1}}\n\n\
             data: {\"usageMetadata\":{\"promptTokenCount\":8,\"candidatesTokenCount\":2,\"thoughtsTokenCount\":3}}\n\n",
            Some((8, 5)),
        );
        check("{\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}", Some((1, 2)));
        check("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n", None);
        check("data: {\"usage\": cut", None);
    }

    /// Each is cut where the first token has come, and just before.
    #[tokio::test(start_paused = true)]
    async fn the_first_token_is_timed_and_what_comes_before_it_is_not() {
        use Protocol::{Chat, Gemini, Messages, Responses};
        for (protocol, before, token) in [
            (
                Chat,
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n",
                "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n",
            ),
            (
                Chat,
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
                "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\n",
            ),
            (
                Messages,
                "event: message_start\ndata: {\"type\":\"message_start\"}\n\n",
                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\"}\n\n",
            ),
            (
                Responses,
                "data: {\"type\":\"response.created\"}\n\n",
                "data: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\n",
            ),
            (Gemini, "data: {\"responseId\":1}\n\n", "data: {\"parts\":[{\"text\":\"hi\"}]}\n\n"),
        ] {
            let mut meter = Meter::new(protocol, Instant::now());
            meter.look(before.as_bytes());
            assert_eq!(meter.measured().first_token_ms, None, "{before}");
            tokio::time::advance(Duration::from_millis(40)).await;
            meter.look(token.as_bytes());
            tokio::time::advance(Duration::from_millis(40)).await;
            meter.look(token.as_bytes());
            assert_eq!(meter.measured().first_token_ms, Some(40), "{token}");
        }
        // The server's own word goes first, and what was not streamed tells nothing.
        let mut meter = Meter::new(Chat, Instant::now());
        meter.look(b"{\"delta\":{\"content\":\"hi\"}}\n");
        assert_eq!(meter.measured().first_token_ms, None);
        meter.look(
            b"data: {\"timings\":{\"prompt_n\":1,\"prompt_ms\":20,\"predicted_n\":2,\"predicted_ms\":10}}\n",
        );
        assert_eq!(meter.measured().first_token_ms, Some(25));
    }

    #[test]
    fn timings_are_kept_and_what_is_too_long_is_left_out() {
        let mut meter = Meter::new(Protocol::Chat, Instant::now());
        meter.look(b"data: {\"timings\":{\"predicted_n\":7,\"predicted_ms\":3.5}}\n\n");
        let long =
            format!("data: {{\"usage\":{{\"prompt_tokens\":1}},\"a\":\"{}\"}}\n", "x".repeat(LINE_BYTES_MAX));
        meter.look(long.as_bytes());
        let measured = meter.measured();
        assert_eq!(measured.timings.map(|timings| timings.predicted_n), Some(7));
        assert_eq!(measured.usage.map(Usage::tokens), Some(7), "by its timings");
        meter.look(b"data: {\"usage\":{\"prompt_tokens\":1}}\n");
        assert!(meter.measured().usage.is_some(), "the next line is read again");
    }
}
