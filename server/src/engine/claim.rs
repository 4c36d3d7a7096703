//! Takes what can be run now.

use std::{sync::Arc, time::Duration};

use domain::{
    feed::StreamId,
    slot,
    task::{Status, Task},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::tasks::{Reachable, Site};
use tokio::time::timeout;

use super::{
    ANSWER_WAIT_MAX, Engine, LEASE, Running, StopReason, answered,
    clock::READYING_MAX,
    execute::{Backend, Execution, KEEP_WAIT_MAX, LIMIT_MAX, limit},
    now_ms,
    prepare::{Hopeless, Unprepared},
    redact,
};
use crate::live::guard;

/// A wake-up that goes missing costs at most this long.
const POLL: Duration = Duration::from_secs(2);
/// How soon a task is looked for again whose row somebody held. Each time in vain doubles it.
const HELD_WAIT: Duration = Duration::from_millis(5);
const PROVIDE_EVERY: Duration = Duration::from_secs(5);
/// How long the tables may take to say what is to be asked.
const PREPARE_WAIT_MAX: Duration = Duration::from_secs(10);
const MACHINE_PLACES: u32 = 1;
/// What code does between the agents of runs.
const STEPS_PLACES: u32 = 2;
/// What a claim may allow for until it is made ready, the execution's own limits have ended it and what it made is kept.
const DEADLINE_SLACK: Duration =
    READYING_MAX.saturating_add(KEEP_WAIT_MAX).saturating_add(Duration::from_secs(60));

pub(super) fn run(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        let mut wait = POLL;
        while !engine.0.shutdown.is_cancelled() {
            wait = match engine.claim_all().await {
                Ok(round) => round.wait(wait),
                Err(error) => {
                    tracing::warn!(%error, "no task could be claimed");
                    POLL
                }
            };
            tokio::select! {
                _ = timeout(wait, engine.0.work.notified()) => {}
                () = engine.0.shutdown.cancelled() => {}
            }
        }
        let running: Vec<Running> = guard(&engine.0.running).values().cloned().collect();
        running.iter().for_each(|running| running.stop.ask(StopReason::Shutdown));
    }
    .boxed()
}

/// A round of claims.
#[derive(Debug, Default, PartialEq, Eq)]
struct Round {
    has_claimed: bool,
    /// Something is left that could run here: somebody's commit held its row.
    is_held: bool,
}

impl Round {
    /// How long until the next one, after one that was waited for `last`, which is `POLL` when nothing was held.
    fn wait(&self, last: Duration) -> Duration {
        match self {
            Self { is_held: false, .. } => POLL,
            Self { has_claimed: true, .. } => HELD_WAIT,
            _ if last == POLL => HELD_WAIT,
            _ => (last * 2).min(POLL),
        }
    }
}

/// Keeps as many places at each model server as it can serve.
pub(super) fn provide_slots(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        let mut changed = engine.0.models.changed();
        loop {
            changed.mark_unchanged();
            let mut slots = engine.0.models.slots();
            slots.push((engine.checks().slot_key, MACHINE_PLACES));
            slots.push((engine.steps().slot_key, STEPS_PLACES));
            let provided = answered(ANSWER_WAIT_MAX, store::slots::provide(&engine.0.db, &slots));
            if let Err(error) = provided.await {
                tracing::warn!(%error, "the places at model servers could not be kept; trying again");
            }
            engine.0.work.notify_one();
            // Now and then without a change too: for a try that failed, and for a place that was in use.
            tokio::select! {
                _ = timeout(PROVIDE_EVERY, changed.changed()) => {}
                () = engine.0.shutdown.cancelled() => return,
            }
        }
    }
    .boxed()
}

