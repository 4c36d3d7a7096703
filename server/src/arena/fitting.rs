//! A question of one answer, to a server that may take less than was thought.

use domain::{
    battle::room::Room,
    output::{Measured, Output},
};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::mpsc;

use crate::{
    backend::{self, Message, Request, Role, native},
    engine::{Backend, Stop},
};

pub(crate) struct Fitting {
    pub client: reqwest::Client,
    /// Who is asked and how; the question is its last message.
    pub request: Request,
    pub room: Room,
    /// The question as far as it fits.
    pub question: Box<dyn Fn(Room) -> String + Send + Sync>,
    /// When its answer is told.
    pub told: Told,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    AsItComes,
    /// Nobody reads along, and half an answer before the whole one would be read as one.
    OnceWhole,
}

impl Backend for Fitting {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async move {
            let mut room = self.room;
            loop {
                let request = asking(&self.request, (self.question)(room), room);
                let asked = match self.told {
                    Told::AsItComes => native::run(&self.client, &request, outputs, stop.token()).await,
                    Told::OnceWhole => ask_for_whole(&self.client, &request, outputs, stop, |_| None).await,
                };
                // Not every server tells how much it can take.
                match (asked, room.halved()) {
                    (Err(error), Some(smaller)) if self.may_ask_less(&error) => room = smaller,
                    (asked, _) => {
                        let reply = asked?;
                        if self.told == Told::OnceWhole {
                            let _ = outputs.send(Output::Text(reply.text)).await;
                        }
                        if let Some(usage) = reply.measured.usage {
                            let _ = outputs.send(Output::Usage(usage)).await;
                        }
                        return Ok(reply.measured);
                    }
                }
            }
        }
        .boxed()
    }
}

impl Fitting {
    /// What was told already is not told again.
    fn may_ask_less(&self, error: &backend::Error) -> bool {
        let is_half_told = matches!(error, backend::Error::Broken { answering: true, .. });
        error.is_overflow() && !(self.told == Told::AsItComes && is_half_told)
    }
}

/// The same request with another question in the place of its last message.
pub(super) fn asking(request: &Request, question: String, room: Room) -> Request {
    let mut request = request.clone();
    request.messages.pop();
    request.messages.push(Message::new(Role::User, question));
    request.max_tokens = request.max_tokens.map(|most| most.min(room.answer_tokens));
    request
}

/// Asks, and tells all but the answer itself as it comes. What is to be told in the place of a piece of the answer,
/// `instead` says.
pub(super) async fn ask_for_whole(
    client: &reqwest::Client,
    request: &Request,
    outputs: &mpsc::Sender<Output>,
    stop: &Stop,
    instead: impl Fn(String) -> Option<Output>,
) -> Result<native::Reply, backend::Error> {
    let (heard, mut said) = mpsc::channel(64);
    let listening = async {
        while let Some(output) = said.recv().await {
            let output = match output {
                Output::Text(text) => instead(text),
                other => Some(other),
            };
            if let Some(output) = output {
                // Nobody listens to a task that has ended.
                let _ = outputs.send(output).await;
            }
        }
    };
    let asking = async {
        let asked = native::run(client, request, &heard, stop.token()).await;
        drop(heard);
        asked
    };
    tokio::join!(asking, listening).0
}
