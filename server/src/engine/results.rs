//! Keeps the results folders of battles up to date, each a moment after something happened to it.

use std::{collections::BTreeSet, sync::Mutex, time::Duration};

use domain::{battle::results::concerned, feed::Event, id::BattleId};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::{sync::Notify, time::sleep};

use super::Engine;
use crate::live::guard;

/// What happens together is written together.
const PAUSE: Duration = Duration::from_millis(300);

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
}

pub(super) fn run(engine: Engine) -> BoxFuture<'static, ()> {
    async move {
        // What a server that was killed did not come to write.
        match store::battles::unwritten(&engine.0.db, engine.0.coders.host()).await {
            Ok(battles) => engine.0.stale.add(battles),
            Err(error) => tracing::warn!(%error, "battles without results could not be looked for"),
        }
        loop {
            tokio::select! {
                () = engine.0.stale.bell.notified() => {}
                () = engine.0.shutdown.cancelled() => return,
            }
            sleep(PAUSE).await;
            let battles = std::mem::take(&mut *guard(&engine.0.stale.battles));
            for battle in battles {
                engine.write_results(battle).await;
            }
        }
    }
    .boxed()
}

impl Engine {
    async fn write_results(&self, id: BattleId) {
        match store::battles::get(&self.0.db, id).await {
            Ok(battle) if battle.terms.host == self.0.coders.host() => {
                if let Err(error) = self.0.results.update(id).await {
                    tracing::warn!(%error, battle = %id, "the results of a battle could not be written");
                }
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, battle = %id, "the results of a battle could not be read"),
        }
    }
}
