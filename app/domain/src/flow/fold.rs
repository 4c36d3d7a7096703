//! The fold: all that was said so far, verbatim and in the order of the roster, with what is missing.

use super::plan::Step;
use crate::fence::Nonce;

/// How a step ended, as far as others can use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Said(String),
    /// It said more than is kept.
    SaidMore {
        text: String,
        left_out: u64,
    },
    Failed(String),
    Skipped(String),
    Cancelled,
}

/// A step with what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output<'a> {
    pub step: &'a Step,
    pub ended: Ended,
}

/// A piece that had to be cut keeps at least so much.
const PIECE_BYTES_MIN: usize = 1024;

impl Output<'_> {
    pub fn said(&self) -> Option<&str> {
        match &self.ended {
            Ended::Said(text) | Ended::SaidMore { text, .. } => Some(text),
            _ => None,
        }
    }

    /// How much of its answer is not there.
    pub fn left_out(&self) -> u64 {
        match self.ended {
            Ended::SaidMore { left_out, .. } => left_out,
            _ => 0,
        }
    }

    /// Why there is nothing, in words for models and people.
    pub fn missing(&self) -> Option<String> {
        match &self.ended {
            Ended::Said(_) | Ended::SaidMore { .. } => None,
            Ended::Failed(reason) => Some(format!("failed: {reason}")),
            Ended::Skipped(because) => Some(format!("skipped: {because}")),
            Ended::Cancelled => Some("cancelled".to_owned()),
        }
    }

    fn name(&self) -> String {
        let Some(agent) = self.step.agent() else { return self.step.label.clone() };
        let round = if self.step.round > 1 { format!(", round {}", self.step.round) } else { String::new() };
        format!("{} ({}{round})", self.step.label, agent.role)
    }
}

/// Everything as a model is shown it: each answer as data, in at most about `bytes_max` bytes of answers. What has to
/// be left out is taken from the middle of the longest, because answers end with what counts, and is told.
pub fn fold(outputs: &[Output<'_>], nonce: &Nonce, bytes_max: usize) -> String {
    let lengths: Vec<usize> = outputs.iter().map(|output| output.said().map_or(0, str::len)).collect();
    let share = share(&lengths, bytes_max).max(PIECE_BYTES_MIN);
    let mut pieces = Vec::new();
    for output in outputs {
        let name = output.name();
        let cut = match output.left_out() {
            0 => String::new(),
            bytes => format!("It said {bytes} bytes more, which were not kept.\n\n"),
        };
        pieces.push(match (output.said(), output.missing()) {
            (Some(text), _) if text.len() > share => {
                let (shown, left_out) = shortened(text, share);
                let note = format!(
                    "Too long to be shown whole: {left_out} of {} bytes are left out in the middle.",
                    text.len()
                );
                format!("## {name}\n\n{cut}{note}\n\n{}", nonce.wrap(&name, &shown))
            }
            (Some(text), _) => format!("## {name}\n\n{cut}{}", nonce.wrap(&name, text)),
            (None, missing) => format!("## {name}\n\nMissing, {}.", missing.unwrap_or_default()),
        });
    }
    pieces.join("\n\n")
}

/// How much each may have so that all together fit: the short ones leave their rest to the long ones.
fn share(lengths: &[usize], bytes_max: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = bytes_max;
    for (at, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - at);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// A quarter from the beginning, the rest from the end, and how many bytes are missing between.
fn shortened(text: &str, bytes: usize) -> (String, usize) {
    let head = text.floor_char_boundary(bytes / 4);
    let tail = text.ceil_char_boundary(text.len() - (bytes - bytes / 4).min(text.len()));
    let left_out = tail.saturating_sub(head);
    (format!("{}\n[… {left_out} bytes …]\n{}", &text[..head], &text[tail.max(head)..]), left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{
        Band, FlowId, Plan,
        plan::tests::{request, signals},
    };

    const NONCE: &str = "k3u9x2m4q7w1z8b5";

    fn folded(texts: &[Ended], bytes_max: usize) -> String {
        let plan = Plan::new(request(FlowId::Investigate, Band::Large, false), &signals(&[]));
        let outputs: Vec<_> =
            plan.steps.iter().zip(texts).map(|(step, ended)| Output { step, ended: ended.clone() }).collect();
        fold(&outputs, &Nonce::new(NONCE).unwrap(), bytes_max)
    }

    #[test]
    fn everything_is_there_in_order_and_what_is_missing_is_told() {
        let ended = [
            Ended::Said("{\"summary\": \"a\"}".into()),
            Ended::Failed("the model stopped".into()),
            Ended::Skipped("no sign of it".into()),
            Ended::Cancelled,
            Ended::SaidMore { text: "half".into(), left_out: 7 },
        ];
        let expected = format!(
            "## Error path (investigator)\n\n<<<data {NONCE} Error path (investigator)\n{{\"summary\": \"a\"}}\n\
             data {NONCE}>>>\n\n## Data flow (investigator)\n\nMissing, failed: the model stopped.\n\n\
             ## Recent changes (investigator)\n\nMissing, skipped: no sign of it.\n\n\
             ## Concurrency (concurrency-analyst)\n\nMissing, cancelled.\n\n\
             ## Behaviour across borders (behavioral-analyst)\n\nIt said 7 bytes more, which were not kept.\n\n\
             <<<data {NONCE} Behaviour across borders (behavioral-analyst)\nhalf\ndata {NONCE}>>>"
        );
        assert_eq!(folded(&ended, 1_000_000), expected);
    }

    #[test]
    fn the_longest_are_cut_in_the_middle_and_that_is_told() {
        let long = format!("BEGIN {} END", "é".repeat(20_000));
        let text = folded(&[Ended::Said("short".into()), Ended::Said(long.clone())], 8_000);
        assert!(text.contains("\nshort\n") && text.contains("\nBEGIN ") && text.contains(" END\n"));
        let left_out = format!("of {} bytes are left out in the middle.", long.len());
        assert!(text.contains(&left_out), "{}", &text[..300]);
        assert!(text.len() < 9_000, "{}", text.len());
        assert!(folded(&[Ended::Said(long.clone())], long.len()).contains(&long), "what fits is whole");
    }

    #[test]
    fn short_answers_leave_their_rest_to_long_ones() {
        let check =
            |lengths: &[usize], max, expected| assert_eq!(share(lengths, max), expected, "{lengths:?}");
        check(&[], 10, usize::MAX);
        check(&[5, 5], 10, usize::MAX);
        check(&[5, 6], 10, 5);
        check(&[1, 100, 100], 101, 50);
        check(&[100, 1, 2], 63, 60);
        check(&[100, 100], 0, 0);
    }

    proptest::proptest! {
        #[test]
        fn no_cut_goes_through_a_letter(text in "[a-é😀]{0,400}", bytes in 0..600usize) {
            let (shown, left_out) = shortened(&text, bytes);
            let kept: usize = shown.len() - format!("\n[… {left_out} bytes …]\n").len();
            proptest::prop_assert_eq!(kept + left_out, text.len());
        }
    }
}
