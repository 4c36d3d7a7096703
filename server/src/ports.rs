//! What the pages' server functions may ask of the server besides the database.

use std::{path::PathBuf, sync::Arc};

use app::{
    error::AppError,
    ports::{
        Arena, Browsers, Catalogue, CodeColours, Coders, Diffs, Files, FolderCheck, Folders, Orchestrator,
        Personas, Settings,
    },
};
use domain::catalogue::{self, ModelRef};
use futures::future::{BoxFuture, FutureExt as _};
use leptos::context::provide_context;

use crate::{
    models::Models,
    project_folder::{self, AllowedRoots, Checked, Refused},
};

#[derive(Clone)]
pub struct Ports {
    pub catalogue: Arc<dyn Catalogue>,
    pub folders: Arc<dyn Folders>,
    pub files: Arc<dyn Files>,
    pub personas: Arc<dyn Personas>,
    pub settings: Arc<dyn Settings>,
    pub browsers: Arc<dyn Browsers>,
    pub coders: Arc<dyn Coders>,
    pub arena: Arc<dyn Arena>,
    pub orchestrator: Arc<dyn Orchestrator>,
    pub diffs: Arc<dyn Diffs>,
    pub code_colours: Arc<dyn CodeColours>,
}

impl Ports {
    pub fn provide(&self) {
        provide_context(Arc::clone(&self.catalogue));
        provide_context(Arc::clone(&self.folders));
        provide_context(Arc::clone(&self.files));
        provide_context(Arc::clone(&self.personas));
        provide_context(Arc::clone(&self.settings));
        provide_context(Arc::clone(&self.browsers));
        provide_context(Arc::clone(&self.coders));
        provide_context(Arc::clone(&self.arena));
        provide_context(Arc::clone(&self.orchestrator));
        provide_context(Arc::clone(&self.diffs));
        provide_context(Arc::clone(&self.code_colours));
    }
}

pub struct ServedModels {
    pub models: Models,
    pub settings: Arc<crate::settings::Settings>,
}

impl Catalogue for ServedModels {
    fn catalogue(&self) -> catalogue::Catalogue {
        self.models.catalogue()
    }

    fn refresh(&self) -> BoxFuture<'_, ()> {
        async {
            // Another server may have changed the settings a moment ago.
            if let Err(error) = self.settings.take_over().await {
                tracing::warn!(%error, "the settings could not be read; the catalogue goes by the last ones");
            }
            self.models.refresh_now().await;
        }
        .boxed()
    }

    fn default_model(&self) -> Option<ModelRef> {
        self.models.default_model()
    }
}

#[derive(Clone)]
pub struct ProjectFolders {
    pub home: Option<PathBuf>,
    pub roots: AllowedRoots,
}

impl Folders for ProjectFolders {
    fn check(&self, typed: String) -> BoxFuture<'_, Result<FolderCheck, AppError>> {
        self.look(typed, |checked| match checked {
            Checked::Repository(folder) => {
                Ok(FolderCheck::Repository { path: shown(folder.path()), name: name(folder.path()) })
            }
            Checked::NotARepository(folder) => Ok(FolderCheck::NotARepository { path: shown(folder.path()) }),
        })
    }

    fn make_repository(&self, typed: String) -> BoxFuture<'_, Result<String, AppError>> {
        self.look(typed, |checked| match checked {
            Checked::Repository(folder) => Ok(shown(folder.path())),
            Checked::NotARepository(folder) => {
                project_folder::init_repository(&folder).map(|made| shown(made.path()))
            }
        })
    }
}

impl ProjectFolders {
    /// Disks block, so they are asked on a thread that may.
    fn look<T: Send + 'static>(
        &self,
        typed: String,
        then: fn(Checked) -> Result<T, Refused>,
    ) -> BoxFuture<'_, Result<T, AppError>> {
        let folders = self.clone();
        async move {
            let look = move || project_folder::check(&typed, folders.home.as_deref(), &folders.roots);
            let looked = tokio::task::spawn_blocking(move || look().and_then(then)).await;
            looked
                .map_err(|error| AppError::internal(&error))?
                .map_err(|refused| AppError::Invalid(refused.to_string()))
        }
        .boxed()
    }
}

/// A project is called like its folder.
fn name(path: &std::path::Path) -> String {
    path.file_name().map_or_else(|| shown(path), |name| name.to_string_lossy().into_owned())
}

fn shown(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}
