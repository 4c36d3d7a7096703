//! What the pages ask about Coders.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use app::{error::AppError, ports};
use domain::{
    Rejected,
    backend::{Backend, Offer, Wanted},
    catalogue::{ModelRef, ModelServer},
    chat::Coder,
    diff::{
        Against,
        hidden::{shown, shown_lines},
    },
    id::ChatId,
    settings::{AgentSettings, WorktreeSettings},
    worktree::{Changed, Changes, Destination, State, Status, Worktree},
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;
use store::worktrees::Idle;
use tokio::{runtime::Handle, task::spawn_blocking};

use super::Coders;
use crate::sentence::sentence;

/// Who signs a commit that a person asked for, where git does not know them.
pub(crate) const AUTHOR: git::Author<'static> = git::Author { name: "BooCode", email: "boocode@localhost" };

/// Pages look whenever something may have changed, so a look that takes longer is not worth its cost.
const LOOK_MAX: Duration = Duration::from_secs(30);

/// The Coders as pages know them.
pub struct Port(pub Arc<Coders>);

impl ports::Coders for Port {
    fn offers(&self) -> BoxFuture<'_, Vec<Offer>> {
        self.0.all_offers().boxed()
    }

    fn settings(&self) -> BoxFuture<'_, AgentSettings> {
        async { AgentSettings { offers: self.offers().await, wall: self.0.level().await.to_string() } }
            .boxed()
    }

    fn check(
        &self,
        wanted: Wanted,
        server: ModelServer,
        model: ModelRef,
    ) -> BoxFuture<'_, Result<Coder, AppError>> {
        async move {
            let Wanted { backend, carry, asks } = wanted;
            let offers = self.offers().await;
            let offer = offers.into_iter().find(|offer| offer.backend == backend);
            let Some(offer) = offer else {
                return Err(Rejected::Invalid(format!("There is no agent called {backend}.")).into());
            };
            let no = |words: String| Err(Rejected::Invalid(words).into());
            if let Some(why) = offer.hindrance() {
                return no(format!("{} cannot work now: {why}.", offer.title));
            }
            let model = server.models.iter().find(|served| served.id == model.model);
            let is_short = || model.and_then(|model| offer.shortage(model));
            if let Some(why) = offer.mismatch(&server).or_else(is_short) {
                return no(format!("{why}. Choose another model or another agent."));
            }
            if asks && self.0.agent(&backend).is_some_and(|agent| agent.modes.ask.is_empty()) {
                return no(format!("{} has no mode in which it asks before changes.", offer.title));
            }
            Ok(Coder { backend, host: self.0.host.clone(), carry, asks })
        }
        .boxed()
    }

    fn use_login(&self, backend: Backend, is_used: bool) -> BoxFuture<'_, Result<(), AppError>> {
        async move { self.0.allow_login(&backend, is_used).await }.boxed()
    }

    fn install(&self, backend: Backend) -> BoxFuture<'_, Result<(), AppError>> {
        async move { Arc::clone(&self.0).begin_install(&backend).await }.boxed()
    }

    fn changes(&self, chat: ChatId) -> BoxFuture<'_, Result<Option<Changes>, AppError>> {
        async move {
            let Some(worktree) = store::worktrees::get(&self.0.db, chat).await? else { return Ok(None) };
            if worktree.state != State::Ready {
                return Ok(None);
            }
            self.0.require_here(&worktree)?;
            let folder = self.0.place(&worktree);
            let looks = Arc::clone(&self.0.looks);
            let place = looks.acquire_owned().await.map_err(|error| AppError::internal(&error))?;
            blocking(move || {
                // Held by the look itself, which goes on where nobody waits for it any more.
                let _place = place;
                let limits = Limits { until: Instant::now() + LOOK_MAX, ..Limits::default() };
                let worktree = git::Worktree::open(&folder)?;
                let is_applied = worktree.is_applied()?;
                Ok(Some(Changes { is_applied, ..changes(&worktree.diff(&limits)?) }))
            })
            .await
        }
        .boxed()
    }

    fn sides(&self, chat: ChatId) -> BoxFuture<'_, Result<Vec<Against>, AppError>> {
        self.0.sides(chat).boxed()
    }

    fn apply(&self, chat: ChatId, to: Destination) -> BoxFuture<'_, Result<String, AppError>> {
        async move {
            let (Idle { worktree, turns }, project) = self.0.settled(chat).await?;
            let folder = self.0.place(&worktree);
            let title = store::workspace::chat_title(&self.0.db, chat).await?;
            let (coders, runtime) = (Arc::clone(&self.0), Handle::current());
            blocking(move || {
                let worktree = git::Worktree::open(&folder)?;
                let (limits, is_still) =
                    (Limits::default(), || runtime.block_on(coders.is_idle_since(chat, turns)));
                match to {
                    Destination::Files => {
                        Ok(applied(&worktree.apply_to_working_tree(&project, is_still, &limits)?))
                    }
                    Destination::Branch(branch) => {
                        let made =
                            worktree.apply_as_commit(&project, &branch, &title, AUTHOR, is_still, &limits)?;
                        Ok(committed(&made))
                    }
                }
            })
            .await
        }
        .boxed()
    }

    fn worktrees(&self) -> BoxFuture<'_, Result<WorktreeSettings, AppError>> {
        self.0.listed().boxed()
    }

    fn empty_trash(&self) -> BoxFuture<'_, Result<(), AppError>> {
        self.0.delete_trashed().boxed()
    }

    fn free_recordings(&self) -> BoxFuture<'_, Result<(), AppError>> {
        self.0.free_finished_recordings().boxed()
    }

    fn discard(&self, chat: ChatId) -> BoxFuture<'_, Result<(), AppError>> {
        self.0.move_to(chat, State::Discarded).boxed()
    }

    fn restore(&self, chat: ChatId) -> BoxFuture<'_, Result<(), AppError>> {
        self.0.move_to(chat, State::Ready).boxed()
    }
}

