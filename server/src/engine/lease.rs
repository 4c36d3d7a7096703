//! Keeps what runs here, and finds what nobody keeps.

use std::{collections::HashMap, time::Duration};

use domain::{feed::StreamId, output::Outcome};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::{Engine, LEASE, StopReason, now_ms};
use crate::live::guard;

/// Well within the lease, so that one slow answer of the database loses nothing.
const RENEW_EVERY: Duration = Duration::from_secs(2);
const RENEW_WAIT_MAX: Duration = Duration::from_secs(4);
const REAP_EVERY: Duration = Duration::from_secs(2);
const TIDY_EVERY_ROUNDS: u64 = 150;

pub(super) fn renew(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        let mut ticks = interval(RENEW_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut renewed_at = Instant::now();
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                // What is still ending is ours until it has ended: nobody else may begin it before.
                () = engine.ended() => return,
            }
            match timeout(RENEW_WAIT_MAX, engine.renew_leases()).await {
                Ok(Ok(())) => renewed_at = Instant::now(),
                Ok(Err(error)) => tracing::warn!(%error, "leases could not be renewed; trying again"),
                Err(_) => tracing::warn!("leases could not be renewed in time; trying again"),
            }
            // From here on somebody else may run what we run, on a server that does one thing at a time.
            if renewed_at.elapsed() + RENEW_EVERY >= LEASE {
                guard(&engine.0.running).values().for_each(|running| running.stop.ask(StopReason::Fenced));
            }
        }
    }
    .boxed()
}

pub(super) fn reap(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        let mut ticks = interval(REAP_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for round in 0u64.. {
            tokio::select! {
                _ = ticks.tick() => {}
                () = engine.0.shutdown.cancelled() => return,
            }
            if let Err(error) = engine.reap_expired(round.is_multiple_of(TIDY_EVERY_ROUNDS)).await {
                tracing::warn!(%error, "lost attempts could not be looked for; trying again");
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
        let kept = store::tasks::renew(&self.0.db, self.0.instance, &here, LEASE).await?;
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

    async fn reap_expired(&self, tidy: bool) -> store::Result<()> {
        self.report_lost(store::tasks::expired(&self.0.db).await?).await;
        if tidy { self.tidy().await } else { Ok(()) }
    }

    pub(super) async fn report_lost(&self, lost: Vec<StreamId>) {
        for (stream, reported) in store::commit::report_lost(&self.0.db, lost, now_ms()).await {
            match reported {
                Ok(_) => {
                    self.0.tally.reported(&Outcome::Lost);
                    tracing::warn!(%stream, "an attempt was lost with the process that ran it");
                }
                // Somebody else was quicker, or it ended after all.
                Err(store::Error::Rejected(_)) => {}
                Err(error) => {
                    tracing::warn!(%stream, %error, "a lost attempt was not reported; trying again")
                }
            }
        }
    }

    /// Housekeeping that nothing waits for.
    async fn tidy(&self) -> store::Result<()> {
        for stream in store::streams::unfolded(&self.0.db).await? {
            store::streams::fold(&self.0.db, stream).await?;
        }
        store::attachments::remove_unsent(&self.0.db).await?;
        store::feed::trim(&self.0.db).await.map(drop)
    }
}
