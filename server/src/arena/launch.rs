//! From what a person filled in to a battle that is there, with what everybody begins with.

use std::path::PathBuf;

use app::error::AppError;
use domain::{
    Rejected,
    battle::{self, Battle, Draft, Entry, Identity, Kind, Launch, Line, Roster, Terms},
    catalogue::Lane,
    id::{BattleId, ContestantId},
    layout::Origin,
    persona::Persona,
    workspace::Project,
};
use git::Limits;
use uuid::Uuid;

use super::{Port, named::Named};
use crate::{coder::blocking_for_person, engine::now_ms};

impl Port {
    pub(super) async fn launch_once(&self, draft: Draft, origin: Origin) -> Result<BattleId, AppError> {
        let _alone = self.launching.lock().await;
        // Asked again, because its answer never reached the browser.
        if store::battles::is_there(&self.db, draft.id).await? {
            return match draft.became(&store::battles::get(&self.db, draft.id).await?) {
                true => Ok(draft.id),
                false => Err(Rejected::NotNow("It was launched already.".to_owned()).into()),
            };
        }
        let project = store::workspace::project_of_session(&self.db, draft.session).await?;
        let folder = PathBuf::from(&project.path);
        let (launch, personas) = self.agreed(draft, project).await?;
        let (id, kind) = (launch.id, launch.kind);
        let battle = Battle::new(launch)?;
        match kind {
            Kind::Coding => self.begin_with(&battle, folder).await?,
            // Its personas and its results lie there.
            Kind::Qa => there_is(folder).await?,
        }
        let started = store::commit::start_battle(&self.db, battle, &personas, now_ms(), origin).await;
        // Of a commit whose answer was lost nobody knows whether it still comes to be.
        if matches!(started, Err(store::Error::Rejected(_)))
            && kind == Kind::Coding
            && matches!(store::battles::is_there(&self.db, id).await, Ok(false))
        {
            self.forget_beginning(id).await;
        }
        started?;
        Ok(id)
    }

    /// Parses a draft into what may be launched, with what its personas say by now. Whatever is wrong with one
    /// contestant is said with its letter.
    async fn agreed(&self, draft: Draft, project: Project) -> Result<(Launch, Vec<Persona>), AppError> {
        let Draft { id, session, kind, prompt, contestants, limit_s, tokens_max, carry, check, judge } =
            draft;
        // Before anybody is asked whether they can: what is typed, and how many there are, is known at once.
        let wrong = |field: &'static str| move |rejected: Rejected| AppError::from(rejected).at(field);
        battle::check_prompt(&prompt).map_err(wrong("prompt"))?;
        battle::check_count(contestants.len()).map_err(wrong("contestants"))?;
        battle::check_limit(limit_s).map_err(wrong("limit"))?;
        battle::check_tokens(tokens_max).map_err(wrong("tokens"))?;
        let (mut entries, mut personas) = (Vec::new(), Vec::new());
        for (place, Line { identity, model, variant }) in contestants.into_iter().enumerate() {
            let named = self.named(Identity::named(kind, &identity), &model, &project.path).await;
            let Named { identity, persona, model, paid } =
                named.map_err(|error| with_letter(battle::letter(place), error))?;
            personas.extend(persona);
            let lane = if paid { Lane::Cloud } else { Lane::Local };
            entries.push(Entry { identity, model, variant: variant.trim().to_owned(), lane });
        }
        let roster = Roster::new(kind, entries).map_err(wrong("contestants"))?;
        let ids = roster.entries().iter().map(|_| ContestantId(Uuid::now_v7())).collect();
        let judge = match judge.as_str() {
            "" => None,
            model => Some(self.named_judge(model).map_err(wrong("judge"))?),
        };
        let check = Some(check.trim().to_owned()).filter(|command| !command.is_empty());
        // Whoever comes late begins like everybody else, whatever the project asks for by then.
        let setup = match kind {
            Kind::Coding => Some(store::setups::get(&self.db, project.id).await?),
            Kind::Qa => None,
        };
        let host = self.coders.host().to_owned();
        let machines = self.models.catalogue().machines();
        let terms = Terms { limit_s, tokens_max, carry, check, setup, judge, host, machines };
        let (project, at_ms) = (project.id, now_ms());
        Ok((Launch { id, session, project, kind, prompt, terms, roster, ids, at_ms }, personas))
    }

    /// Keeps what the project holds now, so that everybody begins with the same.
    async fn begin_with(&self, battle: &Battle, project: PathBuf) -> Result<(), AppError> {
        let (id, carry, folder) = (battle.id, battle.terms.carry, self.coders.snapshot_folder(battle.id.0));
        let copy = battle.terms.setup.as_ref().map(|setup| setup.copy.clone()).unwrap_or_default();
        let taken = blocking_for_person(move || {
            // From a launch of which nobody knew how it ended. It never came to be, so nobody began with it.
            if folder.exists() {
                git::Worktree::open(&folder)?.remove()?;
            }
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
