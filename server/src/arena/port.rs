//! What pages ask of battles beyond their rows.

use std::{path::PathBuf, sync::Arc};

use app::{error::AppError, ports};
use domain::{
    Rejected,
    backend::{Backend, Wanted},
    battle::{self, Battle, Draft, Entry, Identity, Judge, Kind, Launch, Line, Roster, Terms},
    catalogue::Lane,
    chat::{self, Choice},
    feed::StreamId,
    id::{BattleId, ChatId, ContestantId},
    layout::{Origin, Target},
    worktree::{Destination, State, Worktree},
};
use futures::future::{BoxFuture, FutureExt as _};
use git::Limits;
use store::Db;
use uuid::Uuid;

use super::results::Results;
use crate::{
    coder::{AUTHOR, Coders, applied, blocking_for_person, committed},
    engine::now_ms,
    models::Models,
    personas::Personas,
};

pub struct Port {
    pub db: Db,
    pub coders: Arc<Coders>,
    pub offers: Arc<dyn ports::Coders>,
    pub personas: Arc<Personas>,
    pub models: Models,
    pub results: Results,
}

impl ports::Arena for Port {
    fn launch(&self, draft: Draft, origin: Origin) -> BoxFuture<'_, Result<BattleId, AppError>> {
        async move {
            // Asked again, because its answer never reached the browser.
            if store::battles::get(&self.db, draft.id).await.is_ok() {
                return Ok(draft.id);
            }
            let project = store::workspace::project_of_session(&self.db, draft.session).await?;
            let folder = PathBuf::from(&project.path);
            let launch = self.agreed(draft, project).await?;
            let (id, kind, carry) = (launch.id, launch.kind, launch.terms.carry);
            let battle = Battle::new(launch)?;
            if kind == Kind::Coding {
                self.begin_with(id, folder, carry).await?;
            }
            let started = store::commit::start_battle(&self.db, battle, now_ms(), origin).await;
            if started.is_err() && kind == Kind::Coding {
                self.forget_beginning(id).await;
            }
            started?;
            Ok(id)
        }
        .boxed()
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
            let chat = store::commit::open_chat(&self.db, battle.session, chat::Kind::Coder, target).await?;
            store::worktrees::go_on_in(&self.db, worktree.id, chat.id).await?;
            let title = format!("{}: {}", battle.letter(contestant), battle.title());
            let title = title.chars().take(domain::workspace::NAME_CHARS_MAX).collect();
            store::commit::chat(&self.db, chat.id, chat::Input::Rename { title }).await?;
            Ok(chat.id)
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
            let written = self.results.write(id).await;
            written.map(|path| path.display().to_string())
        }
        .boxed()
    }

    fn export(&self, id: BattleId) -> BoxFuture<'_, Result<(String, String), AppError>> {
        self.results.export(id).boxed()
    }
}

impl Port {
    /// Parses a draft into what may be launched. Whatever is wrong with one contestant is said with its letter.
    async fn agreed(&self, draft: Draft, project: domain::workspace::Project) -> Result<Launch, AppError> {
        let Draft { id, session, kind, prompt, contestants, limit_s, tokens_max, carry, check, judge } =
            draft;
        // Before anybody is asked whether they can: how many there are is known at once.
        battle::check_count(contestants.len())?;
        let mut entries = Vec::new();
        for (place, line) in contestants.into_iter().enumerate() {
            let letter = battle::letter(place);
            let entry = self.entry(kind, &project.path, line).await;
            entries.push(entry.map_err(|error| with_letter(letter, error))?);
        }
        let roster = Roster::new(kind, entries)?;
        let ids = roster.entries().iter().map(|_| ContestantId(Uuid::now_v7())).collect();
        let judge = match judge.as_str() {
            "" => None,
            model => {
                let Choice { model, paid, .. } = Choice::for_chat(&self.models.catalogue(), model)?;
                Some(Judge { model, paid })
            }
        };
        let check = Some(check.trim().to_owned()).filter(|command| !command.is_empty());
        let terms = Terms { limit_s, tokens_max, carry, check, judge, host: self.coders.host().to_owned() };
        let (project, at_ms) = (project.id, now_ms());
        Ok(Launch { id, session, project, kind, prompt, terms, roster, ids, at_ms })
    }

