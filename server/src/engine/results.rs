//! Keeps the results folders of battles up to date, each a moment after something happened to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
    time::Duration,
};

use app::error::AppError;
use domain::{battle::results::concerned, feed::Event, id::BattleId};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::Engine;
use crate::live::guard;

/// What happens together is written together.
const PAUSE: Duration = Duration::from_millis(300);
/// Before what failed is tried again: twice as long each time, up to the longest.
const AGAIN: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(5 * 60);
/// A project whose folder is gone for good is not worth more, until something happens to the battle or the server
/// starts again.
const TRIES_MAX: u32 = 12;

/// The battles whose folders are not up to date.
#[derive(Default)]
pub(super) struct Stale {
    battles: Mutex<BTreeSet<BattleId>>,
    bell: Notify,
}

impl Stale {
    pub fn hear(&self, event: &Event) {
        if let Some(battle) = concerned(event) {
            self.add([battle]);
        }
    }

    fn add(&self, battles: impl IntoIterator<Item = BattleId>) {
        guard(&self.battles).extend(battles);
        self.bell.notify_one();
    }

    /// Writes each that is not up to date, and again what could not be written. `write` says whether it could.
    async fn keep_up<'a>(
        &self,
        shutdown: &CancellationToken,
        write: impl Fn(BattleId) -> BoxFuture<'a, bool>,
    ) {
        let mut failed = Failed::default();
        loop {
            let again = failed.next();
            tokio::select! {
                () = self.bell.notified() => {}
                () = sleep_until(again.unwrap_or_else(Instant::now)), if again.is_some() => {}
                () = shutdown.cancelled() => return,
            }
            sleep(PAUSE).await;
            let mut battles = std::mem::take(&mut *guard(&self.battles));
            battles.extend(failed.due());
            for battle in battles {
                let is_written = write(battle).await;
                failed.note(battle, is_written);
            }
        }
    }
}

/// The battles whose folders could not be written: how often in a row, and when they are tried again.
#[derive(Default)]
struct Failed(BTreeMap<BattleId, (u32, Instant)>);

impl Failed {
    fn next(&self) -> Option<Instant> {
        self.0.values().map(|(_, at)| *at).min()
    }

    fn due(&self) -> Vec<BattleId> {
        let now = Instant::now();
        self.0.iter().filter(|(_, (_, at))| *at <= now).map(|(battle, _)| *battle).collect()
    }

    fn note(&mut self, battle: BattleId, is_written: bool) {
        let before = self.0.remove(&battle).map_or(0, |(tries, _)| tries);
        let tries = before + 1;
        if !is_written && tries < TRIES_MAX {
            self.0.insert(battle, (tries, Instant::now() + again_after(tries)));
        }
    }
}

fn again_after(failures: u32) -> Duration {
    AGAIN.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1))).min(AGAIN_MAX)
}

pub(super) fn run(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        let write = |battle| engine.write_results(battle).boxed();
        tokio::join!(engine.find_unwritten(), engine.0.stale.keep_up(&engine.0.shutdown, write));
    }
    .boxed()
}

impl Engine {
    /// What a server that was killed did not come to write.
    async fn find_unwritten(&self) {
        for failures in 1.. {
            match store::battles::unwritten(&self.0.db, self.0.coders.host()).await {
                Ok(battles) => return self.0.stale.add(battles),
                Err(error) => tracing::warn!(%error, "battles without results could not be looked for"),
            }
            tokio::select! {
                () = sleep(again_after(failures)) => {}
                () = self.0.shutdown.cancelled() => return,
            }
        }
    }

    /// Whether nothing is left to be written. What is refused is not there any more, or never will be.
    async fn write_results(&self, id: BattleId) -> bool {
        match store::battles::get(&self.0.db, id).await {
            Ok(battle) if battle.terms.host == self.0.coders.host() => {}
            Ok(_) | Err(store::Error::Rejected(_)) => return true,
            Err(error) => {
                tracing::warn!(%error, battle = %id, "the results of a battle could not be read");
                return false;
            }
        }
        match self.0.results.update(id).await {
            Ok(_) | Err(AppError::Rejected(_)) => true,
            Err(error) => {
                tracing::warn!(%error, battle = %id, "the results of a battle could not be written");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// At which seconds a battle is written whose folder fails so many times, when something happens to it at these.
    /// Another, beside it, never fails.
    async fn check(failures: usize, happens_s: &[u64], expected: &[u64]) {
        let [failing, fine] = [1, 2].map(|number| BattleId(Uuid::from_u128(number)));
        let (stale, shutdown) = (Stale::default(), CancellationToken::new());
        let (began, writes) = (Instant::now(), Mutex::new(Vec::new()));
        let write = |battle| {
            let mut writes = guard(&writes);
            writes.push((battle, began.elapsed().as_secs()));
            let count = writes.iter().filter(|(other, _)| *other == battle).count();
            std::future::ready(battle == fine || count > failures).boxed()
        };
        let happen = async {
            stale.add([fine]);
            for at in happens_s {
                sleep_until(began + Duration::from_secs(*at)).await;
                stale.add([failing]);
            }
            sleep(Duration::from_secs(60 * 60)).await;
            shutdown.cancel();
        };
        tokio::join!(stale.keep_up(&shutdown, write), happen);
        let of = |battle| -> Vec<_> {
            guard(&writes).iter().filter(|(other, _)| *other == battle).map(|(_, at)| *at).collect()
        };
        assert_eq!(of(failing), expected, "{failures} failures");
        assert_eq!(of(fine), [0], "what was written is not written again");
    }

    #[tokio::test(start_paused = true)]
    async fn a_folder_that_could_not_be_written_is_written_later() {
        check(0, &[0], &[0]).await;
        check(1, &[0], &[0, 1]).await;
        check(3, &[0], &[0, 1, 3, 8]).await;
        // What happens to it meanwhile is not kept waiting.
        check(4, &[0, 12], &[0, 1, 3, 8, 12]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_never_can_be_is_left_after_a_while() {
        check(usize::MAX, &[0], &[0, 1, 3, 8, 16, 32, 65, 129, 257, 514, 814, 1_114]).await;
    }

    #[test]
    fn each_wait_is_longer_up_to_a_limit() {
        let waits = [1, 2, 3, 9, 10, 11, u32::MAX].map(|failures| again_after(failures).as_secs());
        assert_eq!(waits, [1, 2, 4, 256, 300, 300, 300]);
    }
}
