//! The output of one attempt as one append-only text.
//!
//! A stream holds what a backend said in the order in which it was said: text, reasoning, text again, calls of
//! tools. Each segment starts with a mark, its kind and a line end; what follows is the segment's own text. One
//! text means one offset, so resuming, truncating and storing need to know nothing about what is inside.
//!
//! A call of a tool, and the plan, are one segment each, wherever in the stream something new about it comes: its
//! text is a line of JSON for each update.

use serde::Serialize;

use crate::output::Output;

/// ASCII's record separator. It never occurs inside a segment: the encoder takes it out.
const MARK: char = '\u{1e}';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Reasoning,
    /// Lines for [`crate::tool::Call::read`].
    Tool,
    /// Lines for [`crate::tool::Plan::read`].
    Plan,
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
            Output::Tool(update) => return self.record(Kind::Tool, &one_word(&update.id), update),
            Output::Plan(plan) => return self.record(Kind::Plan, "", plan),
            Output::Phase(_) | Output::Usage(_) => return String::new(),
        };
        if text.is_empty() {
            return String::new();
        }
        let mut piece = String::with_capacity(text.len() + 12);
        if self.open.replace(kind) != Some(kind) {
            begin(&mut piece, kind, "");
        }
        piece.extend(text.chars().filter(|c| *c != MARK));
        piece
    }

    /// A line of its own. JSON writes the mark, as any control character, in other letters.
    fn record(&mut self, kind: Kind, id: &str, value: &impl Serialize) -> String {
        let Ok(line) = serde_json::to_string(value) else { return String::new() };
        let mut piece = String::with_capacity(line.len() + 40);
        begin(&mut piece, kind, id);
        piece.push_str(&line);
        piece.push('\n');
        self.open = None;
        piece
    }
}

fn begin(piece: &mut String, kind: Kind, id: &str) {
    piece.push(MARK);
    piece.push_str(kind.word());
    if !id.is_empty() {
        piece.push(' ');
        piece.push_str(id);
    }
    piece.push('\n');
}

/// An id is whatever an agent makes up; in a header it is one word.
fn one_word(id: &str) -> String {
    id.chars().map(|c| if c.is_control() || c.is_whitespace() { '_' } else { c }).collect()
}

/// Reads a stream as it grows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    pub segments: Vec<Segment>,
    /// A mark whose line has not ended yet.
    header: Option<String>,
    /// The segment that is being told.
    open: usize,
    /// The headers of calls and the plan, each with its segment.
    known: Vec<(String, usize)>,
}

impl Transcript {
    pub fn read(text: &str) -> Self {
        let mut transcript = Self::default();
        transcript.push(text);
        transcript
    }

    /// Of the end of a stream, what can be read without its beginning: what stands before the first mark could be of
    /// any kind. One without a mark is one long segment, and is taken for text.
    pub fn from_mark(text: &str) -> &str {
        text.find(MARK).map_or(text, |first| &text[first..])
    }

    /// Whether it is known what kind of text this begins with.
    pub fn is_marked(text: &str) -> bool {
        text.starts_with(MARK)
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
                let header = self.header.take().unwrap_or_default();
                self.begin(header);
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
        words(&self.segments)
    }

    /// What was said after the last call of a tool, where there is something; else all of it. An agent talks while it
    /// works, and answers in the end.
    pub fn last_words(&self) -> String {
        let last_call = self.segments.iter().rposition(|segment| segment.kind == Kind::Tool);
        let after = last_call.map_or(0, |at| at + 1);
        let last = words(&self.segments[after..]);
        if last.trim().is_empty() { self.text() } else { last }
    }

    fn begin(&mut self, header: String) {
        let kind = Kind::from_word(header.split(' ').next().unwrap_or_default());
        let known = self.known.iter().find(|(known, _)| *known == header);
        if let (Kind::Tool | Kind::Plan, Some((_, place))) = (kind, known) {
            self.open = *place;
            return;
        }
        self.open = self.segments.len();
        self.segments.push(Segment { kind, text: String::new() });
        if matches!(kind, Kind::Tool | Kind::Plan) {
            self.known.push((header, self.open));
        }
    }

