//! What the routes of one server share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use crate::journal::Journal;
use crate::models::{Models, lock};
use crate::setup::{Flavour, Script};

pub struct Server {
    pub script: Script,
    pub journal: Arc<Journal>,
    pub models: Arc<Models>,
    asked: Mutex<HashMap<u64, Asked>>,
    /// A bare llama-server is deaf until then.
    loading_until: Mutex<Instant>,
}

/// How often a conversation was asked, and when for the first time.
#[derive(Clone, Copy)]
pub struct Asked {
    pub before: u64,
    pub first: Instant,
}

const CONVERSATIONS_MAX: usize = 10_000;

impl Server {
    pub fn new(script: Script) -> Arc<Self> {
        Arc::new(Self {
            journal: Arc::default(),
            models: Models::new(&script),
            asked: Mutex::default(),
            loading_until: Mutex::new(Instant::now() + script.load),
            script,
        })
    }

    pub fn ask(&self, fingerprint: u64) -> Asked {
        let mut asked = lock(&self.asked);
        // Forgetting all is crude, but bounded; a test has few conversations.
        if asked.len() >= CONVERSATIONS_MAX {
            asked.clear();
        }
        let entry = asked.entry(fingerprint).or_insert(Asked { before: 0, first: Instant::now() });
        let now = *entry;
        entry.before += 1;
        now
    }

    /// Whether a bare llama-server still loads its model.
    pub fn is_loading(&self) -> bool {
        self.script.flavour == Flavour::LlamaCpp && Instant::now() < *lock(&self.loading_until)
    }

    /// Lets the load last until then.
    pub fn load_until(&self, since: Instant, silence: Duration) {
        let mut until = lock(&self.loading_until);
        *until = (*until).max(since + silence);
    }

    pub fn reset(&self) {
        self.journal.reset();
        lock(&self.asked).clear();
    }
}
