//! Whatever is cut, repeated or reordered on the way, the browser's state ends equal to the server's.

use std::collections::BTreeMap;

use super::*;
use crate::{
    catalogue::ModelRef,
    chat::{Chat, Choice, Input, NewTurn, Report},
    id::{ChatId, MessageId, SessionId},
    output::Outcome,
    page::{OpenSession, Page},
    sim::{Dice, for_each_seed},
    task::{self, Status},
    workspace::Workspace,
};

/// The server's side: the truth, the log, and the streams with what of them would survive a crash.
struct Server {
    page: Page,
    log: Vec<Event>,
    /// Events up to here were trimmed away.
    trimmed: usize,
    streams: BTreeMap<StreamId, Stream>,
    ids: u128,
}

#[derive(Default)]
struct Stream {
    text: String,
    durable: usize,
    ended: bool,
    /// Whether a crash took text of it away.
    lost: bool,
}

#[test]
fn the_browser_ends_equal_to_the_server() {
    for_each_seed(3_000, |seed| story(&mut Dice::new(seed)));
}

/// A state that shows one stream, whose end may be known.
struct Showing(StreamId, Option<u64>);

impl Fold for Showing {
    fn apply(&mut self, _: &Event) {}

    fn streams(&self) -> Vec<(StreamId, Option<u64>)> {
        vec![(self.0, self.1)]
    }
}

#[test]
fn a_new_snapshot_takes_back_only_what_is_gone() {
    let check = |shown: &str, snapshot: &str, end: Option<u64>, left: &str, retracted: bool| {
        let stream = StreamId { task: TaskId(uuid::Uuid::from_u128(9)), attempt: Attempt(1) };
        let with = |text: &str, end| Snapshot {
            seq: 0,
            state: Showing(stream, end),
            streams: vec![(stream, text.to_owned())],
        };
        let mut mirror = Mirror::new(with(shown, None));
        mirror.renew(with(snapshot, end));
        assert_eq!(mirror.streams[&stream], StreamCopy { text: left.into(), retracted });
    };
    check("abc", "abcd", None, "abcd", false);
    check("abc", "abc", None, "abc", false);
    // What is being written reaches the page before it is durable, and a long text comes only in part.
    check("abc", "ab", None, "abc", false);
    check("abc", "ab", Some(3), "abc", false);
    check("abc", "ab", Some(5), "abc", false);
    check("abc", "ab", Some(2), "ab", true);
    check("abc", "abx", None, "abx", true);
}

fn story(dice: &mut Dice) {
    let mut server = Server::new();
    let mut mirror = Mirror::new(server.snapshot());
    let mut wire: Vec<Frame> = Vec::new();
    for _ in 0..80 {
        match dice.roll(10) {
            0..=2 => server.advance(dice),
            // Events go by while a stream is written.
            3 if dice.chance(50) => server.rename(dice),
            3 => server.crash(),
            4 => server.trimmed = server.log.len().saturating_sub(dice.roll(6)),
            5 => wire.extend(server.frames(&mirror.cursor())),
            6 if !wire.is_empty() => drop(wire.remove(dice.roll(wire.len()))),
            7 if !wire.is_empty() => wire.push(wire[dice.roll(wire.len())].clone()),
            8 if wire.len() > 1 => {
                let (a, b) = (dice.roll(wire.len()), dice.roll(wire.len()));
                wire.swap(a, b);
            }
            _ if !wire.is_empty() => deliver(&mut server, &mut mirror, &mut wire),
            _ => {}
        }
    }
    server.end(dice);
    // The weather clears. One connection that is not cut brings everything.
    wire.clear();
    for _ in 0..3 {
        wire.extend(server.frames(&mirror.cursor()));
        while !wire.is_empty() {
            deliver(&mut server, &mut mirror, &mut wire);
        }
    }
    assert_eq!(mirror.state, server.page);
    for (id, len) in server.page.streams() {
        let text = &server.streams[&id].text;
        assert_eq!(len, Some(text.len() as u64));
        let copy = mirror.streams.get(&id).cloned().unwrap_or_default();
        assert_eq!(copy.text, *text, "stream {id}");
        assert!(!copy.retracted || server.streams[&id].lost, "stream {id} lost nothing");
    }
    assert!(mirror.cursor().watch.is_empty(), "nothing is left to wait for");
}

/// What the page does with the next frame: a gap makes it reconnect, so the rest of the wire is gone.
fn deliver(server: &mut Server, mirror: &mut Mirror<Page>, wire: &mut Vec<Frame>) {
    match mirror.receive(&wire.remove(0)) {
        Received::Applied | Received::Repeated => {}
        Received::Gap => *wire = server.frames(&mirror.cursor()),
        Received::Reset => {
            mirror.renew(server.snapshot());
            *wire = server.frames(&mirror.cursor());
        }
    }
}

