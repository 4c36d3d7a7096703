//! One turn of one agent, from its first word to its last.

mod conversation;

use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Agent as AgentRole, Client, Lines, UntypedMessage};
use domain::output::{Output, Usage};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, Counted, Mode};
use crate::error::{Error, Step};
use crate::lines::{self, Watch};
use crate::permission::Permits;
use crate::prompt::Block;
use conversation::{Caller, Conversation, Event};

/// What is asked of an agent.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Where it works; absolute.
    pub folder: PathBuf,
    pub prompt: Vec<Block>,
    /// What was said in earlier turns, for an agent that does not go on from its session.
    pub before: Option<String>,
    /// The session of an earlier turn.
    pub resume: Option<String>,
    pub mode: Mode,
    pub limits: Limits,
}

/// How long an agent may take and how much it may send.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For each step before it is asked.
    pub start: Duration,
    /// Silence while it answers. The time in which a person is asked does not count.
    pub silence: Duration,
    /// To end its turn once it is told to stop.
    pub cancel: Duration,
    pub line_bytes: usize,
    pub bytes: u64,
    pub messages: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            // A local model may have to be loaded first.
            silence: Duration::from_secs(20 * 60),
            cancel: Duration::from_secs(3),
            line_bytes: 8 * 1024 * 1024,
            bytes: 512 * 1024 * 1024,
            messages: 500_000,
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub session: String,
    /// Whether a later process can go on with this session.
    pub can_resume: bool,
    /// Whether the session that was asked for was found. If not, the agent began without knowing of it.
    pub resumed: bool,
    pub usage: Option<Usage>,
    /// What `usage` counts.
    pub counted: Counted,
    pub stop: Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Done,
    /// The model reached its token limit.
    TokenLimit,
    /// The agent reached its own limit of calls.
    CallLimit,
    Refused,
    Cancelled,
}

/// Talks to an agent that has just been started. When this returns, its stdin is closed.
pub async fn run(
    agent: &'static Agent,
    stdin: impl AsyncWrite + Send + Unpin + 'static,
    stdout: impl AsyncRead + Send + Unpin + 'static,
    turn: Turn,
    outputs: &mpsc::Sender<Output>,
    permits: &dyn Permits,
    cancel: &CancellationToken,
) -> Result<Ended, Error> {
    let watch = Watch::new(agent.title, turn.limits);
    let transport = Lines::new(lines::outgoing(stdin), lines::incoming(stdout, watch.clone()));
    let (events, incoming) = mpsc::channel(lines::AHEAD_MAX);
    let requests = events.clone();
    // Both are read as they are: an agent may say what the protocol does not know yet, and each has to be taken.
    let outcome = Client
        .v1()
        .on_receive_request(
            async move |request: UntypedMessage, responder, _| {
                // Nobody takes it only when the turn is over.
                let _ = requests.send(Event::Asked(request, Box::new(responder))).await;
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |message: UntypedMessage, _| {
                let _ = events.send(Event::Said(message)).await;
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(transport, async |connection: ConnectionTo<AgentRole>| {
            let caller = Caller { turn: &turn, outputs, permits, cancel };
            Ok(Conversation::new(agent, connection, incoming, &watch, caller).whole().await)
        })
        .await;
    match (outcome, watch.fault()) {
        (Ok(Ok(ended)), _) => Ok(ended),
        // Whatever else went wrong followed from it.
        (_, Some(fault)) => Err(fault),
        (Ok(Err(error)), None) => Err(error),
        (Err(_), None) => Err(Error::Gone { agent: agent.title, step: Step::Answer, said: watch.noise() }),
    }
}
