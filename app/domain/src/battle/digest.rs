//! A fair description of one result, made on its own: whoever reads it knows what was done, and not by whom.
//!
//! A result that fits into one question is described at once. A longer one is read in pieces: notes on each of them
//! are put together, over and over, until they fit into one question.

mod pieces;

use super::{
    Kind,
    room::{Room, beginning},
};
use crate::fence::Nonce;
use pieces::{PIECES_MAX, pieces, without_binaries};

pub const WORDS_MAX: usize = 300;
pub const ANSWER_TOKENS_MAX: u32 = 900;
/// A description may consist of one endless word.
const BYTES_MAX: usize = 4 * 1024;
const NOTE_WORDS_MAX: usize = 100;
/// At least so many notes fit into one question, so that putting them together comes to an end.
const NOTES_IN_ROOM: usize = 8;
/// What a result may be at most for all of it to be read, whatever the room.
pub const READ_BYTES_MAX: usize = 4 * 1024 * 1024;
/// What stands in the place of an empty patch: a model makes up what it does not see.
pub const NOTHING_CHANGED: &str = "[Nothing was changed.]";
/// Between two notes, and around what a question is about.
const BETWEEN: &str = "\n\n";

pub const SYSTEM: &str = "You describe the result of a task for somebody who has to judge it and cannot see it. You are \
    exact and neutral: no praise, no advice, no guess about who made it.";

/// Makes the questions that lead to a digest.
#[derive(Clone, Debug)]
pub struct Questions {
    head: String,
    wanted: String,
    /// What a question holds of the result.
    piece_bytes: usize,
    nonce: Nonce,
}

/// What is to be asked next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Its answer is the digest.
    Last(String),
    /// Each is answered with a note; see [`Questions::of_notes`].
    Pieces(Vec<String>),
}

impl Questions {
    pub fn new(kind: Kind, task: &str, room: Room, nonce: &Nonce) -> Self {
        let about = match kind {
            Kind::Coding => {
                "What was asked for and is there, what is missing, how it was done, what else was changed, what could \
                 break, what was tested and what is only claimed."
            }
            Kind::Qa => {
                "What it answers, by which facts and steps, what it leaves out, and what in it is doubtful."
            }
        };
        let task = beginning(task, room.bytes / 4);
        let piece_bytes = room.bytes - task.len().min(room.bytes / 2);
        let task = nonce.wrap("the task", &task);
        let head = format!("{}\n\nThe task was:\n{task}", nonce.rule());
        let wanted = format!(
            "Describe the result in at most {WORDS_MAX} words: {about} Use plain sentences and name files or facts."
        );
        Self { head, wanted, piece_bytes, nonce: nonce.clone() }
    }

    /// What is asked first, and how many bytes of the result nobody will read.
    pub fn of_result(&self, kind: Kind, said: &str, patch: &str) -> (Asked, usize) {
        let or =
            |text: &str, nothing: &str| if text.is_empty() { nothing.to_owned() } else { text.to_owned() };
        let said = or(said.trim(), "[Nothing was said.]");
        let whole = match kind {
            Kind::Coding => {
                let patch = without_binaries(patch);
                format!("{said}\n\nThe change as a patch:\n{}", or(&patch, NOTHING_CHANGED))
            }
            Kind::Qa => said,
        };
        let Self { head, wanted, .. } = self;
        if whole.len() <= self.piece_bytes {
            let result = self.nonce.wrap("the result", &whole);
            return (Asked::Last(format!("{head}\n\nThe result:\n{result}\n\n{wanted}")), 0);
        }
        let (pieces, unread) = pieces(&whole, self.piece_bytes);
        let count = pieces.len();
        let ask = |(place, piece): (usize, &str)| {
            let name = format!("piece {} of {count} of the result", place + 1);
            self.note("The result is long; this is a piece of it.", "this piece does or says", &name, piece)
        };
        (Asked::Pieces(pieces.into_iter().enumerate().map(ask).collect()), unread)
    }

    /// What follows from the notes on pieces, in order. One that holds nothing is named as such.
    pub fn of_notes(&self, notes: &[String]) -> Asked {
        let (bytes, words) = (self.note_bytes(), self.note_words());
        let kept = |note: &String| match note.trim() {
            "" => "[Nothing was noted of this piece.]".to_owned(),
            note => first_words(cut(note, bytes - BETWEEN.len()), words),
        };
        let notes: Vec<_> = notes.iter().map(kept).collect();
        let all = notes.join(BETWEEN);
        let Self { head, wanted, .. } = self;
        if all.len() <= self.piece_bytes {
            let notes = self.nonce.wrap("notes on the pieces of the result, in order", &all);
            return Asked::Last(format!(
                "{head}\n\nThe result was read in pieces. The notes:\n{notes}\n\n{wanted}"
            ));
        }
        let ask = |notes: &[String]| {
            let name = "notes on pieces that follow each other";
            self.note("These are notes on a part of the result.", "they say", name, &notes.join(BETWEEN))
        };
        Asked::Pieces(notes.chunks(NOTES_IN_ROOM).map(ask).collect())
    }

