//! What pages ask of battles beyond their rows.

use std::{path::PathBuf, sync::Arc};

use app::{
    error::AppError,
    ports::{self, Compared},
};
use domain::{
    Rejected,
    battle::{Battle, Draft, Examiner, ExaminerDraft, Judge, analysis::Estimate, digest, room::Room},
    id::{BattleId, ChatId, ContestantId},
    layout::{Origin, Target},
    worktree::{Destination, State, Worktree},
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;
use store::Db;
use tokio::sync::Mutex;

use super::results::Results;
use crate::{
    coder::{AUTHOR, Coders, applied, blocking_for_person, committed},
    models::Models,
    personas::Personas,
};

#[derive(Clone)]
pub struct Port {
    pub db: Db,
    pub coders: Arc<Coders>,
    pub offers: Arc<dyn ports::Coders>,
    pub personas: Arc<Personas>,
    pub models: Models,
    pub results: Results,
    /// One launch at a time: what a battle begins with lies at a place of its name, from which a launch that failed may
    /// have to be cleared away.
    pub launching: Arc<Mutex<()>>,
}

impl ports::Arena for Port {
    /// Whoever asked may go away meanwhile: what is begun is brought to its end, so that nothing is half there.
    fn launch(&self, draft: Draft, origin: Origin) -> BoxFuture<'_, Result<BattleId, AppError>> {
        let port = self.clone();
        let launched = tokio::spawn(async move { port.launch_once(draft, origin).await });
        async { launched.await.map_err(|error| AppError::internal(&error))? }.boxed()
    }

    fn adopt(&self, contestant: ContestantId, to: Destination) -> BoxFuture<'_, Result<String, AppError>> {
        async move {
            let (battle, worktree) = self.result_of(contestant).await?;
            let project = store::workspace::project(&self.db, battle.project).await?;
            let (project, folder) = (PathBuf::from(project.path), self.coders.place(&worktree));
            let title = battle.title();
            blocking_for_person(move || {
                let worktree = git::Worktree::open(&folder)?;
                match to {
                    Destination::Files => {
                        Ok(applied(&worktree.adopt_to_working_tree(&project, &Limits::default())?))
                    }
                    Destination::Branch(branch) => {
                        Ok(committed(&worktree.adopt_as_commit(&project, &branch, &title, AUTHOR)?))
                    }
                }
            })
            .await
        }
        .boxed()
    }

    fn go_on(&self, contestant: ContestantId, target: Target) -> BoxFuture<'_, Result<ChatId, AppError>> {
        async move {
            let (battle, worktree) = self.result_of(contestant).await?;
            let title = format!("{}: {}", battle.letter(contestant), battle.title());
            let title = title.chars().take(domain::workspace::NAME_CHARS_MAX).collect();
            Ok(store::worktrees::go_on(&self.db, battle.session, worktree.id, title, target).await?)
        }
        .boxed()
    }

    fn discard_worktrees(&self, id: BattleId) -> BoxFuture<'_, Result<(), AppError>> {
        self.move_worktrees(id, State::Ready, State::Discarded).boxed()
    }

    fn restore_worktrees(&self, id: BattleId) -> BoxFuture<'_, Result<(), AppError>> {
        self.move_worktrees(id, State::Discarded, State::Ready).boxed()
    }

    fn write_results(&self, id: BattleId) -> BoxFuture<'_, Result<String, AppError>> {
        async move {
            let battle = store::battles::get(&self.db, id).await?;
            if battle.terms.host != self.coders.host() {
                let words =
                    "It was launched by another BooCode, where its project is. That one writes its results.";
                return Err(Rejected::NotNow(words.to_owned()).into());
            }
            let written = self.results.write(id).await;
            written.map(|path| path.display().to_string())
        }
        .boxed()
    }

    fn export(&self, id: BattleId) -> BoxFuture<'_, Result<(String, String), AppError>> {
        self.results.export(id).boxed()
    }

    fn judge(&self, model: &str) -> Result<Judge, AppError> {
        Ok(self.named_judge(model)?)
    }

    fn examiner(&self, battle: BattleId, draft: ExaminerDraft) -> BoxFuture<'_, Result<Examiner, AppError>> {
        self.named_examiner(battle, draft).boxed()
    }

    fn estimate(&self, of: Compared, judge: Judge) -> BoxFuture<'_, Result<Estimate, AppError>> {
        async move {
            let results = match of {
                Compared::Battle(id) => {
                    let battle = store::battles::get(&self.db, id).await?;
                    let streams =
                        battle.survivors().filter_map(|it| battle.stream_of_try(it.id, None).ok()?);
                    store::results::sizes(
                        &self.db,
                        &streams.collect::<Vec<_>>(),
                        digest::READ_BYTES_MAX as u64 / 2,
                    )
                    .await?
                }
                Compared::Unknown(count) => vec![0; count],
            };
            let (catalogue, server) = (self.models.catalogue(), &judge.model.server);
            let context = catalogue.model(&judge.model).and_then(|(_, model)| model.context);
            let room = Room::of(context, digest::ANSWER_TOKENS_MAX);
            let parallel = self.models.endpoint(server).map_or(1, |endpoint| endpoint.parallel);
            let call_ms = store::battles::opinion_ms(&self.db, &judge.model).await?;
            Ok(Estimate::of(&results, room, call_ms, parallel))
        }
        .boxed()
    }
}

impl Port {
    /// To the trash or back, those of them that are on this machine.
    async fn move_worktrees(&self, id: BattleId, from: State, to: State) -> Result<(), AppError> {
        let battle = store::battles::get(&self.db, id).await?;
        if !battle.course.status.is_over() {
            return Err(Rejected::NotNow("The battle is not over yet.".into()).into());
        }
        for worktree in store::worktrees::of_battle(&self.db, id).await? {
            if worktree.state != from || worktree.host != self.coders.host() {
                continue;
            }
            store::worktrees::set_state_of_battles(&self.db, worktree.id, to).await?;
            self.coders.bring_to_place(worktree.id).await?;
        }
        Ok(())
    }

    /// The battle of a contestant that is over, and the worktree of its newest try.
    async fn result_of(&self, contestant: ContestantId) -> Result<(Battle, Worktree), AppError> {
        let no = |words: &str| AppError::from(Rejected::Invalid(words.to_owned()));
        let battle = store::battles::of_contestant(&self.db, contestant).await?;
        let battle = store::battles::get(&self.db, battle).await?;
        let known = battle.contestant(contestant)?;
        if !known.standing.is_over() {
            return Err(Rejected::NotNow("It is not over yet.".to_owned()).into());
        }
        let stream = battle.stream_of_try(contestant, None)?;
        let stream = stream.ok_or_else(|| no("It has not made anything."))?;
        let worktree = store::worktrees::of_attempt(&self.db, stream).await?;
        let worktree = worktree.ok_or_else(|| no("It has not made anything."))?;
        match worktree.state {
            State::Ready if worktree.host == self.coders.host() => Ok((battle, worktree)),
            State::Ready => Err(no("Its worktree is on another machine.")),
            State::Discarded => Err(no("Its worktree is in the trash.")),
            State::Gone => Err(no("Its worktree is gone.")),
        }
    }
}
