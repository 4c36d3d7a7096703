//! Takes what can be run now.

use std::{sync::Arc, time::Duration};

use domain::{
    chat::Coder,
    feed::StreamId,
    output::{Measured, Output},
    persona::Persona,
    task::{Status, Task, Work},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Conversation;
use tokio::{sync::mpsc, time::timeout};

use super::{
    Engine, LEASE, Running, Stop, StopReason,
    execute::{Backend, Completion, Execution, limit},
    now_ms, prompt, redact,
};
use crate::{
    backend,
    coder::{Asking, ExternalAgent, NativeAgent},
    live::guard,
    models::Endpoint,
};

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
        let running: Vec<Running> = guard(&engine.0.running).values().cloned().collect();
        running.iter().for_each(|running| running.stop.ask(StopReason::Shutdown));
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
        let longest = limit(Work::CoderTurn) + DEADLINE_SLACK;
        let host = self.0.coders.host();
        while !self.0.shutdown.is_cancelled() {
            let claimed =
                store::tasks::claim(&self.0.db, self.0.instance, host, &reachable, LEASE, longest, now_ms());
            match claimed.await? {
                Some(task) => self.start_task(task),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn start_task(&self, task: Task) {
        let Status::Running { attempt, .. } = task.status else { return };
        self.0.tally.claimed();
        let stream = StreamId { task: task.id, attempt };
        let running = Running::default();
        guard(&self.0.running).insert(stream, running.clone());
        let engine = self.clone();
        self.0.tasks.spawn(async move {
            tracing::info!(%stream, work = ?task.work, model = %task.model, "started");
            let _entry = Entry { engine: &engine, stream };
            engine.execute(&task, stream, &running).await;
        });
    }

    async fn execute(&self, task: &Task, stream: StreamId, running: &Running) {
        let stop = &running.stop;
        let models = &self.0.models;
        let execution = Execution {
            stream,
            limit: limit(task.work),
            live: self.0.live.stream(stream),
            ledger: &self.0.db,
            tally: &self.0.tally,
            stop,
            secrets: redact::secrets(
                models.keys().iter().chain(&self.0.secrets).map(|secret| secret.expose().to_owned()),
            ),
            title_model: models.default_model(),
        };
        let prepared = timeout(PREPARE_WAIT_MAX, self.prepare(task, stream, running)).await;
        let backend: Arc<dyn Backend> = match prepared {
            Ok(Ok(backend)) => backend,
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

    /// What the task's persona says now.
    async fn persona(&self, task: &Task) -> Result<Option<Persona>, Unprepared> {
        let Some(name) = &task.persona else { return Ok(None) };
        let project =
            store::workspace::project_of_chat(&self.0.db, task.chat).await.map_err(Unprepared::Store)?;
        let found = self.0.personas.find(project.path, name).await;
        found.map(Some).map_err(|rejected| Unprepared::Told(rejected.to_string()))
    }

    /// What the model is asked, from the tables as they are now.
    async fn prepare(
        &self,
        task: &Task,
        stream: StreamId,
        running: &Running,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        let conversation = store::conversation(&self.0.db, task.id).await.map_err(Unprepared::Store)?;
        let endpoint = self.0.models.endpoint(&task.model.server).ok_or_else(|| {
            let server = &task.model.server;
            let catalogue = self.0.models.catalogue();
            let why = catalogue.server(server).and_then(|server| server.reason()).map(str::to_owned);
            Unprepared::Told(
                why.unwrap_or_else(|| format!("The model server {server} is not there any more.")),
            )
        })?;
        let persona = self.persona(task).await?;
        let (allowed, steps) = persona.as_ref().map_or((None, None), |it| (it.tools.clone(), it.steps));
        if let Some(coder) = task.coder.clone().filter(|coder| !coder.backend.is_native()) {
            let conversation = prompt::as_persona(conversation, persona.as_ref());
            return self.external(task, stream, running, coder, endpoint, conversation);
        }
        let slot_key = endpoint.slot_key.clone();
        let request = prompt::request(conversation, endpoint, persona).map_err(Unprepared::Told)?;
        let client = self.0.client.clone();
        let Some(coder) = task.coder.clone() else { return Ok(Arc::new(Completion { client, request })) };
        let coders = Arc::clone(&self.0.coders);
        let asking = self.asking(stream, running, slot_key, &coder);
        let chat = task.chat;
        Ok(Arc::new(NativeAgent { coders, client, request, stream, chat, coder, asking, allowed, steps }))
    }

    /// An agent's own program, which is told what is asked now, and what was said before if it cannot know.
    fn external(
        &self,
        task: &Task,
        stream: StreamId,
        running: &Running,
        coder: Coder,
        endpoint: Endpoint,
        conversation: Conversation,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        let agent = acp::agents::find(&coder.backend.0)
            .ok_or_else(|| Unprepared::Told(format!("There is no agent called {}.", coder.backend)))?;
        let asking = self.asking(stream, running, endpoint.slot_key.clone(), &coder);
        let (before, prompt) = prompt::blocks(conversation.said);
        let coders = Arc::clone(&self.0.coders);
        let (chat, model) = (task.chat, task.model.model.clone());
        Ok(Arc::new(ExternalAgent {
            coders,
            agent,
            stream,
            chat,
            coder,
            endpoint,
            model,
            asking,
            prompt,
            before,
        }))
    }

    fn asking(&self, stream: StreamId, running: &Running, slot_key: String, coder: &Coder) -> Asking {
        Asking::new(self.0.db.clone(), stream, slot_key, running.answers.clone(), !coder.asks)
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
