//! What worktrees and recordings take of the disk, and giving it back.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use app::error::AppError;
use domain::{
    page::Wanted,
    settings::{Recordings, WorktreeEntry, WorktreeSettings},
    worktree::State,
};
use git::Limits;
use store::worktrees::Of;

use super::{Coders, port::blocking};

/// Pages that show the list ask for it every few seconds, and to measure one is to look at each of its files.
const MEASURE_EVERY: Duration = Duration::from_secs(60);

/// By worktree, or by what was recorded: when it was measured, and what it took.
pub(super) type Sizes = BTreeMap<String, (Instant, Option<u64>)>;

impl Coders {
    pub(super) async fn listed(&self) -> Result<WorktreeSettings, AppError> {
        let rows = store::worktrees::list(&self.db, &self.host).await?;
        let budget = store::settings::worktree_budget(&self.db).await?;
        let places: Vec<_> = rows.iter().map(|row| self.place(&row.worktree)).collect();
        let recorded = self.finished_recordings().await?;
        let recorded: Vec<_> =
            recorded.iter().map(|recording| self.recorded_folder(recording.name)).collect();
        let count = recorded.len();
        let trash = self.trash().to_owned();
        // One measures at a time; the others wait for what it finds.
        let mut known = self.sizes.lock().await;
        let mut before = std::mem::take(&mut *known);
        let (sizes, strays, bytes, now) = blocking(move || {
            let mut now = Sizes::new();
            let mut size = |found: &git::Worktree| {
                let id = found.id().to_owned();
                let fresh = before.remove(&id).filter(|(at, _)| at.elapsed() < MEASURE_EVERY);
                let (at, bytes) =
                    fresh.unwrap_or_else(|| (Instant::now(), found.size(&Limits::default()).ok()));
                now.insert(id, (at, bytes));
                bytes
            };
            let sizes: Vec<_> = places.iter().map(|place| size(&git::Worktree::open(place).ok()?)).collect();
            let trashed = git::list(&trash)?;
            let is_owned = |found: &git::Worktree| places.iter().any(|place| place == found.folder());
            let strays = trashed.iter().filter(|found| !is_owned(found)).map(&mut size).collect();
            let recorded = recorded.iter().filter_map(|folder| git::Worktree::open(folder).ok());
            let bytes = recorded.filter_map(|found| size(&found)).sum();
            Ok((sizes, strays, bytes, now))
        })
        .await?;
        *known = now;
        drop(known);
        let entry = |(row, bytes): (store::worktrees::Listed, Option<u64>)| WorktreeEntry {
            of: match row.of {
                Of::Chat(chat) => Wanted::Chat(chat),
                Of::Battle(battle) => Wanted::Battle(battle),
            },
            title: row.title,
            project: row.project,
            state: row.worktree.state,
            bytes,
        };
        let worktrees = rows.into_iter().zip(sizes).map(entry).collect();
        Ok(WorktreeSettings { worktrees, strays, recordings: Recordings { count, bytes }, budget })
    }

    /// The rows go first: what is deleted half is in the trash still, and goes with the next call. Only what no row
    /// claims by then is deleted, so what is discarded meanwhile stays.
    pub(super) async fn delete_trashed(&self) -> Result<(), AppError> {
        let rows = store::worktrees::list(&self.db, &self.host).await?;
        for row in rows.into_iter().filter(|row| row.worktree.state == State::Discarded) {
            match row.of {
                Of::Chat(chat) => match store::worktrees::set_state(&self.db, chat, State::Gone).await {
                    // Somebody was asked to go on in it just now; it stays.
                    Err(store::Error::Rejected(_)) => {}
                    set => drop(set?),
                },
                Of::Battle(_) => {
                    store::worktrees::set_state_of_battles(&self.db, row.worktree.id, State::Gone).await?;
                }
            }
        }
        let trash = self.trash().to_owned();
        // In this order: whatever is claimed by a row now was claimed when it was seen, or came later.
        let thrown = blocking(move || git::list(&trash)).await?;
        let rows = store::worktrees::list(&self.db, &self.host).await?;
        blocking(move || {
            let is_claimed = |id: &str| rows.iter().any(|row| row.worktree.id.to_string() == id);
            let mut all = Ok(());
            for left in thrown.into_iter().filter(|left| !is_claimed(left.id())) {
                // One that fails keeps no other from going; of several failures the last is told.
                all = left.remove().and(all);
            }
            all
        })
        .await
    }
}
