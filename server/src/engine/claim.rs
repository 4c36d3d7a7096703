//! Takes what can be run now.

use std::{sync::Arc, time::Duration};

use domain::{
    catalogue::choose_default,
    feed::StreamId,
    output::{Measured, Output},
    task::{Status, Task, Work},
};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::{sync::mpsc, time::timeout};

use super::{
    Engine, LEASE, Stop, StopReason,
    execute::{Backend, Completion, Execution, limit},
    now_ms, prompt, redact,
};
use crate::{backend, live::guard};

/// A wake-up that goes missing costs at most this long.
const POLL: Duration = Duration::from_secs(2);
const PROVIDE_EVERY: Duration = Duration::from_secs(5);
/// How long the tables may take to say what is to be asked.
const PREPARE_WAIT_MAX: Duration = Duration::from_secs(10);
/// What a claim may allow for until the execution's own limit ends it.
const DEADLINE_SLACK: Duration = Duration::from_secs(60);

pub(super) fn run(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        while !engine.0.shutdown.is_cancelled() {
            if let Err(error) = engine.claim_all().await {
                tracing::warn!(%error, "no task could be claimed");
            }
            tokio::select! {
                _ = timeout(POLL, engine.0.work.notified()) => {}
                () = engine.0.shutdown.cancelled() => {}
            }
        }
        let running: Vec<Stop> = guard(&engine.0.running).values().cloned().collect();
        running.iter().for_each(|stop| stop.ask(StopReason::Shutdown));
    }
    .boxed()
}

/// Keeps as many places at each model server as it can serve.
pub(super) fn provide_slots(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        let mut changed = engine.0.models.changed();
        loop {
            changed.mark_unchanged();
            if let Err(error) = store::slots::provide(&engine.0.db, &engine.0.models.slots()).await {
                tracing::warn!(%error, "the places at model servers could not be kept; trying again");
            }
            engine.0.work.notify_one();
            // Now and then without a change too: for a try that failed, and for a place that was in use.
            tokio::select! {
                _ = timeout(PROVIDE_EVERY, changed.changed()) => {}
                () = engine.0.shutdown.cancelled() => return,
            }
        }
    }
    .boxed()
}

impl Engine {
    async fn claim_all(&self) -> store::Result<()> {
        let reachable = self.0.models.claimable();
        let longest = limit(Work::ChatTurn) + DEADLINE_SLACK;
        while !self.0.shutdown.is_cancelled() {
            let claimed =
                store::tasks::claim(&self.0.db, self.0.instance, &reachable, LEASE, longest, now_ms());
            match claimed.await? {
                Some(task) => self.start_task(task),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn start_task(&self, task: Task) {
        let Status::Running { attempt, .. } = task.status else { return };
        let stream = StreamId { task: task.id, attempt };
        let stop = Stop::default();
        guard(&self.0.running).insert(stream, stop.clone());
        let engine = self.clone();
        self.0.tasks.spawn(async move {
            tracing::info!(%stream, work = ?task.work, model = %task.model, "started");
            let _entry = Entry { engine: &engine, stream };
            engine.execute(&task, stream, &stop).await;
        });
    }

    async fn execute(&self, task: &Task, stream: StreamId, stop: &Stop) {
        let models = &self.0.models;
        let execution = Execution {
            stream,
            limit: limit(task.work),
            live: self.0.live.stream(stream),
            ledger: &self.0.db,
            stop,
            secrets: redact::secrets(models.keys().iter().map(|key| key.expose().to_owned())),
            title_model: choose_default(&models.catalogue(), self.0.default_model.as_deref()),
        };
        let prepared = timeout(PREPARE_WAIT_MAX, self.prepare(task)).await;
        let backend: Arc<dyn Backend> = match prepared {
            Ok(Ok(completion)) => Arc::new(completion),
            Ok(Err(Unprepared::Told(reason))) => Arc::new(Hopeless(reason)),
            Ok(Err(Unprepared::Store(error))) => {
                tracing::warn!(%stream, %error, "the conversation could not be read; trying again");
                stop.ask(StopReason::Unwritten);
                Arc::new(Hopeless(String::new()))
            }
            Err(_) => {
                tracing::warn!(%stream, "the conversation could not be read in time; trying again");
                stop.ask(StopReason::Unwritten);
                Arc::new(Hopeless(String::new()))
            }
        };
        execution.run(backend.as_ref()).await;
    }

    /// What the model is asked, from the tables as they are now.
    async fn prepare(&self, task: &Task) -> Result<Completion, Unprepared> {
        let conversation = store::conversation(&self.0.db, task.id).await.map_err(Unprepared::Store)?;
        let endpoint = self.0.models.endpoint(&task.model.server).ok_or_else(|| {
            let server = &task.model.server;
            let catalogue = self.0.models.catalogue();
            let why = catalogue.server(server).and_then(|server| server.reason()).map(str::to_owned);
            Unprepared::Told(
                why.unwrap_or_else(|| format!("The model server {server} is not there any more.")),
            )
        })?;
        let request = prompt::request(conversation, endpoint).map_err(Unprepared::Told)?;
        Ok(Completion { client: self.0.client.clone(), request })
    }
}

/// Why an attempt could not even begin: something to tell the user, or a passing trouble of ours.
enum Unprepared {
    Told(String),
    Store(store::Error),
}

/// An attempt that ends before it begins, through no fault of the model's.
struct Hopeless(String);

impl Backend for Hopeless {
    fn run<'a>(
        &'a self,
        _: &'a mpsc::Sender<Output>,
        _: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async { Err(backend::Error::Unprepared(self.0.clone())) }.boxed()
    }
}

/// A task's entry among those that run here. It goes with the task, also when that panics, so that no lease
/// is renewed for nobody.
struct Entry<'a> {
    engine: &'a Engine,
    stream: StreamId,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        guard(&self.engine.0.running).remove(&self.stream);
        self.engine.0.work.notify_one();
    }
}
