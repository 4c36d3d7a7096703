//! The newest events of the feed, so that each connection need not ask Postgres for them.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use bytes::Bytes;
use domain::feed::{Envelope, Frame, Seq};
use tokio::sync::Notify;

use super::{Bells, encode, guard};

const EVENTS_KEPT_MAX: usize = 1_024;
const BYTES_KEPT_MAX: usize = 4 * 1024 * 1024;

#[derive(Default)]
pub struct EventLog {
    /// The number of the last event, so that the many who have seen it need not wait for the lock.
    last: AtomicI64,
    recent: Mutex<Newest>,
    bells: Bells,
}

#[derive(Default)]
struct Newest {
    /// The number of the last event known here, kept or not.
    last: Seq,
    frames: VecDeque<Bytes>,
    bytes: usize,
}

/// What memory has for a reader that stands after some event.
#[derive(Debug, PartialEq)]
pub enum Recent {
    Frames(Vec<Bytes>, Seq),
    Nothing,
    /// Ask Postgres.
    Elsewhere,
}

impl EventLog {
    pub fn last(&self) -> Seq {
        self.last.load(Ordering::Acquire)
    }

    /// Starts over after `seq`, when what came before is unknown.
    pub fn start_after(&self, seq: Seq) {
        let mut newest = guard(&self.recent);
        *newest = Newest { last: seq, ..Newest::default() };
        self.last.store(seq, Ordering::Release);
        drop(newest);
        self.bells.ring();
    }

    /// Adds the events that follow the last one; others are ignored.
    pub fn extend(&self, events: &[Envelope]) {
        let mut newest = guard(&self.recent);
        for envelope in events {
            if envelope.seq != newest.last + 1 {
                continue;
            }
            let frame = encode(&Frame::Event(Box::new(envelope.clone())));
            newest.last = envelope.seq;
            newest.bytes += frame.len();
            newest.frames.push_back(frame);
            while newest.frames.len() > EVENTS_KEPT_MAX || newest.bytes > BYTES_KEPT_MAX {
                let gone = newest.frames.pop_front().map_or(0, |frame| frame.len());
                newest.bytes -= gone;
            }
        }
        self.last.store(newest.last, Ordering::Release);
        drop(newest);
        self.bells.ring();
    }

    pub fn read(&self, after: Seq) -> Recent {
        if after == self.last() {
            return Recent::Nothing;
        }
        let newest = guard(&self.recent);
        if after == newest.last {
            return Recent::Nothing;
        }
        let first_kept = newest.last - newest.frames.len() as Seq;
        if after > newest.last || after < first_kept {
            return Recent::Elsewhere;
        }
        let frames = newest.frames.range((after - first_kept) as usize..).cloned().collect();
        Recent::Frames(frames, newest.last)
    }

    pub fn listen(&self, bell: &Arc<Notify>) {
        self.bells.add(bell);
    }

    pub fn leave(&self, bell: &Arc<Notify>) {
        self.bells.remove(bell);
    }

    pub(super) fn readers(&self) -> usize {
        self.bells.count()
    }

    pub(super) fn wake(&self) {
        self.bells.ring();
    }
}

#[cfg(test)]
mod tests {
    use domain::{feed::Event, id::ChatId, task::Owner};

    use super::*;

    fn events(range: std::ops::Range<Seq>) -> Vec<Envelope> {
        let event = Event::TaskCancelling {
            owner: Owner::Chat(ChatId(uuid::Uuid::nil())),
            task: domain::id::TaskId(uuid::Uuid::nil()),
        };
        range.map(|seq| Envelope { seq, event: event.clone() }).collect()
    }

    #[test]
    fn a_reader_gets_what_follows_its_place() {
        let log = EventLog::default();
        log.start_after(10);
        log.extend(&events(11..14));
        assert_eq!(log.read(13), Recent::Nothing);
        assert!(matches!(log.read(11), Recent::Frames(frames, 13) if frames.len() == 2));
        assert!(matches!(log.read(10), Recent::Frames(frames, 13) if frames.len() == 3));
        assert_eq!(log.read(9), Recent::Elsewhere);
        assert_eq!(log.read(14), Recent::Elsewhere);
    }

    #[test]
    fn a_repeated_or_early_event_is_not_taken() {
        let log = EventLog::default();
        log.extend(&events(1..3));
        log.extend(&events(1..4));
        log.extend(&events(9..10));
        assert_eq!(log.last(), 3);
    }

    #[test]
    fn memory_is_bounded() {
        let log = EventLog::default();
        log.extend(&events(1..3_000));
        assert_eq!(guard(&log.recent).frames.len(), EVENTS_KEPT_MAX);
        assert_eq!(log.read(1), Recent::Elsewhere);
    }
}
