//! What an execution writes down. A trait, so that its timing is tested without a database.

use domain::{
    chat::Choice,
    feed::StreamId,
    output::{Outcome, Phase},
};
use futures::future::BoxFuture;
use store::{Db, commit::Ended};

pub(crate) trait Ledger: Send + Sync {
    /// `false` when the attempt is no longer ours. Asked twice, it appends once.
    fn append(&self, stream: StreamId, start: u64, text: String) -> BoxFuture<'_, store::Result<bool>>;
    fn phase(&self, stream: StreamId, phase: Phase) -> BoxFuture<'_, store::Result<()>>;
    /// A call of the model used so many tokens.
    fn used(&self, stream: StreamId, tokens: u64) -> BoxFuture<'_, store::Result<()>>;
    fn report(&self, report: Report) -> BoxFuture<'_, store::Result<()>>;
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    pub stream: StreamId,
    pub outcome: Outcome,
    pub said: Option<String>,
    pub title: Option<Choice>,
}

impl Ledger for Db {
    fn append(&self, stream: StreamId, start: u64, text: String) -> BoxFuture<'_, store::Result<bool>> {
        Box::pin(async move { store::streams::append(self, stream, start, &text).await })
    }

    fn phase(&self, stream: StreamId, phase: Phase) -> BoxFuture<'_, store::Result<()>> {
        Box::pin(async move { store::commit::phase(self, stream, phase, super::now_ms()).await.map(drop) })
    }

    fn used(&self, stream: StreamId, tokens: u64) -> BoxFuture<'_, store::Result<()>> {
        Box::pin(async move { store::commit::used(self, stream, tokens, super::now_ms()).await })
    }

    fn report(&self, report: Report) -> BoxFuture<'_, store::Result<()>> {
        Box::pin(async move {
            let Report { stream, outcome, said, title } = report;
            let (task, attempt, at_ms) = (stream.task, stream.attempt, super::now_ms());
            store::commit::report(self, Ended { task, attempt, outcome, said, title, at_ms }).await?;
            // Only to read it faster later; whoever starts next does it otherwise.
            if let Err(error) = store::streams::fold(self, stream).await {
                tracing::warn!(%stream, %error, "a finished stream was not folded");
            }
            Ok(())
        })
    }
}
