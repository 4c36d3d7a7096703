//! Follows the log of events: for the pages that look on, and for what the engine has to do about them.

use std::time::Duration;

use domain::feed::{Envelope, Event, StreamId};
use futures::future::{BoxFuture, FutureExt as _};
use store::feed::{Listener, Wake};
use tokio::time::{interval, sleep};

use super::{ANSWER_WAIT_MAX, Engine, StopReason, answered};
use crate::live::guard;

/// A notification that goes missing costs at most this long.
const POLL: Duration = Duration::from_secs(1);
const EVENTS_READ_MAX: i64 = 500;

pub(super) fn run(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        while !engine.0.shutdown.is_cancelled() {
            if let Err(error) = engine.follow().await {
                tracing::warn!(%error, "the feed cannot be followed; trying again");
                sleep(POLL).await;
            }
        }
    }
    .boxed()
}

impl Engine {
    async fn follow(&self) -> store::Result<()> {
        let mut listener = answered(ANSWER_WAIT_MAX, Listener::open(&self.0.db)).await?;
        let mut ticks = interval(POLL);
        loop {
            let wake = tokio::select! {
                wake = listener.next() => Some(wake?),
                _ = ticks.tick() => None,
                () = self.0.shutdown.cancelled() => {
                    listener.close().await;
                    return Ok(());
                }
            };
            match wake {
                Some(Wake::Stream(stream)) => self.0.live.wake(stream),
                Some(Wake::Events) | None => self.catch_up().await?,
                Some(Wake::Reconnected) => {
                    self.catch_up().await?;
                    self.0.live.wake_all();
                }
            }
        }
    }

    async fn catch_up(&self) -> store::Result<()> {
        loop {
            let last = self.0.live.log.last();
            let events = store::feed::read_after(&self.0.db, last, EVENTS_READ_MAX);
            match answered(ANSWER_WAIT_MAX, events).await? {
                Some(events) if events.is_empty() => return Ok(()),
                Some(events) => {
                    self.0.live.log.extend(&events);
                    events.iter().for_each(|envelope| self.act_on(envelope));
                }
                // Trimmed away, or a database that was put back: begin at its end.
                None => {
                    let head = answered(ANSWER_WAIT_MAX, store::feed::head(&self.0.db)).await?;
                    self.0.live.log.start_after(head);
                    self.0.live.wake_all();
                    self.0.work.notify_one();
                    self.0.models.settings_bell().notify_one();
                }
            }
        }
    }

    fn act_on(&self, envelope: &Envelope) {
        self.0.stale.hear(&envelope.event);
        match &envelope.event {
            Event::TaskQueued { .. } => self.0.work.notify_one(),
            Event::TaskCancelling { task, .. } => {
                let running = guard(&self.0.running);
                let stops = running.iter().filter(|(stream, _)| stream.task == *task);
                stops.for_each(|(_, running)| running.stop.ask(StopReason::Asked));
            }
            Event::TaskAnswered { task, attempt, number, permit, .. } => {
                let stream = StreamId { task: *task, attempt: *attempt };
                if let Some(running) = guard(&self.0.running).get(&stream) {
                    running.answers.say(*number, *permit);
                }
            }
            Event::TaskRequeued { task, attempt, .. } => {
                self.attempt_over(StreamId { task: *task, attempt: *attempt });
            }
            Event::TaskSettled { task, attempt: Some(attempt), .. } => {
                self.attempt_over(StreamId { task: *task, attempt: *attempt });
            }
            Event::SettingsChanged { .. } => self.0.models.settings_bell().notify_one(),
            _ => {}
        }
    }

    /// A place is free, and readers of a stream that another process wrote learn that it ended.
    fn attempt_over(&self, stream: StreamId) {
        self.0.work.notify_one();
        self.0.live.wake(stream);
    }
}
