//! BooCode's own agent: a model that calls for tools, and tools that answer.

use std::{sync::Arc, time::Instant};

use acp::Permits as _;
use domain::{
    agent::{Next, Pace, Why},
    chat::Coder,
    completion::Called,
    feed::StreamId,
    output::{Measured, Output, Phase},
    tool::{Ask, Permit, Status, Update, shortened},
};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::mpsc;
use tools::{Answer, Call, Schema};

use super::{
    Asking, Coders, Ground, Place, measure::Sum, setup::Turn, space::Space, tool_program::ToolProgram,
};
use crate::{
    backend::{self, Content, Function, Message, Request, Role, Tool, ToolFunction, native},
    engine::{Backend, Stop},
};

const REFUSED: &str =
    "The person refused this. Do not try it again in another way; ask, or do something else.";

pub(crate) struct NativeAgent {
    pub coders: Arc<Coders>,
    pub client: reqwest::Client,
    /// The conversation; who answers it is told here what it can do.
    pub request: Request,
    pub stream: StreamId,
    pub place: Place,
    pub coder: Coder,
    pub asking: Asking,
    /// What a persona allows. None: all tools.
    pub allowed: Option<Vec<String>>,
    pub pace: Pace,
    /// What its answer must be, where that is not free.
    pub form: Option<Form>,
}

/// The form of an answer.
#[derive(Clone)]
pub(crate) struct Form {
    /// JSON Schema, for a model server that holds a model to one.
    pub schema: serde_json::Value,
    /// Whether an answer has it, as far as it is read with patience.
    pub fits: fn(&str) -> bool,
}

/// Said to one that has to answer now.
pub(super) const IN_FORM: &str =
    "Answer now, without calling tools: one JSON object of the form that you were given, and nothing else.";

impl Backend for NativeAgent {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        self.work(outputs, stop).boxed()
    }
}

impl NativeAgent {
    async fn work(&self, outputs: &mpsc::Sender<Output>, stop: &Stop) -> Result<Measured, backend::Error> {
        say(outputs, Output::Phase(Phase::Preparing)).await?;
        if let Place::Reading(project) = &self.place {
            let reading = self.coders.reading(self.stream, project.as_deref()).await?;
            let worked = self.work_on(&reading.ground, outputs, stop).await;
            reading.end().await;
            return worked;
        }
        let turn = Turn { stream: self.stream, outputs, stop };
        let worktree = self.coders.worktree(turn, &self.place, &self.coder).await?;
        self.work_on(&Ground::of(&worktree)?, outputs, stop).await
    }

