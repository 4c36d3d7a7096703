//! Keeps what runs here, and finds what nobody keeps.

use std::{collections::HashMap, pin::pin, time::Duration};

use domain::{feed::StreamId, output::Outcome};
use futures::future::{BoxFuture, FutureExt as _};
use store::{commit::Loss, tasks::Expired};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::{ANSWER_WAIT_MAX, Engine, LEASE, SWEEP_WAIT_MAX, StopReason, answered, now_ms};
use crate::live::guard;

/// Well within the lease, so that one slow answer of the database loses nothing.
const RENEW_EVERY: Duration = Duration::from_secs(2);
const RENEW_WAIT_MAX: Duration = Duration::from_secs(4);
/// What is still ours by so little counts as another's: it is stopped before somebody else begins it.
const FENCE_BEFORE: Duration = Duration::from_secs(2);
const REAP_EVERY: Duration = Duration::from_secs(2);
const TIDY_EVERY_ROUNDS: u64 = 150;

pub(super) fn renew(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        // From then on somebody else may run what we run, on a server that does one thing at a time.
        let fence =
            || guard(&engine.0.running).values().for_each(|running| running.stop.ask(StopReason::Fenced));
        tokio::select! {
            () = keep(|| engine.renew_leases().boxed(), fence) => {}
            // What is still ending is ours until it has ended: nobody else may begin it before.
            () = engine.ended() => {}
        }
    }
    .boxed()
}

/// Renews again and again, and fences in time whenever that fails for too long.
async fn keep<'a>(renew: impl Fn() -> BoxFuture<'a, store::Result<()>>, fence: impl Fn()) {
    let mut ticks = interval(RENEW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut ours_until = Instant::now() + LEASE - FENCE_BEFORE;
    loop {
        let mut renewal = pin!(async {
            ticks.tick().await;
            // The lease may begin as soon as it is asked for, however late the answer comes.
            let asked_at = Instant::now();
            answered(RENEW_WAIT_MAX, renew()).await.map(|()| asked_at)
        });
        let renewed = loop {
            tokio::select! {
                renewed = &mut renewal => break renewed,
                () = sleep_until(ours_until) => {
                    fence();
                    // For what is claimed meanwhile.
                    ours_until = Instant::now() + RENEW_EVERY;
                }
            }
        };
        match renewed {
            Ok(asked_at) => ours_until = asked_at + LEASE - FENCE_BEFORE,
            Err(error) => tracing::warn!(%error, "leases could not be renewed; trying again"),
        }
    }
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
        let expired = answered(ANSWER_WAIT_MAX, store::tasks::expired(&self.0.db)).await?;
        // What runs here is not lost, however late its renewal is: the machine may have slept. Unless it does not stop.
        let is_lost = |expired: &Expired| expired.is_overdue || self.running(expired.stream).is_none();
        let lost = expired.into_iter().filter(is_lost).map(|expired| expired.stream);
        self.report_lost(lost.collect(), Loss::Expired).await;
        if tidy { answered(SWEEP_WAIT_MAX, self.tidy()).await } else { Ok(()) }
    }

    pub(super) async fn report_lost(&self, lost: Vec<StreamId>, why: Loss) {
        let reports = store::commit::report_lost(&self.0.db, lost, why, now_ms());
        let Ok(reports) = timeout(SWEEP_WAIT_MAX, reports).await else {
            tracing::warn!("lost attempts were not reported in time; trying again");
            return;
        };
        for (stream, reported) in reports {
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

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::{
            Mutex,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use tokio::time::sleep;

    use super::*;

    /// The database answers each renewal as its script says, after so many milliseconds; once that is over it says
    /// nothing any more. Gives the milliseconds at which what runs was fenced, within half a minute.
    async fn fenced_at(answers: &[u64]) -> Vec<u128> {
        let (began, asked) = (Instant::now(), AtomicUsize::new(0));
        let fenced = Mutex::new(Vec::new());
        let renew = || match answers.get(asked.fetch_add(1, Ordering::Relaxed)) {
            Some(after) => sleep(Duration::from_millis(*after)).map(Ok).boxed(),
            None => pending().boxed(),
        };
        let fence = || guard(&fenced).push(began.elapsed().as_millis());
        let _ = timeout(Duration::from_secs(30), keep(renew, fence)).await;
        fenced.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn what_runs_is_fenced_in_time_before_its_lease_runs_out() {
        assert_eq!(fenced_at(&[]).await[..2], [8_000, 10_000]);
        // Asked for at 2 s and answered at 5 s: it may have begun at 2 s, and it is not waited for the renewal that
        // is under way.
        assert_eq!(fenced_at(&[0, 3_000]).await[0], 10_000);
        assert_eq!(fenced_at(&[3_900, 3_900, 3_900, 3_900, 0, 0, 0, 0, 0, 0]).await, [] as [u128; 0]);
    }
}
