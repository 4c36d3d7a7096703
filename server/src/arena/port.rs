//! What pages ask of battles beyond their rows.

use std::{path::PathBuf, sync::Arc};

use app::{
    error::AppError,
    ports::{self, Compared},
};
use domain::{
    Rejected,
    backend::{Backend, Wanted},
    battle::{
        self, Battle, Draft, Entry, Identity, Judge, Kind, Launch, Line, Roster, Terms, analysis::Estimate,
        digest, room::Room,
    },
    catalogue::Lane,
    chat::Choice,
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
            let (id, kind) = (launch.id, launch.kind);
            let battle = Battle::new(launch)?;
            match kind {
                Kind::Coding => self.begin_with(&battle, folder).await?,
                // Its personas and its results lie there.
                Kind::Qa => there_is(folder).await?,
            }
            let started = store::commit::start_battle(&self.db, battle, now_ms(), origin).await;
            // Of a commit whose answer was lost nobody knows whether it still comes to be; and what another launch under
            // the same id began with lies at the same place.
            if matches!(started, Err(store::Error::Rejected(_)))
                && kind == Kind::Coding
                && matches!(store::battles::is_there(&self.db, id).await, Ok(false))
            {
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
            let written = self.results.write(id).await;
            written.map(|path| path.display().to_string())
        }
        .boxed()
    }

    fn export(&self, id: BattleId) -> BoxFuture<'_, Result<(String, String), AppError>> {
        self.results.export(id).boxed()
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
                        digest::READ_BYTES_MAX as u64,
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
    /// Parses a draft into what may be launched. Whatever is wrong with one contestant is said with its letter.
    async fn agreed(&self, draft: Draft, project: domain::workspace::Project) -> Result<Launch, AppError> {
        let Draft { id, session, kind, prompt, contestants, limit_s, tokens_max, carry, check, judge } =
            draft;
        // Before anybody is asked whether they can: what is typed, and how many there are, is known at once.
        let wrong = |field: &'static str| move |rejected: Rejected| AppError::from(rejected).at(field);
        battle::check_prompt(&prompt).map_err(wrong("prompt"))?;
        battle::check_count(contestants.len()).map_err(wrong("contestants"))?;
        battle::check_limit(limit_s).map_err(wrong("limit"))?;
        battle::check_tokens(tokens_max).map_err(wrong("tokens"))?;
        let mut entries = Vec::new();
        for (place, line) in contestants.into_iter().enumerate() {
            let letter = battle::letter(place);
            let entry = self.entry(kind, &project.path, line).await;
            entries.push(entry.map_err(|error| with_letter(letter, error))?);
        }
        let roster = Roster::new(kind, entries).map_err(wrong("contestants"))?;
        let ids = roster.entries().iter().map(|_| ContestantId(Uuid::now_v7())).collect();
        let judge = match judge.as_str() {
            "" => None,
            model => {
                let chosen = Choice::for_chat(&self.models.catalogue(), model);
                let Choice { model, paid, .. } = chosen.map_err(wrong("judge"))?;
                Some(Judge { model, paid })
            }
        };
        let check = Some(check.trim().to_owned()).filter(|command| !command.is_empty());
        // Whoever comes late begins like everybody else, whatever the project asks for by then.
        let setup = match kind {
            Kind::Coding => Some(store::setups::get(&self.db, project.id).await?),
            Kind::Qa => None,
        };
        let host = self.coders.host().to_owned();
        let terms = Terms { limit_s, tokens_max, carry, check, setup, judge, host };
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
    async fn begin_with(&self, battle: &Battle, project: PathBuf) -> Result<(), AppError> {
        let (id, carry, folder) = (battle.id, battle.terms.carry, self.coders.snapshot_folder(battle.id.0));
        let copy = battle.terms.setup.as_ref().map(|setup| setup.copy.clone()).unwrap_or_default();
        let taken = blocking_for_person(move || {
            let copy: Vec<_> = copy.into_iter().map(PathBuf::from).collect();
            let start = git::Start { carry, copy: &copy };
            git::Snapshot::take_with(&folder, &id.to_string(), &project, start, &Limits::default())
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
            return Err(no("It is not over yet."));
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

fn with_letter(letter: char, error: AppError) -> AppError {
    match error {
        AppError::Rejected(_) | AppError::Invalid(_) => {
            AppError::Invalid(format!("Contestant {letter}: {error}")).at(letter)
        }
        error => error,
    }
}

/// In the words that a folder without which nothing can begin is missed with.
async fn there_is(folder: PathBuf) -> Result<(), AppError> {
    let shown = folder.display().to_string();
    let is_there = tokio::fs::metadata(folder).await.is_ok_and(|found| found.is_dir());
    if is_there { Ok(()) } else { Err(AppError::Invalid(format!("There is no folder at {shown}."))) }
}
