//! The tail of one running stream.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use domain::feed::{Delta, Frame, StreamId};
use tokio::sync::Notify;

use super::{Bells, encode, guard};

/// How much memory a stream's tail takes, frames included. A reader that is further behind reads from Postgres.
const KEPT_BYTES_MAX: usize = 256 * 1024;

pub struct Stream {
    id: StreamId,
    tail: Mutex<Tail>,
    bells: Bells,
}

#[derive(Default)]
struct Tail {
    pieces: VecDeque<Piece>,
    bytes: usize,
    len: u64,
    writing: bool,
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
#[derive(Debug, PartialEq)]
pub enum Kept {
    /// Frames to send, and the offset after them.
    Frames(Vec<Bytes>, u64),
    /// The reader has everything so far.
    Nothing,
    /// Ask Postgres: memory begins later, or nobody writes this stream here.
    Elsewhere,
}

impl Stream {
    pub(super) fn new(id: StreamId) -> Self {
        Self { id, tail: Mutex::default(), bells: Bells::default() }
    }

    /// From here on this process writes the stream.
    pub fn open(&self) {
        guard(&self.tail).writing = true;
    }

    pub fn push(&self, text: String) {
        let mut tail = guard(&self.tail);
        let (offset, len) = (tail.len, text.len());
        let frame = encode(&Frame::Delta(Delta { stream: self.id, offset, text: text.clone() }));
        let piece = Piece { offset, text, frame };
        tail.len += len as u64;
        tail.bytes += piece.memory();
        tail.pieces.push_back(piece);
        while tail.bytes > KEPT_BYTES_MAX && tail.pieces.len() > 1 {
            let gone = tail.pieces.pop_front().map_or(0, |piece| piece.memory());
            tail.bytes -= gone;
        }
        drop(tail);
        self.bells.ring();
    }

    /// Nothing more comes from here: what became of the stream, the tables say.
    pub fn close(&self) {
        *guard(&self.tail) = Tail::default();
        self.bells.ring();
    }

    pub(super) fn wake(&self) {
        self.bells.ring();
    }

    /// What a reader at `offset` can have, at most `max` bytes of text or one piece.
    pub fn read(&self, offset: u64, max: usize) -> Kept {
        let tail = guard(&self.tail);
        if !tail.writing || offset > tail.len {
            return Kept::Elsewhere;
        }
        if offset == tail.len {
            return Kept::Nothing;
        }
        let Some(first) = tail.pieces.partition_point(|piece| piece.offset <= offset).checked_sub(1) else {
            return Kept::Elsewhere;
        };
        let (mut frames, mut next, mut bytes) = (Vec::new(), offset, 0);
        for piece in tail.pieces.range(first..) {
            if bytes > 0 && bytes + piece.text.len() > max {
                break;
            }
            if piece.offset >= offset {
                frames.push(piece.frame.clone());
            } else {
                let Some(rest) = piece.text.get((offset - piece.offset) as usize..) else {
                    return Kept::Elsewhere;
                };
                let delta = Delta { stream: self.id, offset, text: rest.to_owned() };
                frames.push(encode(&Frame::Delta(delta)));
            }
            next = piece.offset + piece.text.len() as u64;
            bytes += piece.text.len();
        }
        Kept::Frames(frames, next)
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
        let page = Page { workspace: Workspace::default(), chat: None };
        let mut mirror = Mirror::new(domain::feed::Snapshot {
            seq: 0,
            state: page,
            streams: vec![(stream.id, "x".repeat(offset as usize))],
        });
        while let Kept::Frames(frames, next) = stream.read(offset, 10) {
            for frame in frames {
                let text = String::from_utf8(frame.to_vec()).unwrap();
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
        assert_eq!(stream.read(16, 10), Kept::Nothing);
        assert_eq!(stream.read(17, 10), Kept::Elsewhere);
    }

    #[test]
    fn memory_is_bounded_and_what_is_older_is_elsewhere() {
        let stream = stream();
        for _ in 0..100 {
            stream.push("x".repeat(10_000));
        }
        assert!(guard(&stream.tail).bytes <= KEPT_BYTES_MAX);
        assert_eq!(stream.read(0, 10), Kept::Elsewhere);
        assert!(matches!(stream.read(990_000, 10), Kept::Frames(_, 1_000_000)));
    }

    #[test]
    fn a_closed_stream_is_read_from_the_tables() {
        let stream = stream();
        stream.push("text".into());
        stream.close();
        assert_eq!(stream.read(0, 10), Kept::Elsewhere);
    }
}
