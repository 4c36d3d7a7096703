//! What a backend says while it runs and how a run ends, whichever backend it was.

use serde::{Deserialize, Serialize};

use crate::tool::{Ask, Permit, Plan, Update};

/// One thing a backend said. Text and reasoning are pieces to append.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    Phase(Phase),
    Text(String),
    Reasoning(String),
    Tool(Update),
    Plan(Plan),
    /// What one more call of the model used.
    Usage(Usage),
}

/// What a running task is doing. Changes a few times a task, so it travels as an event, not in the stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The request is on its way and nothing has come back.
    Starting,
    /// The model server is loading the model.
    Loading,
    /// The server asked us to come back later.
    Waiting { seconds: u32 },
    /// Text or reasoning is arriving.
    Generating,
    /// The folder in which an agent works is being made ready.
    Preparing,
    /// An agent waits for a person's word.
    Asking(Ask),
}

impl Phase {
    /// Whether this question waits for an answer, and may be answered so.
    pub fn asks(&self, number: u32, permit: Permit) -> bool {
        matches!(self, Self::Asking(ask) if ask.number == number && ask.options.contains(&permit))
    }
}

/// What was measured of one attempt. What is not known is `None`, never a guess.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measured {
    /// From the backend's start to its end.
    pub duration_ms: u64,
    /// From the first question to the first text or reasoning of the model itself, without loading it or waiting until
    /// its server has time: by the model server's own timings, or else by the clock on this side.
    pub first_token_ms: Option<u64>,
    /// How long the model server was seen loading.
    pub load_ms: Option<u64>,
    pub usage: Option<Usage>,
    pub timings: Option<Timings>,
    /// It stopped at a limit, of tokens or of steps, not because it was done.
    pub cut_short: bool,
    /// That limit, where it was ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u32>,
    /// It had taken all the steps that it may, and was made to end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub out_of_steps: bool,
    /// How much of what it was asked about it was shown, where that was not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Box<Part>>,
}

/// How many bytes, out of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub bytes: u64,
    pub of: u64,
}

impl Measured {
    /// That the answer is not whole, in words.
    pub fn cut(&self) -> Option<String> {
        self.cut_short.then(|| match self.tokens_max {
            _ if self.out_of_steps => "Ended at its limit of steps".to_owned(),
            Some(most) => format!("Cut off at its limit of {most} tokens"),
            None => "Cut off: the model is at its own limit, or its context is full".to_owned(),
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
}

impl Usage {
    /// As far as it is known.
    pub fn tokens(self) -> u64 {
        self.prompt_tokens.unwrap_or_default() + self.completion_tokens.unwrap_or_default()
    }
}

/// The model server's own timings, as llama.cpp reports them. Throughput comes from here, not from wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timings {
    pub prompt_n: u64,
    pub prompt_ms: f64,
    pub predicted_n: u64,
    pub predicted_ms: f64,
    pub predicted_per_second: f64,
    pub cache_n: u64,
}

impl Timings {
    /// When the first token was there: the prompt was read, and one token written.
    pub fn first_token_ms(self) -> Option<u64> {
        let has_all = self.predicted_n > 0 && self.prompt_ms + self.predicted_ms > 0.0;
        has_all.then(|| (self.prompt_ms + self.predicted_ms / self.predicted_n as f64).round() as u64)
    }
}

/// How one attempt ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done {
        measured: Measured,
    },
    /// The model or the request is at fault: trying again as it is will not help.
    Failed {
        reason: String,
    },
    /// We or the model server are at fault: never counted as a loss.
    Void {
        reason: String,
    },
    /// Whoever ran it is gone, or the database was.
    Lost,
    Cancelled,
}

impl Outcome {
    /// Why there is no whole answer, and whether that is the model's doing.
    pub fn fault(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Failed { reason } => Some(("The answer failed", reason)),
            Self::Void { reason } => Some(("No whole answer came", reason)),
            Self::Lost => Some((
                "The answer was interrupted",
                "Whoever wrote it, or the database, went away each time. What was written is kept.",
            )),
            Self::Done { .. } | Self::Cancelled => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_token_comes_after_the_prompt_was_read() {
        let check = |prompt_ms, predicted_n, predicted_ms, expected| {
            let timings = Timings { prompt_ms, predicted_n, predicted_ms, ..Timings::default() };
            assert_eq!(timings.first_token_ms(), expected, "{timings:?}");
        };
        check(120.0, 10, 50.0, Some(125));
        check(0.0, 10, 50.0, Some(5));
        check(120.0, 0, 0.0, None);
        check(0.0, 5, 0.0, None);
    }
}
