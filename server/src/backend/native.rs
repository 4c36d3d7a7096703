//! Chat completions over HTTP, streamed, as llama-swap, llama.cpp and the OpenAI-compatible servers speak them.

pub(crate) mod loading;
mod retry;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use std::{borrow::Cow, pin::pin};

use domain::completion::{Called, Calls, Fault, Finish, Parser, Piece, Refusal, error_body};
use domain::output::{Measured, Output, Phase, Timings};
use domain::persona::Sampling;
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response};
use tokio::sync::mpsc;
use tokio::time::{self, Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::{Error, LimitName, Request};
use loading::{Loading, Place, Sight};

/// Asks, and sends on what comes. The channel's bound is the only buffer: a reader that is slow slows the server.
/// Cancelling drops the connection at once, which is how a model server is told to stop.
pub async fn run(
    client: &Client,
    request: &Request,
    output: &mpsc::Sender<Output>,
    cancel: &CancellationToken,
) -> Result<Reply, Error> {
    let turn = Turn {
        client,
        request: Cow::Borrowed(request),
        output,
        started: Instant::now(),
        loading: Loading::default(),
        waited: Duration::ZERO,
        phase: None,
        reply: Reply::default(),
        calls: Calls::default(),
    };
    cancel.run_until_cancelled(turn.run()).await.unwrap_or(Err(Error::Cancelled))
}

/// One answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub measured: Measured,
    /// What it said, without reasoning.
    pub text: String,
    pub calls: Vec<Called>,
}

struct Turn<'a> {
    client: &'a Client,
    request: Cow<'a, Request>,
    output: &'a mpsc::Sender<Output>,
    started: Instant,
    loading: Loading,
    /// How long the server wanted to be left alone before it answered.
    waited: Duration,
    phase: Option<Phase>,
    reply: Reply,
    calls: Calls,
}

