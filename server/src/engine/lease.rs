//! Keeps what runs here, and finds what nobody keeps.

use std::{collections::HashMap, time::Duration};

use domain::{feed::StreamId, output::Outcome};
use futures::future::{BoxFuture, FutureExt as _};
use store::commit::Ended;
use tokio::time::{MissedTickBehavior, interval};

use super::{Engine, LEASE, StopReason, now_ms};
use crate::live::guard;

/// Well within the lease, so that one slow answer of the database loses nothing.
const RENEW_EVERY: Duration = Duration::from_secs(2);
const REAP_EVERY: Duration = Duration::from_secs(2);
const TIDY_EVERY_ROUNDS: u64 = 150;

pub(super) fn renew(engine: Engine) -> BoxFuture<'static, ()> {
    every(RENEW_EVERY, engine, |engine, _| async move { engine.renew_leases().await }.boxed())
}

pub(super) fn reap(engine: Engine) -> BoxFuture<'static, ()> {
    every(REAP_EVERY, engine, |engine, round| {
        async move {
            for stream in store::tasks::expired(&engine.0.db).await? {
                engine.report_lost(stream).await;
            }
            if round.is_multiple_of(TIDY_EVERY_ROUNDS) {
                engine.tidy().await?;
            }
            Ok(())
        }
        .boxed()
    })
}

type Round = fn(Engine, u64) -> BoxFuture<'static, store::Result<()>>;

fn every(period: Duration, engine: Engine, round: Round) -> BoxFuture<'static, ()> {
    async move {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for number in 0.. {
            tokio::select! {
                _ = ticks.tick() => {}
                () = engine.0.shutdown.cancelled() => return,
            }
            if let Err(error) = round(engine.clone(), number).await {
                tracing::warn!(%error, "the database did not answer; trying again");
            }
        }
    }
    .boxed()
}

impl Engine {
    /// What is no longer ours is stopped, and what was cancelled while we did not hear it, too.
    async fn renew_leases(&self) -> store::Result<()> {
        let here: Vec<StreamId> = guard(&self.0.running).keys().copied().collect();
        if here.is_empty() {
            return Ok(());
        }
        let kept = store::tasks::renew(&self.0.db, self.0.instance, LEASE).await?;
        let kept: HashMap<_, _> = kept.into_iter().map(|task| (task.stream, task.cancelling)).collect();
        for stream in here {
            let Some(stop) = self.running(stream) else { continue };
            match kept.get(&stream) {
                Some(true) => stop.ask(StopReason::Asked),
                Some(false) => {}
                None => stop.ask(StopReason::Fenced),
            }
        }
        Ok(())
    }

    pub(super) async fn report_lost(&self, stream: StreamId) {
        let (task, attempt, at_ms) = (stream.task, stream.attempt, now_ms());
        let lost = Ended { task, attempt, outcome: Outcome::Lost, said: None, title_model: None, at_ms };
        match store::commit::report(&self.0.db, lost).await {
            Ok(_) => tracing::warn!(%stream, "an attempt was lost with the process that ran it"),
            // Somebody else was quicker, or it ended after all.
            Err(store::Error::Rejected(_)) => {}
            Err(error) => tracing::warn!(%stream, %error, "a lost attempt was not reported; trying again"),
        }
    }

    /// Housekeeping that nothing waits for.
    async fn tidy(&self) -> store::Result<()> {
        for stream in store::streams::unfolded(&self.0.db).await? {
            store::streams::fold(&self.0.db, stream).await?;
        }
        store::feed::trim(&self.0.db).await.map(drop)
    }
}
