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
                tracing::warn!(%error, "the places at model servers could not be kept");
            }
            engine.0.work.notify_one();
            tokio::select! {
                _ = changed.changed() => {}
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
            engine.execute(&task, stream, &stop).await;
            guard(&engine.0.running).remove(&stream);
            engine.0.work.notify_one();
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
        let backend: Arc<dyn Backend> = match self.prepare(task).await {
            Ok(completion) => Arc::new(completion),
            Err(error) => Arc::new(Unprepared(error)),
        };
        execution.run(backend.as_ref()).await;
    }

    /// What the model is asked, from the tables as they are now.
    async fn prepare(&self, task: &Task) -> Result<Completion, String> {
        let conversation =
            store::conversation(&self.0.db, task.id).await.map_err(|error| error.to_string())?;
        let endpoint = self.0.models.endpoint(&task.model.server).ok_or_else(|| {
            let server = &task.model.server;
            let why = self
                .0
                .models
                .catalogue()
                .server(server)
                .and_then(|server| server.reason().map(str::to_owned));
            why.unwrap_or_else(|| format!("The model server {server} is not configured or found any more."))
        })?;
        let request = prompt::request(conversation, endpoint)?;
        Ok(Completion { client: self.0.client.clone(), request })
    }
}

/// An attempt that could not even begin, through no fault of the model's.
struct Unprepared(String);

impl Backend for Unprepared {
    fn run<'a>(
        &'a self,
        _: &'a mpsc::Sender<Output>,
        _: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async { Err(backend::Error::Unprepared(self.0.clone())) }.boxed()
    }
}
