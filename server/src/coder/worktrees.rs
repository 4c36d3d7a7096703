//! The worktree of a Coder: made when its first turn begins, found again by every later one.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
};

use app::error::AppError;
use domain::{
    chat::Coder,
    id::{BattleId, ChatId, WorktreeId},
    setup::Setup,
    worktree::{State, Worktree},
};
use git::Limits;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{Coders, port::blocking as blocking_for_person, setup::Turn, unprepared};
use crate::{backend, engine::Stop, persist::persist};

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
        let known = store::worktrees::get(&self.db, chat).await?;
        match known {
            Some(known) if known.state == State::Ready => {
                self.moved(known.id).await?.map_err(|error| unprepared(&error))?;
                self.open(known.id).await
            }
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
        let made = blocking_until(turn.stop, move |limits| {
            git::Snapshot::open(&snapshot)?.worktree(&folder, &id.to_string(), limits)
        })
        .await?;
        let made = self.set_up(made, &setup, turn).await?;
        let (host, base) = (self.host.clone(), made.base().to_owned());
        let row = Worktree { id, host, base, carried: false, state: State::Ready };
        let note = || store::worktrees::made_for_battle(&self.db, turn.stream, &row);
        self.noted(made, turn.stop, note).await
    }

    /// A worktree that was made and of which nobody could be told is nobody's, and goes. Where it may be known after
    /// all, because an answer was lost, it goes to the trash: its row brings it back from there.
    async fn noted<F>(
        &self,
        made: git::Worktree,
        stop: &Stop,
        mut note: impl FnMut() -> F,
    ) -> Result<git::Worktree, backend::Error>
    where
        F: Future<Output = store::Result<()>>,
    {
        let mut tries = 0;
        let noting = persist(|| {
            tries += 1;
            note()
        });
        let noted = tokio::select! {
            noted = noting => noted,
            () = stop.token().cancelled() => Err(backend::Error::Cancelled),
        };
        let Err(error) = noted else { return Ok(made) };
        let is_refused = tries == 1 && matches!(error, backend::Error::Unprepared(_));
        let (trash, is_nobodys) = (self.trash.clone(), tries == 0 || is_refused);
        let gone = blocking(move || if is_nobodys { made.remove() } else { made.trash(&trash).map(drop) });
        if let Err(error) = gone.await {
            tracing::warn!(%error, "a worktree that nobody owns stays until the next start");
        }
        Err(error)
    }

    /// As it was agreed when the battle began: whoever comes late begins like everybody else.
    pub(crate) async fn setup_of_battle(&self, battle: BattleId) -> Result<Setup, backend::Error> {
        let battle = store::battles::get(&self.db, battle).await?;
        match battle.terms.setup {
            Some(setup) => Ok(setup),
            None => Ok(store::setups::get(&self.db, battle.project).await?),
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
        let project = store::workspace::project_of_chat(&self.db, chat).await?;
        let setup = store::setups::get(&self.db, project.id).await?;
        let (id, carry) = (WorktreeId(Uuid::now_v7()), coder.carry);
        let (folder, path) = (self.folder(id), PathBuf::from(project.path));
        let copy = copies(&setup);
        let made = blocking_until(turn.stop, move |limits| {
            let start = git::Start { carry, copy: &copy };
            git::Worktree::create(&folder, &id.to_string(), &path, start, limits)
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
        let note = || store::worktrees::made(&self.db, turn.stream, row.clone());
        self.noted(made, turn.stop, note).await
    }

    /// Brings every folder to where its row says that it is, throws away what has no row (its making was cut off, or
    /// its row was never written), and takes back what was being applied when the server was killed.
    pub async fn sweep(&self) -> anyhow::Result<()> {
        let rows = store::worktrees::list(&self.db, &self.host).await?;
        let (worktrees, trash) = (self.worktrees.clone(), self.trash.clone());
        let beside = [&self.snapshots, &self.checks, &self.recorded].map(Clone::clone);
        spawn_blocking(move || {
            for folder in beside.iter().chain([&worktrees, &trash]) {
                git::clear_half_made(folder, is_our_name);
            }
            let state = |id: &str| {
                let row = rows.iter().find(|row| row.worktree.id.to_string() == id)?;
                Some(row.worktree.state)
            };
            let (kept, thrown) = (git::list(&worktrees)?, git::list(&trash)?);
            kept.iter().chain(&thrown).for_each(take_back_apply);
            for left in kept.into_iter().filter(|left| state(left.id()) != Some(State::Ready)) {
                tracing::info!(
                    id = left.id(),
                    "a worktree that nobody owns, or that was discarded, goes to the trash"
                );
                left.trash(&trash)?;
            }
            for found in thrown.into_iter().filter(|found| state(found.id()) == Some(State::Ready)) {
                tracing::info!(id = found.id(), "a worktree comes back from the trash");
                let folder = worktrees.join(found.id());
                found.restore(&folder)?;
            }
            Ok::<_, git::Error>(())
        })
        .await??;
        self.sweep_battles().await
    }

    /// Brings the folder to where its row says that it is. The row always goes first, and what comes in between, a
    /// crash too, is made good here: by whoever changed the row, by whoever works there next, and by the next start.
    pub(crate) async fn bring_to_place(&self, id: WorktreeId) -> Result<(), AppError> {
        self.moved(id).await?
    }

    /// What the database says of it, and then what the disk does.
    async fn moved(&self, id: WorktreeId) -> store::Result<Result<(), AppError>> {
        // The row stays as it is read until the folder is there: nobody begins to work in one that is about to move.
        let _alone = self.moving.lock().await;
        let Some(row) = store::worktrees::by_id(&self.db, id).await? else { return Ok(Ok(())) };
        let (folder, trash) = (self.folder(id), self.trash.clone());
        let moved = blocking_for_person(move || {
            let thrown = trash.join(id.to_string());
            match row.state {
                State::Ready if thrown.exists() => git::Worktree::open(&thrown)?.restore(&folder).map(drop),
                State::Discarded | State::Gone if folder.exists() => {
                    git::Worktree::open(&folder)?.trash(&trash).map(drop)
                }
                _ => Ok(()),
            }
        });
        Ok(moved.await)
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

/// What worktrees, snapshots and records are called, and the trees of checks.
fn is_our_name(name: &str) -> bool {
    let of_check = name.strip_prefix("check-").and_then(|of| of.rsplit_once('-'));
    let id = of_check.filter(|(_, attempt)| attempt.parse::<u32>().is_ok()).map_or(name, |(task, _)| task);
    id.parse::<Uuid>().is_ok_and(|uuid| uuid.to_string() == id)
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

/// What cannot be taken back now is told when the next apply meets it.
fn take_back_apply(worktree: &git::Worktree) {
    let project = worktree.project().display();
    match worktree.take_back_apply() {
        Ok(git::Left::Nothing) => {}
        Ok(git::Left::TakenBack) => {
            tracing::warn!(%project, "an apply was interrupted; the project's files are as before it")
        }
        Ok(git::Left::Finished) => {
            tracing::info!(%project, "what a finished apply had replaced was cleared away")
        }
        Err(error) => {
            tracing::error!(%error, %project, "an apply that was interrupted could not be taken back")
        }
    }
}

/// As `blocking`, within limits, and ended at its next file when the attempt is to stop.
async fn blocking_until<T: Send + 'static>(
    stop: &Stop,
    work: impl FnOnce(&Limits) -> Result<T, git::Error> + Send + 'static,
) -> Result<T, backend::Error> {
    let limits = Limits::default();
    let cancel = Arc::clone(&limits.cancel);
    let mut work = spawn_blocking(move || work(&limits));
    let done = tokio::select! {
        done = &mut work => done,
        () = stop.token().cancelled() => {
            cancel.store(true, Ordering::Relaxed);
            work.await
        }
    };
    match done {
        Ok(Err(git::Error::Cancelled)) => Err(backend::Error::Cancelled),
        Ok(done) => done.map_err(|error| unprepared(&error)),
        Err(error) => Err(unprepared(&error)),
    }
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

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;
    use crate::engine::StopReason;

    #[test]
    fn only_names_that_we_give_are_ours() {
        let id = Uuid::now_v7();
        let ours = [id.to_string(), format!("check-{id}-1")];
        let not_ours =
            [id.simple().to_string(), format!("check-{id}"), format!("check-{id}-x"), "mine".into()];
        assert!(ours.iter().all(|name| is_our_name(name)));
        assert!(!not_ours.iter().any(|name| is_our_name(name)));
    }

    #[tokio::test]
    async fn a_stop_reaches_what_the_disk_is_busy_with() {
        let stop = Stop::default();
        stop.ask(StopReason::Asked);
        let made = blocking_until(&stop, |limits| {
            for _ in 0..1_000 {
                if limits.cancel.load(Ordering::Relaxed) {
                    return Err(git::Error::Cancelled);
                }
                thread::sleep(Duration::from_millis(10));
            }
            Ok(())
        });
        assert_eq!(made.await, Err(backend::Error::Cancelled));
    }
}
