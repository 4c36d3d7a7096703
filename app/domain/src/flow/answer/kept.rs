//! What is kept of all that an agent said: its answer, within bounds.

use super::{read_answer, read_verdicts};
use crate::{flow::plan::Part, transcript::Transcript};

/// Nobody reads a longer one, and those who come after are shown less of it.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub text: String,
    /// How many bytes of what was said are not in it.
    pub left_out: u64,
}

/// Its last words, where they have the form that was asked for; else all that it said, because some answer first and
/// then call a tool once more.
///
/// `before` bytes stood before what was read.
pub fn kept(transcript: &Transcript, part: Part, before: u64) -> Kept {
    let last = transcript.last_words();
    let is_last = json_in(&last, part).is_some();
    // Last words that have their form are an answer, whatever was said long before.
    let (text, before) = if is_last { (last, 0) } else { (transcript.text(), before) };
    let text = text.replace('\0', "\u{fffd}");
    if text.len() <= ANSWER_BYTES_MAX {
        return Kept { text, left_out: before };
    }
    // Of an answer in its form the beginning can be read although its end is missing. Prose comes to the point in the
    // end.
    let cut = match json_in(&text, part) {
        Some(start) => &text[start..text.floor_char_boundary(start + ANSWER_BYTES_MAX)],
        None => &text[text.ceil_char_boundary(text.len() - ANSWER_BYTES_MAX)..],
    };
    Kept { text: cut.to_owned(), left_out: before + (text.len() - cut.len()) as u64 }
}

/// Where what can be read as an answer begins.
fn json_in(text: &str, part: Part) -> Option<usize> {
    let (is_there, start) = match part {
        Part::Gate => {
            let reading = read_verdicts(text);
            (reading.is_structured(), reading.before.len())
        }
        Part::Angle | Part::Synthesis => {
            let reading = read_answer(text);
            (reading.is_structured(), reading.before.len())
        }
    };
    is_there.then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{output::Output, tool::Update, transcript::Encoder};

    fn said(outputs: &[Output]) -> Kept {
        let mut encoder = Encoder::default();
        let stream: String = outputs.iter().map(|output| encoder.encode(output)).collect();
        kept(&Transcript::read(&stream), Part::Angle, 0)
    }

    fn text(text: &str) -> Output {
        Output::Text(text.into())
    }

    fn call() -> Output {
        Output::Tool(Update { id: "1".into(), ..Update::default() })
    }

    #[test]
    fn an_answer_before_the_last_call_is_not_lost() {
        let check = |outputs: &[Output], expected: &str| assert_eq!(said(outputs).text, expected);
        let answer = r#"{"summary": "It is so."}"#;
        check(&[text("I look."), call(), text(answer)], answer);
        check(&[text(answer), call(), text("Done.")], &format!("{answer}Done."));
        check(&[text("I look. "), call(), text("It is so.")], "I look. It is so.");
        check(&[text("a\0b")], "a\u{fffd}b");
        check(&[call()], "");
    }

    #[test]
    fn of_a_long_answer_the_beginning_is_kept_and_of_long_prose_the_end() {
        let finding = r#"{"id": "E1", "title": "a", "claim": "b"},"#;
        let count = ANSWER_BYTES_MAX / finding.len() + 10;
        let long = format!("Thoughts. {{\"summary\": \"s\", \"findings\": [{}]}}", finding.repeat(count));
        let kept = said(&[text(&long)]);
        assert_eq!(kept.text.len() + kept.left_out as usize, long.len());
        assert!(kept.text.len() <= ANSWER_BYTES_MAX && kept.left_out > 0);
        let read = read_answer(&kept.text).value;
        assert!(read.summary == "s" && read.findings.len() > count - 20, "{}", read.findings.len());
        let prose = format!("{} END", "é".repeat(ANSWER_BYTES_MAX));
        let kept = said(&[text(&prose)]);
        assert!(kept.text.ends_with(" END") && kept.text.len() <= ANSWER_BYTES_MAX);
        assert_eq!(kept.text.len() + kept.left_out as usize, prose.len());
    }

    #[test]
    fn what_was_said_before_an_answer_is_not_missed_and_else_it_is_told() {
        let check = |said: &str, left_out: u64| {
            let stream = Encoder::default().encode(&text(said));
            assert_eq!(kept(&Transcript::read(&stream), Part::Gate, 7).left_out, left_out, "{said}");
        };
        check(r#"{"items": [], "confidence": "High"}"#, 0);
        check("It is fine.", 7);
    }
}
