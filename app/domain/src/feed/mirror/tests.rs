use uuid::Uuid;

use super::*;
use crate::id::{Attempt, TaskId};

/// Shows streams of three bytes each, of which the last few are being written.
struct Shown {
    over: usize,
    written: usize,
}

fn id(n: usize) -> StreamId {
    StreamId { task: TaskId(Uuid::from_u128(n as u128)), attempt: Attempt(1) }
}

impl Fold for Shown {
    fn apply(&mut self, _: &Event) {}

    fn streams(&self) -> Vec<(StreamId, Option<u64>)> {
        let over = (0..self.over).map(|n| (id(n), Some(3)));
        over.chain((self.over..self.over + self.written).map(|n| (id(n), None))).collect()
    }
}

fn mirror(over: usize, written: usize) -> Mirror<Shown> {
    let state = Shown { over, written };
    let streams = state.streams().into_iter().map(|(id, _)| (id, String::new())).collect();
    Mirror::new(Snapshot { seq: 1, state, streams })
}

fn bring(mirror: &mut Mirror<Shown>, n: usize) {
    let delta = Delta { stream: id(n), offset: 0, text: "abc".into() };
    assert_eq!(mirror.receive(&Frame::Delta(delta)), Received::Applied);
}

/// Whether a mirror that shows so many wants another connection than one that watches these.
fn check(over: usize, written: usize, watched: std::ops::Range<usize>, expected: bool) {
    let names: Vec<_> = watched.clone().map(id).collect();
    assert_eq!(mirror(over, written).outgrows(&names), expected, "{over} {written} {watched:?}");
}

#[test]
fn what_is_new_is_watched_at_once_where_there_is_room() {
    check(3, 0, 0..3, false);
    check(3, 0, 0..2, true);
    check(3, 1, 0..3, true);
    check(0, 0, 0..3, false);
    // Some of them are over and none of them is here.
    check(WATCH_MAX, 1, 0..WATCH_MAX, true);
    check(WATCH_MAX + 1, 0, 0..WATCH_MAX, false);
    check(WATCH_MAX, 0, 0..WATCH_MAX - 1, false);
    check(WATCH_MAX, 0, 0..WATCH_MAX - TURN_MIN, true);
}

#[test]
fn what_is_missing_comes_by_turns_until_all_of_it_is_here() {
    let mut mirror = mirror(500, 2);
    let (mut watched, mut connections): (Vec<StreamId>, usize) = (Vec::new(), 0);
    while mirror.outgrows(&watched) {
        connections += 1;
        watched = mirror.cursor().watch.keys().copied().collect();
        assert!(
            watched.contains(&id(500)) && watched.contains(&id(501)),
            "what is written is watched always"
        );
        for stream in watched.clone() {
            let n = stream.task.0.as_u128() as usize;
            if n < 500 && !mirror.outgrows(&watched) {
                bring(&mut mirror, n);
            }
        }
    }
    assert_eq!(mirror.cursor().watch.keys().copied().collect::<Vec<_>>(), [id(500), id(501)]);
    assert!((500 / WATCH_MAX..=500 / TURN_MIN + 1).contains(&connections), "{connections} connections");
}