    async fn work_on(
        &self,
        ground: &Ground,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<Measured, backend::Error> {
        let mut tools = ToolProgram::start(&self.coders, ground, self.stream).await?;
        let space = Space::default();
        let worked = tokio::select! {
            worked = self.turns(outputs, stop, &mut tools) => worked,
            () = stop.token().cancelled() => Err(backend::Error::Cancelled),
            error = space.stop_agent(ground) => Err(error),
        };
        tools.end().await;
        worked
    }

    async fn turns(
        &self,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
        program: &mut ToolProgram,
    ) -> Result<Measured, backend::Error> {
        let (started, mut sum) = (Instant::now(), Sum::default());
        let schemas = self.schemas();
        let mut request = Request { tools: schemas.iter().map(tool).collect(), ..self.request.clone() };
        let (mut pace, mut out_of_steps, mut out_of_room) = (self.pace.clone(), false, false);
        loop {
            let reply = match self.ask(&request, outputs, stop).await {
                // The question before these answers of tools fitted, so without most of them it does again.
                Err(error) if error.is_overflow() && shorten_results(&mut request) => {
                    sum.add(self.summary(request, Why::Room, outputs, stop).await?);
                    out_of_room = true;
                    break;
                }
                reply => reply?,
            };
            sum.add(reply.measured);
            let next = pace.answered(&reply.calls);
            if next == Next::Done {
                if let Some(form) = self.form.as_ref().filter(|form| !(form.fits)(&reply.text)) {
                    request.messages.push(Message::new(Role::Assistant, reply.text));
                    let request = in_form(request, form, IN_FORM.to_owned());
                    sum.add(self.ask(&request, outputs, stop).await?.measured);
                }
                break;
            }
            request.messages.push(Message::calling(reply.text, &reply.calls));
            for called in &reply.calls {
                let answer = match next {
                    Next::Sum(why) => Answer::failed(why.words()),
                    Next::Act | Next::Done => self.act(program, &schemas, called, outputs).await?,
                };
                request.messages.push(Message::result(called, answer.text));
            }
            if let Next::Sum(why) = next {
                sum.add(self.summary(request, why, outputs, stop).await?);
                // Who goes round in circles has come to its own end.
                out_of_steps = why != Why::Repeats;
                break;
            }
        }
        let measured = sum.total(started.elapsed().as_millis() as u64);
        let cut_short = measured.cut_short || out_of_steps || out_of_room;
        Ok(Measured { cut_short, out_of_steps, ..measured })
    }

    /// The last word of one that may not go on.
    async fn summary(
        &self,
        mut request: Request,
        why: Why,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<Measured, backend::Error> {
        request = match &self.form {
            Some(form) => in_form(request, form, format!("{} {IN_FORM}", why.words())),
            None => {
                request.tools.clear();
                request.messages.push(Message::new(Role::User, why.asks()));
                request
            }
        };
        say(outputs, Output::Text(format!("\n\n*{}*\n\n", why.told()))).await?;
        Ok(self.ask(&request, outputs, stop).await?.measured)
    }

    /// What an answer used is told at once, so that a limit can be held while it works.
    async fn ask(
        &self,
        request: &Request,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<native::Reply, backend::Error> {
        let reply = native::run(&self.client, request, outputs, stop.token()).await?;
        if let Some(usage) = reply.measured.usage {
            say(outputs, Output::Usage(usage)).await?;
        }
        Ok(reply)
    }

    fn schemas(&self) -> Vec<Schema> {
        let is_allowed = |schema: &Schema| {
            self.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|name| name == schema.name))
        };
        let (inside, outside) = (tools::schemas(), self.coders.web.schemas());
        inside.into_iter().chain(outside).filter(is_allowed).collect()
    }
}

impl NativeAgent {
    /// Does what was called for, and shows it.
    async fn act(
        &self,
        program: &mut ToolProgram,
        schemas: &[Schema],
        called: &Called,
        outputs: &mpsc::Sender<Output>,
    ) -> Result<Answer, backend::Error> {
        let arguments = match called.arguments.trim() {
            "" => Ok(serde_json::json!({})),
            text => serde_json::from_str(text),
        };
        let call =
            Call { name: called.name.clone(), arguments: arguments.as_ref().cloned().unwrap_or_default() };
        say(
            outputs,
            Output::Tool(Update {
                id: called.id.clone(),
                title: Some(call.title()),
                kind: Some(call.kind()),
                status: Some(Status::Running),
                input: Some(shortened(&called.arguments)),
                output: None,
            }),
        )
        .await?;
        let answer = match arguments {
            Err(error) => Answer::failed(format!("The arguments are not JSON: {error}. Write them again.")),
            Ok(_) if !schemas.iter().any(|schema| schema.name == called.name) => {
                let names: Vec<_> = schemas.iter().map(|schema| schema.name).collect();
                Answer::failed(format!(
                    "There is no tool {:?} here. There are: {}.",
                    called.name,
                    names.join(", ")
                ))
            }
            Ok(_) if !self.may(&call, schemas).await => Answer::failed(REFUSED),
            Ok(_) => match self.coders.web.call(&call).await {
                Some(answer) => answer,
                None => program.call(&call).await?,
            },
        };
        let status = if answer.failed { Status::Failed } else { Status::Done };
        let output = Some(shortened(&answer.text));
        let update = Update { id: called.id.clone(), status: Some(status), output, ..Update::default() };
        say(outputs, Output::Tool(update)).await?;
        Ok(answer)
    }

    /// What changes something may need a person's word, and so does what tells others of it.
    async fn may(&self, call: &Call, schemas: &[Schema]) -> bool {
        let needs_word = |schema: &Schema| schema.writes || (schema.leaves && self.coder.asks);
        if !schemas.iter().any(|schema| schema.name == call.name && needs_word(schema)) {
            return true;
        }
        let ask = Ask {
            number: 0,
            title: call.title(),
            kind: call.kind(),
            detail: shortened(&serde_json::to_string_pretty(&call.arguments).unwrap_or_default()),
            options: vec![Permit::Once, Permit::Reject],
        };
        self.asking.ask(ask).await == Some(Permit::Once)
    }
}

/// An answer in a form ends by itself, and half of one is worth nothing: a limit against endless talk is wide enough
/// for all of it.
const FORM_TOKENS: u32 = 4_096;

/// So much is left of an answer of a tool that a model could not take.
const RESULT_BYTES: usize = 1_024;

/// Cuts what tools answered last. False where that was nothing, or nothing that could be cut.
fn shorten_results(request: &mut Request) -> bool {
    let last = request.messages.iter_mut().rev().take_while(|message| message.role == Role::Tool);
    let mut is_shorter = false;
    for message in last {
        let Content::Text(text) = &mut message.content else { continue };
        let bytes = text.len();
        if bytes > RESULT_BYTES {
            text.truncate(text.floor_char_boundary(RESULT_BYTES));
            text.push_str(&format!("\n… {} bytes left out: there is no room for them …", bytes - text.len()));
            is_shorter = true;
        }
    }
    is_shorter
}

/// The same conversation, to be ended in this form.
fn in_form(mut request: Request, form: &Form, words: String) -> Request {
    request.tools.clear();
    request.schema = Some(form.schema.clone());
    request.max_tokens = request.max_tokens.map(|most| most.max(FORM_TOKENS));
    request.messages.push(Message::new(Role::User, words));
    request
}

fn tool(schema: &Schema) -> Tool {
    let Schema { name, about, parameters, .. } = schema.clone();
    let function = ToolFunction { name, description: about, parameters };
    Tool { kind: Function::Function, function }
}

/// Where nobody listens any more, there is nothing to go on for.
async fn say(outputs: &mpsc::Sender<Output>, output: Output) -> Result<(), backend::Error> {
    outputs.send(output).await.map_err(|_| backend::Error::Cancelled)
}
