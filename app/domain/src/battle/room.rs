//! How much is asked of a model at once, and how much it may answer: no more than fits into its context.

/// What a question holds besides what it is about: the rules, and what is wanted.
const FRAME_TOKENS: u32 = 600;
/// What a question holds where nothing is known of the model's context.
const BYTES: usize = 24 * 1024;
const BYTES_MIN: usize = 1024;
const BYTES_MAX: usize = 4 * BYTES;
/// Fewer bytes than a token stands for in nearly any text, so that what fits by this count fits.
const BYTES_A_TOKEN: usize = 2;
/// From here on there is room for a model that thinks before it answers.
const WIDE_CONTEXT_TOKENS: u32 = 32_000;
const WIDE_ANSWER_TOKENS: u32 = 4_096;
/// The shortest answer that is of use to anybody.
const ANSWER_TOKENS_MIN: u32 = 600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// For all texts of a question together.
    pub bytes: usize,
    pub answer_tokens: u32,
}

impl Room {
    /// At least `answer_tokens` are left for the answer.
    pub fn of(context_tokens: Option<u32>, answer_tokens: u32) -> Self {
        let Some(context) = context_tokens.filter(|tokens| *tokens < WIDE_CONTEXT_TOKENS) else {
            let answer_tokens = answer_tokens.max(WIDE_ANSWER_TOKENS);
            let bytes = context_tokens.map_or(BYTES, |context| fitting(context, answer_tokens));
            return Self { bytes, answer_tokens };
        };
        Self { bytes: fitting(context, answer_tokens), answer_tokens }
    }

    /// For a model whose context turned out to be smaller. None where there is nothing left to give up. Some servers
    /// count the answer that is asked for as well, so that gives way too.
    pub fn halved(self) -> Option<Self> {
        let answer_tokens = (self.answer_tokens / 2).max(ANSWER_TOKENS_MIN.min(self.answer_tokens));
        (self.bytes > BYTES_MIN).then(|| Self { bytes: (self.bytes / 2).max(BYTES_MIN), answer_tokens })
    }
}

fn fitting(context: u32, answer_tokens: u32) -> usize {
    let tokens = context.saturating_sub(answer_tokens + FRAME_TOKENS) as usize;
    (tokens * BYTES_A_TOKEN).clamp(BYTES_MIN, BYTES_MAX)
}

/// The beginning of a text, and a word where that is not all of it.
pub fn beginning(text: &str, bytes_max: usize) -> String {
    let end = text.floor_char_boundary(bytes_max);
    if end >= text.len() {
        return text.to_owned();
    }
    format!("{}\n[… {} bytes more …]", &text[..end], text.len() - end)
}

/// The beginning and the end of what is too long.
pub fn ends(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(bytes_max * 2 / 3), text.len() - bytes_max / 3);
    let tail = text.ceil_char_boundary(tail);
    format!("{}\n[… {} bytes are left out here …]\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_and_its_answer_fit_into_the_context() {
        let check = |context, bytes, answer_tokens| {
            assert_eq!(Room::of(context, 900), Room { bytes, answer_tokens }, "{context:?}");
        };
        check(None, BYTES, WIDE_ANSWER_TOKENS);
        check(Some(100), BYTES_MIN, 900);
        check(Some(2_048), 1_096, 900);
        check(Some(8_192), 13_384, 900);
        check(Some(32_768), 56_144, WIDE_ANSWER_TOKENS);
        check(Some(1_000_000), BYTES_MAX, WIDE_ANSWER_TOKENS);
        let sizes: Vec<_> =
            std::iter::successors(Some(Room { bytes: 4_000, answer_tokens: 1_000 }), |it| it.halved())
                .map(|room| (room.bytes, room.answer_tokens))
                .collect();
        assert_eq!(sizes, [(4_000, 1_000), (2_000, 600), (BYTES_MIN, 600)]);
        let short = Room { bytes: 4_000, answer_tokens: 100 };
        assert_eq!(short.halved().map(|room| room.answer_tokens), Some(100));
    }

    #[test]
    fn what_is_left_out_is_said() {
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("éé", 3), "é\n[… 2 bytes more …]");
        assert_eq!(ends("abcdefghij", 10), "abcdefghij");
        assert_eq!(ends("abcdefghij", 6), "abcd\n[… 4 bytes are left out here …]\nij");
    }
}
