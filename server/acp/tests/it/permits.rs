//! Persons who answer as a test tells them.

use std::sync::Mutex;

use acp::Permits;
use domain::tool::{Ask, Permit};
use futures::FutureExt;
use futures::future::{BoxFuture, pending, ready};

/// Gives the same answer to everything, and remembers what it was asked.
pub struct Person {
    answer: Option<Permit>,
    away: bool,
    pub asked: Mutex<Vec<Ask>>,
}

impl Person {
    pub fn who_says(answer: impl Into<Option<Permit>>) -> Self {
        Self { answer: answer.into(), away: false, asked: Mutex::default() }
    }

    /// Never answers.
    pub fn away() -> Self {
        Self { away: true, ..Self::who_says(None) }
    }

    pub fn asks(&self) -> Vec<Ask> {
        self.asked.lock().unwrap().clone()
    }
}

impl Permits for Person {
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Option<Permit>> {
        self.asked.lock().unwrap().push(ask);
        if self.away { pending().boxed() } else { ready(self.answer).boxed() }
    }
}
