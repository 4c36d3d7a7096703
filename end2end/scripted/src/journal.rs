//! What was asked of this server, so that a test can prove "one at a time" and "cancelled upstream".

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::ask::Ask;
use crate::models::lock;

#[derive(Clone, Debug, Serialize)]
pub struct Record {
    pub id: u64,
    pub path: String,
    pub model: String,
    pub last_user_message: String,
    /// What the conversation says that the model said last; only chat completions tell.
    pub last_assistant_message: String,
    pub system: String,
    /// The images of the conversation as they came, each cut after so many characters.
    pub images: Vec<String>,
    pub tool_results: u64,
    pub stream: bool,
    pub authorized: bool,
    pub started_unix_ms: u64,
    /// `null` while the request is in flight.
    pub finished_unix_ms: Option<u64>,
    pub status: Option<u16>,
    pub tokens: u64,
    /// The client left before the answer was complete.
    pub disconnected: bool,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Concurrency {
    pub now: usize,
    pub max: usize,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Log {
    pub requests: VecDeque<Record>,
    /// Older records that made room.
    pub forgotten: u64,
    pub concurrent: Concurrency,
    pub concurrent_by_model: BTreeMap<String, Concurrency>,
    #[serde(skip)]
    next_id: u64,
}

#[derive(Default)]
pub struct Journal(Mutex<Log>);

/// A request in flight. Dropped before `complete`, it is written down as left by its client.
pub struct Entry {
    journal: Arc<Journal>,
    id: u64,
    model: String,
    status: Option<u16>,
    tokens: u64,
    complete: bool,
}

const RECORDS_MAX: usize = 1000;
const MODELS_MAX: usize = 100;
const TEXT_CHARS_MAX: usize = 4000;
const IMAGE_CHARS_MAX: usize = 1000;

impl Journal {
    pub fn begin(self: &Arc<Self>, path: &str, ask: &Ask, authorized: bool) -> Entry {
        let mut log = lock(&self.0);
        let id = log.next_id;
        log.next_id += 1;
        if log.requests.len() == RECORDS_MAX {
            log.requests.pop_front();
            log.forgotten += 1;
        }
        log.requests.push_back(Record {
            id,
            path: path.to_owned(),
            model: ask.model.clone(),
            last_user_message: ask.prompt.chars().take(TEXT_CHARS_MAX).collect(),
            last_assistant_message: ask.answered.chars().take(TEXT_CHARS_MAX).collect(),
            system: ask.system.chars().take(TEXT_CHARS_MAX).collect(),
            images: ask.images.iter().map(|url| url.chars().take(IMAGE_CHARS_MAX).collect()).collect(),
            tool_results: ask.tool_results,
            stream: ask.stream,
            authorized,
            started_unix_ms: unix_ms(),
            finished_unix_ms: None,
            status: None,
            tokens: 0,
            disconnected: false,
        });
        log.concurrent.enter();
        if log.concurrent_by_model.contains_key(&ask.model) || log.concurrent_by_model.len() < MODELS_MAX {
            log.concurrent_by_model.entry(ask.model.clone()).or_default().enter();
        }
        Entry {
            journal: self.clone(),
            id,
            model: ask.model.clone(),
            status: None,
            tokens: 0,
            complete: false,
        }
    }

    pub fn read(&self) -> Log {
        lock(&self.0).clone()
    }

    pub fn in_flight(&self, model: &str) -> usize {
        lock(&self.0).concurrent_by_model.get(model).map_or(0, |concurrency| concurrency.now)
    }

    /// Forgets the past; what is in flight goes on being counted.
    pub fn reset(&self) {
        let mut log = lock(&self.0);
        log.requests.retain(|record| record.finished_unix_ms.is_none());
        log.forgotten = 0;
        log.concurrent.max = log.concurrent.now;
        log.concurrent_by_model.retain(|_, concurrency| {
            concurrency.max = concurrency.now;
            concurrency.now > 0
        });
    }
}

impl Entry {
    pub fn answered(&mut self, status: u16) {
        self.status = Some(status);
    }

    pub fn said(&mut self, tokens: u64) {
        self.tokens = tokens;
    }

    pub fn complete(&mut self) {
        self.complete = true;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut log = lock(&self.journal.0);
        log.concurrent.now = log.concurrent.now.saturating_sub(1);
        if let Some(concurrency) = log.concurrent_by_model.get_mut(&self.model) {
            concurrency.now = concurrency.now.saturating_sub(1);
        }
        if let Some(record) = log.requests.iter_mut().rev().find(|record| record.id == self.id) {
            record.finished_unix_ms = Some(unix_ms());
            record.status = self.status;
            record.tokens = self.tokens;
            record.disconnected = !self.complete;
        }
    }
}

impl Concurrency {
    fn enter(&mut self) {
        self.now += 1;
        self.max = self.max.max(self.now);
    }
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(model: &str) -> Ask {
        Ask { model: model.into(), prompt: "hi".into(), ..Ask::default() }
    }

    #[test]
    fn counts_at_once_and_tells_who_left() {
        let journal = Arc::new(Journal::default());
        let mut first = journal.begin("/a", &ask("m"), true);
        let second = journal.begin("/b", &ask("m"), true);
        assert_eq!(journal.in_flight("m"), 2);
        first.complete();
        drop((first, second));
        let log = journal.read();
        assert_eq!((log.concurrent.now, log.concurrent.max), (0, 2));
        let left: Vec<bool> = log.requests.iter().map(|record| record.disconnected).collect();
        assert_eq!(left, [false, true]);
    }

    #[test]
    fn is_bounded_and_forgets_on_reset() {
        let journal = Arc::new(Journal::default());
        for _ in 0..RECORDS_MAX + 5 {
            journal.begin("/a", &ask("m"), true).complete();
        }
        assert_eq!((journal.read().requests.len(), journal.read().forgotten), (RECORDS_MAX, 5));
        let open = journal.begin("/b", &ask("m"), true);
        journal.reset();
        assert_eq!((journal.read().requests.len(), journal.read().concurrent.max), (1, 1));
        drop(open);
    }
}
