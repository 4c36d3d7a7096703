//! A fair description of one result, made on its own: whoever reads it knows what was done, and not by whom.

use super::Kind;
use crate::fence::Nonce;

pub const WORDS_MAX: usize = 300;
pub const ANSWER_TOKENS_MAX: u32 = 900;
const NOTES_TOKENS_MAX: u32 = 400;
/// What one question holds of a result, where nothing is known of the model's context.
pub const PIECE_BYTES: usize = 24 * 1024;
/// More pieces are not read: the middle is left out, and the digest says so.
const PIECES_MAX: usize = 24;

/// What is read of one result.
#[derive(Clone, Debug, Default)]
pub struct Material {
    pub task: String,
    /// What it said, names taken out.
    pub said: String,
    /// What it changed, as a patch.
    pub patch: String,
}

pub const SYSTEM: &str = "You describe the result of a task for somebody who has to judge it and cannot see it. You are \
    exact and neutral: no praise, no advice, no guess about who made it.";

/// The questions that lead to a digest: notes on each piece where the result is long, then the digest itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Questions {
    pub notes: Vec<String>,
    /// Where there are notes, `last` is asked of them.
    last: String,
    nonce: Nonce,
}

/// How many tokens of context a question of `bytes` may take together with its answer: three bytes a token is less
/// than what any text takes.
pub fn piece_bytes(context_tokens: Option<u32>) -> usize {
    let Some(tokens) = context_tokens else { return PIECE_BYTES };
    let room = tokens.saturating_sub(ANSWER_TOKENS_MAX + 600) as usize * 2;
    room.clamp(1_024, 4 * PIECE_BYTES)
}

impl Questions {
    pub fn new(kind: Kind, material: &Material, piece_bytes: usize, nonce: &Nonce) -> Self {
        let whole = match kind {
            Kind::Coding => format!("{}\n\nThe change as a patch:\n{}", material.said.trim(), material.patch),
            Kind::Qa => material.said.trim().to_owned(),
        };
        let about = match kind {
            Kind::Coding => {
                "What was asked for and is there, what is missing, how it was done, what else was changed, what could \
                 break, what was tested and what is only claimed."
            }
            Kind::Qa => {
                "What it answers, by which facts and steps, what it leaves out, and what in it is doubtful."
            }
        };
        let task = nonce.wrap("the task", cut(&material.task, piece_bytes / 4));
        let head = format!("{}\n\nThe task was:\n{task}", nonce.rule());
        let wanted = format!(
            "Describe the result in at most {WORDS_MAX} words: {about} Use plain sentences and name files or facts."
        );
        if whole.len() <= piece_bytes {
            let result = nonce.wrap("the result", &whole);
            let last = format!("{head}\n\nThe result:\n{result}\n\n{wanted}");
            return Self { notes: Vec::new(), last, nonce: nonce.clone() };
        }
        let pieces = pieces(&whole, piece_bytes);
        let count = pieces.len();
        let note = |(place, piece): (usize, &str)| {
            let name = format!("piece {} of {count} of the result", place + 1);
            let piece = nonce.wrap(&name, piece);
            format!(
                "{head}\n\nThe result is long; this is a piece of it.\n{piece}\n\nNote in at most 100 words what \
                 this piece does or says, for somebody who will put such notes together."
            )
        };
        let notes = pieces.into_iter().enumerate().map(note).collect();
        Self { notes, last: format!("{head}\n\n{wanted}"), nonce: nonce.clone() }
    }

    /// The final question, with the notes that were made on the way.
    pub fn last(&self, notes: &[String]) -> String {
        if notes.is_empty() {
            return self.last.clone();
        }
        let notes: Vec<_> = notes.iter().map(|note| first_words(note, 120)).collect();
        let notes = self.nonce.wrap("notes on the pieces of the result, in order", &notes.join("\n\n"));
        format!("The result was read in pieces. The notes:\n{notes}\n\n{}", self.last)
    }

    pub fn notes_tokens_max(&self) -> u32 {
        NOTES_TOKENS_MAX
    }
}

