//! The tail of one running stream.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::{Bytes, BytesMut};
use domain::feed::{Delta, Frame, StreamId};
use tokio::sync::Notify;

use super::{Bells, encode, guard};

/// How much memory a stream's tail takes, frames included. A reader that is further behind reads from Postgres.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

/// A length that no stream has: nobody writes it here.
const NOT_WRITTEN: u64 = u64::MAX;

pub struct Stream {
    id: StreamId,
    /// How long it is, so that the many who have everything need not wait for the lock.
    len: AtomicU64,
    tail: Mutex<Tail>,
    bells: Bells,
}

#[derive(Default)]
struct Tail {
    pieces: VecDeque<Piece>,
    bytes: usize,
}

struct Piece {
    offset: u64,
    text: String,
    frame: Bytes,
}

impl Piece {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.text.len() + self.frame.len()
    }
}

/// What memory has for a reader at some offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// There was something, up to this offset.
    Until(u64),
    /// The reader has everything so far.
    Nothing,
    /// Ask Postgres: memory begins later, or nobody writes this stream here.
    Elsewhere,
}

impl Stream {
    pub(super) fn new(id: StreamId) -> Self {
        let len = AtomicU64::new(NOT_WRITTEN);
        Self { id, len, tail: Mutex::default(), bells: Bells::default() }
    }

    /// From here on this process writes the stream.
    pub fn open(&self) {
        let _tail = guard(&self.tail);
        self.len.store(0, Ordering::Release);
    }

    /// Adds to the tail. Readers are woken by `wake`, which whoever writes calls as often as is worth it.
    pub fn push(&self, text: String) {
        let mut tail = guard(&self.tail);
        let (offset, len) = (self.len.load(Ordering::Acquire), text.len());
        if offset == NOT_WRITTEN {
            return;
        }
        let frame = encode(&Frame::Delta(Delta { stream: self.id, offset, text: text.clone() }));
        let piece = Piece { offset, text, frame };
        tail.bytes += piece.memory();
        tail.pieces.push_back(piece);
        while tail.bytes > KEPT_BYTES_MAX && tail.pieces.len() > 1 {
            let gone = tail.pieces.pop_front().map_or(0, |piece| piece.memory());
            tail.bytes -= gone;
        }
        self.len.store(offset + len as u64, Ordering::Release);
    }

    /// Nothing more comes from here: what became of the stream, the tables say.
    pub fn close(&self) {
        let mut tail = guard(&self.tail);
        *tail = Tail::default();
        self.len.store(NOT_WRITTEN, Ordering::Release);
        drop(tail);
        self.bells.ring();
    }

    pub fn wake(&self) {
        self.bells.ring();
    }

    /// Gives a reader at `offset` what it can have, at most `max` bytes of text or one piece.
    pub fn read(&self, offset: u64, max: usize, out: &mut BytesMut) -> Kept {
        // Changed before the bell rings, so whoever sees too little here is woken.
        if self.len.load(Ordering::Acquire) == offset {
            return Kept::Nothing;
        }
        let tail = guard(&self.tail);
        let len = self.len.load(Ordering::Acquire);
        if len == NOT_WRITTEN || offset > len {
            return Kept::Elsewhere;
        }
        let Some(first) = tail.pieces.partition_point(|piece| piece.offset <= offset).checked_sub(1) else {
            return Kept::Elsewhere;
        };
        let (mut next, mut bytes) = (offset, 0);
        for piece in tail.pieces.range(first..) {
            if bytes > 0 && bytes + piece.text.len() > max {
                break;
            }
            if piece.offset >= offset {
                out.extend_from_slice(&piece.frame);
            } else {
                let Some(rest) = piece.text.get((offset - piece.offset) as usize..) else {
                    return Kept::Elsewhere;
                };
                let delta = Delta { stream: self.id, offset, text: rest.to_owned() };
                out.extend_from_slice(&encode(&Frame::Delta(delta)));
            }
            next = piece.offset + piece.text.len() as u64;
            bytes += piece.text.len();
        }
        Kept::Until(next)
    }

    /// What the tail takes, while this process writes the stream.
    pub(super) fn memory(&self) -> Option<usize> {
        let tail = guard(&self.tail);
        (self.len.load(Ordering::Acquire) != NOT_WRITTEN).then_some(tail.bytes)
    }

    pub fn listen(&self, bell: &Arc<Notify>) {
        self.bells.add(bell);
    }

    pub fn leave(&self, bell: &Arc<Notify>) {
        self.bells.remove(bell);
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        feed::Mirror,
        id::{Attempt, TaskId},
        page::Page,
        workspace::Workspace,
    };

    use super::*;

    fn stream() -> Stream {
        let stream = Stream::new(StreamId { task: TaskId(uuid::Uuid::nil()), attempt: Attempt(1) });
        stream.open();
        stream
    }

    /// Reads from `offset` to the end as a browser would.
    fn read_all(stream: &Stream, mut offset: u64) -> (String, u64) {
        let page = Page { workspace: Workspace::default(), session: None };
        let mut mirror = Mirror::new(domain::feed::Snapshot {
            seq: 0,
            state: page,
            streams: vec![(stream.id, "x".repeat(offset as usize))],
        });
        let mut out = BytesMut::new();
        while let Kept::Until(next) = stream.read(offset, 10, &mut out) {
            let sent = String::from_utf8(out.split().to_vec()).unwrap();
            for text in sent.split_inclusive("\n\n") {
                let (name, data) = text.split_once('\n').unwrap();
                let name = name.strip_prefix("event: ").unwrap();
                let data = data.trim_end().strip_prefix("data: ").unwrap();
                mirror.receive(&Frame::parse(name, data).unwrap());
            }
            offset = next;
        }
        (mirror.streams[&stream.id].text.clone(), offset)
    }

    #[test]
    fn a_reader_gets_the_rest_from_any_offset() {
        let stream = stream();
        for piece in ["hello ", "wide ", "world"] {
            stream.push(piece.into());
        }
        assert_eq!(read_all(&stream, 0), ("hello wide world".into(), 16));
        assert_eq!(read_all(&stream, 8), ("xxxxxxxxde world".into(), 16));
        assert_eq!(stream.read(16, 10, &mut BytesMut::new()), Kept::Nothing);
        assert_eq!(stream.read(17, 10, &mut BytesMut::new()), Kept::Elsewhere);
    }

    #[test]
    fn memory_is_bounded_and_what_is_older_is_elsewhere() {
        let stream = stream();
        for _ in 0..100 {
            stream.push("x".repeat(10_000));
        }
        assert!(guard(&stream.tail).bytes <= KEPT_BYTES_MAX);
        assert_eq!(stream.read(0, 10, &mut BytesMut::new()), Kept::Elsewhere);
        assert_eq!(stream.read(990_000, 10, &mut BytesMut::new()), Kept::Until(1_000_000));
    }

    #[test]
    fn a_closed_stream_is_read_from_the_tables() {
        let stream = stream();
        stream.push("text".into());
        stream.close();
        assert_eq!(stream.read(0, 10, &mut BytesMut::new()), Kept::Elsewhere);
    }
}