impl Turn<'_> {
    async fn run(mut self) -> Result<Reply, Error> {
        let response = self.begin().await?;
        self.read(response).await?;
        self.loading.ended();
        let measured = &mut self.reply.measured;
        measured.load_ms = self.loading.total_ms();
        measured.duration_ms = millis(self.started.elapsed());
        let others_ms = measured.load_ms.unwrap_or_default() + millis(self.waited);
        let by_our_clock = measured.first_token_ms.map(|ms| ms.saturating_sub(others_ms));
        measured.first_token_ms = measured.timings.and_then(Timings::first_token_ms).or(by_our_clock);
        self.reply.calls = self.calls.finish();
        Ok(self.reply)
    }

    /// Asks until the server accepts: it may be loading, or want us later.
    async fn begin(&mut self) -> Result<Response, Error> {
        let limits = self.request.limits;
        let mut waits = 0;
        self.enter(Phase::Starting).await?;
        loop {
            let response = self.headers().await?;
            let status = response.status();
            if status.is_success() {
                self.loading.ended();
                self.enter(Phase::Starting).await?;
                return Ok(response);
            }
            let retry_after = response.headers().get(RETRY_AFTER).cloned();
            let body = self.redact(&wire::text(response).await);
            let mut refusal = error_body(status.as_u16(), &body);
            if self.request.has_images() {
                refusal = refusal.of_images();
            }
            match refusal {
                Refusal::Loading => {
                    self.loading.seen();
                    self.enter(Phase::Loading).await?;
                    self.within_start(time::sleep(limits.poll)).await?;
                }
                Refusal::Busy { .. } if waits < limits.waits => {
                    waits += 1;
                    let wait = retry::wait(retry_after.as_ref(), waits).min(limits.wait);
                    self.enter(Phase::Waiting { seconds: retry::seconds(wait) }).await?;
                    let since = Instant::now();
                    self.within_start(time::sleep(wait)).await?;
                    self.waited += since.elapsed();
                    self.enter(Phase::Starting).await?;
                }
                refusal @ Refusal::NoImages { .. } => match self.request.without_old_images() {
                    Some(request) => self.request = Cow::Owned(request),
                    None => return Err(Error::Refused(refusal)),
                },
                // Some models pick their words in no way but their own.
                Refusal::Other { message, .. } if self.request.sampling.is_named_in(&message) => {
                    self.request.to_mut().sampling = Sampling::default();
                }
                // Newer models of OpenAI know the limit by another name only.
                Refusal::Other { message, .. }
                    if self.request.max_tokens.is_some()
                        && self.request.limit_name == LimitName::MaxTokens
                        && message.contains("max_tokens") =>
                {
                    self.request.to_mut().limit_name = LimitName::MaxCompletionTokens;
                }
                // Not every server can hold a model to a shape; what is asked says it too.
                Refusal::Other { message, .. }
                    if self.request.schema.is_some() && is_about_shape(&message) =>
                {
                    self.request.to_mut().schema = None;
                }
                refusal => return Err(Error::Refused(refusal)),
            }
        }
    }

    /// Silence before the headers may be loading, and only the server can tell.
    async fn headers(&mut self) -> Result<Response, Error> {
        let (client, request) = (self.client, self.request.clone());
        let place = Place {
            client,
            base_url: &request.base_url,
            api_key: request.api_key.as_ref(),
            flavour: request.flavour,
            poll: request.limits.poll,
        };
        let mut response = pin!(wire::ask(client, &request)?.send());
        loop {
            let sight = tokio::select! {
                biased;
                response = &mut response => return response.map_err(|error| self.unsent(error)),
                () = time::sleep_until(self.start_limit()) => return Err(self.slow()),
                sight = loading::look(place) => sight,
            };
            self.loading.told_by(sight);
            match sight {
                Sight::Loading => self.enter(Phase::Loading).await?,
                Sight::Ready => self.enter(Phase::Starting).await?,
                Sight::Unknown => {}
            }
        }
    }

    async fn read(&mut self, mut response: Response) -> Result<(), Error> {
        let mut parser = Parser::new();
        let mut broke = false;
        while !parser.is_over() {
            let limit = match self.is_answering() {
                true => Instant::now() + self.request.limits.idle,
                false => self.start_limit(),
            };
            let bytes = match time::timeout_at(limit, response.chunk()).await {
                Err(_) => return Err(self.silent()),
                Ok(Ok(Some(bytes))) => bytes,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => {
                    tracing::warn!(server = self.server(), "an answer broke off: {:?}", error.without_url());
                    broke = true;
                    break;
                }
            };
            for piece in parser.push(&bytes) {
                self.take(piece).await?;
            }
        }
        let (pieces, ending) = parser.end();
        for piece in pieces {
            self.take(piece).await?;
        }
        match ending {
            Ok(Finish::ContentFilter) => Err(Error::Filtered { server: self.server() }),
            Ok(_) => Ok(()),
            Err(Fault::Truncated) if broke => Err(Error::Disconnected { server: self.server() }),
            Err(fault) => {
                Err(Error::Broken { fault: self.redact_fault(fault), answering: self.is_answering() })
            }
        }
    }

    async fn take(&mut self, piece: Piece) -> Result<(), Error> {
        match piece {
            Piece::LoadingBanner => {
                self.loading.told();
                self.enter(Phase::Loading).await
            }
            Piece::Text(text) => {
                let text = storable(text);
                // Only whoever offers tools says it back.
                if !self.request.tools.is_empty() {
                    self.reply.text.push_str(&text);
                }
                self.answer(Output::Text(text)).await
            }
            Piece::Call(part) => {
                self.calls.push(part);
                self.begin_answer().await
            }
            Piece::Reasoning(text) => self.answer(Output::Reasoning(storable(text))).await,
            Piece::Usage(usage) => {
                self.reply.measured.usage = Some(usage);
                Ok(())
            }
            Piece::Timings(timings) => {
                self.reply.measured.timings = Some(timings);
                Ok(())
            }
            Piece::Finish(finish) => {
                let is_cut = finish == Finish::Length;
                self.reply.measured.cut_short = is_cut;
                self.reply.measured.tokens_max = self.request.max_tokens.filter(|_| is_cut);
                Ok(())
            }
            Piece::Done => Ok(()),
        }
    }

    async fn answer(&mut self, output: Output) -> Result<(), Error> {
        self.begin_answer().await?;
        self.send(output).await
    }

    async fn begin_answer(&mut self) -> Result<(), Error> {
        if !self.is_answering() {
            self.loading.ended();
            self.reply.measured.first_token_ms = Some(millis(self.started.elapsed()));
            self.enter(Phase::Generating).await?;
        }
        Ok(())
    }

    fn is_answering(&self) -> bool {
        self.reply.measured.first_token_ms.is_some()
    }

    async fn enter(&mut self, phase: Phase) -> Result<(), Error> {
        if self.phase.as_ref() == Some(&phase) {
            return Ok(());
        }
        self.phase = Some(phase.clone());
        self.send(Output::Phase(phase)).await
    }

    /// Where nobody listens any more, there is nothing to go on for.
    async fn send(&self, output: Output) -> Result<(), Error> {
        self.output.send(output).await.map_err(|_| Error::Cancelled)
    }

    fn start_limit(&self) -> Instant {
        self.started + self.request.limits.start
    }

    async fn within_start(&self, wait: impl Future<Output = ()>) -> Result<(), Error> {
        time::timeout_at(self.start_limit(), wait).await.map_err(|_| self.slow())
    }

    fn slow(&self) -> Error {
        Error::Slow { server: self.server(), seconds: self.request.limits.start.as_secs() }
    }

    fn silent(&self) -> Error {
        match self.is_answering() {
            true => Error::Silent { server: self.server(), seconds: self.request.limits.idle.as_secs() },
            false => self.slow(),
        }
    }

    fn unsent(&self, error: reqwest::Error) -> Error {
        let server = self.server();
        if error.is_connect() {
            return Error::Unreachable { server };
        }
        tracing::warn!(server, "a question could not be sent: {:?}", error.without_url());
        Error::Disconnected { server }
    }

    /// Scheme, host and port: the rest of the address may hold credentials.
    fn server(&self) -> String {
        self.request.base_url.origin().ascii_serialization()
    }

    fn redact(&self, text: &str) -> String {
        match &self.request.api_key {
            Some(key) => key.redact(text),
            None => text.to_owned(),
        }
    }

    fn redact_fault(&self, fault: Fault) -> Fault {
        match fault {
            Fault::Server { message } => Fault::Server { message: self.redact(&message) },
            Fault::Malformed { excerpt } => Fault::Malformed { excerpt: self.redact(&excerpt) },
            fault => fault,
        }
    }
}

/// U+001E marks the segments of our own streams and Postgres stores no U+0000, so both become their pictures.
fn storable(text: String) -> String {
    let picture = |character| match character {
        '\u{1e}' => '␞',
        '\0' => '␀',
        other => other,
    };
    match text.contains(['\u{1e}', '\0']) {
        true => text.chars().map(picture).collect(),
        false => text,
    }
}

fn is_about_shape(message: &str) -> bool {
    let message = message.to_lowercase();
    ["response_format", "json_schema", "grammar", "schema"].iter().any(|word| message.contains(word))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
