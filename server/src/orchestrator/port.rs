//! What pages ask of runs beyond their rows.

use std::{path::PathBuf, sync::Arc};

use app::{error::AppError, ports};
use domain::{
    Rejected,
    backend::{Backend, Wanted},
    catalogue::ModelRef,
    chat::Choice,
    diff::{WINDOW_ROWS_MAX, Window},
    flow::{Band, Plan, Report, request::Target},
    id::RunId,
    layout,
    run::{Draft, FileAt, Launch, Offer, Shown, Terms, check_context},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Db;
use tokio::task::spawn_blocking;

use super::{
    Recorded,
    beginning::{Beginning, NoBeginning},
};
use crate::{
    coder::{Coders, blocking_for_person},
    diffs,
    engine::now_ms,
    models::Models,
    sentence::sentence,
};

pub struct Port {
    pub db: Db,
    pub coders: Arc<Coders>,
    pub offers: Arc<dyn ports::Coders>,
    pub models: Models,
    /// Who works in flows, and with which model, where nobody says otherwise.
    pub backend: Backend,
    pub model: Option<String>,
}

impl ports::Orchestrator for Port {
    fn offer(&self) -> BoxFuture<'_, Offer> {
        async {
            let who = self.who("", "").await;
            let (model, hindrance) = match who {
                Ok(who) => (Some(who.model), None),
                Err(error) => (self.model_named("").ok(), Some(error.to_string())),
            };
            Offer { backend: self.backend.clone(), model, hindrance }
        }
        .boxed()
    }

    fn launch(&self, draft: Draft, target: layout::Target) -> BoxFuture<'_, Result<RunId, AppError>> {
        async move {
            // Asked again, because its answer never reached the browser.
            if store::runs::get(&self.db, draft.id).await.is_ok() {
                return Ok(draft.id);
            }
            let (id, shown) = (draft.id, self.agreed(draft).await);
            let started = match shown {
                Ok(shown) => store::commit::start_run(&self.db, shown, now_ms(), target).await,
                Err(error) => return Err(error),
            };
            if started.is_err() {
                self.forget_beginning(id).await;
            }
            started?;
            Ok(id)
        }
        .boxed()
    }

    fn again(
        &self,
        run: RunId,
        id: RunId,
        band: Option<Band>,
        target: layout::Target,
    ) -> BoxFuture<'_, Result<RunId, AppError>> {
        async move {
            let shown = store::runs::get(&self.db, run).await?;
            let band = band.unwrap_or(shown.run.request.band);
            self.launch(shown.again(id, band), target).await
        }
        .boxed()
    }

    fn get(&self, run: RunId) -> BoxFuture<'_, Result<Shown, AppError>> {
        async move { Ok(store::runs::get(&self.db, run).await?) }.boxed()
    }

    fn cancel(&self, run: RunId) -> BoxFuture<'_, Result<(), AppError>> {
        async move {
            store::commit::cancel_run(&self.db, run, now_ms()).await?;
            Ok(())
        }
        .boxed()
    }

    fn report(&self, run: RunId) -> BoxFuture<'_, Result<Option<Report>, AppError>> {
        async move {
            store::runs::get(&self.db, run).await?;
            Ok(store::runs::report(&self.db, run).await?)
        }
        .boxed()
    }

    fn file_at(&self, run: RunId, path: String, window: Window) -> BoxFuture<'_, Result<FileAt, AppError>> {
        async move {
            let shown = store::runs::get(&self.db, run).await?;
            if shown.terms.host != self.coders.host() {
                return Err(AppError::Invalid("What the project held then is on another machine.".into()));
            }
            let folder = self.coders.recorded_folder(run.0);
            let read = spawn_blocking(move || {
                let recorded = Recorded::open(&folder).map_err(|error| sentence(&error.to_string()))?;
                let bytes = recorded.bytes(&path);
                let bytes =
                    bytes.ok_or_else(|| format!("There was no text at {path} when the run began."))?;
                let count = window.count.min(WINDOW_ROWS_MAX);
                let (lines, rows) = diffs::file_rows(&path, bytes, Window { count, ..window })
                    .ok_or_else(|| format!("{path} is too long to be shown."))?;
                Ok(FileAt { path, lines, first: window.start.saturating_add(1), rows })
            });
            read.await.map_err(|error| AppError::internal(&error))?.map_err(AppError::Invalid)
        }
        .boxed()
    }

    fn text_at(&self, run: RunId, path: String) -> BoxFuture<'_, Result<Vec<u8>, AppError>> {
        async move {
            let shown = store::runs::get(&self.db, run).await?;
            if shown.terms.host != self.coders.host() {
                return Err(AppError::Invalid("What the project held then is on another machine.".into()));
            }
            let folder = self.coders.recorded_folder(run.0);
            let read = spawn_blocking(move || {
                let recorded = Recorded::open(&folder).map_err(|error| sentence(&error.to_string()))?;
                let bytes = recorded.bytes(&path);
                bytes.ok_or_else(|| format!("There was no text at {path} when the run began."))
            });
            read.await.map_err(|error| AppError::internal(&error))?.map_err(AppError::Invalid)
        }
        .boxed()
    }
}