impl Server {
    fn new() -> Self {
        let id = |n| uuid::Uuid::from_u128(n);
        let chat = Chat::new(ChatId(id(1)), SessionId(id(2)), "New chat".into());
        let open =
            OpenSession { chats: [(chat.id, chat.clone())].into(), ..OpenSession::empty(chat.session) };
        let page = Page { workspace: Workspace::default(), session: Some(open) };
        Self { page, log: Vec::new(), trimmed: 0, streams: BTreeMap::new(), ids: 10 }
    }

    fn id(&mut self) -> uuid::Uuid {
        self.ids += 1;
        uuid::Uuid::from_u128(self.ids)
    }

    fn chat(&self) -> &Chat {
        self.page.chat(ChatId(uuid::Uuid::from_u128(1))).unwrap()
    }

    fn commit(&mut self, events: Vec<Event>) {
        for event in events {
            self.page.apply(&event);
            self.log.push(event);
        }
    }

    fn running(&self) -> Option<StreamId> {
        let task = self.chat().active_turn()?;
        let Status::Running { attempt, .. } = task.status else {
            return None;
        };
        Some(StreamId { task: task.id, attempt })
    }

    fn advance(&mut self, dice: &mut Dice) {
        match (self.chat().active_turn().cloned(), self.running()) {
            (_, Some(stream)) if dice.chance(70) => {
                let stream = self.streams.get_mut(&stream).unwrap();
                let piece: String =
                    (0..1 + dice.roll(4)).map(|_| ['a', 'é', '\n', '🦀'][dice.roll(4)]).collect();
                stream.text.push_str(&piece);
                if dice.chance(50) {
                    stream.durable = stream.text.len();
                }
            }
            (_, Some(stream)) => self.report(stream, Outcome::Done { measured: Default::default() }),
            (Some(task), None) => {
                let attempt = task.next_attempt();
                self.streams.insert(StreamId { task: task.id, attempt }, Stream::default());
                let events = task.decide(task::Input::Claim { at_ms: 0 }).unwrap();
                self.commit(events);
            }
            (None, None) => {
                let turn = NewTurn {
                    message: MessageId(self.id()),
                    reply: MessageId(self.id()),
                    task: TaskId(self.id()),
                };
                let choice = Choice {
                    model: ModelRef { server: "s".into(), model: "m".into() },
                    paid: false,
                    persona: None,
                    coder: None,
                    machine: None,
                };
                let ask =
                    Input::Ask { turn, text: "why".into(), choice, enclosed: Default::default(), at_ms: 0 };
                let events = self.chat().decide(ask).unwrap();
                self.commit(events);
            }
        }
    }

    fn report(&mut self, stream: StreamId, outcome: Outcome) {
        let row = self.streams.get_mut(&stream).unwrap();
        if outcome == Outcome::Lost {
            row.lost = row.durable < row.text.len();
            row.text.truncate(row.durable);
        }
        (row.durable, row.ended) = (row.text.len(), true);
        let (task, attempt, stream_len) = (stream.task, stream.attempt, row.text.len() as u64);
        let report = Report { task, attempt, outcome, stream_len, said: None, title: None, at_ms: 0 };
        let events = self.chat().decide(Input::Report(report)).unwrap();
        self.commit(events);
    }

    fn rename(&mut self, dice: &mut Dice) {
        let title = format!("Chat {}", dice.roll(10));
        let events = self.chat().decide(Input::Rename { title }).unwrap();
        self.commit(events);
    }

    /// Memory is gone: streams fall back to what was durable, and the attempt is lost.
    fn crash(&mut self) {
        if let Some(stream) = self.running() {
            self.report(stream, Outcome::Lost);
        }
    }

    fn end(&mut self, dice: &mut Dice) {
        while self.chat().active_turn().is_some() {
            self.advance(dice);
        }
    }

    fn snapshot(&self) -> Snapshot<Page> {
        let text = |id: &StreamId| {
            let stream = &self.streams[id];
            stream.text[..stream.durable].to_owned()
        };
        Snapshot {
            seq: self.log.len() as Seq,
            state: self.page.clone(),
            streams: self.page.streams().into_iter().map(|(id, _)| (id, text(&id))).collect(),
        }
    }

    /// What a connection sends that resumes at `cursor`.
    fn frames(&self, cursor: &Cursor) -> Vec<Frame> {
        let after = cursor.after as usize;
        if after < self.trimmed || after > self.log.len() {
            return vec![Frame::Reset];
        }
        let mut frames: Vec<_> = (after..self.log.len())
            .map(|at| Frame::Event(Box::new(Envelope { seq: at as Seq + 1, event: self.log[at].clone() })))
            .collect();
        for (id, offset) in &cursor.watch {
            let Some(stream) = self.streams.get(id) else {
                continue;
            };
            let (offset, len) = (*offset as usize, stream.text.len());
            if offset > len && stream.ended {
                frames.push(Frame::Truncate(Truncate { stream: *id, len: len as u64 }));
            } else if offset < len {
                let text = stream.text[offset..].to_owned();
                frames.push(Frame::Delta(Delta { stream: *id, offset: offset as u64, text }));
            }
        }
        frames
    }
}
