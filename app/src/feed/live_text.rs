//! One attempt's output on the page, segment by segment, each under its own signal.

use domain::{
    feed::StreamCopy,
    transcript::{Kind, Transcript},
};
use leptos::prelude::*;

#[derive(Clone, Default)]
pub struct LiveText {
    /// Changes only when a segment begins.
    pub segments: ArcRwSignal<Vec<LiveSegment>>,
    /// Whether text that was shown had to be taken back.
    pub retracted: ArcRwSignal<bool>,
    read: ArcStoredValue<Read>,
}

#[derive(Clone)]
pub struct LiveSegment {
    pub place: usize,
    pub kind: Kind,
    pub text: ArcRwSignal<String>,
}

/// How far the stream has been read.
#[derive(Default)]
struct Read {
    bytes: usize,
    transcript: Transcript,
}

impl LiveText {
    pub(super) fn show(&self, copy: &StreamCopy) {
        let anew = copy.retracted != self.retracted.get_untracked();
        let unchanged = self.read.try_update_value(|read| {
            if anew || copy.text.len() < read.bytes {
                *read = Read::default();
                read.transcript.push(&copy.text);
            } else if copy.text.len() == read.bytes {
                return true;
            } else if let Some(new) = copy.text.get(read.bytes..) {
                read.transcript.push(new);
            }
            read.bytes = copy.text.len();
            false
        });
        if unchanged == Some(true) {
            return;
        }
        self.read.with_value(|read| self.show_segments(&read.transcript, anew));
        if anew {
            self.retracted.set(copy.retracted);
        }
    }

    /// All of it in place of what is shown.
    pub(super) fn show_anew(&self, text: &str) {
        let fresh = Read { bytes: text.len(), transcript: Transcript::read(text) };
        self.show_segments(&fresh.transcript, true);
        self.read.set_value(fresh);
    }

    /// The answer without the reasoning, for copying.
    pub fn answer(&self) -> String {
        self.read.with_value(|read| read.transcript.text())
    }

    fn show_segments(&self, transcript: &Transcript, anew: bool) {
        let shown = self.segments.get_untracked();
        for (live, segment) in shown.iter().zip(&transcript.segments) {
            let have = live.text.with_untracked(String::len);
            match segment.text.get(have..) {
                Some("") if !anew => {}
                Some(new) if !anew => live.text.update(|text| text.push_str(new)),
                _ => live.text.set(segment.text.clone()),
            }
        }
        if shown.len() != transcript.segments.len() {
            let new = transcript.segments.iter().enumerate().skip(shown.len()).map(|(place, segment)| {
                LiveSegment { place, kind: segment.kind, text: ArcRwSignal::new(segment.text.clone()) }
            });
            self.segments.update(|segments| {
                segments.truncate(transcript.segments.len());
                segments.extend(new);
            });
        }
    }
}
