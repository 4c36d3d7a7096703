//! How much a model must take, and how much of what others said it can be shown.

use crate::{Rejected, backend::Backend, catalogue::ModelRef};

/// A brief, what is read for it and the answer.
pub const NATIVE_TOKENS_MIN: u32 = 4_096;
/// An agent's program tells its model a great deal of its own first.
pub const AGENT_TOKENS_MIN: u32 = 32_768;
/// What others said, where nobody knows how much a model takes.
const SAID_BYTES: usize = 128 * 1024;
const SAID_BYTES_MIN: usize = 2 * 1024;
const SAID_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Refuses before an hour is wasted. A server that does not tell is given the benefit of the doubt.
pub fn check_context(backend: &Backend, model: &ModelRef, tokens: Option<u32>) -> Result<(), Rejected> {
    let least = if backend.is_native() { NATIVE_TOKENS_MIN } else { AGENT_TOKENS_MIN };
    match tokens {
        Some(tokens) if tokens < least => Err(Rejected::Invalid(format!(
            "Context too small: {model} takes {tokens} tokens, and a flow with {backend} needs {least}."
        ))),
        _ => Ok(()),
    }
}

/// A third of what the model takes, at three bytes a token: the rest is for the brief, for reading and for the answer.
pub fn said_bytes(tokens: Option<u32>) -> usize {
    tokens.map_or(SAID_BYTES, |tokens| (tokens as usize).clamp(SAID_BYTES_MIN, SAID_BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_takes_too_little_is_refused() {
        let model = ModelRef { server: "local".into(), model: "m".into() };
        let check = |backend: &str, tokens: Option<u32>, words: Option<&str>| {
            let refused =
                check_context(&Backend(backend.into()), &model, tokens).err().map(|no| no.to_string());
            assert_eq!(refused.as_deref(), words, "{backend} {tokens:?}");
        };
        check("native", Some(4_096), None);
        check("qwen", None, None);
        check("qwen", Some(32_768), None);
        let small = "Context too small: local/m takes 8192 tokens, and a flow with qwen needs 32768.";
        check("qwen", Some(8_192), Some(small));
        check(
            "native",
            Some(2_048),
            Some("Context too small: local/m takes 2048 tokens, and a flow with native needs 4096."),
        );
    }

    #[test]
    fn what_others_said_fits_into_the_model() {
        let check = |tokens, bytes| assert_eq!(said_bytes(tokens), bytes, "{tokens:?}");
        check(None, SAID_BYTES);
        check(Some(512), SAID_BYTES_MIN);
        check(Some(32_768), 32_768);
        check(Some(u32::MAX), SAID_BYTES_MAX);
    }
}