    fn note(&self, about: &str, what: &str, name: &str, text: &str) -> String {
        let (head, words, text) = (&self.head, self.note_words(), self.nonce.wrap(name, text));
        format!(
            "{head}\n\n{about}\n{text}\n\nNote in at most {words} words what {what}, for somebody who will put \
             such notes together."
        )
    }

    fn note_bytes(&self) -> usize {
        self.piece_bytes / NOTES_IN_ROOM
    }

    /// So many as fit into its bytes, if they are as long as words usually are.
    fn note_words(&self) -> usize {
        (self.note_bytes() / 7).min(NOTE_WORDS_MAX)
    }
}

/// How many questions a result of so many bytes takes.
pub fn calls(bytes: u64, room: Room) -> u32 {
    // The task may take a quarter.
    let piece_bytes = (room.bytes - room.bytes / 4) as u64;
    if bytes <= piece_bytes {
        return 1;
    }
    let mut notes = bytes.div_ceil(piece_bytes).min(PIECES_MAX as u64) as u32;
    let mut calls = notes + 1;
    let note_bytes = (piece_bytes / NOTES_IN_ROOM as u64).min(NOTE_WORDS_MAX as u64 * 7);
    while u64::from(notes) * note_bytes > piece_bytes {
        notes = notes.div_ceil(NOTES_IN_ROOM as u32);
        calls += notes;
    }
    calls
}

/// What is kept of an answer: as many words as were asked for.
pub fn kept(said: &str) -> Option<String> {
    let said = said.trim();
    (!said.is_empty()).then(|| first_words(cut(said, BYTES_MAX), WORDS_MAX))
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
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce() -> Nonce {
        Nonce::new("0123456789abcdef").unwrap()
    }

    fn questions(kind: Kind, task: &str, bytes: usize) -> Questions {
        Questions::new(kind, task, Room { bytes, answer_tokens: 900 }, &nonce())
    }

    /// Answers every question with as many words as it was asked for, and tells how many there were.
    fn asked(questions: &Questions, mut next: Asked, bytes_max: usize) -> (usize, String) {
        let mut count = 0;
        loop {
            match next {
                Asked::Last(last) => return (count + 1, last),
                Asked::Pieces(pieces) => {
                    count += pieces.len();
                    assert!(pieces.iter().all(|piece| piece.len() <= bytes_max), "a question is too long");
                    let notes: Vec<_> = pieces.iter().map(|_| "noted words ".repeat(60)).collect();
                    next = questions.of_notes(&notes);
                }
            }
        }
    }

    #[test]
    fn a_short_result_is_one_question() {
        let check = |kind, said: &str, patch: &str| match questions(kind, "Mend it", 10_000)
            .of_result(kind, said, patch)
            .0
        {
            Asked::Last(last) => last,
            Asked::Pieces(pieces) => panic!("{pieces:?}"),
        };
        let last = check(Kind::Coding, "I did.", "+a");
        assert!(last.contains("I did.") && last.contains("+a") && last.contains("Mend it"));
        let last = check(Kind::Coding, " ", "");
        assert!(last.contains("[Nothing was said.]") && last.contains(NOTHING_CHANGED), "{last}");
        let last = check(Kind::Qa, "Because.", "+a");
        assert!(last.contains("Because.") && !last.contains("+a"));
    }

    #[test]
    fn a_long_one_is_read_in_pieces_and_nothing_is_left_out() {
        let line = "a line of the change\n";
        let it = questions(Kind::Coding, "Mend it", 2_000);
        let Asked::Pieces(pieces) = it.of_result(Kind::Coding, "", &line.repeat(500)).0 else { panic!() };
        let seen: usize = pieces.iter().map(|piece| piece.matches(line.trim()).count()).sum();
        assert_eq!((seen, pieces.len()), (500, 6));
        let Asked::Last(last) = it.of_notes(&["first note".into(), " ".into(), "third".into()]) else {
            panic!()
        };
        assert!(last.contains("first note\n\n[Nothing was noted of this piece.]\n\nthird"), "{last}");
    }

    #[test]
    fn every_question_fits_however_long_the_result_the_task_and_the_notes_are() {
        // What a question holds besides its texts.
        const FRAME: usize = 1_600;
        let text: String = (0..400_000).map(|n| format!("line {n}\n")).collect();
        for bytes in [1_024, 1_096, 4_000, 13_384, 98_304] {
            for task in ["Mend it", &"x".repeat(256 * 1024)] {
                let it = questions(Kind::Qa, task, bytes);
                let (first, _) = it.of_result(Kind::Qa, &text, "");
                let (count, last) = asked(&it, first, bytes + FRAME);
                assert!(last.len() <= bytes + FRAME, "{bytes}: {}", last.len());
                let room = Room { bytes, answer_tokens: 900 };
                let told = calls(text.len() as u64, room) as usize;
                assert!(count <= told && told <= count + 4, "{bytes}: {count} questions, {told} were told");
            }
        }
        assert_eq!(calls(10, Room { bytes: 4_000, answer_tokens: 900 }), 1);
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
        assert_eq!(kept(&"x".repeat(1 << 20)).unwrap().len(), BYTES_MAX);
    }
}
