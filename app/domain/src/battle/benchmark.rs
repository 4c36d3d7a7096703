//! What a contestant's work took. What is not known is said so, never guessed.

use serde::{Deserialize, Serialize};

use crate::output::Measured;

/// What is said of money.
pub const COST: &str = "What it cost is not known: model servers tell tokens, and no prices.";

/// Throughput comes from the model server's own timings alone: what a clock on this side would give includes the
/// network, the tools and everybody else's work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Benchmark {
    /// From the backend's start to its end, however that came.
    pub duration_ms: u64,
    /// From the first question to the model's first token, without loading it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u64>,
    /// How long the model was seen loading; part of the duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens_per_sec: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_sec: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// The model stopped at its token limit, not because it was done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
}

impl Benchmark {
    pub fn of(measured: &Measured) -> Self {
        let per_second = |n: u64, ms: f64| (n > 0 && ms > 0.0).then(|| n as f64 * 1_000.0 / ms);
        let (usage, timings) = (measured.usage.unwrap_or_default(), measured.timings);
        Self {
            duration_ms: measured.duration_ms,
            first_token_ms: measured.first_token_ms,
            load_ms: measured.load_ms,
            prompt_tokens_per_sec: timings.and_then(|it| per_second(it.prompt_n, it.prompt_ms)),
            tokens_per_sec: timings.and_then(|it| per_second(it.predicted_n, it.predicted_ms)),
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            cut_short: measured.cut_short,
        }
    }

    /// Both together, where both are known.
    pub fn tokens(&self) -> Option<u64> {
        Some(self.prompt_tokens? + self.completion_tokens?)
    }

    /// Every figure with its name, in the order in which they are read; what is not known has none.
    pub fn rows(&self) -> Vec<(&'static str, Option<String>)> {
        let seconds = |ms: u64| format!("{:.1} s", ms as f64 / 1_000.0);
        let rate = |per_second: f64| format!("{per_second:.1} tokens/s");
        vec![
            ("Duration", Some(seconds(self.duration_ms))),
            ("Model loading", self.load_ms.map(seconds)),
            ("First token after", self.first_token_ms.map(seconds)),
            ("Reading the prompt", self.prompt_tokens_per_sec.map(rate)),
            ("Generating", self.tokens_per_sec.map(rate)),
            ("Prompt tokens", self.prompt_tokens.map(|count| count.to_string())),
            ("Completion tokens", self.completion_tokens.map(|count| count.to_string())),
            ("Cut off at a limit", Some(if self.cut_short { "yes" } else { "no" }.to_owned())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Timings, Usage};

    #[test]
    fn what_was_not_measured_is_not_known() {
        let check = |measured: Measured, expected: Benchmark| assert_eq!(Benchmark::of(&measured), expected);
        check(
            Measured { duration_ms: 1_500, ..Measured::default() },
            Benchmark { duration_ms: 1_500, ..Benchmark::default() },
        );
        let timings = Timings {
            prompt_n: 100,
            prompt_ms: 50.0,
            predicted_n: 30,
            predicted_ms: 600.0,
            ..Timings::default()
        };
        let usage = Usage { prompt_tokens: Some(100), completion_tokens: None };
        let measured = Measured {
            duration_ms: 900,
            load_ms: Some(200),
            first_token_ms: Some(260),
            usage: Some(usage),
            timings: Some(timings),
            cut_short: true,
            ..Measured::default()
        };
        let benchmark = Benchmark {
            duration_ms: 900,
            first_token_ms: Some(260),
            load_ms: Some(200),
            prompt_tokens_per_sec: Some(2_000.0),
            tokens_per_sec: Some(50.0),
            prompt_tokens: Some(100),
            completion_tokens: None,
            cut_short: true,
        };
        assert_eq!((benchmark.tokens(), benchmark.rows().len()), (None, 8));
        check(measured, benchmark);
        // A server that says nothing happened has no speed, rather than none at all or an endless one.
        let nothing = Timings { predicted_n: 5, predicted_ms: 0.0, ..Timings::default() };
        check(Measured { timings: Some(nothing), ..Measured::default() }, Benchmark::default());
    }
}
