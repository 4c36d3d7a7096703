//! Makes of a task what runs it: who is asked, what, and where.

mod battle;
mod chat;
mod run;

use std::sync::Arc;

use domain::{
    agent::{CALLS_MAX, Pace, STEPS},
    catalogue::ModelRef,
    chat::Coder,
    feed::StreamId,
    output::{Measured, Output},
    persona::Persona,
    task::{Owner, Task},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Conversation;
use tokio::sync::mpsc;

use super::{
    Engine, Running, Stop,
    execute::{Backend, Completion},
    prompt,
    redact::Redactor,
};
use crate::{
    backend::{self, Request},
    coder::{Asked, Asking, ExternalAgent, NativeAgent, Place},
    models::Endpoint,
};

/// Why an attempt could not even begin: something to tell the user, or a passing trouble of ours.
pub(super) enum Unprepared {
    Told(String),
    Store(store::Error),
}

impl From<store::Error> for Unprepared {
    fn from(error: store::Error) -> Self {
        if error.is_away() { Self::Store(error) } else { Self::Told(backend::told(&error)) }
    }
}

impl Engine {
    /// What the model is asked, from the tables as they are now.
    pub(super) async fn prepare(
        &self,
        task: &Task,
        stream: StreamId,
        running: &Running,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        match task.owner {
            Owner::Chat(chat) => self.for_chat(task, chat, stream, running).await,
            Owner::Battle(battle) => self.for_battle(task, battle, stream, running).await,
            Owner::Run(run) => self.for_run(task, run, stream, running).await,
        }
    }

    fn endpoint(&self, model: &ModelRef) -> Result<Endpoint, Unprepared> {
        let server = &model.server;
        self.0.models.endpoint(server).ok_or_else(|| {
            let catalogue = self.0.models.catalogue();
            let why = catalogue.server(server).and_then(|server| server.reason()).map(str::to_owned);
            Unprepared::Told(
                why.unwrap_or_else(|| format!("The model server {server} is not there any more.")),
            )
        })
    }

    /// What the task's persona says now, in this project's folder.
    async fn persona(&self, task: &Task, project: String) -> Result<Option<Persona>, Unprepared> {
        let Some(name) = &task.persona else { return Ok(None) };
        let found = self.0.personas.find(project, name).await;
        found.map(Some).map_err(|rejected| Unprepared::Told(rejected.to_string()))
    }

    /// Whoever does the work of `coder` on this conversation, in this place.
    fn agent(
        &self,
        task: &Task,
        stream: StreamId,
        running: &Running,
        work: Work,
    ) -> Result<Arc<dyn Backend>, Unprepared> {
        let Work { coder, place, endpoint, conversation, persona } = work;
        let asking = self.asking(stream, &endpoint, running, !coder.asks);
        let coders = Arc::clone(&self.0.coders);
        if coder.backend.is_native() {
            let (allowed, steps) = persona.as_ref().map_or((None, None), |it| (it.tools.clone(), it.steps));
            let pace = Pace::new(steps.unwrap_or(STEPS), CALLS_MAX);
            let request = prompt::request(conversation, endpoint, persona).map_err(Unprepared::Told)?;
            let client = self.0.client.clone();
            return Ok(Arc::new(NativeAgent {
                coders,
                client,
                request,
                stream,
                place,
                coder,
                asking,
                allowed,
                pace,
                form: None,
            }));
        }
        let agent = self
            .0
            .coders
            .agent(&coder.backend)
            .ok_or_else(|| Unprepared::Told(format!("There is no agent called {}.", coder.backend)))?;
        // It is told what is asked now, and what was said before if it cannot know.
        let conversation = prompt::as_persona(conversation, persona.as_ref());
        let after = conversation.after;
        let (before, prompt) = prompt::blocks(conversation.said);
        let model = task.model.model.clone();
        Ok(Arc::new(ExternalAgent {
            coders,
            agent,
            stream,
            place,
            coder,
            endpoint,
            model,
            asking,
            prompt,
            before,
            after,
            limits: None,
        }))
    }

    fn asking(&self, stream: StreamId, endpoint: &Endpoint, running: &Running, allows_all: bool) -> Asking {
        let (db, slot_key) = (self.0.db.clone(), endpoint.slot_key.clone());
        let (answers, clock) = (running.answers.clone(), running.clock.clone());
        let redactor = Redactor::new(self.secrets());
        Asking::new(Asked { db, stream, slot_key, answers, clock, redactor }, allows_all)
    }

    fn completion(&self, request: Request) -> Arc<dyn Backend> {
        Arc::new(Completion { client: self.0.client.clone(), request })
    }
}

/// What an agent is to do.
struct Work {
    coder: Coder,
    place: Place,
    endpoint: Endpoint,
    conversation: Conversation,
    persona: Option<Persona>,
}

/// An attempt that ends before it begins, through no fault of the model's.
pub(super) struct Hopeless(pub String);

impl Backend for Hopeless {
    fn run<'a>(
        &'a self,
        _: &'a mpsc::Sender<Output>,
        _: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async { Err(backend::Error::Unprepared(self.0.clone())) }.boxed()
    }
}
