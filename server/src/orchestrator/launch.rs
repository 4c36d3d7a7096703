//! Launching a run: everything that can be refused is refused before the first step, and what the project holds is
//! recorded under a name of its own, so that no launch can touch what another one recorded.

use std::path::PathBuf;

use app::error::AppError;
use domain::{
    Rejected,
    backend::{Backend, Wanted},
    catalogue::ModelRef,
    chat::Choice,
    flow::{FlowId, Plan, request::Target},
    id::RunId,
    layout::Origin,
    run::{Draft, Launch, Offer, Shown, Terms, check_context},
};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{
    Port,
    beginning::{Beginning, NoBeginning},
};
use crate::{
    coder::blocking_for_person,
    engine::now_ms,
    sentence::sentence,
    settings::{FlowsChosen, flow_model},
};

/// Who does the work of a run.
struct Who {
    backend: Backend,
    model: ModelRef,
    paid: bool,
    /// Whether whoever does not see the project can read the web: our own agent with this model.
    has_web: bool,
}

impl Port {
    pub(super) async fn offered(&self) -> Offer {
        let chosen = match self.chosen().await {
            Ok(chosen) => chosen,
            Err(error) => {
                let chosen = self.configured.with(store::settings::Flows::default());
                return Offer { backend: chosen.backend, model: None, hindrance: Some(error.to_string()) };
            }
        };
        let (model, hindrance) = match self.who(&chosen, "", "").await {
            Ok(who) => (Some(who.model), None),
            Err(error) => (self.model_named(&chosen, &chosen.backend, "").ok(), Some(error.to_string())),
        };
        Offer { backend: chosen.backend, model, hindrance }
    }

    /// As Settings says it now.
    async fn chosen(&self) -> Result<FlowsChosen, AppError> {
        Ok(self.configured.with(store::settings::flows(&self.db).await?))
    }

    /// Asked twice, or by two at once, it is launched once.
    pub(super) async fn launch_once(&self, draft: Draft, origin: Origin) -> Result<RunId, AppError> {
        if let Some(known) = self.known(draft.id).await? {
            return launched_already(&known, &draft);
        }
        let name = Uuid::now_v7();
        let started = match self.agreed(&draft, name).await {
            Ok(shown) => store::commit::start_run(&self.db, shown, now_ms(), origin).await,
            Err(error) => {
                self.forget(name).await;
                return Err(error);
            }
        };
        let Err(error) = started else {
            self.coders.free_old_recordings().await;
            return Ok(draft.id);
        };
        // It may be there nevertheless: somebody else was first, or only the answer of the database was lost. Where not
        // even that can be told, what was recorded stays, and the next start sees whose it is.
        match self.known(draft.id).await? {
            Some(known) if known.recorded() == name => Ok(draft.id),
            Some(known) => {
                self.forget(name).await;
                launched_already(&known, &draft)
            }
            None => {
                // Of a commit whose answer was lost nobody knows whether it still comes to be.
                if matches!(error, store::Error::Rejected(_)) {
                    self.forget(name).await;
                }
                Err(error.into())
            }
        }
    }

    async fn known(&self, id: RunId) -> Result<Option<Shown>, AppError> {
        match store::runs::get(&self.db, id).await {
            Ok(known) => Ok(Some(known)),
            Err(store::Error::Rejected(Rejected::Missing { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Everything that can be refused is refused here. What the project holds is recorded under `name`.
    async fn agreed(&self, draft: &Draft, name: Uuid) -> Result<Shown, AppError> {
        // As far as it can be told without the project.
        let early = draft.request(true)?;
        let Who { backend, model, paid, has_web } =
            self.who(&self.chosen().await?, &draft.backend, &draft.model).await?;
        let project = store::workspace::project_of_session(&self.db, draft.session).await?;
        let folder = PathBuf::from(&project.path);
        self.coders.may_read(&folder).await.map_err(AppError::Invalid)?;
        let Beginning { base, since, template, signals } =
            self.begin(name, folder, early.flow, early.target).await?;
        let plan = Plan::new(draft.request(since.is_some())?, &signals);
        let (host, recorded) = (self.coders.host().to_owned(), Some(name));
        let terms = Terms { backend, model, paid, host, base, signals, since, template, has_web, recorded };
        let (id, session, project, at_ms) = (draft.id, draft.session, project.id, now_ms());
        Ok(Shown::new(Launch { id, session, project, plan, terms, at_ms }))
    }

    /// Keeps what the project holds now, and looks through it.
    async fn begin(
        &self,
        name: Uuid,
        project: PathBuf,
        flow: FlowId,
        target: Target,
    ) -> Result<Beginning, AppError> {
        let folder = self.coders.recorded_folder(name);
        let begun =
            spawn_blocking(move || Beginning::of(&project, &folder, &name.to_string(), flow, &target));
        match begun.await.map_err(|error| AppError::internal(&error))? {
            Ok(beginning) => Ok(beginning),
            Err(NoBeginning::Rejected(rejected)) => Err(rejected.into()),
            Err(NoBeginning::Git(error)) => Err(AppError::Invalid(sentence(&error.to_string()))),
        }
    }

    /// Throws away what was recorded for a launch that came to nothing.
    async fn forget(&self, name: Uuid) {
        let folder = self.coders.recorded_folder(name);
        if !folder.exists() {
            return;
        }
        let removed = blocking_for_person(move || git::Worktree::open(&folder)?.remove()).await;
        if let Err(error) = removed {
            tracing::warn!(%error, "what a run would have begun with stays until the next start");
        }
    }

    /// Whoever is named, or chosen, if they can work on what is asked for.
    async fn who(&self, chosen: &FlowsChosen, backend: &str, model: &str) -> Result<Who, AppError> {
        let backend = match backend.trim() {
            "" => chosen.backend.clone(),
            backend => Backend(backend.to_owned()),
        };
        let wanted = self.model_named(chosen, &backend, model)?;
        let catalogue = self.models.catalogue();
        let (Choice { model, paid, .. }, server) = Choice::from_catalogue(&catalogue, &wanted.to_string())?;
        let server = server.clone();
        let tokens = catalogue.model(&model).and_then(|(_, model)| model.context);
        let wanted = |backend| Wanted { backend, carry: false, asks: false };
        let backend = self.offers.check(wanted(backend), server.clone(), model.clone()).await?.backend;
        check_context(&backend, &model, tokens)?;
        let has_web = self.coders.has_search()
            && self.offers.check(wanted(Backend::native()), server, model.clone()).await.is_ok()
            && check_context(&Backend::native(), &model, tokens).is_ok();
        Ok(Who { backend, model, paid, has_web })
    }

    fn model_named(
        &self,
        chosen: &FlowsChosen,
        backend: &Backend,
        model: &str,
    ) -> Result<ModelRef, AppError> {
        let wanted = match model.trim() {
            "" => chosen.model.as_deref(),
            model => Some(model),
        };
        let found = flow_model(&self.models.catalogue(), backend, wanted, self.models.default_model());
        found.ok_or_else(|| {
            let words = match wanted {
                Some(wanted) => format!("There is no model called {wanted}."),
                None => "There is no model yet. Add a model server under Settings, Models.".to_owned(),
            };
            Rejected::Invalid(words).into()
        })
    }
}

fn launched_already(known: &Shown, draft: &Draft) -> Result<RunId, AppError> {
    match known.is_of(draft) {
        true => Ok(known.id()),
        false => Err(Rejected::Invalid("Something else was launched under this id already.".into()).into()),
    }
}
