//! The output of one attempt as one append-only text.
//!
//! A stream holds what a backend said in the order in which it was said: text, reasoning, text again. Each
//! segment starts with a mark, its kind and a line end; what follows is the segment's own text. One text means
//! one offset, so resuming, truncating and storing need to know nothing about what is inside.

use crate::output::Output;

/// ASCII's record separator. It never occurs inside a segment: the encoder takes it out.
const MARK: char = '\u{1e}';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Reasoning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub kind: Kind,
    pub text: String,
}

/// Writes outputs as pieces of a stream.
#[derive(Debug, Default)]
pub struct Encoder {
    open: Option<Kind>,
}

impl Encoder {
    /// The bytes to append; empty for what does not belong in a stream.
    pub fn encode(&mut self, output: &Output) -> String {
        let (kind, text) = match output {
            Output::Text(text) => (Kind::Text, text),
            Output::Reasoning(text) => (Kind::Reasoning, text),
            Output::Phase(_) => return String::new(),
        };
        if text.is_empty() {
            return String::new();
        }
        let mut piece = String::with_capacity(text.len() + 12);
        if self.open.replace(kind) != Some(kind) {
            piece.push(MARK);
            piece.push_str(kind.word());
            piece.push('\n');
        }
        piece.extend(text.chars().filter(|c| *c != MARK));
        piece
    }
}

/// Reads a stream as it grows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    pub segments: Vec<Segment>,
    /// A mark whose line has not ended yet.
    header: Option<String>,
}

impl Transcript {
    pub fn read(text: &str) -> Self {
        let mut transcript = Self::default();
        transcript.push(text);
        transcript
    }

    pub fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while !rest.is_empty() {
            if let Some(header) = &mut self.header {
                let Some((end, after)) = rest.split_once('\n') else {
                    header.push_str(rest);
                    return;
                };
                header.push_str(end);
                let kind = Kind::from_word(header);
                self.header = None;
                self.segments.push(Segment { kind, text: String::new() });
                rest = after;
            } else {
                let (text, after) = match rest.split_once(MARK) {
                    Some((text, after)) => (text, Some(after)),
                    None => (rest, None),
                };
                self.append(text);
                match after {
                    Some(after) => {
                        self.header = Some(String::new());
                        rest = after;
                    }
                    None => return,
                }
            }
        }
    }

    /// The answer itself, without reasoning.
    pub fn text(&self) -> String {
        let answer = self.segments.iter().filter(|segment| segment.kind == Kind::Text);
        answer.map(|segment| segment.text.as_str()).collect()
    }

    fn append(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.segments.last_mut() {
            Some(segment) => segment.text.push_str(text),
            None => self.segments.push(Segment { kind: Kind::Text, text: text.to_owned() }),
        }
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
        }
    }

    /// A kind that we do not know is shown as text rather than lost.
    fn from_word(word: &str) -> Self {
        if word == "reasoning" { Self::Reasoning } else { Self::Text }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segments(outputs: &[Output]) -> Vec<Segment> {
        let mut expected: Vec<Segment> = Vec::new();
        for output in outputs {
            let (kind, text) = match output {
                Output::Text(text) => (Kind::Text, text),
                Output::Reasoning(text) => (Kind::Reasoning, text),
                Output::Phase(_) => continue,
            };
            match expected.last_mut() {
                _ if text.is_empty() => {}
                Some(last) if last.kind == kind => last.text.push_str(text),
                _ => expected.push(Segment { kind, text: text.clone() }),
            }
        }
        expected
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_however_it_is_cut(
            outputs in prop::collection::vec((prop::bool::ANY, "[a-zé\n]{0,6}"), 0..12),
            cuts in prop::collection::vec(0usize..200, 0..12),
        ) {
            let outputs: Vec<_> = outputs
                .into_iter()
                .map(|(text, piece)| if text { Output::Text(piece) } else { Output::Reasoning(piece) })
                .collect();
            let mut encoder = Encoder::default();
            let stream: String = outputs.iter().map(|output| encoder.encode(output)).collect();
            let mut read = Transcript::default();
            let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| stream.is_char_boundary(*cut)).collect();
            cuts.extend([0, stream.len()]);
            cuts.retain(|cut| *cut <= stream.len());
            cuts.sort_unstable();
            for pair in cuts.windows(2) {
                read.push(&stream[pair[0]..pair[1]]);
            }
            prop_assert_eq!(read.segments, segments(&outputs));
        }
    }

    #[test]
    fn a_model_cannot_forge_a_mark() {
        let mut encoder = Encoder::default();
        let stream = encoder.encode(&Output::Text("a\u{1e}reasoning\nb".into()));
        let read = Transcript::read(&stream);
        assert_eq!(read.segments, [Segment { kind: Kind::Text, text: "areasoning\nb".into() }]);
        assert_eq!(read.text(), "areasoning\nb");
    }
}
