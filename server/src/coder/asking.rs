//! Asking a person on an agent's behalf. While it waits, others may have its place at the model server.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use acp::Permits;
use domain::{
    diff::hidden,
    feed::StreamId,
    output::Phase,
    tool::{Ask, Permit},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Db;
use tokio::{sync::Mutex, time::sleep};

use crate::engine::{Answers, Clock, Redactor, now_ms};

/// How often a question, or a place, is tried while the database does not answer or none is free.
const AGAIN: Duration = Duration::from_millis(300);
/// A database that does not take a question in this many tries keeps no lease either.
const TRIES_MAX: u32 = 30;

pub(crate) struct Asking {
    asked: Asked,
    /// What is allowed without a person's word.
    pub allows_all: bool,
    number: AtomicU32,
    /// A person is asked one thing at a time.
    turn: Mutex<()>,
}

/// On whose behalf, and what goes on meanwhile.
pub(crate) struct Asked {
    pub db: Db,
    pub stream: StreamId,
    pub slot_key: String,
    pub answers: Answers,
    pub clock: Clock,
    pub redactor: Redactor,
}

impl Asking {
    pub fn new(asked: Asked, allows_all: bool) -> Self {
        Self { asked, allows_all, number: AtomicU32::new(1), turn: Mutex::new(()) }
    }

    async fn of_person(&self, ask: Ask) -> Option<Permit> {
        let _turn = self.turn.lock().await;
        let Asked { db, stream, answers, clock, redactor, .. } = &self.asked;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let heard = answers.expect(number);
        // Whoever allows something must see all of it.
        let title = hidden::shown(&redactor.redact(&ask.title));
        let detail = hidden::shown_lines(&redactor.redact(&ask.detail));
        let phase = Phase::Asking(Ask { number, title, detail, ..ask });
        let _standing = clock.stand();
        let mut tries = 0;
        while let Err(error) = store::commit::phase(db, *stream, phase.clone(), now_ms()).await {
            tries += 1;
            if matches!(error, store::Error::Rejected(_)) || tries == TRIES_MAX {
                tracing::warn!(%stream, %error, "what an agent asked could not be asked");
                return None;
            }
            sleep(AGAIN).await;
        }
        let permit = heard.await.ok()?;
        self.regain_place().await;
        Some(permit)
    }

    /// The attempt's own clock bounds this, as it bounds the person.
    async fn regain_place(&self) {
        let Asked { db, stream, slot_key, .. } = &self.asked;
        loop {
            match store::slots::regain(db, *stream, slot_key).await {
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
