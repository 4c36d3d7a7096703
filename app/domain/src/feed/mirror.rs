//! How a browser folds what it is told, and where it goes on from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Delta, Event, Frame, Seq, StreamId, Truncate};

/// A state that is made of events.
pub trait Fold {
    fn apply(&mut self, event: &Event);
    /// The streams whose text this state shows, each with its final length once that is known.
    fn streams(&self) -> Vec<(StreamId, Option<u64>)>;
}

/// State, cursor and stream texts as read in one transaction; what a page starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot<S> {
    pub seq: Seq,
    pub state: S,
    pub streams: Vec<(StreamId, String)>,
}

/// The browser's copy of a state and of the streams it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror<S> {
    pub seq: Seq,
    pub state: S,
    pub streams: BTreeMap<StreamId, StreamCopy>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamCopy {
    pub text: String,
    /// Whether text that was shown had to be taken back.
    pub retracted: bool,
}

/// What a frame meant to the mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    Applied,
    /// Seen before; nothing changed.
    Repeated,
    /// Something before it is missing: resume from the mirror's own place.
    Gap,
    /// Fetch a new snapshot.
    Reset,
}

impl<S: Fold> Mirror<S> {
    pub fn new(snapshot: Snapshot<S>) -> Self {
        let copy = |(id, text)| (id, StreamCopy { text, retracted: false });
        Self {
            seq: snapshot.seq,
            state: snapshot.state,
            streams: snapshot.streams.into_iter().map(copy).collect(),
        }
    }

    /// Starts again from a new snapshot. It holds what is durable, which is behind what is being written, and only
    /// the beginning of a long text: what is shown beyond that stays, unless the stream is known to end before it.
    pub fn renew(&mut self, snapshot: Snapshot<S>) {
        let old = std::mem::replace(self, Self::new(snapshot));
        for (id, shown) in old.streams {
            let Some(copy) = self.streams.get_mut(&id) else {
                continue;
            };
            if shown.text.starts_with(&copy.text) {
                *copy = shown;
            } else {
                copy.retracted = shown.retracted || !copy.text.starts_with(&shown.text);
            }
        }
        self.cut_to_final_lengths();
    }

    pub fn receive(&mut self, frame: &Frame) -> Received {
        match frame {
            Frame::Beat => Received::Repeated,
            Frame::Reset => Received::Reset,
            Frame::Event(envelope) if envelope.seq <= self.seq => Received::Repeated,
            Frame::Event(envelope) if envelope.seq > self.seq + 1 => Received::Gap,
            Frame::Event(envelope) => {
                self.seq = envelope.seq;
                self.state.apply(&envelope.event);
                self.cut_to_final_lengths();
                Received::Applied
            }
            Frame::Delta(delta) => self.append(delta),
            Frame::Truncate(cut) => self.cut_back(cut),
        }
    }

    fn append(&mut self, delta: &Delta) -> Received {
        let copy = self.streams.entry(delta.stream).or_default();
        let have = copy.text.len() as u64;
        let end = delta.offset + delta.text.len() as u64;
        if delta.offset > have {
            return Received::Gap;
        }
        if end <= have {
            return Received::Repeated;
        }
        match delta.text.get((have - delta.offset) as usize..) {
            Some(new) => {
                copy.text.push_str(new);
                Received::Applied
            }
            // The overlap ends inside a character, so the copy and the stream are not the same text.
            None => Received::Reset,
        }
    }

    fn cut_back(&mut self, cut: &Truncate) -> Received {
        let Some(copy) = self.streams.get_mut(&cut.stream) else {
            return Received::Repeated;
        };
        if cut.len >= copy.text.len() as u64 {
            return Received::Repeated;
        }
        if !copy.text.is_char_boundary(cut.len as usize) {
            return Received::Reset;
        }
        copy.text.truncate(cut.len as usize);
        copy.retracted = true;
        Received::Applied
    }

    /// An event that ends a stream says how long it is; whatever we have beyond that did not survive.
    fn cut_to_final_lengths(&mut self) {
        for (stream, len) in self.state.streams() {
            if let Some(len) = len {
                self.cut_back(&Truncate { stream, len });
            }
        }
    }

    /// Where to resume: the last event seen, and each shown stream that is not whole yet, with the bytes
    /// already here. What is being written goes first; what does not fit follows when those are whole.
    pub fn cursor(&self) -> Cursor {
        let have = |id: &StreamId| self.streams.get(id).map_or(0, |copy| copy.text.len() as u64);
        let mut open = self.state.streams();
        open.retain(|(id, len)| *len != Some(have(id)));
        let (over, written): (Vec<_>, Vec<_>) = open.into_iter().partition(|(_, len)| len.is_some());
        let mut watch = BTreeMap::new();
        for (id, _) in written.into_iter().chain(over).take(WATCH_MAX) {
            watch.insert(id, have(&id));
        }
        Cursor { after: self.seq, watch }
    }
}

impl<S: Fold> Mirror<S> {
    /// Whether it is worth another connection that one watches only these streams. One that is whole may stay watched,
    /// and one that is new must not wait; but where more are missing than can be watched, the rest comes by turns
    /// rather than one by one.
    pub fn outgrows(&self, watched: &[StreamId]) -> bool {
        let wanted = self.cursor().watch;
        let new = |id: &StreamId| wanted.contains_key(id) && !watched.contains(id);
        let count = wanted.keys().filter(|id| new(id)).count();
        if wanted.len() < WATCH_MAX || count >= TURN_MIN {
            return count > 0;
        }
        self.state.streams().iter().any(|(id, len)| len.is_none() && new(id))
    }
}

/// How many streams that are over make a turn, where others wait behind them.
const TURN_MIN: usize = WATCH_MAX / 4;

/// The place in the feed that a connection starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cursor {
    pub after: Seq,
    pub watch: BTreeMap<StreamId, u64>,
}

/// A page shows a handful of streams; more is a mistake or an attack.
pub const WATCH_MAX: usize = 64;

impl Cursor {
    /// `after=7&watch=task.1:120,task.2:0`
    pub fn to_query(&self) -> String {
        let watch: Vec<_> = self.watch.iter().map(|(id, offset)| format!("{id}:{offset}")).collect();
        format!("after={}&watch={}", self.after, watch.join(","))
    }

    /// Reads the `watch` part of a query.
    pub fn parse(after: Seq, watch: &str) -> Result<Self, String> {
        let entry = |text: &str| {
            let (id, offset) = text.rsplit_once(':').ok_or(format!("{text:?} has no offset"))?;
            let offset = offset.parse().map_err(|_| format!("{text:?} has a bad offset"))?;
            Ok::<_, String>((id.parse()?, offset))
        };
        let watch: BTreeMap<_, _> =
            watch.split(',').filter(|part| !part.is_empty()).map(entry).collect::<Result<_, _>>()?;
        if watch.len() > WATCH_MAX {
            return Err(format!("at most {WATCH_MAX} streams can be watched"));
        }
        Ok(Self { after, watch })
    }
}

#[cfg(test)]
mod tests;
