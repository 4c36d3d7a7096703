//! What projects held when runs began: how long it is kept, what it takes of the disk, and giving that back. A report
//! stays without it; only what it cites cannot be opened any more.

use std::{collections::BTreeSet, path::PathBuf};

use app::error::AppError;
use domain::run::Shown;
use store::runs::Recording;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{Coders, port::blocking};

/// Of the newest runs that are over, so many stay; those of older ones are freed when others are launched.
const RECORDINGS_MAX: usize = 200;

impl Coders {
    pub(crate) fn recorded_folder(&self, name: Uuid) -> PathBuf {
        self.recorded.join(name.to_string())
    }

    /// Where what a run began with lies, or why it cannot be had.
    pub(crate) async fn recorded(&self, shown: &Shown) -> Result<PathBuf, AppError> {
        let gone = |words: &str| Err(AppError::Invalid(words.to_owned()));
        if shown.terms.host != self.host {
            return gone("What the project held when the run began is on another machine.");
        }
        if store::runs::is_freed(&self.db, shown.id()).await? {
            return gone(
                "What the project held when the run began was deleted to free room. The report stays.",
            );
        }
        Ok(self.recorded_folder(shown.recorded()))
    }

    /// Throws away what was recorded for runs that were never launched, that are gone, or that need it no more.
    pub async fn sweep_recorded(&self) -> anyhow::Result<()> {
        let kept = store::runs::recordings(&self.db, &self.host).await?;
        let names: BTreeSet<String> = kept.into_iter().map(|recording| recording.name.to_string()).collect();
        let recorded = self.recorded.clone();
        let left = spawn_blocking(move || git::list(&recorded)).await??;
        for left in left.into_iter().filter(|left| !names.contains(left.id())) {
            let id = left.id().to_owned();
            if let Err(error) = spawn_blocking(move || left.remove()).await? {
                tracing::warn!(%error, id, "what no run owns could not be removed");
            }
        }
        self.free_old_recordings().await;
        Ok(())
    }

    /// Those beyond the newest. Whoever launches a run does not wait for it to succeed: the next one tries again.
    pub(crate) async fn free_old_recordings(&self) {
        let freed = async {
            let kept = store::runs::recordings(&self.db, &self.host).await?;
            self.free(beyond(kept, RECORDINGS_MAX)).await
        };
        if let Err(error) = freed.await {
            tracing::warn!(%error, "what older runs began with could not be freed");
        }
    }

    pub(super) async fn free_finished_recordings(&self) -> Result<(), AppError> {
        self.free(self.finished_recordings().await?).await
    }

    /// The newest first.
    pub(super) async fn finished_recordings(&self) -> Result<Vec<Recording>, AppError> {
        Ok(beyond(store::runs::recordings(&self.db, &self.host).await?, 0))
    }

    /// The row goes first: of what is deleted half nobody reads, and the next start deletes the rest.
    async fn free(&self, recordings: Vec<Recording>) -> Result<(), AppError> {
        for Recording { run, name, .. } in recordings {
            store::runs::free(&self.db, run).await?;
            let folder = self.recorded_folder(name);
            blocking(move || match folder.exists() {
                true => git::Worktree::open(&folder)?.remove(),
                false => Ok(()),
            })
            .await?;
        }
        Ok(())
    }
}

/// Of runs that are over, all but so many of the newest. Those that go on need what they began with.
fn beyond(newest_first: Vec<Recording>, kept_max: usize) -> Vec<Recording> {
    newest_first.into_iter().filter(|recording| recording.is_over).skip(kept_max).collect()
}

#[cfg(test)]
mod tests {
    use domain::id::RunId;

    use super::*;

    /// By their numbers, the newest first; those that go on with a `+`.
    #[test]
    fn the_oldest_go_first_and_none_that_is_needed() {
        let check = |kept: &str, kept_max: usize, freed: &[u128]| {
            let recordings = kept.split_whitespace().map(|word| {
                let number = Uuid::from_u128(word.trim_end_matches('+').parse().unwrap());
                Recording { run: RunId(number), name: number, is_over: !word.ends_with('+') }
            });
            let beyond = beyond(recordings.collect(), kept_max);
            let beyond: Vec<_> = beyond.iter().map(|recording| recording.run.0.as_u128()).collect();
            assert_eq!(beyond, freed, "{kept}");
        };
        check("5 4 3 2 1", 3, &[2, 1]);
        check("5+ 4 3 2+ 1", 3, &[]);
        check("5+ 4 3 2+ 1", 2, &[1]);
        check("2 1+", 0, &[2]);
        check("", 3, &[]);
    }
}