    fn append(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.segments.get_mut(self.open) {
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
            Self::Tool => "tool",
            Self::Plan => "plan",
        }
    }

    /// A kind that we do not know is shown as text rather than lost.
    fn from_word(word: &str) -> Self {
        match word {
            "reasoning" => Self::Reasoning,
            "tool" => Self::Tool,
            "plan" => Self::Plan,
            _ => Self::Text,
        }
    }
}

fn words(segments: &[Segment]) -> String {
    let answer = segments.iter().filter(|segment| segment.kind == Kind::Text);
    answer.map(|segment| segment.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tool::{Plan, Update};

    fn segments(outputs: &[Output]) -> Vec<Segment> {
        let mut expected: Vec<Segment> = Vec::new();
        for output in outputs {
            let (kind, text) = match output {
                Output::Text(text) => (Kind::Text, text),
                Output::Reasoning(text) => (Kind::Reasoning, text),
                _ => continue,
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
    fn the_answer_follows_the_last_call() {
        let check = |said: &[Output], expected: &str| {
            let mut encoder = Encoder::default();
            let stream: String = said.iter().map(|output| encoder.encode(output)).collect();
            assert_eq!(Transcript::read(&stream).last_words(), expected);
        };
        let text = |text: &str| Output::Text(text.into());
        let call = || Output::Tool(Update { id: "1".into(), ..Update::default() });
        check(&[text("I look."), call(), text("It is so.")], "It is so.");
        check(&[text("It is "), Output::Reasoning("hm".into()), text("so.")], "It is so.");
        check(&[text("It is so."), call(), text(" \n")], "It is so. \n");
        check(&[call()], "");
    }

    #[test]
    fn the_end_of_a_stream_begins_with_its_first_mark() {
        let mut encoder = Encoder::default();
        let said = [Output::Reasoning("hm".into()), Output::Text("It is so.".into())];
        let stream: String = said.iter().map(|output| encoder.encode(output)).collect();
        let at = stream.find("hm").unwrap();
        assert_eq!(Transcript::read(Transcript::from_mark(&stream[at..])).text(), "It is so.");
        assert_eq!(Transcript::from_mark(&stream), stream);
        assert_eq!(Transcript::from_mark("no mark at all"), "no mark at all");
    }

    #[test]
    fn what_is_new_about_a_call_joins_what_was_told_of_it() {
        let update = |id: &str, output: &str| {
            let output = (!output.is_empty()).then(|| output.to_owned());
            Output::Tool(Update { id: id.into(), output, ..Update::default() })
        };
        let plan = Output::Plan(Plan(Vec::new()));
        let said = [
            Output::Text("a".into()),
            update("1 x", ""),
            update("2", "\u{1e}text\n"),
            Output::Text("b".into()),
            plan.clone(),
            update("1 x", "done"),
            plan,
        ];
        let mut encoder = Encoder::default();
        let stream: String = said.iter().map(|output| encoder.encode(output)).collect();
        let expected = [
            (Kind::Text, "a"),
            (Kind::Tool, "{\"id\":\"1 x\"}\n{\"id\":\"1 x\",\"output\":\"done\"}\n"),
            (Kind::Tool, "{\"id\":\"2\",\"output\":\"\\u001etext\\n\"}\n"),
            (Kind::Text, "b"),
            (Kind::Plan, "[]\n[]\n"),
        ];
        let expected: Vec<_> =
            expected.map(|(kind, text)| Segment { kind, text: text.to_owned() }).into_iter().collect();
        assert_eq!(Transcript::read(&stream).segments, expected);
        // However it is cut.
        let mut read = Transcript::default();
        stream.chars().for_each(|c| read.push(&c.to_string()));
        assert_eq!(read.segments, expected);
        assert_eq!(read.text(), "ab");
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