impl Coders {
    pub(super) fn require_here(&self, worktree: &Worktree) -> Result<(), AppError> {
        match worktree.host == self.host {
            true => Ok(()),
            false => Err(Rejected::Invalid("The worktree is on another machine.".into()).into()),
        }
    }

    /// The worktree in which nobody works now, and its project.
    async fn settled(&self, chat: ChatId) -> Result<(Idle, PathBuf), AppError> {
        let idle = store::worktrees::idle(&self.db, chat).await?;
        self.require_here(&idle.worktree)?;
        let project = store::workspace::project_of_chat(&self.db, chat).await?;
        Ok((idle, PathBuf::from(project.path)))
    }

    /// Whether nobody has worked since so many turns were over. Where that cannot be told, somebody may have.
    async fn is_idle_since(&self, chat: ChatId, turns: usize) -> bool {
        match store::worktrees::idle(&self.db, chat).await {
            Ok(idle) => idle.turns == turns,
            Err(error) => {
                tracing::info!(%error, "a worktree that is to be applied is not idle any more");
                false
            }
        }
    }

    /// To the trash or back. The row goes first, where nobody can begin to work meanwhile; what it says is made true
    /// by the next try if not by this one.
    async fn move_to(&self, chat: ChatId, state: State) -> Result<(), AppError> {
        let (Idle { worktree, .. }, _) = self.settled(chat).await?;
        if worktree.state != state {
            store::worktrees::set_state(&self.db, chat, state).await?;
        }
        self.bring_to_place(worktree.id).await
    }
}

/// How changes were brought to a project, in words.
pub(crate) fn applied(applied: &git::Applied) -> String {
    let words = match applied.changed.len() {
        1 => "Applied to 1 file.".to_owned(),
        count => format!("Applied to {count} files."),
    };
    words + &stays_behind(&applied.left_out)
}

pub(crate) fn committed(commit: &git::Commit) -> String {
    let short = commit.id.get(..8).unwrap_or(&commit.id);
    format!("Committed as {short} on {}.", commit.branch) + &stays_behind(&commit.left_out)
}

/// What was too much to come along, by the first of its names.
fn stays_behind(left_out: &[git::LeftOut]) -> String {
    const NAMED_MAX: usize = 3;
    let name = |one: &git::LeftOut| shown(&git::display(&one.path));
    let mut named: Vec<_> = left_out.iter().take(NAMED_MAX).map(name).collect();
    if let more @ 1.. = left_out.len().saturating_sub(NAMED_MAX) {
        named.push(format!("{more} more"));
    }
    if named.is_empty() { String::new() } else { format!(" Too large to come along: {}.", named.join(", ")) }
}

pub(crate) fn changes(diff: &git::Diff) -> Changes {
    let file = |file: &git::FileChange| Changed {
        path: shown(&file.display()),
        moved_from: file.old_path.as_deref().map(|path| shown(&git::display(path))),
        status: match file.status {
            git::Status::Added => Status::Added,
            git::Status::Deleted => Status::Deleted,
            git::Status::Modified => Status::Modified,
            git::Status::Renamed => Status::Renamed,
            git::Status::TypeChanged => Status::TypeChanged,
        },
        added: file.added as u64,
        deleted: file.deleted as u64,
        is_binary: file.is_binary,
    };
    Changes {
        files: diff.files.iter().map(file).collect(),
        added: diff.files.iter().map(|file| file.added as u64).sum(),
        deleted: diff.files.iter().map(|file| file.deleted as u64).sum(),
        left_out: left_out(diff),
        is_applied: false,
    }
}

/// What lies in a worktree and cannot be part of a patch, in words.
pub(super) fn left_out(diff: &git::Diff) -> Vec<String> {
    const TOLD_MAX: usize = 100;
    let line = |one: &git::LeftOut| format!("{}: {}", shown(&git::display(&one.path)), one.why);
    let mut lines: Vec<_> = diff.left_out.iter().take(TOLD_MAX).map(line).collect();
    if let more @ 1.. = diff.left_out.len().saturating_sub(TOLD_MAX) {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// What git refuses is said as it says it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, git::Error> + Send + 'static,
) -> Result<T, AppError> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| AppError::Invalid(sentence(&shown_lines(&error.to_string())))),
        Err(error) => Err(AppError::internal(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_behind_is_said() {
        let left_out = |count: u8| {
            let one = |number: u8| git::LeftOut { path: vec![b'a' + number], why: git::Why::TooLarge };
            (0..count).map(one).collect()
        };
        let check = |count: u8, expected: &str| {
            let all = git::Applied {
                changed: vec![b"x".to_vec()],
                left_out: left_out(count),
                ..Default::default()
            };
            assert_eq!(applied(&all), expected);
        };
        check(0, "Applied to 1 file.");
        check(1, "Applied to 1 file. Too large to come along: a.");
        check(5, "Applied to 1 file. Too large to come along: a, b, c, 2 more.");
    }
}
