//! The talk itself: what we ask, what comes meanwhile, and when it is over.

mod asks;

use std::pin::pin;

use agent_client_protocol as protocol;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ClientCapabilities, Implementation, InitializeRequest,
    LoadSessionRequest, NewSessionRequest, PromptRequest, PromptResponse, ResumeSessionRequest,
    SessionModeState, SessionNotification, SessionUpdate, SetSessionModeRequest, StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent as AgentRole, ErrorCode, UntypedMessage};
use domain::output::{Output, Usage};
use domain::tool::Permit;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{Ended, Stop, Turn};
use crate::agent::{Agent, Mode, Tokens, at};
use crate::error::{Error, Step, words};
use crate::lines::Watch;
use crate::permission::Permits;
use crate::prompt::{self, Block};
use crate::told::Told;
use asks::OpenAsk;

/// What an agent says by itself.
pub enum Event {
    Said(UntypedMessage),
    Asked(UntypedMessage, Box<Responder<Value>>),
}

pub struct Conversation<'a> {
    agent: &'static Agent,
    connection: ConnectionTo<AgentRole>,
    events: mpsc::Receiver<Event>,
    watch: &'a Watch,
    caller: Caller<'a>,
    told: Told,
    session: String,
    /// Nothing is told before the question is asked: until then it is history.
    asked: bool,
    replayed: bool,
    /// The questions that a person has not answered yet, and their answers to come.
    open: Vec<OpenAsk>,
    answers: FuturesUnordered<BoxFuture<'a, (u32, Option<Permit>)>>,
    asks_made: u32,
    was_refused: bool,
    /// What may not be gone on with.
    broken: Option<Error>,
}

/// Whoever wants this turn.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    pub turn: &'a Turn,
    pub outputs: &'a mpsc::Sender<Output>,
    pub permits: &'a dyn Permits,
    pub cancel: &'a CancellationToken,
}

/// A session as it is opened.
struct Session {
    id: String,
    modes: Option<SessionModeState>,
    resumed: bool,
}

impl<'a> Conversation<'a> {
    pub fn new(
        agent: &'static Agent,
        connection: ConnectionTo<AgentRole>,
        events: mpsc::Receiver<Event>,
        watch: &'a Watch,
        caller: Caller<'a>,
    ) -> Self {
        Self {
            agent,
            connection,
            events,
            watch,
            caller,
            told: Told::new(agent),
            session: String::new(),
            asked: false,
            replayed: false,
            open: Vec::new(),
            answers: FuturesUnordered::new(),
            asks_made: 0,
            was_refused: false,
            broken: None,
        }
    }

    pub async fn whole(&mut self) -> Result<Ended, Error> {
        let capabilities = self.initialize().await?;
        let can_resume = capabilities.load_session || capabilities.session_capabilities.resume.is_some();
        let session = self.open(&capabilities).await?;
        self.session = session.id;
        self.set_mode(session.modes).await?;
        let before = self.caller.turn.before.clone().filter(|_| !session.resumed);
        let (stop, usage) = self.prompt(before, &capabilities).await?;
        tokio::time::sleep(self.agent.settling).await;
        Ok(Ended {
            session: self.session.clone(),
            can_resume,
            resumed: session.resumed,
            usage,
            counted: self.agent.tokens.counted(),
            stop,
        })
    }

