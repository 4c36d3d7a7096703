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
    output::{Measured, Output, Part},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Db;
use tokio::{sync::mpsc, task::spawn_blocking, time::timeout};

use super::fitting::{ask_for_whole, asking};
use crate::{
    backend::{self, Request},
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
    /// What of the result no patch can hold.
    pub left_out: Option<String>,
    pub names: Names,
    pub secrets: Arc<[String]>,
    pub room: Room,
    pub nonce: Nonce,
}

/// What is described.
struct Read {
    said: String,
    patch: String,
    /// How many bytes of both are not there.
    left_out: u64,
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
            let Read { said, patch, left_out } = self.read().await?;
            let mut room = self.room;
            let unread = loop {
                let described = self.describe(&said, &patch, room, &mut sum, outputs, stop).await;
                match (described, room.halved()) {
                    // Not every server tells how much it can take.
                    (Err(error), Some(smaller)) if error.is_overflow() => room = smaller,
                    (described, _) => break described?,
                }
            };
            let (all, unread) = ((said.len() + patch.len()) as u64, left_out + unread as u64);
            let read = Part { bytes: (all + left_out).saturating_sub(unread), of: all + left_out };
            let read = (unread > 0).then(|| Box::new(read));
            Ok(Measured { read, ..sum.total(started.elapsed().as_millis() as u64) })
        }
        .boxed()
    }
}

impl Digesting {
    /// What it said and changed, without names and secrets. What takes many megabytes is read at both ends.
    async fn read(&self) -> Result<Read, backend::Error> {
        let (said, unsaid) =
            store::streams::text_of_ends(&self.db, self.result, READ_BYTES_MAX as u64 / 2).await?;
        let patch = store::results::patch_ends(&self.db, self.result, READ_BYTES_MAX).await?;
        let (patch, unshown) = patch.map(|patch| (patch.text(), patch.left_out())).unwrap_or_default();
        let left_out = self.left_out.as_ref().map(|words| format!("[Not part of the patch: {words}]\n"));
        let (names, redactor) = (self.names.clone(), Redactor::new(Arc::clone(&self.secrets)));
        let cleaned = spawn_blocking(move || {
            let clean = |text: &str| names.hidden(&redactor.redact(text));
            let patch = clean(&[left_out.unwrap_or_default(), patch].concat());
            Read { said: clean(&said), patch, left_out: unsaid + unshown }
        });
        cleaned.await.map_err(|error| backend::Error::Unprepared(error.to_string()))
    }

    /// Gives how many bytes nobody read.
    async fn describe(
        &self,
        said: &str,
        patch: &str,
        room: Room,
        sum: &mut Sum,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<usize, backend::Error> {
        let questions = Questions::new(self.kind, &self.task, room, &self.nonce);
        let (mut asked, unread) = questions.of_result(self.kind, said, patch);
        loop {
            let pieces = match asked {
                Asked::Last(question) => {
                    self.ask(question, room, sum, outputs, stop).await?;
                    return Ok(unread);
                }
                Asked::Pieces(pieces) => pieces,
            };
            let mut notes = Vec::new();
            for piece in pieces {
                notes.push(self.note(piece, room, sum, outputs, stop).await?);
            }
            if notes.iter().all(|note| note.trim().is_empty()) {
                let words = "The model noted nothing of a long result, so it cannot be described.";
                return Err(backend::Error::Unprepared(words.into()));
            }
            asked = questions.of_notes(&notes);
        }
    }

    /// Only a whole answer is told: of one that broke off because it was too much, the next one begins anew.
    async fn ask(
        &self,
        question: String,
        room: Room,
        sum: &mut Sum,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<(), backend::Error> {
        let text = self.answer(question, room, sum, outputs, stop, |_| None).await?;
        // Nobody listens to a task that has ended.
        let _ = outputs.send(Output::Text(text)).await;
        Ok(())
    }

    /// What is noted on the way is no part of the answer.
    async fn note(
        &self,
        question: String,
        room: Room,
        sum: &mut Sum,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<String, backend::Error> {
        let aside = |text| Some(Output::Reasoning(text));
        let mut note = self.answer(question, room, sum, outputs, stop, aside).await?;
        note.truncate(note.floor_char_boundary(NOTE_BYTES_MAX));
        Ok(note)
    }

    async fn answer(
        &self,
        question: String,
        room: Room,
        sum: &mut Sum,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
        instead: impl Fn(String) -> Option<Output>,
    ) -> Result<String, backend::Error> {
        let request = asking(&self.request, question, room);
        let asked = ask_for_whole(&self.client, &request, outputs, stop, instead);
        let late =
            || backend::Error::Unprepared("The model took more than 10 minutes for one answer.".into());
        let reply = timeout(ANSWER_WAIT_MAX, asked).await.unwrap_or_else(|_| Err(late()))?;
        if let Some(usage) = reply.measured.usage {
            let _ = outputs.send(Output::Usage(usage)).await;
        }
        sum.add(reply.measured);
        Ok(reply.text)
    }
}
