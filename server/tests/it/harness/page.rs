//! A browser page without a browser: a snapshot, the feed, and the same fold.

use std::time::Duration;

use domain::{
    chat::{Body, Chat},
    feed::{Frame, Mirror, Received, StreamId},
    id::ChatId,
    page::Page,
    task::{Status, Task},
    transcript::Transcript,
};
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};

use super::{PATIENCE, Server};

pub struct Watcher {
    pub chat: ChatId,
    pub mirror: Mirror<Page>,
    connection: Option<Connection>,
    /// Frames in the order in which they came, for tests that look at the wire.
    pub seen: Vec<Frame>,
}

struct Connection {
    response: Response,
    buffer: String,
    watching: Vec<StreamId>,
}

impl Watcher {
    pub async fn new(server: &Server, chat: ChatId) -> Self {
        let mirror = Mirror::new(server.snapshot(Some(chat)).await);
        Self { chat, mirror, connection: None, seen: Vec::new() }
    }

    pub fn chat(&self) -> &Chat {
        self.mirror.state.chat(self.chat).unwrap()
    }

    /// The task of the last answer that is shown.
    pub fn last_task(&self) -> &Task {
        let branch = self.chat().branch();
        self.chat().task_of(branch.last().unwrap()).unwrap()
    }

    pub fn last_status(&self) -> &Status {
        &self.last_task().status
    }

    /// The text of the last attempt at the last answer.
    pub fn answer(&self) -> String {
        Transcript::read(&self.last_stream()).text()
    }

    /// All that it says, as it is stored.
    pub fn last_stream(&self) -> String {
        let task = self.last_task();
        let Some((attempt, _)) = task.attempts().last().copied() else { return String::new() };
        let stream = StreamId { task: task.id, attempt };
        self.mirror.streams.get(&stream).map_or(String::new(), |copy| copy.text.clone())
    }

    pub fn stream_text(&self, stream: StreamId) -> String {
        self.mirror.streams.get(&stream).map_or(String::new(), |copy| Transcript::read(&copy.text).text())
    }

    pub fn questions(&self) -> Vec<String> {
        let text = |body: &Body| match body {
            Body::User { text, .. } => Some(text.clone()),
            Body::Assistant { .. } => None,
        };
        self.chat().branch().iter().filter_map(|message| text(&message.body)).collect()
    }

    /// Reads the feed until `done`, reconnecting and resuming as the page does.
    pub async fn until(&mut self, server: &Server, what: &str, done: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done(self) {
            if timeout_at(deadline, self.step(server)).await.is_err() {
                panic!("never happened: {what}; the chat is {:#?}", self.chat());
            }
        }
    }

    /// Until nothing that the server knows of by now is at work, and every stream is whole.
    pub async fn until_settled(&mut self, server: &Server) {
        let seq = server.snapshot(None).await.seq;
        self.until(server, "everything settled", |page| {
            page.mirror.seq >= seq
                && page.chat().tasks.values().all(Task::is_settled)
                && page.chat().queue.is_empty()
                && page.mirror.cursor().watch.is_empty()
        })
        .await;
    }

    /// Until the newest attempt at the last answer has at least `bytes` bytes of text.
    pub async fn until_said(&mut self, server: &Server, bytes: usize) {
        self.until(server, "some text arrived", |page| {
            // While a lost turn waits for its next attempt, the last text is the lost one's.
            !page.chat().messages.is_empty()
                && *page.last_status() != Status::Queued
                && page.answer().len() >= bytes
        })
        .await;
    }

    /// As if the network went away: what is on its way is lost.
    pub fn cut(&mut self) {
        self.connection = None;
    }

    async fn step(&mut self, server: &Server) {
        let wanted: Vec<StreamId> = self.mirror.cursor().watch.keys().copied().collect();
        if self.connection.as_ref().is_some_and(|connection| connection.watching != wanted) {
            self.connection = None;
        }
        let Some(connection) = &mut self.connection else {
            self.connect(server, wanted).await;
            return;
        };
        match timeout(Duration::from_secs(5), connection.response.chunk()).await {
            Ok(Ok(Some(bytes))) => connection.buffer.push_str(std::str::from_utf8(&bytes).unwrap()),
            // Ended, broken, or silent for too long: connect again.
            _ => {
                self.connection = None;
                return;
            }
        }
        while let Some(frame) = self.connection.as_mut().and_then(Connection::next_frame) {
            let received = self.mirror.receive(&frame);
            self.seen.push(frame);
            match received {
                Received::Applied | Received::Repeated => {}
                Received::Gap => self.connection = None,
                Received::Reset => {
                    self.connection = None;
                    self.mirror = Mirror::new(server.snapshot(Some(self.chat)).await);
                }
            }
        }
    }

    async fn connect(&mut self, server: &Server, watching: Vec<StreamId>) {
        let path = format!("/api/feed?{}", self.mirror.cursor().to_query());
        match server.get(&path).send().await {
            Ok(response) => {
                assert_eq!(response.status(), StatusCode::OK);
                self.connection = Some(Connection { response, buffer: String::new(), watching });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

impl Connection {
    fn next_frame(&mut self) -> Option<Frame> {
        let end = self.buffer.find("\n\n")?;
        let block: String = self.buffer.drain(..end + 2).collect();
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
        Some(Frame::parse(&field("event: ").unwrap(), &field("data: ").unwrap()).unwrap())
    }
}
