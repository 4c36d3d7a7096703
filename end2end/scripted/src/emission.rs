//! One answer on its way out: the loading banner, the events of the performance, and the way it ends.

use std::collections::VecDeque;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::time::{sleep, timeout};

use crate::directive::Fault;
use crate::journal::Entry;
use crate::models::Permit;
use crate::performance::{Event, Performance};
use crate::plan::Reply;
use crate::refusal::Refusal;
use crate::split::Splitter;
use crate::wire::{Answer, End, Finish, Wire, timings};
use crate::words::remark;

/// Everything that is decided before the first byte.
pub struct Staging {
    pub wire: Box<dyn Wire>,
    pub reply: Reply,
    pub entry: Entry,
    pub model: String,
    pub tokens_max: Option<u64>,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    pub reports_timings: bool,
}

/// How the model is come by.
pub enum Access {
    /// Held until the answer is out: a swap waits for it.
    Granted { _permit: Permit },
    /// `sendLoadingState`: the headers are out and the load is told as it goes on.
    Awaited(BoxFuture<'static, Option<Permit>>),
}

#[derive(Debug, Error)]
pub enum Broken {
    #[error("the connection was cut by the script")]
    Cut,
    #[error("the model process died")]
    Died,
}

pub struct Emission {
    staging: Staging,
    stage: Stage,
    access: Access,
    performance: Performance,
    pending: VecDeque<Bytes>,
    splitter: Splitter,
    /// How many remarks on the load were made.
    remarks: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Heading,
    Banner,
    Loading,
    BannerEnd,
    Opening,
    Playing,
    Cut,
    Over,
}

/// How often a load in progress is remarked on.
const REMARK_EVERY: Duration = Duration::from_millis(100);
/// Long enough for what was written before the cut to leave.
const CUT_AFTER: Duration = Duration::from_millis(5);

impl Emission {
    pub fn new(staging: Staging, access: Access) -> Self {
        let performance = Performance::new(&staging.reply, staging.tokens_max);
        let splitter = Splitter::new(staging.reply.split);
        let banner = staging.reply.banner.is_some() || matches!(access, Access::Awaited(_));
        let crash = staging.reply.fault == Some(Fault::CrashLine);
        let stage = if banner || crash { Stage::Heading } else { Stage::Opening };
        Self { staging, stage, access, performance, pending: VecDeque::new(), remarks: 0, splitter }
    }

    pub fn into_body(self) -> Body {
        Body::from_stream(futures::stream::unfold(self, |mut emission| async move {
            let piece = emission.next().await?;
            Some((piece, emission))
        }))
    }

    /// The whole answer for a client that did not ask for a stream.
    pub async fn whole(mut self) -> Result<Value, Broken> {
        let (mut reasoning, mut text, mut calls) = (String::new(), String::new(), Vec::new());
        let end = loop {
            match self.performance.next().await {
                Event::Reasoning(piece) => reasoning.push_str(&piece),
                Event::Text(piece) => text.push_str(&piece),
                Event::Call(call) => calls.push(call),
                Event::Finished(finish) => break Ok(self.end(finish)),
                Event::Truncated => break Err(Broken::Died),
                Event::Cut => break Err(Broken::Cut),
            }
        };
        self.staging.entry.said(self.performance.said());
        self.staging.entry.complete();
        let end = end?;
        Ok(self.staging.wire.whole(&Answer { reasoning, text, calls, end }))
    }

    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        loop {
            if let Some(piece) = self.pending.pop_front() {
                return Some(Ok(piece));
            }
            match self.stage {
                Stage::Over => {
                    self.staging.entry.complete();
                    return None;
                }
                Stage::Cut => {
                    self.stage = Stage::Over;
                    self.staging.entry.complete();
                    sleep(CUT_AFTER).await;
                    return Some(Err(Broken::Cut));
                }
                _ => {
                    let mut out = String::new();
                    self.stage = self.produce(&mut out).await;
                    self.staging.entry.said(self.performance.said());
                    self.pending.extend(self.splitter.pieces(out));
                }
            }
        }
    }

    /// Writes what belongs to this stage and tells the next one.
    async fn produce(&mut self, out: &mut String) -> Stage {
        match self.stage {
            Stage::Heading => {
                banner_line("━━━━━\n", out);
                banner_line(&format!("llama-swap loading model: {}\n", self.staging.model), out);
                Stage::Banner
            }
            Stage::Banner => {
                let lines = u64::from(self.staging.reply.banner.unwrap_or(0));
                if self.remarks >= lines {
                    return Stage::Loading;
                }
                // A silence that was asked for is spread over the remarks, as a real load is.
                sleep(self.staging.reply.silence / lines.clamp(1, u64::from(u32::MAX)) as u32).await;
                self.remark(out);
                Stage::Banner
            }
            Stage::Loading => {
                let Access::Awaited(load) = &mut self.access else {
                    return Stage::BannerEnd;
                };
                match timeout(REMARK_EVERY, load).await {
                    Err(_) => {
                        self.remark(out);
                        Stage::Loading
                    }
                    Ok(Some(permit)) => {
                        self.access = Access::Granted { _permit: permit };
                        Stage::BannerEnd
                    }
                    Ok(None) => self.crash(out),
                }
            }
            Stage::BannerEnd if self.staging.reply.fault == Some(Fault::CrashLine) => self.crash(out),
            Stage::BannerEnd => {
                banner_line("\nDone! (0.10s)\n", out);
                banner_line("━━━━━\n", out);
                banner_line(" \n", out);
                Stage::Opening
            }
            Stage::Opening => {
                self.performance = Performance::new(&self.staging.reply, self.staging.tokens_max);
                self.staging.wire.open(out);
                Stage::Playing
            }
            Stage::Playing => self.play(out).await,
            Stage::Cut | Stage::Over => self.stage,
        }
    }

    async fn play(&mut self, out: &mut String) -> Stage {
        let event = self.performance.next().await;
        let wire = &mut self.staging.wire;
        match event {
            Event::Reasoning(piece) => wire.reasoning(&piece, out),
            Event::Text(piece) => wire.text(&piece, out),
            Event::Call(call) => wire.call(&call, out),
            Event::Finished(finish) => {
                let end = self.end(finish);
                self.staging.wire.close(&end, out);
                return Stage::Over;
            }
            Event::Truncated => return Stage::Over,
            Event::Cut => return Stage::Cut,
        }
        Stage::Playing
    }

    fn remark(&mut self, out: &mut String) {
        banner_line(&format!("{} ...\n", remark(self.staging.reply.seed, self.remarks)), out);
        self.remarks += 1;
    }

    /// The headers are gone, so llama-swap can only write its error body into the stream, as it is.
    fn crash(&mut self, out: &mut String) -> Stage {
        out.push_str(&Refusal::Died.proxied().to_string());
        Stage::Over
    }

    fn end(&self, finish: Finish) -> End {
        let Staging { prompt_tokens, cached_tokens, .. } = self.staging;
        let said = self.performance.said();
        let timings = || timings(prompt_tokens - cached_tokens, cached_tokens, said, self.staging.reply.rate);
        End {
            finish,
            prompt_tokens,
            completion_tokens: said,
            timings: self.staging.reports_timings.then(timings),
        }
    }
}

/// Such a chunk has neither id nor model: llama-swap writes it, not the model.
fn banner_line(text: &str, out: &mut String) {
    let chunk = json!({"choices": [{"delta": {"reasoning_content": text}}]});
    out.push_str(&format!("data: {chunk}\n\n"));
}