    /// No file access and no terminal is offered: some agents break on it, and none needs it.
    async fn initialize(&mut self) -> Result<AgentCapabilities, Error> {
        let request = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new())
            .client_info(Implementation::new("boocode", env!("CARGO_PKG_VERSION")));
        let reply = self.connection.send_request(request).block_task();
        Ok(self.step(Step::Start, reply).await?.agent_capabilities)
    }

    async fn open(&mut self, capabilities: &AgentCapabilities) -> Result<Session, Error> {
        if let Some(id) = &self.caller.turn.resume
            && let Some(modes) = self.resume(id, capabilities).await?
        {
            return Ok(Session { id: id.clone(), modes, resumed: true });
        }
        let request = NewSessionRequest::new(self.caller.turn.folder.clone());
        let reply = self.connection.send_request(request).block_task();
        let reply = self.step(Step::Open, reply).await?;
        Ok(Session { id: reply.session_id.to_string(), modes: reply.modes, resumed: false })
    }

    /// `None` where the agent cannot, or does not find it. Loading is preferred, because the history that it
    /// replays shows that the session was there: one agent takes any name.
    async fn resume(
        &mut self,
        id: &str,
        capabilities: &AgentCapabilities,
    ) -> Result<Option<Option<SessionModeState>>, Error> {
        let folder = self.caller.turn.folder.clone();
        let outcome = if capabilities.load_session {
            let request = LoadSessionRequest::new(id.to_owned(), folder);
            let reply = self.connection.send_request(request).block_task();
            self.step(Step::Resume, reply).await.map(|reply| self.replayed.then_some(reply.modes))
        } else if capabilities.session_capabilities.resume.is_some() {
            let request = ResumeSessionRequest::new(id.to_owned(), folder);
            let reply = self.connection.send_request(request).block_task();
            self.step(Step::Resume, reply).await.map(|reply| Some(reply.modes))
        } else {
            return Ok(None);
        };
        match outcome {
            Err(Error::Refused { .. }) => Ok(None),
            outcome => outcome,
        }
    }

    /// Always said where there is a mode, because the defaults differ and some ask nothing.
    async fn set_mode(&mut self, modes: Option<SessionModeState>) -> Result<(), Error> {
        let wanted = self.agent.modes.name(self.caller.turn.mode);
        if wanted.is_empty() {
            return Ok(());
        }
        let offered: Vec<String> =
            modes.iter().flat_map(|modes| &modes.available_modes).map(|mode| mode.id.to_string()).collect();
        if !offered.is_empty() && !offered.iter().any(|mode| mode == wanted) {
            let offered = offered.join(", ");
            return Err(Error::NoMode { agent: self.agent.title, wanted, offered });
        }
        let request = SetSessionModeRequest::new(self.session.clone(), wanted);
        let reply = self.connection.send_request(request).block_task();
        self.step(Step::SetMode, reply).await.map(drop)
    }

    /// One request before the question, with what comes meanwhile.
    async fn step<T>(
        &mut self,
        step: Step,
        reply: impl Future<Output = Result<T, protocol::Error>>,
    ) -> Result<T, Error> {
        let (mut reply, limit) = (pin!(reply), self.caller.turn.limits.start);
        let deadline = Instant::now() + limit;
        loop {
            tokio::select! {
                biased;
                () = self.caller.cancel.cancelled() => return Err(Error::Cancelled { agent: self.agent.title }),
                () = sleep_until(deadline) => return Err(Error::Slow { agent: self.agent.title, step, limit }),
                Some(event) = self.events.recv() => self.take(event).await,
                reply = &mut reply => return reply.map_err(|error| self.refusal(step, &error)),
            }
        }
    }

    async fn prompt(
        &mut self,
        before: Option<String>,
        capabilities: &AgentCapabilities,
    ) -> Result<(Stop, Option<Usage>), Error> {
        let asked = before.into_iter().map(Block::Text).chain(self.caller.turn.prompt.iter().cloned());
        let blocks = prompt::blocks(asked.collect(), &capabilities.prompt_capabilities);
        let request = PromptRequest::new(self.session.clone(), blocks);
        self.asked = true;
        let mut reply = pin!(self.connection.send_request(request).block_task());
        let limits = self.caller.turn.limits;
        let mut stopping = false;
        let mut deadline = Instant::now() + limits.silence;
        let reply = loop {
            tokio::select! {
                biased;
                () = self.caller.cancel.cancelled(), if !stopping => {
                    stopping = true;
                    deadline = Instant::now() + limits.cancel;
                    self.stop_asking().await;
                    // If it is gone, that shows at once.
                    let _ = self.connection.send_notification(CancelNotification::new(self.session.clone()));
                }
                () = sleep_until(deadline), if stopping || self.open.is_empty() => break None,
                Some((number, permit)) = self.answers.next(), if !self.answers.is_empty() => {
                    self.answered(number, permit).await;
                    deadline = Instant::now() + limits.silence;
                }
                reply = &mut reply => break Some(reply),
                Some(event) = self.events.recv() => {
                    self.take(event).await;
                    if !stopping {
                        deadline = Instant::now() + limits.silence;
                    }
                }
            }
            if let Some(error) = self.broken.take() {
                return Err(error);
            }
        };
        // What was said before the end has been queued before it.
        while let Ok(event) = self.events.try_recv() {
            self.take(event).await;
        }
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        match reply {
            _ if stopping => Ok((Stop::Cancelled, self.usage(None))),
            Some(Ok(reply)) => self.outcome(reply),
            Some(Err(error)) => Err(self.refusal(Step::Answer, &error)),
            None => Err(Error::Slow { agent: self.agent.title, step: Step::Answer, limit: limits.silence }),
        }
    }

    /// Whether the end is what it claims to be.
    fn outcome(&self, reply: PromptResponse) -> Result<(Stop, Option<Usage>), Error> {
        let stop = match reply.stop_reason {
            StopReason::MaxTokens => Stop::TokenLimit,
            StopReason::MaxTurnRequests => Stop::CallLimit,
            StopReason::Refusal => Stop::Refused,
            // Nobody stopped it: it ends its turn because something was refused, and waits to be told more.
            StopReason::Cancelled if self.was_refused => Stop::Done,
            StopReason::Cancelled => Stop::Cancelled,
            _ => Stop::Done,
        };
        let usage = self.usage(match self.agent.tokens {
            Tokens::Quota => reply.meta.as_ref().and_then(quota),
            _ => reply.usage.map(|usage| Usage {
                prompt_tokens: Some(usage.input_tokens),
                completion_tokens: Some(usage.output_tokens),
            }),
        });
        if stop == Stop::Done {
            let proof_missing = self.agent.tokens_prove_success && usage.is_none();
            if let Some(said) = self.told.error().or_else(|| proof_missing.then(|| self.told.last_message()))
            {
                return Err(Error::Model { said });
            }
            if !self.told.anything {
                return Err(Error::Wordless { agent: self.agent.title });
            }
        }
        Ok((stop, usage))
    }

    fn usage(&self, at_the_end: Option<Usage>) -> Option<Usage> {
        match self.agent.tokens {
            Tokens::PerCall => self.told.usage,
            Tokens::LastCall | Tokens::Total | Tokens::Quota => at_the_end,
            Tokens::Untold => None,
        }
    }

    async fn take(&mut self, event: Event) {
        self.watch.taken();
        match event {
            Event::Said(message) => {
                if message.method != "session/update" {
                    return;
                }
                if self.asked {
                    self.told.look_for_mark(&message.params["update"]);
                }
                if let Ok(said) = serde_json::from_value::<SessionNotification>(message.params) {
                    self.said(said).await;
                }
            }
            Event::Asked(message, responder) => match asks::permission(message) {
                Ok(request) => self.ask(request, *responder).await,
                // If it is gone, that shows at once.
                Err(error) => drop(responder.respond_with_error(error)),
            },
        }
    }

    async fn said(&mut self, said: SessionNotification) {
        if !self.asked {
            self.replayed |= matches!(
                said.update,
                SessionUpdate::UserMessageChunk(_) | SessionUpdate::AgentMessageChunk(_)
            );
            return;
        }
        if said.session_id.to_string() != self.session {
            return;
        }
        if let SessionUpdate::CurrentModeUpdate(mode) = &said.update
            && self.caller.turn.mode == Mode::ReadOnly
            && !self.agent.modes.read_only.is_empty()
            && mode.current_mode_id.to_string() != self.agent.modes.read_only
        {
            let now = mode.current_mode_id.to_string();
            self.broken = Some(Error::LeftMode { agent: self.agent.title, now });
        }
        let output = self.told.update(said.update);
        self.tell(output).await;
    }

    /// Waits for whoever reads, and so makes the agent wait; but not once it is stopped.
    async fn tell(&mut self, output: Option<Output>) {
        let Some(output) = output else { return };
        tokio::select! {
            biased;
            // Nobody reads any more: then nobody misses it.
            _ = self.caller.outputs.send(output) => {}
            () = self.caller.cancel.cancelled() => {}
        }
    }

    fn refusal(&self, step: Step, error: &protocol::Error) -> Error {
        let agent = self.agent.title;
        if self.connection.is_incoming_closed() || self.connection.termination().is_some() {
            return Error::Gone { agent, step, said: self.watch.noise() };
        }
        let said = words(error);
        match (error.code, step) {
            (ErrorCode::AUTH_REQUIRED, _) => Error::SignedOut { agent, said },
            (_, Step::Answer) => Error::Model { said },
            _ => Error::Refused { agent, step, said },
        }
    }
}

/// Of all calls of the turn. One that ended well took some.
fn quota(meta: &serde_json::Map<String, Value>) -> Option<Usage> {
    let count = at(meta, "/quota/token_count")?;
    let number = |name: &str| count.get(name).and_then(Value::as_u64).filter(|tokens| *tokens > 0);
    let usage = Usage { prompt_tokens: number("input_tokens"), completion_tokens: number("output_tokens") };
    (usage != Usage::default()).then_some(usage)
}
