//! Runs one attempt: a backend, a deadline, a way to stop it, and one report at the end.

use std::{sync::Arc, time::Duration};

use domain::{
    chat::Choice,
    feed::StreamId,
    output::{Measured, Outcome, Output},
    task::{Task, Work},
};
use futures::future::BoxFuture;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

use super::{
    Clock, Stop, StopReason,
    ledger::{Ledger, Report},
    redact::Redactor,
    tally::Tally,
    writer::Writer,
};
use crate::{
    backend::{self, Request, native},
    live::Stream,
};

/// How far a backend may run ahead of the writer.
const OUTPUTS_MAX: usize = 256;
/// How long a backend may take to notice that it has to stop.
const STOP_WAIT_MAX: Duration = Duration::from_secs(12);
/// How long it may take to keep what it made. A large worktree is read, whether its work was stopped or not.
pub(crate) const KEEP_WAIT_MAX: Duration = Duration::from_secs(150);
/// How often, and how long, a report is tried while the database does not answer. After that the lease runs
/// out and the attempt counts as lost.
const REPORT_TRIES: u32 = 5;
const REPORT_WAIT: Duration = Duration::from_secs(1);
const REPORT_WAIT_MAX: Duration = Duration::from_secs(10);

/// The longest that any attempt may take.
pub(crate) const LIMIT_MAX: Duration = Duration::from_secs(2 * 60 * 60);

/// The longest that an attempt at this task may take.
pub(crate) fn limit(task: &Task) -> Duration {
    let own = task.limit_s.map(|seconds| Duration::from_secs(seconds.into()));
    let limit = own.unwrap_or(match task.work {
        Work::CoderTurn => LIMIT_MAX,
        Work::Title => Duration::from_secs(5 * 60),
        _ => Duration::from_secs(30 * 60),
    });
    limit.min(LIMIT_MAX)
}

/// What runs an attempt. A trait, so that the timing here is tested without a model.
pub(crate) trait Backend: Send + Sync {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>>;

    /// Keeps what it made, however it ended, once nothing of it runs any more.
    fn keep(&self) -> BoxFuture<'_, Result<(), backend::Error>> {
        Box::pin(async { Ok(()) })
    }
}

/// A chat completion on a model server.
pub(crate) struct Completion {
    pub client: reqwest::Client,
    pub request: Request,
}

impl Backend for Completion {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        Box::pin(async move {
            let reply = native::run(&self.client, &self.request, outputs, stop.token()).await?;
            if let Some(usage) = reply.measured.usage {
                let _ = outputs.send(Output::Usage(usage)).await;
            }
            Ok(reply.measured)
        })
    }
}

/// Ends whatever an attempt that was given up has running, and makes sure of it. A trait, as the backend is one.
pub(crate) trait Processes: Send + Sync {
    fn end(&self, stream: StreamId) -> BoxFuture<'_, ()>;
}

pub(crate) struct Execution<'a> {
    pub stream: StreamId,
    pub limit: Duration,
    pub live: Arc<Stream>,
    pub ledger: &'a dyn Ledger,
    pub processes: &'a dyn Processes,
    pub tally: &'a Tally,
    pub stop: &'a Stop,
    pub clock: &'a Clock,
    pub secrets: Arc<[String]>,
    pub title: Option<Choice>,
}

impl Execution<'_> {
    pub async fn run(self, backend: &dyn Backend) {
        self.live.open();
        let (outputs, written) = mpsc::channel(OUTPUTS_MAX);
        let writer = Writer::new(
            self.stream,
            Arc::clone(&self.live),
            self.ledger,
            self.stop,
            self.clock,
            &self.secrets,
        );
        let (result, said) = tokio::join!(self.drive(backend, outputs), writer.write(written));
        let outcome = match (self.stop.reason(), result) {
            // Done is done, also when it was told to stop, or the server to go down, in the last moment.
            (Some(StopReason::Shutdown | StopReason::Asked), Some(Ok(measured))) => {
                Some(Outcome::Done { measured })
            }
            (Some(reason), _) => reason.outcome(self.limit),
            (None, Some(Ok(measured))) => Some(Outcome::Done { measured }),
            (None, Some(Err(error))) => Some(self.redacted(error.outcome())),
            (None, None) => Some(Outcome::Lost),
        };
        if let Some(outcome) = outcome {
            let outcome = self.kept(backend, outcome).await;
            self.report(outcome, said).await;
        }
        self.live.close();
    }

    /// What an agent or a model server says of its failure is theirs too.
    fn redacted(&self, outcome: Outcome) -> Outcome {
        let hide = |reason: String| Redactor::new(Arc::clone(&self.secrets)).redact(&reason);
        match outcome {
            Outcome::Failed { reason } => Outcome::Failed { reason: hide(reason) },
            Outcome::Void { reason } => Outcome::Void { reason: hide(reason) },
            other => other,
        }
    }

    /// What is lost is begun anew, so nothing of it has to be kept.
    async fn kept(&self, backend: &dyn Backend, outcome: Outcome) -> Outcome {
        if outcome == Outcome::Lost {
            return outcome;
        }
        let kept = timeout(KEEP_WAIT_MAX, backend.keep()).await;
        // Reading what it made has a limit of its own, so that what runs out here is the database's time.
        let late = || backend::Error::Away("What it made could not be kept in time.".into());
        match (kept.unwrap_or_else(|_| Err(late())), outcome) {
            // Without what it made the work would look like none.
            (Err(error), Outcome::Done { .. }) => self.redacted(error.outcome()),
            (Err(error), outcome) => {
                tracing::warn!(stream = %self.stream, %error, "what an attempt made could not be kept");
                outcome
            }
            (Ok(()), outcome) => outcome,
        }
    }

    /// Holds the only sender, so that the writer sees the end when the backend is gone. `None` when the
    /// backend was stopped.
    async fn drive(
        &self,
        backend: &dyn Backend,
        outputs: mpsc::Sender<Output>,
    ) -> Option<Result<Measured, backend::Error>> {
        let mut run = backend.run(&outputs, self.stop);
        tokio::select! {
            result = &mut run => return Some(result),
            reason = self.clock.run_out(self.limit) => self.stop.ask(reason),
            () = self.stop.token().cancelled() => {}
        }
        // Give it the time to hang up in good order, but not longer.
        if timeout(STOP_WAIT_MAX, &mut run).await.is_err() {
            // It must not start anything behind whoever ends what it has running.
            drop(run);
            // Whoever is told that this attempt is over may begin the next one.
            self.processes.end(self.stream).await;
        }
        None
    }

    async fn report(&self, outcome: Outcome, said: String) {
        let report = Report { stream: self.stream, outcome, said: Some(said), title: self.title.clone() };
        for _ in 0..REPORT_TRIES {
            match timeout(REPORT_WAIT_MAX, self.ledger.report(report.clone())).await {
                Ok(Ok(())) => {
                    self.tally.reported(&report.outcome);
                    return;
                }
                Ok(Err(store::Error::Rejected(no))) => {
                    tracing::info!(stream = %self.stream, %no, "the report was not wanted any more");
                    return;
                }
                Ok(Err(error)) => {
                    tracing::warn!(stream = %self.stream, %error, "the report will be tried again")
                }
                Err(_) => {
                    tracing::warn!(stream = %self.stream, "the report got no answer and will be tried again")
                }
            }
            sleep(REPORT_WAIT).await;
        }
    }
}

#[cfg(test)]
mod tests;
