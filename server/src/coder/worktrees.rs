//! The worktree of a Coder: made when its first turn begins, found again by every later one.

use std::path::{Path, PathBuf};

use domain::{
    chat::Coder,
    id::{BattleId, ChatId, WorktreeId},
    setup::Setup,
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
        place: &Place,
        coder: &Coder,
    ) -> Result<git::Worktree, backend::Error> {
        let chat = match place {
            Place::Chat(chat) => *chat,
            Place::Battle(battle) => return self.make_for_battle(turn, *battle).await,
            Place::Reading(_) => {
                return Err(backend::Error::Unprepared("Whoever only reads has no worktree.".into()));
            }
        };
        let known = store::worktrees::get(&self.db, chat).await.map_err(|error| unprepared(&error))?;
        match known {
            Some(known) if known.state == State::Ready => self.open(known.id).await,
            Some(_) => Err(backend::Error::Unprepared("The worktree is not there any more.".into())),
            None => self.make(turn, chat, coder).await,
        }
    }

    /// Every attempt has one of its own, which begins with what the battle began with.
    async fn make_for_battle(
        &self,
        turn: Turn<'_>,
        battle: BattleId,
    ) -> Result<git::Worktree, backend::Error> {
        let setup = self.setup_of_battle(battle).await?;
        let id = WorktreeId(Uuid::now_v7());
        let (snapshot, folder) = (self.snapshot_folder(battle.0), self.folder(id));
        let made = blocking(move || {
            git::Snapshot::open(&snapshot)?.worktree(&folder, &id.to_string(), &Limits::default())
        })
        .await?;
        let made = self.set_up(made, &setup, turn).await?;
        self.note_for_battle(turn.stream, id, &made).await?;
        Ok(made)
    }

    /// As it was agreed when the battle began: whoever comes late begins like everybody else.
    pub(crate) async fn setup_of_battle(&self, battle: BattleId) -> Result<Setup, backend::Error> {
        let battle = store::battles::get(&self.db, battle).await.map_err(|error| unprepared(&error))?;
        match battle.terms.setup {
            Some(setup) => Ok(setup),
            None => store::setups::get(&self.db, battle.project).await.map_err(|error| unprepared(&error)),
        }
    }

    pub(crate) async fn note_for_battle(
        &self,
        stream: domain::feed::StreamId,
        id: WorktreeId,
        made: &git::Worktree,
    ) -> Result<(), backend::Error> {
        let (host, base) = (self.host.clone(), made.base().to_owned());
        let row = Worktree { id, host, base, carried: false, state: State::Ready };
        let noted = store::worktrees::made_for_battle(&self.db, stream, &row).await;
        noted.map_err(|error| unprepared(&error))
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
        let copy = copies(&setup);
        let made = blocking(move || {
            let start = git::Start { carry, copy: &copy };
            git::Worktree::create(&folder, &id.to_string(), &path, start, &Limits::default())
        })
        .await?;
        let made = self.set_up(made, &setup, turn).await?;
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
        self.sweep_battles().await
    }

    /// A check has its tree for as long as it runs, and none runs yet. A battle that was never launched needs
    /// nothing to begin with.
    async fn sweep_battles(&self) -> anyhow::Result<()> {
        let (snapshots, checks) = (self.snapshots.clone(), self.checks.clone());
        let (begun, mut left) =
            spawn_blocking(move || Ok::<_, git::Error>((git::list(&snapshots)?, git::list(&checks)?)))
                .await??;
        for snapshot in begun {
            let battle = snapshot.id().parse().map(BattleId);
            let is_owned = match battle {
                Ok(battle) => store::battles::is_there(&self.db, battle).await?,
                Err(_) => false,
            };
            if !is_owned {
                left.push(snapshot);
            }
        }
        spawn_blocking(move || {
            for left in left {
                let id = left.id().to_owned();
                match left.remove() {
                    Ok(()) => tracing::info!(id, "what no battle owns was removed"),
                    // Its project may be gone or locked: what it takes of the disk is all that it does.
                    Err(error) => tracing::warn!(%error, id, "what no battle owns could not be removed"),
                }
            }
        })
        .await?;
        Ok(())
    }

    pub(crate) fn place(&self, worktree: &Worktree) -> PathBuf {
        match worktree.state {
            State::Ready => self.folder(worktree.id),
            State::Discarded | State::Gone => self.trash.join(worktree.id.to_string()),
        }
    }

    pub(crate) fn trash(&self) -> &Path {
        &self.trash
    }
}

fn copies(setup: &Setup) -> Vec<PathBuf> {
    setup.copy.iter().map(PathBuf::from).collect()
}

/// On what a task works: in whose worktree, or where nothing can be changed.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Chat(ChatId),
    Battle(BattleId),
    /// A project's own folder; an empty one where the project must not be seen.
    Reading(Option<PathBuf>),
}

/// The disk blocks, so it is asked on a thread that may.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, git::Error> + Send + 'static,
) -> Result<T, backend::Error> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| unprepared(&error)),
        Err(error) => Err(unprepared(&error)),
    }
}
