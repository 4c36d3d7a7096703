//! Asking a person on an agent's behalf. While it waits, others may have its place at the model server.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use acp::Permits;
use domain::{
    feed::StreamId,
    output::Phase,
    tool::{Ask, Permit},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Db;
use tokio::{sync::Mutex, time::sleep};

use crate::engine::{Answers, now_ms};

/// How often a question, or a place, is tried while the database does not answer or none is free.
const AGAIN: Duration = Duration::from_millis(300);

pub(crate) struct Asking {
    pub db: Db,
    pub stream: StreamId,
    pub slot_key: String,
    pub answers: Answers,
    /// What is allowed without a person's word.
    pub allows_all: bool,
    number: AtomicU32,
    /// A person is asked one thing at a time.
    turn: Mutex<()>,
}

impl Asking {
    pub fn new(db: Db, stream: StreamId, slot_key: String, answers: Answers, allows_all: bool) -> Self {
        Self { db, stream, slot_key, answers, allows_all, number: AtomicU32::new(1), turn: Mutex::new(()) }
    }

    async fn of_person(&self, ask: Ask) -> Option<Permit> {
        let _turn = self.turn.lock().await;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let heard = self.answers.expect(number);
        let phase = Phase::Asking(Ask { number, ..ask });
        while let Err(error) = store::commit::phase(&self.db, self.stream, phase.clone(), now_ms()).await {
            if matches!(error, store::Error::Rejected(_)) {
                return None;
            }
            sleep(AGAIN).await;
        }
        let permit = heard.await.ok()?;
        self.regain_place().await;
        Some(permit)
    }

    /// The attempt's own deadline bounds this, as it bounds the person.
    async fn regain_place(&self) {
        loop {
            match store::slots::regain(&self.db, self.stream, &self.slot_key).await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::debug!(%error, "the place at the model server could not be asked for"),
            }
            sleep(AGAIN).await;
        }
    }
}

impl Permits for Asking {
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Option<Permit>> {
        async move {
            // Behind its wall it can do no harm, and whoever let it go by itself said so.
            let free = [Permit::Once, Permit::Always].into_iter().find(|permit| ask.options.contains(permit));
            match free.filter(|_| self.allows_all) {
                Some(permit) => Some(permit),
                None => self.of_person(ask).await,
            }
        }
        .boxed()
    }
}