impl Engine {
    async fn claim_all(&self) -> store::Result<Round> {
        let db = &self.0.db;
        let mut reachable = self.0.models.claimable();
        reachable.push(self.checks());
        reachable.push(self.steps());
        let longest = LIMIT_MAX + DEADLINE_SLACK;
        let site = Site { host: self.0.coders.host(), machine: &self.0.machine };
        let mut round = Round::default();
        while !self.0.shutdown.is_cancelled() {
            let claim = store::tasks::claim(db, self.0.instance, site, &reachable, LEASE, longest, now_ms());
            // One that comes through after all is run by nobody, and so it is found by its lease.
            match answered(ANSWER_WAIT_MAX, claim).await? {
                Some(task) => {
                    self.start_task(task);
                    round.has_claimed = true;
                }
                None => {
                    let held = store::tasks::passed_over(db, site, &reachable);
                    round.is_held = answered(ANSWER_WAIT_MAX, held).await?;
                    break;
                }
            }
        }
        Ok(round)
    }

    /// What must not be stored, shown or sent anywhere, as it is configured now.
    pub(super) fn secrets(&self) -> Arc<[String]> {
        let keys = self.0.models.keys();
        redact::secrets(keys.iter().chain(&self.0.secrets).map(|secret| secret.expose().to_owned()))
    }

    /// The place of work that asks no model. One at a time, so that what is measured is not somebody else's.
    fn checks(&self) -> Reachable {
        Reachable { server: slot::MACHINE.to_owned(), slot_key: format!("machine {}", self.0.coders.host()) }
    }

    /// The place of what code does between the agents of runs.
    fn steps(&self) -> Reachable {
        Reachable { server: slot::STEPS.to_owned(), slot_key: format!("steps {}", self.0.coders.host()) }
    }

    fn start_task(&self, task: Task) {
        let Status::Running { attempt, .. } = task.status else { return };
        self.0.tally.claimed();
        let stream = StreamId { task: task.id, attempt };
        let running = Running::default();
        guard(&self.0.running).insert(stream, running.clone());
        let engine = self.clone();
        self.0.tasks.spawn(async move {
            tracing::info!(%stream, work = ?task.work, model = %task.model, "started");
            let _entry = Entry { engine: &engine, stream };
            engine.execute(&task, stream, &running).await;
        });
    }

    async fn execute(&self, task: &Task, stream: StreamId, running: &Running) {
        let stop = &running.stop;
        let models = &self.0.models;
        let execution = Execution {
            stream,
            limit: limit(task),
            live: self.0.live.stream(stream),
            ledger: &self.0.db,
            processes: self.0.coders.as_ref(),
            tally: &self.0.tally,
            stop,
            clock: &running.clock,
            secrets: self.secrets(),
            title: models.default_choice(),
        };
        let prepared = timeout(PREPARE_WAIT_MAX, self.prepare(task, stream, running)).await;
        let backend: Arc<dyn Backend> = match prepared {
            Ok(Ok(backend)) => backend,
            Ok(Err(Unprepared::Told(reason))) => Arc::new(Hopeless(reason)),
            Ok(Err(Unprepared::Store(error))) => {
                tracing::warn!(%stream, %error, "the conversation could not be read; trying again");
                stop.ask(StopReason::Unwritten);
                Arc::new(Hopeless(String::new()))
            }
            Err(_) => {
                tracing::warn!(%stream, "the conversation could not be read in time; trying again");
                stop.ask(StopReason::Unwritten);
                Arc::new(Hopeless(String::new()))
            }
        };
        execution.run(backend.as_ref()).await;
    }
}

/// A task's entry among those that run here. It goes with the task, also when that panics, so that no lease
/// is renewed for nobody.
struct Entry<'a> {
    engine: &'a Engine,
    stream: StreamId,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        guard(&self.engine.0.running).remove(&self.stream);
        self.engine.0.over.notify_waiters();
        self.engine.0.work.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_task_is_looked_for_soon_and_then_ever_less_often() {
        let held = |has_claimed| Round { has_claimed, is_held: true };
        let mut waits = Vec::new();
        let mut wait = POLL;
        for has_claimed in [false, false, false, true, false] {
            wait = held(has_claimed).wait(wait);
            waits.push(wait.as_millis());
        }
        assert_eq!(waits, [5, 10, 20, 5, 10], "one that was held meanwhile has not been looked for before");
        assert_eq!(held(false).wait(POLL - HELD_WAIT), POLL);
        assert_eq!(Round { has_claimed: true, is_held: false }.wait(HELD_WAIT), POLL);
    }
}
