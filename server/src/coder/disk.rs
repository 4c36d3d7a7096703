//! What worktrees take of the disk, and giving it back.

use app::error::AppError;
use domain::{
    page::Wanted,
    settings::{WorktreeEntry, WorktreeSettings},
    worktree::State,
};
use git::Limits;
use store::worktrees::Of;

use super::{Coders, port::blocking};

/// More than this is worth a warning.
const BUDGET_BYTES: u64 = 20_000_000_000;

impl Coders {
    pub(super) async fn listed(&self) -> Result<WorktreeSettings, AppError> {
        let rows = store::worktrees::list(&self.db, &self.host).await?;
        let places: Vec<_> = rows.iter().map(|row| self.place(&row.worktree)).collect();
        let sizes = blocking(move || {
            let size = |place: &std::path::PathBuf| git::Worktree::open(place)?.size(&Limits::default());
            Ok(places.iter().map(|place| size(place).ok()).collect::<Vec<_>>())
        })
        .await?;
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
        Ok(WorktreeSettings { worktrees, budget_bytes: BUDGET_BYTES })
    }

    /// The rows go first: what is deleted half is in the trash still, and goes with the next call.
    pub(super) async fn delete_trashed(&self) -> Result<(), AppError> {
        let rows = store::worktrees::list(&self.db, &self.host).await?;
        for row in rows.into_iter().filter(|row| row.worktree.state == State::Discarded) {
            match row.of {
                Of::Chat(chat) => drop(store::worktrees::set_state(&self.db, chat, State::Gone).await?),
                Of::Battle(_) => {
                    store::worktrees::set_state_of_battles(&self.db, row.worktree.id, State::Gone).await?;
                }
            }
        }
        let trash = self.trash().to_owned();
        blocking(move || git::empty(&trash)).await?;
        Ok(())
    }
}