/// Who does the work of a run.
struct Who {
    backend: Backend,
    model: ModelRef,
    paid: bool,
}

impl Port {
    /// Everything that can be refused is refused here, before the first step.
    async fn agreed(&self, draft: Draft) -> Result<Shown, AppError> {
        // As far as it can be told without the project.
        let early = draft.request(true)?;
        let who = self.who(&draft.backend, &draft.model).await?;
        let project = store::workspace::project_of_session(&self.db, draft.session).await?;
        let folder = PathBuf::from(&project.path);
        self.coders.may_read(&folder).await.map_err(AppError::Invalid)?;
        let beginning = self.begin(draft.id, folder, early.flow, early.target).await;
        let shown = beginning.and_then(|beginning| {
            let Beginning { base, since, template, signals } = beginning;
            let request = draft.request(since.is_some())?;
            let plan = Plan::new(request, &signals);
            let Who { backend, model, paid } = who;
            let has_web = backend.is_native() && self.coders.has_search();
            let host = self.coders.host().to_owned();
            let terms = Terms { backend, model, paid, host, base, signals, since, template, has_web };
            let (id, session, project, at_ms) = (draft.id, draft.session, project.id, now_ms());
            Ok(Shown::new(Launch { id, session, project, plan, terms, at_ms }))
        });
        if shown.is_err() {
            self.forget_beginning(draft.id).await;
        }
        shown
    }

    /// Keeps what the project holds now, and looks through it.
    async fn begin(
        &self,
        id: RunId,
        project: PathBuf,
        flow: domain::flow::FlowId,
        target: Target,
    ) -> Result<Beginning, AppError> {
        let folder = self.coders.recorded_folder(id.0);
        let begun = spawn_blocking(move || {
            // What is there is of a launch that was killed before the run was.
            if let Ok(left) = git::Worktree::open(&folder) {
                left.remove()?;
            }
            Beginning::of(&project, &folder, &id.to_string(), flow, &target)
        });
        match begun.await.map_err(|error| AppError::internal(&error))? {
            Ok(beginning) => Ok(beginning),
            Err(NoBeginning::Rejected(rejected)) => Err(rejected.into()),
            Err(NoBeginning::Git(error)) => Err(AppError::Invalid(sentence(&error.to_string()))),
        }
    }

    async fn forget_beginning(&self, id: RunId) {
        let folder = self.coders.recorded_folder(id.0);
        if !folder.exists() {
            return;
        }
        let removed = blocking_for_person(move || git::Worktree::open(&folder)?.remove()).await;
        if let Err(error) = removed {
            tracing::warn!(%error, "what a run would have begun with stays");
        }
    }

    /// Whoever is named, or configured, if they can work on what is asked for.
    async fn who(&self, backend: &str, model: &str) -> Result<Who, AppError> {
        let backend = match backend.trim() {
            "" => self.backend.clone(),
            backend => Backend(backend.to_owned()),
        };
        let wanted = self.model_named(model)?;
        let catalogue = self.models.catalogue();
        let (Choice { model, paid, .. }, server) = Choice::from_catalogue(&catalogue, &wanted.to_string())?;
        let server = server.clone();
        let tokens = catalogue.model(&model).and_then(|(_, model)| model.context);
        let wanted = Wanted { backend, carry: false, asks: false };
        let backend = self.offers.check(wanted, server).await?.backend;
        check_context(&backend, &model, tokens)?;
        Ok(Who { backend, model, paid })
    }

    fn model_named(&self, model: &str) -> Result<ModelRef, AppError> {
        let configured = self.model.as_deref().unwrap_or_default();
        let wanted = if model.trim().is_empty() { configured } else { model.trim() };
        let no = |words: String| AppError::from(Rejected::Invalid(words));
        match wanted {
            "" => self.models.default_model().ok_or_else(|| {
                no("There is no model yet. Add a model server under Settings, Models.".to_owned())
            }),
            wanted => self
                .models
                .catalogue()
                .resolve(wanted)
                .ok_or_else(|| no(format!("There is no model called {wanted}."))),
        }
    }
}
