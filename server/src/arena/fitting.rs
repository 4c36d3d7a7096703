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

/// So often is asked again when the connection breaks: nothing was told yet, and one break in a dozen judgements is no
/// reason to give all of them up.
const BREAKS_MAX: usize = 2;

/// More of an answer is not kept: what is asked for takes a few kilobytes.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

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
    for _ in 0..BREAKS_MAX {
        match ask_once(client, request, outputs, stop, &instead).await {
            Err(backend::Error::Disconnected { .. }) => {}
            asked => return asked,
        }
    }
    ask_once(client, request, outputs, stop, &instead).await
}

async fn ask_once(
    client: &reqwest::Client,
    request: &Request,
    outputs: &mpsc::Sender<Output>,
    stop: &Stop,
    instead: impl Fn(String) -> Option<Output>,
) -> Result<native::Reply, backend::Error> {
    let (heard, mut said) = mpsc::channel(64);
    let mut whole = String::new();
    let listening = async {
        // Whoever speaks on then is heard by nobody, and ends.
        while let Some(output) = said.recv().await {
            let output = match output {
                Output::Text(text) => {
                    whole.push_str(&text);
                    if whole.len() > ANSWER_BYTES_MAX {
                        said.close();
                        return;
                    }
                    instead(text)
                }
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
    let (asked, ()) = tokio::join!(asking, listening);
    if whole.len() > ANSWER_BYTES_MAX {
        let words = "The answer was stopped because it did not come to an end.".to_owned();
        return Err(backend::Error::Agent { words });
    }
    Ok(native::Reply { text: whole, ..asked? })
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use axum::{Router, body::Body, response::IntoResponse as _};
    use futures::stream;
    use tokio::net::TcpListener;

    use super::*;
    use crate::backend::{Flavour, Limits};

    const HALF: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n\
        data: {\"error\":{\"code\":400,\"message\":\"too long\",\"type\":\"exceed_context_size_error\"}}\n\n";
    const WHOLE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}\n\n\
        data: [DONE]\n\n";

    /// What a server does before it gives a whole answer.
    #[derive(Clone, Copy)]
    enum First {
        IsTooMuch,
        Breaks {
            times: usize,
        },
        /// It says so much of the answer.
        Says {
            bytes: usize,
        },
    }

    impl First {
        fn answer(self, nth: usize) -> Body {
            match self {
                Self::IsTooMuch if nth == 0 => Body::from(HALF),
                Self::Breaks { times } if nth < times => {
                    let half = HALF.split_inclusive("\n\n").next().unwrap();
                    Body::from_stream(stream::iter([Ok(half), Err(std::io::Error::other("broken"))]))
                }
                Self::Says { bytes } => {
                    let said = WHOLE.replace("whole", &"x".repeat(1024));
                    let (piece, end) = said.split_once("\n\n").unwrap();
                    let piece = piece.replace(",\"finish_reason\":\"stop\"", "");
                    Body::from(format!("{}{WHOLE}{end}", format!("{piece}\n\n").repeat(bytes / 1024)))
                }
                _ => Body::from(WHOLE),
            }
        }
    }

    /// Asks such a server, and gives what is told, whether it ended well, and how often it was asked.
    async fn told(told: Told, first: First) -> (String, bool, usize) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let answers = Router::new().fallback(move || async move {
            let answer = first.answer(counted.fetch_add(1, Ordering::Relaxed));
            ([("content-type", "text/event-stream")], answer).into_response()
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(axum::serve(listener, answers).into_future());
        let request = Request {
            base_url,
            api_key: None,
            model: "m".into(),
            messages: vec![Message::new(Role::User, String::new())],
            max_tokens: Some(1_000),
            limit_name: Default::default(),
            sampling: Default::default(),
            tools: Vec::new(),
            schema: None,
            flavour: Flavour::Plain,
            limits: Limits::default(),
        };
        let room = Room { bytes: 4_000, answer_tokens: 1_000 };
        let question = Box::new(|room: Room| "x".repeat(room.bytes));
        let (outputs, mut heard) = mpsc::channel(64);
        let fitting = Fitting { client: backend::http_client().unwrap(), request, room, question, told };
        let is_done = fitting.run(&outputs, &Stop::default()).await.is_ok();
        drop(outputs);
        let mut text = String::new();
        while let Some(output) = heard.recv().await {
            if let Output::Text(piece) = output {
                text.push_str(&piece);
            }
        }
        (text, is_done, asked.load(Ordering::Relaxed))
    }

    /// Half an answer and a whole one would be read as one.
    #[tokio::test]
    async fn what_is_read_at_the_end_is_told_once_and_what_was_seen_is_not_told_again() {
        let first = First::IsTooMuch;
        assert_eq!(told(Told::OnceWhole, first).await, ("whole".to_owned(), true, 2));
        assert_eq!(told(Told::AsItComes, first).await, ("half".to_owned(), false, 1));
    }

    #[tokio::test]
    async fn an_answer_without_an_end_is_not_kept() {
        let told = async |bytes| {
            let (text, is_done, asked) = told(Told::OnceWhole, First::Says { bytes }).await;
            (text.len(), is_done, asked)
        };
        assert_eq!(told(ANSWER_BYTES_MAX - 1024).await, (ANSWER_BYTES_MAX - 1024 + "whole".len(), true, 1));
        assert_eq!(told(4 * ANSWER_BYTES_MAX).await, (0, false, 1));
    }

    #[tokio::test]
    async fn what_nobody_has_read_yet_is_asked_again_when_the_connection_breaks() {
        let breaks = |times| First::Breaks { times };
        assert_eq!(told(Told::OnceWhole, breaks(2)).await, ("whole".to_owned(), true, 3));
        assert_eq!(told(Told::OnceWhole, breaks(3)).await, (String::new(), false, 3));
        // What was read along may be seen or be overtaken by the break; it is not asked for again.
        let (_, is_done, asked) = told(Told::AsItComes, breaks(1)).await;
        assert_eq!((is_done, asked), (false, 1));
    }
}
