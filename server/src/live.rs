//! What is being written right now, in memory: the tails of running streams and of the feed's log.
//!
//! Memory only makes it quick. Every connection keeps its own place, and whatever it needs that is no longer
//! here it reads from Postgres, so a slow reader loses nothing and holds nothing up.

mod log;
mod stream;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use domain::feed::{Frame, StreamId};
use tokio::sync::Notify;

pub use log::{EventLog, Recent};
pub use stream::{Kept, Stream};

/// The live side of one server process.
#[derive(Default)]
pub struct Live {
    pub log: EventLog,
    streams: Mutex<HashMap<StreamId, Arc<Stream>>>,
}

impl Live {
    /// The stream under `id`, made when nobody has asked for it yet. A stream that another process writes is
    /// empty here, and only wakes its readers.
    pub fn stream(&self, id: StreamId) -> Arc<Stream> {
        let mut streams = guard(&self.streams);
        // Streams that nobody writes or reads any more would pile up otherwise.
        if streams.len() >= 64 {
            streams.retain(|_, stream| Arc::strong_count(stream) > 1);
        }
        Arc::clone(streams.entry(id).or_insert_with(|| Arc::new(Stream::new(id))))
    }

    /// Wakes whoever reads `id`: the tables have more of it, or its end.
    pub fn wake(&self, id: StreamId) {
        if let Some(stream) = guard(&self.streams).get(&id) {
            stream.wake();
        }
    }

    pub fn in_memory(&self) -> InMemory {
        let tails: Vec<usize> = guard(&self.streams).values().filter_map(|stream| stream.memory()).collect();
        InMemory {
            streams: tails.len() as u64,
            bytes: tails.iter().map(|bytes| *bytes as u64).sum(),
            readers: self.log.readers() as u64,
        }
    }

    /// Wakes everyone, after a time in which wake-ups may have been missed.
    pub fn wake_all(&self) {
        guard(&self.streams).values().for_each(|stream| stream.wake());
        self.log.wake();
    }
}

/// What the live side holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InMemory {
    /// Streams that this process writes.
    pub streams: u64,
    /// What their tails take.
    pub bytes: u64,
    /// Connections that follow the log.
    pub readers: u64,
}

/// The readers to wake. A reader has one bell for everything it waits for.
#[derive(Default)]
pub(crate) struct Bells(Mutex<Vec<Arc<Notify>>>);

impl Bells {
    pub fn add(&self, bell: &Arc<Notify>) {
        guard(&self.0).push(Arc::clone(bell));
    }

    pub fn remove(&self, bell: &Arc<Notify>) {
        guard(&self.0).retain(|other| !Arc::ptr_eq(other, bell));
    }

    pub fn count(&self) -> usize {
        guard(&self.0).len()
    }

    pub fn ring(&self) {
        guard(&self.0).iter().for_each(|bell| bell.notify_one());
    }
}

/// A frame as it goes over the wire. Encoded once, however many read it.
pub fn encode(frame: &Frame) -> Bytes {
    match frame.data() {
        // JSON has no raw line ends, so the data is one line.
        Ok(data) => Bytes::from(format!("event: {}\ndata: {data}\n\n", frame.name())),
        Err(error) => {
            tracing::error!(%error, "a frame could not be written; its readers start over");
            Bytes::from_static(b"event: reset\ndata: {}\n\n")
        }
    }
}

/// Nothing that holds these locks can leave their content half changed, so a panic elsewhere is no reason to
/// stop here too.
pub(crate) fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use domain::id::{Attempt, TaskId};

    use super::*;

    #[test]
    fn what_is_held_is_counted_and_no_longer_when_it_is_let_go() {
        let (live, bell) = (Live::default(), Arc::new(Notify::new()));
        let stream =
            |n| live.stream(StreamId { task: TaskId(uuid::Uuid::from_u128(n)), attempt: Attempt(1) });
        let (written, _read_only) = (stream(1), stream(2));
        written.open();
        written.push("x".repeat(1_000));
        live.log.listen(&bell);
        let held = live.in_memory();
        assert_eq!((held.streams, held.readers), (1, 1));
        assert!((1_000..4_000).contains(&held.bytes), "{held:?}");
        written.close();
        live.log.leave(&bell);
        assert_eq!(live.in_memory(), InMemory::default());
    }
}
