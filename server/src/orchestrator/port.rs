//! What pages ask of runs beyond their rows.

use std::sync::Arc;

use app::{error::AppError, ports};
use domain::{
    diff::{WINDOW_ROWS_MAX, Window},
    feed::StreamId,
    flow::{Band, Report, StepId},
    id::RunId,
    layout::Origin,
    run::{Draft, FileAt, Offer, Shown},
};
use futures::future::{BoxFuture, FutureExt as _};
use store::Db;
use tokio::task::spawn_blocking;

use super::Recorded;
use crate::{
    coder::Coders, diffs, engine::now_ms, models::Models, sentence::sentence, settings::FlowsConfigured,
};

/// Of one attempt, more is not shown. Whoever wants all of it reads its answer.
const SAID_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Clone)]
pub struct Port {
    pub db: Db,
    pub coders: Arc<Coders>,
    pub offers: Arc<dyn ports::Coders>,
    pub models: Models,
    /// Who works in flows, and with which model, as far as that is configured.
    pub configured: FlowsConfigured,
}

impl ports::Orchestrator for Port {
    fn offer(&self) -> BoxFuture<'_, Offer> {
        self.offered().boxed()
    }

    /// Whoever asked may go away meanwhile: what is begun is brought to its end, so that nothing is half there.
    fn launch(&self, draft: Draft, origin: Origin) -> BoxFuture<'_, Result<RunId, AppError>> {
        let port = self.clone();
        let launched = tokio::spawn(async move { port.launch_once(draft, origin).await });
        async { launched.await.map_err(|error| AppError::internal(&error))? }.boxed()
    }

    fn again(
        &self,
        run: RunId,
        id: RunId,
        band: Option<Band>,
        origin: Origin,
    ) -> BoxFuture<'_, Result<RunId, AppError>> {
        async move {
            let shown = store::runs::get(&self.db, run).await?;
            let band = band.unwrap_or(shown.run.request.band);
            self.launch(shown.again(id, band), origin).await
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

    fn said(&self, run: RunId, step: StepId) -> BoxFuture<'_, Result<Vec<(StreamId, String)>, AppError>> {
        async move {
            let shown = store::runs::get(&self.db, run).await?;
            let mut said = Vec::new();
            for stream in shown.streams_of(&step) {
                said.push((stream, store::streams::tail(&self.db, stream, SAID_BYTES_MAX).await?.text));
            }
            Ok(said)
        }
        .boxed()
    }

    fn file_at(&self, run: RunId, path: String, window: Window) -> BoxFuture<'_, Result<FileAt, AppError>> {
        async move {
            let bytes = self.bytes_at(run, path.clone()).await?;
            let coloured = spawn_blocking(move || {
                let count = window.count.min(WINDOW_ROWS_MAX);
                let (lines, rows) = diffs::file_rows(&path, bytes, Window { count, ..window })
                    .ok_or_else(|| format!("{path} is too long to be shown."))?;
                Ok(FileAt { path, lines, first: window.start.saturating_add(1), rows })
            });
            coloured.await.map_err(|error| AppError::internal(&error))?.map_err(AppError::Invalid)
        }
        .boxed()
    }

    fn change(&self, run: RunId) -> BoxFuture<'_, Result<Option<Vec<u8>>, AppError>> {
        async move {
            let shown = store::runs::get(&self.db, run).await?;
            let Some(since) = shown.terms.since.clone() else { return Ok(None) };
            let change = self.read(&shown, move |recorded, shown| {
                let change = recorded.change(&since, &shown.run.request.target);
                let change = change.map_err(|error| sentence(&error.to_string()))?;
                change.ok_or_else(|| "The change is too long to be given as one patch.".to_owned())
            });
            change.await.map(Some)
        }
        .boxed()
    }

    fn text_at(&self, run: RunId, path: String) -> BoxFuture<'_, Result<Vec<u8>, AppError>> {
        self.bytes_at(run, path).boxed()
    }
}

impl Port {
    /// A file as it was when the run began.
    async fn bytes_at(&self, run: RunId, path: String) -> Result<Vec<u8>, AppError> {
        let shown = store::runs::get(&self.db, run).await?;
        let read = self.read(&shown, move |recorded, _| {
            recorded.bytes(&path).ok_or_else(|| format!("There was no text at {path} when the run began."))
        });
        read.await
    }

    /// Looks at what a run began with, or says why that cannot be had.
    async fn read<T: Send + 'static>(
        &self,
        shown: &Shown,
        look: impl FnOnce(&Recorded, &Shown) -> Result<T, String> + Send + 'static,
    ) -> Result<T, AppError> {
        let (folder, shown) = (self.coders.recorded(shown).await?, shown.clone());
        let looked = spawn_blocking(move || {
            let recorded = Recorded::open(&folder).map_err(|error| sentence(&error.to_string()))?;
            look(&recorded, &shown)
        });
        looked.await.map_err(|error| AppError::internal(&error))?.map_err(AppError::Invalid)
    }
}
