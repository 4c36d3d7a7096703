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

impl Coders {
    pub(super) async fn listed(&self) -> Result<WorktreeSettings, AppError> {
        let rows = store::worktrees::list(&self.db, &self.host).await?;
        let budget = store::settings::worktree_budget(&self.db).await?;
        let places: Vec<_> = rows.iter().map(|row| self.place(&row.worktree)).collect();
        let trash = self.trash().to_owned();
        let (sizes, strays) = blocking(move || {
            let size = |found: &git::Worktree| found.size(&Limits::default()).ok();
            let sizes: Vec<_> = places.iter().map(|place| size(&git::Worktree::open(place).ok()?)).collect();
            let trashed = git::list(&trash)?;
            let is_owned = |found: &git::Worktree| places.iter().any(|place| place == found.folder());
            Ok((sizes, trashed.iter().filter(|found| !is_owned(found)).map(size).collect()))
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
        Ok(WorktreeSettings { worktrees, strays, recordings: self.recordings().await?, budget })
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