    async fn entry(&self, kind: Kind, project: &str, line: Line) -> Result<Entry, AppError> {
        let Line { identity, model, variant } = line;
        let catalogue = self.models.catalogue();
        let (Choice { model, paid, .. }, server) = Choice::from_catalogue(&catalogue, &model)?;
        if kind == Kind::Qa {
            server.check_chat()?;
        }
        let identity = match kind {
            Kind::Coding => {
                let wanted = Wanted { backend: Backend(identity), carry: false, asks: false };
                Identity::Backend(self.offers.check(wanted, server.clone()).await?.backend)
            }
            Kind::Qa if identity.is_empty() => Identity::Plain,
            Kind::Qa => {
                let found = self.personas.find(project.to_owned(), &identity).await?;
                Identity::Persona(found.name)
            }
        };
        let lane = if paid { Lane::Cloud } else { Lane::Local };
        Ok(Entry { identity, model, variant: variant.trim().to_owned(), lane })
    }

    /// Keeps what the project holds now, so that everybody begins with the same.
    async fn begin_with(&self, id: BattleId, project: PathBuf, carry: bool) -> Result<(), AppError> {
        let folder = self.coders.snapshot_folder(id.0);
        let taken = blocking_for_person(move || {
            git::Snapshot::take(&folder, &id.to_string(), &project, carry, &Limits::default())
        });
        taken.await.map(drop)
    }

    async fn forget_beginning(&self, id: BattleId) {
        let folder = self.coders.snapshot_folder(id.0);
        let removed = blocking_for_person(move || git::Worktree::open(&folder)?.remove()).await;
        if let Err(error) = removed {
            tracing::warn!(%error, "what a battle would have begun with stays until the next start");
        }
    }

    /// To the trash or back, those of them that are on this machine.
    async fn move_worktrees(&self, id: BattleId, from: State, to: State) -> Result<(), AppError> {
        let battle = store::battles::get(&self.db, id).await?;
        if !battle.course.status.is_over() {
            return Err(Rejected::Invalid("The battle is not over yet.".into()).into());
        }
        for worktree in store::worktrees::of_battle(&self.db, id).await? {
            if worktree.state != from || worktree.host != self.coders.host() {
                continue;
            }
            let (place, trash) = (self.coders.place(&worktree), self.coders.trash().to_owned());
            let folder = self.coders.folder(worktree.id);
            blocking_for_person(move || {
                let found = git::Worktree::open(&place)?;
                if to == State::Ready { found.restore(&folder) } else { found.trash(&trash) }
            })
            .await?;
            store::worktrees::set_state_of_battles(&self.db, worktree.id, to).await?;
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
            return Err(no("It is not over yet."));
        }
        let attempt = battle.task_of(known).and_then(|task| Some((task.id, task.attempts().last()?.0)));
        let (task, attempt) = attempt.ok_or_else(|| no("It has not made anything."))?;
        let worktree = store::worktrees::of_attempt(&self.db, StreamId { task, attempt }).await?;
        let worktree = worktree.ok_or_else(|| no("It has not made anything."))?;
        match worktree.state {
            State::Ready if worktree.host == self.coders.host() => Ok((battle, worktree)),
            State::Ready => Err(no("Its worktree is on another machine.")),
            State::Discarded => Err(no("Its worktree is in the trash.")),
            State::Gone => Err(no("Its worktree is gone.")),
        }
    }
}

fn with_letter(letter: char, error: AppError) -> AppError {
    match error {
        AppError::Rejected(rejected) => {
            AppError::Rejected(Rejected::Invalid(format!("Contestant {letter}: {rejected}")))
        }
        AppError::Invalid(words) => AppError::Invalid(format!("Contestant {letter}: {words}")),
        error => error,
    }
}
