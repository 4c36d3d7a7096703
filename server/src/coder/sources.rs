//! Where diffs come from: the worktree of a Coder as it is when somebody looks, the results of contestants, or what a run
//! looked at.

use std::sync::Arc;

use app::error::AppError;
use domain::{
    diff::{Against, Of},
    feed::StreamId,
    id::{ChatId, ContestantId, RunId, TaskId},
    worktree::State,
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;
use store::results::Made;

use super::{Coders, port::left_out};
use crate::{
    diffs::{NoChanges, Source, Sources, Taken},
    sentence::sentence,
};

/// A longer text is not coloured, and what lies around a change in it cannot be unfolded.
const TEXT_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub struct Changes(pub Arc<Coders>);

impl Sources for Changes {
    fn open(&self, of: Of) -> BoxFuture<'_, Result<Arc<dyn Source>, AppError>> {
        async move {
            let source: Arc<dyn Source> = match of {
                Of::Chat(chat) => Arc::new(Changed(self.now(chat).await?)),
                Of::Project(chat) => Arc::new(FromProject(self.now(chat).await?)),
                Of::Chats(one, other) => {
                    Arc::new(Sides { one: self.now(one).await?, other: self.now(other).await? })
                }
                Of::Contestant(contestant) => self.result(contestant, None).await?,
                Of::Try(contestant, task) => self.result(contestant, Some(task)).await?,
                Of::Between(one, other) => self.between(one, other).await?,
                Of::Run(run) => self.looked_at(run).await?,
                Of::Sample(_) => NoChanges.open(of).await?,
            };
            Ok(source)
        }
        .boxed()
    }
}

impl Changes {
    /// A Coder's worktree as it is now.
    async fn now(&self, chat: ChatId) -> Result<git::Worktree, AppError> {
        let known = store::worktrees::get(&self.0.db, chat).await?;
        let known = known.filter(|worktree| worktree.state == State::Ready);
        let known = known.ok_or_else(|| AppError::Invalid("There are no changes here.".into()))?;
        self.0.require_here(&known)?;
        git::Worktree::open(&self.0.place(&known)).map_err(refused)
    }

    /// The patch that was kept, and the texts around it for as long as the worktree is there.
    async fn result(
        &self,
        contestant: ContestantId,
        of: Option<TaskId>,
    ) -> Result<Arc<dyn Source>, AppError> {
        let stream = self.stream(contestant, of).await?;
        let Made { changes, unkept, .. } = store::results::made(&self.0.db, stream).await?;
        let none = || {
            let why = unkept.map(|why| format!("Its changes could not be kept: {why}"));
            AppError::Invalid(why.unwrap_or_else(|| "No change of it was kept.".to_owned()))
        };
        let patch = store::results::patch(&self.0.db, stream).await?.ok_or_else(none)?;
        let left_out = changes.map(|changes| changes.left_out).unwrap_or_default();
        Ok(Arc::new(Kept { patch, left_out, worktree: self.worktree(stream).await? }))
    }

    async fn between(&self, one: ContestantId, other: ContestantId) -> Result<Arc<dyn Source>, AppError> {
        let gone = || AppError::Invalid("A worktree of the two is gone, so they cannot be compared.".into());
        let one = self.worktree(self.stream(one, None).await?).await?.ok_or_else(gone)?;
        let other = self.worktree(self.stream(other, None).await?).await?.ok_or_else(gone)?;
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
    left_out: Vec<String>,
    worktree: Option<git::Worktree>,
}

impl Source for Kept {
    fn take(&self, _limits: &Limits) -> Result<Taken, AppError> {
        Ok(Taken { patch: self.patch.clone(), left_out: self.left_out.clone() })
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
    fn take(&self, limits: &Limits) -> Result<Taken, AppError> {
        Ok(taken(self.one.compare(&self.other, limits).map_err(refused)?))
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.one.result_text(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.other.result_text(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }
}

struct FromProject(git::Worktree);

impl Source for FromProject {
    fn take(&self, limits: &Limits) -> Result<Taken, AppError> {
        Ok(taken(self.0.diff_from_project(limits).map_err(refused)?))
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.0.in_project(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.0.after(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }
}

struct Sides {
    one: git::Worktree,
    other: git::Worktree,
}

impl Source for Sides {
    fn take(&self, limits: &Limits) -> Result<Taken, AppError> {
        Ok(taken(self.one.diff_to(&self.other, limits).map_err(refused)?))
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.one.after(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.other.after(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }
}

struct LookedAt {
    snapshot: git::Snapshot,
    since: String,
    target: String,
}

impl Source for LookedAt {
    fn take(&self, limits: &Limits) -> Result<Taken, AppError> {
        let bytes_max = limits.total_bytes as usize;
        let patch = self.snapshot.patch_since(&self.since, &self.target, bytes_max).map_err(refused)?;
        match patch.len() > bytes_max {
            true => Err(AppError::Invalid("The change is too long to be shown.".into())),
            false => Ok(Taken { patch, left_out: Vec::new() }),
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
    fn take(&self, limits: &Limits) -> Result<Taken, AppError> {
        Ok(taken(self.0.diff(limits).map_err(refused)?))
    }

    fn old_text(&self, path: &str) -> Option<Vec<u8>> {
        self.0.before(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        self.0.after(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()
    }
}

impl Coders {
    /// The newest Coders of the same project, besides what there always is.
    pub(super) async fn sides(&self, chat: ChatId) -> Result<Vec<Against>, AppError> {
        const OTHERS_MAX: usize = 20;
        let mut sides = vec![
            Against { of: Of::Chat(chat), title: "Against where it began".to_owned() },
            Against { of: Of::Project(chat), title: "Against your files now".to_owned() },
        ];
        let project = store::workspace::project_of_chat(&self.db, chat).await?.id;
        for row in store::worktrees::list(&self.db, &self.host).await? {
            let store::worktrees::Of::Chat(other) = row.of else { continue };
            let is_ready = other != chat && row.worktree.state == State::Ready;
            if is_ready && store::workspace::project_of_chat(&self.db, other).await?.id == project {
                let title = format!("Against {}", row.title);
                sides.push(Against { of: Of::Chats(other, chat), title });
            }
            if sides.len() > OTHERS_MAX {
                break;
            }
        }
        Ok(sides)
    }
}

fn taken(diff: git::Diff) -> Taken {
    Taken { left_out: left_out(&diff), patch: diff.patch }
}

fn refused(error: git::Error) -> AppError {
    AppError::Invalid(sentence(&error.to_string()))
}
