//! Acts on committed facts: claims tasks, executes them, reports how they ended. It decides nothing.
//!
//! - `claim`: takes tasks whose model server has a free place, and starts them.
//! - `execute`: runs one attempt within its limits and writes what it says.
//! - `lease`: keeps what runs here, and reports as lost what nobody keeps.
//! - `index`: makes what was said before findable.
//! - `results`: keeps the results folders of battles up to date.
//! - `follow`: reads the log of events, which tells all of the above what to do.

mod answers;
mod claim;
mod clock;
mod execute;
mod follow;
mod index;
mod lease;
mod ledger;
mod prepare;
mod prompt;
mod redact;
mod results;
mod tally;
mod writer;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use domain::{feed::StreamId, output::Outcome};
use store::{Db, commit::Loss};
use tokio::{sync::Notify, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

pub(crate) use answers::Answers;
pub(crate) use clock::Clock;
pub(crate) use execute::{Backend, Processes};
pub(crate) use redact::Redactor;
use results::Stale;
pub use tally::Tally;

use crate::{
    arena::Results,
    coder::Coders,
    live::{Live, guard},
    models::{Models, hostname},
    personas::Personas,
    secret::Secret,
};

/// How long a claimed task stays ours without a word from us.
const LEASE: Duration = Duration::from_secs(10);
/// How long the database may take for what the engine does again and again. One that went away without a word would
/// otherwise be waited for until the network gives up.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(8);
/// The same for what is done to many rows one after the other.
const SWEEP_WAIT_MAX: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Engine(Arc<Inner>);

/// What the engine works with.
pub struct Means {
    pub db: Db,
    pub live: Arc<Live>,
    pub models: Models,
    pub personas: Arc<Personas>,
    pub coders: Arc<Coders>,
    pub results: Results,
    pub client: reqwest::Client,
    /// What must not be shown, besides the keys of model servers.
    pub secrets: Vec<Secret>,
}

struct Inner {
    db: Db,
    live: Arc<Live>,
    models: Models,
    personas: Arc<Personas>,
    coders: Arc<Coders>,
    results: Results,
    /// The battles whose results folders are not up to date.
    stale: Stale,
    client: reqwest::Client,
    secrets: Vec<Secret>,
    /// Who we are in the tasks that we claim.
    instance: Uuid,
    /// The machine that we run on.
    machine: String,
    running: Mutex<HashMap<StreamId, Running>>,
    /// One of them is over.
    over: Notify,
    tally: Arc<Tally>,
    /// There may be something to claim.
    work: Notify,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

impl Engine {
    /// Registers this process at `place`, reports what its predecessor there left behind, and starts.
    pub async fn start(means: Means, place: &str, shutdown: CancellationToken) -> store::Result<Self> {
        let Means { db, live, models, personas, coders, results, client, secrets } = means;
        let instance = Uuid::now_v7();
        let engine = Self(Arc::new(Inner {
            db,
            live,
            models,
            personas,
            coders,
            results,
            stale: Stale::default(),
            client,
            secrets,
            instance,
            machine: hostname(),
            running: Mutex::default(),
            over: Notify::new(),
            tally: Arc::default(),
            work: Notify::new(),
            tasks: TaskTracker::new(),
            shutdown,
        }));
        engine.0.live.log.start_after(store::feed::head(&engine.0.db).await?);
        let left = store::instances::register(&engine.0.db, instance, place, &engine.0.machine).await?;
        let left = left.into_iter().map(|(task, attempt)| StreamId { task, attempt });
        engine.report_lost(left.collect(), Loss::Gone).await;
        let runs = [
            follow::run,
            claim::run,
            lease::renew,
            lease::reap,
            claim::provide_slots,
            index::run,
            results::run,
        ];
        for run in runs {
            engine.0.tasks.spawn(run(engine.clone()));
        }
        Ok(engine)
    }

    /// Returns when, after the shutdown token is cancelled, every task was given back.
    pub async fn stopped(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// Returns when the server goes down and nothing runs here any more.
    async fn ended(&self) {
        self.0.shutdown.cancelled().await;
        all_over(&self.0.running, &self.0.over).await;
    }

    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.0.tally)
    }

    fn running(&self, stream: StreamId) -> Option<Stop> {
        guard(&self.0.running).get(&stream).map(|running| running.stop.clone())
    }
}

/// How an attempt is spoken to while it runs.
#[derive(Clone, Default)]
struct Running {
    stop: Stop,
    answers: Answers,
    clock: Clock,
}

/// Why an attempt has to end before its backend is done. The first reason stays.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    token: CancellationToken,
    reason: Arc<Mutex<Option<StopReason>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// A person, or a rule, asked for it.
    Asked,
    /// The attempt is no longer ours; whatever we would report is stale.
    Fenced,
    /// The server goes down; another one, or its next start, tries again.
    Shutdown,
    /// The database did not take it; it is tried again.
    Unwritten,
    TimedOut,
    /// It had no time left before it could begin.
    NeverBegan,
    /// A person was asked, and did not answer.
    Unanswered,
    /// The answer does not end.
    TooLong,
}

impl Stop {
    pub fn ask(&self, reason: StopReason) {
        guard(&self.reason).get_or_insert(reason);
        self.token.cancel();
    }

    pub fn reason(&self) -> Option<StopReason> {
        *guard(&self.reason)
    }

    pub fn token(&self) -> &CancellationToken {
        &self.token
    }
}

impl StopReason {
    /// What is reported; nothing when the attempt is not ours to report.
    fn outcome(self, limit: Duration) -> Option<Outcome> {
        match self {
            Self::Asked => Some(Outcome::Cancelled),
            Self::Fenced => None,
            Self::Shutdown | Self::Unwritten => Some(Outcome::Lost),
            Self::TimedOut => {
                Some(Outcome::Failed { reason: format!("It was not done within {}.", minutes(limit)) })
            }
            Self::NeverBegan => Some(Outcome::Void {
                reason: format!("Its folder or its model was not ready within {}.", minutes(limit)),
            }),
            Self::Unanswered => Some(Outcome::Void {
                reason: "Nobody answered what the agent asked within a day. What it did until then is kept."
                    .into(),
            }),
            Self::TooLong => Some(Outcome::Failed {
                reason: "The answer was stopped because it did not come to an end.".into(),
            }),
        }
    }
}

/// What is asked of the database, if it answers in time.
async fn answered<T>(within: Duration, asked: impl Future<Output = store::Result<T>>) -> store::Result<T> {
    timeout(within, asked).await.unwrap_or(Err(store::Error::Silent))
}

async fn all_over<K, V>(running: &Mutex<HashMap<K, V>>, over: &Notify) {
    loop {
        // Listened for before the look: what ends in between is heard.
        let next = over.notified();
        if guard(running).is_empty() {
            return;
        }
        next.await;
    }
}

fn minutes(limit: Duration) -> String {
    match limit.as_secs() {
        seconds if seconds % 60 != 0 => format!("{seconds} seconds"),
        60 => "1 minute".to_owned(),
        seconds => format!("{} minutes", seconds / 60),
    }
}

pub(crate) fn now_ms() -> i64 {
    (time::OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_over_when_the_last_one_is() {
        let (running, over) = (Mutex::new(HashMap::from([(1, ()), (2, ())])), Notify::new());
        let mut all = Box::pin(all_over(&running, &over));
        for left in [1, 0] {
            assert!(futures::poll!(&mut all).is_pending());
            guard(&running).remove(&(left + 1));
            over.notify_waiters();
        }
        all.await;
    }
}
