//! Where diffs come from: the worktree of a Coder as it is when somebody looks, or the results of contestants.

use std::sync::Arc;

use app::error::AppError;
use domain::{
    diff::Of,
    feed::StreamId,
    id::{ContestantId, TaskId},
    worktree::State,
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;

use super::Coders;
use crate::{
    diffs::{NoChanges, Source, Sources},
    sentence::sentence,
};

/// A longer text is not coloured, and what lies around a change in it cannot be unfolded.
const TEXT_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub struct Changes(pub Arc<Coders>);

impl Sources for Changes {
    fn open(&self, of: Of) -> BoxFuture<'_, Result<Arc<dyn Source>, AppError>> {
        async move {
            let chat = match of {
                Of::Chat(chat) => chat,
                Of::Contestant(contestant) => return self.result(contestant, None).await,
                Of::Try(contestant, task) => return self.result(contestant, Some(task)).await,
                Of::Between(one, other) => return self.between(one, other).await,
                Of::Sample(_) => return NoChanges.open(of).await,
            };
            let known = store::worktrees::get(&self.0.db, chat).await?;
            match known.filter(|worktree| worktree.state == State::Ready) {
                Some(worktree) => {
                    let worktree = git::Worktree::open(&self.0.place(&worktree)).map_err(refused)?;
                    Ok(Arc::new(Changed(worktree)) as Arc<dyn Source>)
                }
                None => NoChanges.open(of).await,
            }
        }
        .boxed()
    }
}

impl Changes {
    /// The patch that was kept, and the texts around it for as long as the worktree is there.
    async fn result(
        &self,
        contestant: ContestantId,
        of: Option<TaskId>,
    ) -> Result<Arc<dyn Source>, AppError> {
        let stream = self.stream(contestant, of).await?;
        let none = || AppError::Invalid("No change of it was kept.".into());
        let patch = store::results::patch(&self.0.db, stream).await?.ok_or_else(none)?;
        Ok(Arc::new(Kept { patch, worktree: self.worktree(stream).await? }))
    }

    async fn between(&self, one: ContestantId, other: ContestantId) -> Result<Arc<dyn Source>, AppError> {
        let gone = || AppError::Invalid("A worktree of the two is gone, so they cannot be compared.".into());
        let one = self.worktree(self.stream(one, None).await?).await?.ok_or_else(gone)?;
        let other = self.worktree(self.stream(other, None).await?).await?.ok_or_else(gone)?;
        Ok(Arc::new(Between { one, other }))
    }

    /// The attempt that counts of one of its tries; of the newest where none is named.
    async fn stream(&self, contestant: ContestantId, of: Option<TaskId>) -> Result<StreamId, AppError> {
        let battle = store::battles::of_contestant(&self.0.db, contestant).await?;
        let battle = store::battles::get(&self.0.db, battle).await?;
        let stream = battle.stream_of_try(contestant, of)?;
        stream.ok_or_else(|| AppError::Invalid("It has not begun yet.".into()))
    }

    async fn worktree(&self, stream: StreamId) -> Result<Option<git::Worktree>, AppError> {
        let known = store::worktrees::of_attempt(&self.0.db, stream).await?;
        let here = known.filter(|it| it.state != State::Gone && it.host == self.0.host);
        Ok(here.and_then(|it| git::Worktree::open(&self.0.place(&it)).ok()))
    }
}

struct Kept {
    patch: Vec<u8>,
    worktree: Option<git::Worktree>,
}

impl Source for Kept {
    fn patch(&self) -> Result<Vec<u8>, AppError> {
        Ok(self.patch.clone())
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.worktree.as_ref()?.before(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.worktree.as_ref()?.result_text(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }
}

struct Between {
    one: git::Worktree,
    other: git::Worktree,
}

impl Source for Between {
    fn patch(&self) -> Result<Vec<u8>, AppError> {
        Ok(self.one.compare(&self.other, &Limits::default()).map_err(refused)?.patch)
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.one.result_text(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.other.result_text(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }
}

struct Changed(git::Worktree);

impl Source for Changed {
    fn patch(&self) -> Result<Vec<u8>, AppError> {
        Ok(self.0.diff(&Limits::default()).map_err(refused)?.patch)
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.0.before(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.0.after(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }
}

fn refused(error: git::Error) -> AppError {
    AppError::Invalid(sentence(&error.to_string()))
}
