//! What several answers of one turn measured together.

use domain::output::{Measured, Timings, Usage};

/// Adds up what can be added; what one of them does not know, the sum does not pretend to know.
#[derive(Clone, Default)]
pub struct Sum {
    measured: Option<Measured>,
}

impl Sum {
    pub fn add(&mut self, next: Measured) {
        self.measured = Some(match self.measured.take() {
            None => next,
            Some(before) => Measured {
                duration_ms: before.duration_ms + next.duration_ms,
                first_token_ms: before.first_token_ms.or(next.first_token_ms),
                load_ms: both(before.load_ms, next.load_ms, |a, b| a + b).or(before.load_ms).or(next.load_ms),
                usage: both(before.usage, next.usage, usage),
                timings: both(before.timings, next.timings, timings),
                cut_short: next.cut_short,
                tokens_max: next.tokens_max,
                out_of_steps: next.out_of_steps,
                read: next.read,
            },
        });
    }

    /// `duration_ms` is the whole turn's, tools included.
    pub fn total(self, duration_ms: u64) -> Measured {
        Measured { duration_ms, ..self.measured.unwrap_or_default() }
    }
}

fn both<T>(a: Option<T>, b: Option<T>, add: impl FnOnce(T, T) -> T) -> Option<T> {
    Some(add(a?, b?))
}

fn usage(a: Usage, b: Usage) -> Usage {
    let add = |a, b| both(a, b, |a: u64, b: u64| a + b);
    Usage {
        prompt_tokens: add(a.prompt_tokens, b.prompt_tokens),
        completion_tokens: add(a.completion_tokens, b.completion_tokens),
    }
}

fn timings(a: Timings, b: Timings) -> Timings {
    let predicted_n = a.predicted_n + b.predicted_n;
    let predicted_ms = a.predicted_ms + b.predicted_ms;
    Timings {
        prompt_n: a.prompt_n + b.prompt_n,
        prompt_ms: a.prompt_ms + b.prompt_ms,
        predicted_n,
        predicted_ms,
        predicted_per_second: if predicted_ms > 0.0 {
            predicted_n as f64 * 1_000.0 / predicted_ms
        } else {
            0.0
        },
        cache_n: a.cache_n + b.cache_n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_add_up_and_what_is_not_known_stays_unknown() {
        let answer = |tokens: Option<u64>, n: u64, ms: f64| Measured {
            duration_ms: 5,
            first_token_ms: Some(n),
            usage: Some(Usage { prompt_tokens: Some(10), completion_tokens: tokens }),
            timings: Some(Timings { predicted_n: n, predicted_ms: ms, ..Timings::default() }),
            ..Measured::default()
        };
        let mut sum = Sum::default();
        sum.add(answer(Some(3), 10, 100.0));
        sum.add(answer(Some(4), 30, 100.0));
        let total = sum.total(99);
        let usage = Usage { prompt_tokens: Some(20), completion_tokens: Some(7) };
        assert_eq!((total.duration_ms, total.first_token_ms, total.usage), (99, Some(10), Some(usage)));
        assert_eq!(total.timings.map(|timings| timings.predicted_per_second), Some(200.0));
        let mut sum = Sum::default();
        sum.add(answer(Some(3), 10, 100.0));
        sum.add(answer(None, 1, 1.0));
        assert_eq!(sum.total(1).usage.and_then(|usage| usage.completion_tokens), None);
    }
}
