//! What one scripted model server is told at its start.

use std::time::Duration;

use clap::ValueEnum;

/// Which server is imitated: its routes, its error bodies and how it loads models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Flavour {
    LlamaSwap,
    LlamaCpp,
    Ollama,
    Cloud,
}

/// The settings of one server. The same script and the same requests give the same answers.
#[derive(Clone, Debug)]
pub struct Script {
    pub flavour: Flavour,
    pub seed: u64,
    pub models: Vec<String>,
    /// Answers to any model name, for agents that ask for a second model of their own choice.
    pub any_model: bool,
    /// 0 sends as fast as the reader takes it.
    pub tokens_per_second: f64,
    pub load: Duration,
    pub unload: Duration,
    /// llama-swap's `sendLoadingState`: a real load is told as fake reasoning instead of silence.
    pub send_loading_state: bool,
    /// Requests at once for one model; one more gets a 429.
    pub concurrency_limit: usize,
    pub context_tokens: u64,
    /// Whether it says so in its list of models; not every server does.
    pub tells_context: bool,
    /// When set, a request without it gets a 401.
    pub api_key: Option<String>,
}

/// Judges have opinions: see `opinion.rs`. The analyst works in flows: see `analyst.rs`.
const MODELS: [&str; 8] =
    ["small", "large", "echo", "count", "judge", "biased-judge", "mumbling-judge", "analyst"];

impl Default for Script {
    fn default() -> Self {
        Self {
            flavour: Flavour::LlamaSwap,
            seed: 1,
            models: MODELS.map(String::from).to_vec(),
            any_model: false,
            tokens_per_second: 200.0,
            load: Duration::ZERO,
            unload: Duration::ZERO,
            send_loading_state: false,
            concurrency_limit: 10,
            context_tokens: 262_144,
            tells_context: true,
            api_key: None,
        }
    }
}

impl Script {
    pub fn serves(&self, model: &str) -> bool {
        // A bare llama-server has one model and never looks at the name.
        self.any_model || self.flavour == Flavour::LlamaCpp || self.models.iter().any(|m| m == model)
    }

    /// Whether models are loaded on demand, one at a time.
    pub fn swaps(&self) -> bool {
        matches!(self.flavour, Flavour::LlamaSwap | Flavour::Ollama)
    }

    /// Only llama.cpp reports timings; llama-swap hands them through.
    pub fn reports_timings(&self) -> bool {
        matches!(self.flavour, Flavour::LlamaSwap | Flavour::LlamaCpp)
    }
}
