//! The worktree of a Coder: made when its first turn begins, found again by every later one.

use std::path::{Path, PathBuf};

use domain::{
    chat::Coder,
    id::{ChatId, WorktreeId},
    worktree::{State, Worktree},
};
use git::Limits;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{Coders, setup::Turn, unprepared};
use crate::backend;

impl Coders {
    /// The folder that this attempt works in.
    pub(super) async fn worktree(
        &self,
        turn: Turn<'_>,
        chat: ChatId,
        coder: &Coder,
    ) -> Result<git::Worktree, backend::Error> {
        let known = store::worktrees::get(&self.db, chat).await.map_err(|error| unprepared(&error))?;
        match known {
            Some(known) if known.state == State::Ready => self.open(known.id).await,
            Some(_) => Err(backend::Error::Unprepared("The worktree is not there any more.".into())),
            None => self.make(turn, chat, coder).await,
        }
    }

    async fn open(&self, id: WorktreeId) -> Result<git::Worktree, backend::Error> {
        let folder = self.folder(id);
        blocking(move || git::Worktree::open(&folder)).await
    }

    /// A folder whose making was cut off has no row, and goes when the server starts next.
    async fn make(
        &self,
        turn: Turn<'_>,
        chat: ChatId,
        coder: &Coder,
    ) -> Result<git::Worktree, backend::Error> {
        let project = store::workspace::project_of_chat(&self.db, chat);
        let project = project.await.map_err(|error| unprepared(&error))?;
        let setup = store::setups::get(&self.db, project.id).await.map_err(|error| unprepared(&error))?;
        let (id, carry) = (WorktreeId(Uuid::now_v7()), coder.carry);
        let (folder, path) = (self.folder(id), PathBuf::from(project.path));
        let copy: Vec<PathBuf> = setup.copy.iter().map(PathBuf::from).collect();
        let made = blocking(move || {
            let start = git::Start { carry, copy: &copy };
            git::Worktree::create(&folder, &id.to_string(), &path, start, &Limits::default())
        })
        .await?;
        let made = match self.set_up(made.clone(), &setup, turn).await {
            Ok(made) => made,
            Err(error) => {
                self.throw_away(made).await;
                return Err(error);
            }
        };
        let row = Worktree {
            id,
            host: self.host.clone(),
            base: made.base().to_owned(),
            carried: carry,
            state: State::Ready,
        };
        store::worktrees::made(&self.db, turn.stream, row).await.map_err(|error| unprepared(&error))?;
        Ok(made)
    }

    /// What is not whole is nobody's, and nothing in it is worth keeping.
    async fn throw_away(&self, made: git::Worktree) {
        if let Err(error) = blocking(move || made.remove()).await {
            tracing::warn!(%error, "a worktree that was not finished stays until the next start");
        }
    }

    /// Throws away what has no row: its making was cut off, or its row was never written.
    pub async fn sweep(&self) -> anyhow::Result<()> {
        let rows = store::worktrees::list(&self.db, &self.host).await?;
        let (worktrees, trash) = (self.worktrees.clone(), self.trash.clone());
        let is_known = move |id: &str| rows.iter().any(|row| row.worktree.id.to_string() == id);
        spawn_blocking(move || {
            for left in git::list(&worktrees)?.into_iter().filter(|left| !is_known(left.id())) {
                tracing::info!(id = left.id(), "a worktree that nobody owns goes to the trash");
                left.trash(&trash)?;
            }
            Ok::<_, git::Error>(())
        })
        .await??;
        Ok(())
    }

    pub(super) fn place(&self, worktree: &Worktree) -> PathBuf {
        match worktree.state {
            State::Ready => self.folder(worktree.id),
            State::Discarded | State::Gone => self.trash.join(worktree.id.to_string()),
        }
    }

    pub(super) fn trash(&self) -> &Path {
        &self.trash
    }
}

/// The disk blocks, so it is asked on a thread that may.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, git::Error> + Send + 'static,
) -> Result<T, backend::Error> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| unprepared(&error)),
        Err(error) => Err(unprepared(&error)),
    }
}
