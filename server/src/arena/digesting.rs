//! The description of one result, read in as many pieces as it takes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    battle::{
        Kind, OPINION_LIMIT_S,
        blind::Names,
        digest::{Asked, Questions, READ_BYTES_MAX},
        room::Room,
    },
    feed::StreamId,
    fence::Nonce,
    output::{Measured, Output},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Db;
use tokio::{sync::mpsc, task::spawn_blocking, time::timeout};

use crate::{
    backend::{self, Message, Request, Role, native},
    coder::Sum,
    engine::{Backend, Redactor, Stop},
};

const ANSWER_WAIT_MAX: Duration = Duration::from_secs(OPINION_LIMIT_S as u64);
/// More of a note is not needed.
const NOTE_BYTES_MAX: usize = 16 * 1024;

pub(crate) struct Digesting {
    pub db: Db,
    pub client: reqwest::Client,
    /// Who is asked and how; the question is its last message.
    pub request: Request,
    pub kind: Kind,
    pub task: String,
    pub result: StreamId,
    pub names: Names,
    pub secrets: Arc<[String]>,
    pub room: Room,
    pub nonce: Nonce,
}

impl Backend for Digesting {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async move {
            let started = Instant::now();
            let mut sum = Sum::default();
            let (said, patch) = self.read().await?;
            let mut room = self.room;
            loop {
                let described = self.describe(&said, &patch, room, &mut sum, outputs, stop).await;
                match (described, room.halved()) {
                    // Not every server tells how much it can take.
                    (Err(error), Some(smaller)) if error.is_overflow() => room = smaller,
                    (described, _) => {
                        described?;
                        break;
                    }
                }
            }
            Ok(sum.total(started.elapsed().as_millis() as u64))
        }
        .boxed()
    }
}

impl Digesting {
    /// What it said and changed, without names and secrets. A change of many megabytes is read at both ends.
    async fn read(&self) -> Result<(String, String), backend::Error> {
        let unread = |error: store::Error| backend::Error::Unprepared(error.to_string());
        let said =
            store::streams::text(&self.db, self.result, READ_BYTES_MAX as u64).await.map_err(unread)?;
        let patch =
            store::results::patch_ends(&self.db, self.result, READ_BYTES_MAX).await.map_err(unread)?;
        let (names, redactor) = (self.names.clone(), Redactor::new(Arc::clone(&self.secrets)));
        let cleaned = spawn_blocking(move || {
            let clean = |text: &str| names.hidden(&redactor.redact(text));
            (clean(&said), patch.map(|patch| clean(&patch.text())).unwrap_or_default())
        });
        cleaned.await.map_err(|error| backend::Error::Unprepared(error.to_string()))
    }

    async fn describe(
        &self,
        said: &str,
        patch: &str,
        room: Room,
        sum: &mut Sum,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<(), backend::Error> {
        let questions = Questions::new(self.kind, &self.task, room, &self.nonce);
        let mut asked = questions.of_result(self.kind, said, patch);
        loop {
            let pieces = match asked {
                Asked::Last(question) => return self.ask(question, sum, outputs, stop).await,
                Asked::Pieces(pieces) => pieces,
            };
            let mut notes = Vec::new();
            for piece in pieces {
                notes.push(self.note(piece, sum, outputs, stop).await?);
            }
            if notes.iter().all(|note| note.trim().is_empty()) {
                let words = "The model noted nothing of a long result, so it cannot be described.";
                return Err(backend::Error::Unprepared(words.into()));
            }
            asked = questions.of_notes(&notes);
        }
    }

    async fn ask(
        &self,
        question: String,
        sum: &mut Sum,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<(), backend::Error> {
        let mut request = self.request.clone();
        request.messages.pop();
        request.messages.push(Message::new(Role::User, question));
        let asking = native::run(&self.client, &request, outputs, stop.token());
        let late =
            || backend::Error::Unprepared("The model took more than 10 minutes for one answer.".into());
        let reply = timeout(ANSWER_WAIT_MAX, asking).await.unwrap_or_else(|_| Err(late()))?;
        if let Some(usage) = reply.measured.usage {
            // Nobody listens to a task that has ended.
            let _ = outputs.send(Output::Usage(usage)).await;
        }
        sum.add(reply.measured);
        Ok(())
    }

    /// What is noted on the way is no part of the answer.
    async fn note(
        &self,
        question: String,
        sum: &mut Sum,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<String, backend::Error> {
        let (heard, mut said) = mpsc::channel(64);
        let listening = async {
            let mut note = String::new();
            while let Some(output) = said.recv().await {
                let output = match output {
                    Output::Text(text) => {
                        let room = NOTE_BYTES_MAX.saturating_sub(note.len());
                        note.push_str(&text[..text.floor_char_boundary(room)]);
                        Output::Reasoning(text)
                    }
                    other => other,
                };
                let _ = outputs.send(output).await;
            }
            note
        };
        let asking = async {
            let asked = self.ask(question, sum, &heard, stop).await;
            drop(heard);
            asked
        };
        let (asked, note) = tokio::join!(asking, listening);
        asked.map(|()| note)
    }
}