/// What is kept of an answer: as many words as were asked for.
pub fn kept(said: &str) -> Option<String> {
    let said = said.trim();
    (!said.is_empty()).then(|| first_words(said, WORDS_MAX))
}

fn first_words(text: &str, max: usize) -> String {
    let starts = text.char_indices().zip(std::iter::once(' ').chain(text.chars()));
    let mut words = starts.filter(|((_, c), before)| !c.is_whitespace() && before.is_whitespace());
    match words.nth(max) {
        Some(((end, _), _)) => format!("{} …", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max.min(text.len()))]
}

/// Cut at line ends where there are any.
fn pieces(text: &str, bytes: usize) -> Vec<&str> {
    let (mut all, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let limit = rest.floor_char_boundary(bytes.min(rest.len()));
        let end = match rest[..limit].rfind('\n') {
            Some(line) if limit < rest.len() && line > limit / 2 => line + 1,
            _ => limit.max(rest.chars().next().map_or(1, char::len_utf8)),
        };
        let (piece, after) = rest.split_at(end);
        all.push(piece);
        rest = after;
    }
    if all.len() > PIECES_MAX {
        let tail = all.split_off(all.len() - PIECES_MAX / 2);
        all.truncate(PIECES_MAX / 2 - 1);
        all.push("[The middle of the result is left out here: it is too long to be read.]");
        all.extend(tail);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce() -> Nonce {
        Nonce::new("0123456789abcdef").unwrap()
    }

    fn material(said: &str, patch: &str) -> Material {
        Material { task: "Mend it".into(), said: said.into(), patch: patch.into() }
    }

    #[test]
    fn a_short_result_is_one_question() {
        let questions = Questions::new(Kind::Coding, &material("I did.", "+a"), 10_000, &nonce());
        assert!(questions.notes.is_empty());
        let last = questions.last(&[]);
        assert!(last.contains("I did.") && last.contains("+a") && last.contains("Mend it"));
        let question = Questions::new(Kind::Qa, &material("Because.", "+a"), 10_000, &nonce()).last(&[]);
        assert!(question.contains("Because.") && !question.contains("+a"));
    }

    #[test]
    fn a_long_one_is_read_in_pieces_and_nothing_is_left_out() {
        let line = "a line of the change\n";
        let questions = Questions::new(Kind::Coding, &material("", &line.repeat(500)), 2_000, &nonce());
        let seen: usize = questions.notes.iter().map(|note| note.matches(line.trim()).count()).sum();
        assert_eq!((seen, questions.notes.len()), (500, 6));
        let last = questions.last(&["first note".into(), "second note".into()]);
        assert!(last.contains("first note\n\nsecond note"));
    }

    #[test]
    fn one_without_an_end_is_read_at_both_ends_and_that_is_said() {
        let text: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let pieces = pieces(&text, 4_000);
        assert_eq!(pieces.len(), PIECES_MAX);
        assert!(pieces[0].starts_with("line 0\n") && pieces[PIECES_MAX - 1].ends_with("line 99999\n"));
        assert!(pieces.iter().any(|piece| piece.contains("left out")));
        // Letters of several bytes, and no line end at all.
        assert_eq!(super::pieces(&"é".repeat(10), 3).concat(), "é".repeat(10));
    }

    #[test]
    fn an_answer_keeps_its_first_words() {
        let check = |words: usize, expected: usize| {
            let said = "word ".repeat(words);
            assert_eq!(
                kept(&said).unwrap().split_whitespace().filter(|word| *word == "word").count(),
                expected
            );
        };
        check(1, 1);
        check(WORDS_MAX, WORDS_MAX);
        check(WORDS_MAX + 50, WORDS_MAX);
        assert_eq!(kept(" \n"), None);
        assert_eq!(kept(" two  words ").unwrap(), "two  words");
    }

    #[test]
    fn a_piece_fits_into_the_context() {
        let check = |context, expected| assert_eq!(piece_bytes(context), expected, "{context:?}");
        check(None, PIECE_BYTES);
        check(Some(2_048), 1_096);
        check(Some(8_192), 13_384);
        check(Some(1_000_000), 4 * PIECE_BYTES);
        check(Some(100), 1_024);
    }
}
