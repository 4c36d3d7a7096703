//! Where diffs come from: the worktree of a Coder as it is when somebody looks, the results of contestants, or what a run
//! looked at.

use std::sync::Arc;

use app::error::AppError;
use domain::{
    diff::Of,
    feed::StreamId,
    id::{ContestantId, RunId},
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
                Of::Contestant(contestant) => return self.result(contestant).await,
                Of::Between(one, other) => return self.between(one, other).await,
                Of::Run(run) => return self.looked_at(run).await,
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
    async fn result(&self, contestant: ContestantId) -> Result<Arc<dyn Source>, AppError> {
        let stream = self.newest(contestant).await?;
        let none = || AppError::Invalid("It has changed nothing yet.".into());
        let patch = store::results::patch(&self.0.db, stream).await?.ok_or_else(none)?;
        Ok(Arc::new(Kept { patch, worktree: self.worktree(stream).await? }))
    }

    async fn between(&self, one: ContestantId, other: ContestantId) -> Result<Arc<dyn Source>, AppError> {
        let gone = || AppError::Invalid("A worktree of the two is gone, so they cannot be compared.".into());
        let one = self.worktree(self.newest(one).await?).await?.ok_or_else(gone)?;
        let other = self.worktree(self.newest(other).await?).await?.ok_or_else(gone)?;
        Ok(Arc::new(Between { one, other }))
    }

    /// The change that a run began with.
    async fn looked_at(&self, run: RunId) -> Result<Arc<dyn Source>, AppError> {
        let shown = store::runs::get(&self.0.db, run).await?;
        let none = || AppError::Invalid("This run looked at the project and not at a change of it.".into());
        let since = shown.terms.since.clone().ok_or_else(none)?;
        let snapshot = git::Snapshot::open(&self.0.recorded(&shown).await?).map_err(refused)?;
        Ok(Arc::new(LookedAt { snapshot, since, target: shown.run.request.target.path().to_owned() }))
    }

    async fn newest(&self, contestant: ContestantId) -> Result<StreamId, AppError> {
        let battle = store::battles::of_contestant(&self.0.db, contestant).await?;
        let battle = store::battles::get(&self.0.db, battle).await?;
        let task = battle.task_of(battle.contestant(contestant)?);
        let stream =
            task.and_then(|task| Some(StreamId { task: task.id, attempt: task.attempts().last()?.0 }));
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

struct LookedAt {
    snapshot: git::Snapshot,
    since: String,
    target: String,
}

impl Source for LookedAt {
    fn patch(&self) -> Result<Vec<u8>, AppError> {
        let bytes_max = Limits::default().total_bytes as usize;
        let patch = self.snapshot.patch_since(&self.since, &self.target, bytes_max).map_err(refused)?;
        match patch.len() > bytes_max {
            true => Err(AppError::Invalid("The change is too long to be shown.".into())),
            false => Ok(patch),
        }
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.snapshot.text_in(&self.since, path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.snapshot.text(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
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
