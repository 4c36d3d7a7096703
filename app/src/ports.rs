//! What the pages need from the server beyond the database. The server implements these and provides each as
//! a Leptos context in an `Arc`.

use std::sync::Arc;

use axum::http::{header, request::Parts};
use domain::{
    backend::{self, Backend, Wanted},
    battle::{self, analysis::Estimate},
    browser::{Browser, Pairing},
    catalogue::{self, ModelRef, ModelServer},
    chat::Coder,
    diff::{Against, Found, Of, Options, Outline, Rows, Seek, Window},
    feed::StreamId,
    flow::{Band, Report, StepId},
    id::{BattleId, BrowserId, ChatId, ContestantId, RunId},
    layout::{Origin, Target},
    persona::Offer,
    run,
    settings::{AgentSettings, Checked, Draft, Fact, ModelSettings, TypedKey, WorktreeSettings},
    worktree::{Changes, Destination},
};
use futures::future::BoxFuture;
use leptos::prelude::use_context;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    error::AppError,
    files::FilesFound,
    markdown::colours::{Code, Run},
};

pub trait Catalogue: Send + Sync {
    fn catalogue(&self) -> catalogue::Catalogue;
    /// Asks the model servers again; the catalogue is up to date when it returns.
    fn refresh(&self) -> BoxFuture<'_, ()>;
    fn default_model(&self) -> Option<ModelRef>;
}

pub trait Folders: Send + Sync {
    /// Whether what a person typed may become a project. Refusals are in words for that person.
    fn check(&self, typed: String) -> BoxFuture<'_, Result<FolderCheck, AppError>>;
    /// Makes the folder a git repository and returns its path.
    fn make_repository(&self, typed: String) -> BoxFuture<'_, Result<String, AppError>>;
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FolderCheck {
    Repository { path: String, name: String },
    NotARepository { path: String },
}

/// The files of projects, each project named by its folder.
pub trait Files: Send + Sync {
    /// The best `limit` of those that fit to what was typed.
    fn find(
        &self,
        project: String,
        typed: String,
        limit: usize,
    ) -> BoxFuture<'_, Result<FilesFound, AppError>>;

    /// The files at these paths as they are now, each with at most `bytes_max` bytes and one more where it is
    /// longer, or why it cannot be read. What is no file of the project is not among them.
    fn read(&self, project: String, paths: Vec<String>, bytes_max: usize) -> BoxFuture<'_, Vec<ReadFile>>;
}

/// As whom a model may be asked to work, for each project.
pub trait Personas: Send + Sync {
    fn offer(&self, project: String) -> BoxFuture<'_, Offer>;
    /// The name as it is written, or that there is none.
    fn check(&self, project: String, name: String) -> BoxFuture<'_, Result<String, AppError>>;
}

/// Who can do the work of a Coder, and what became of it.
pub trait Coders: Send + Sync {
    fn offers(&self) -> BoxFuture<'_, Vec<backend::Offer>>;
    fn settings(&self) -> BoxFuture<'_, AgentSettings>;
    /// How the work would be done on this model of this server, or why it cannot be.
    fn check(
        &self,
        wanted: Wanted,
        server: ModelServer,
        model: ModelRef,
    ) -> BoxFuture<'_, Result<Coder, AppError>>;
    /// Whether an agent may use its own login on the server's machine.
    fn use_login(&self, backend: Backend, is_used: bool) -> BoxFuture<'_, Result<(), AppError>>;
    /// Installs what is missing; whoever asks for the offers is told how far it is.
    fn install(&self, backend: Backend) -> BoxFuture<'_, Result<(), AppError>>;
    fn changes(&self, chat: ChatId) -> BoxFuture<'_, Result<Option<Changes>, AppError>>;
    /// What they can be compared with; where they began first.
    fn sides(&self, chat: ChatId) -> BoxFuture<'_, Result<Vec<Against>, AppError>>;
    /// Brings the changes into the project, and says how.
    fn apply(&self, chat: ChatId, to: Destination) -> BoxFuture<'_, Result<String, AppError>>;
    fn discard(&self, chat: ChatId) -> BoxFuture<'_, Result<(), AppError>>;
    fn restore(&self, chat: ChatId) -> BoxFuture<'_, Result<(), AppError>>;
    fn worktrees(&self) -> BoxFuture<'_, Result<WorktreeSettings, AppError>>;
    fn empty_trash(&self) -> BoxFuture<'_, Result<(), AppError>>;
    /// Throws away what projects held when runs began that are over.
    fn free_recordings(&self) -> BoxFuture<'_, Result<(), AppError>>;
}

/// What battles need of the machine, and what becomes of their results.
pub trait Arena: Send + Sync {
    /// Launches once, however often it is asked; refused with the reason, and then nothing is made.
    fn launch(&self, draft: battle::Draft, origin: Origin) -> BoxFuture<'_, Result<BattleId, AppError>>;
    /// Brings a contestant's result into the project, and says how.
    fn adopt(&self, contestant: ContestantId, to: Destination) -> BoxFuture<'_, Result<String, AppError>>;
    /// A Coder that goes on in a contestant's worktree.
    fn go_on(&self, contestant: ContestantId, target: Target) -> BoxFuture<'_, Result<ChatId, AppError>>;
    /// Puts the worktrees of a battle in the trash; its diffs stay.
    fn discard_worktrees(&self, battle: BattleId) -> BoxFuture<'_, Result<(), AppError>>;
    fn restore_worktrees(&self, battle: BattleId) -> BoxFuture<'_, Result<(), AppError>>;
    /// Writes the results folder anew, and says where.
    fn write_results(&self, battle: BattleId) -> BoxFuture<'_, Result<String, AppError>>;
    /// A battle as one file of HTML, after what that is called.
    fn export(&self, battle: BattleId) -> BoxFuture<'_, Result<(String, String), AppError>>;
    /// The model that is named as a judge, the default one where none is, or why it cannot be.
    fn judge(&self, model: &str) -> Result<battle::Judge, AppError>;
    /// Who is to examine the results of this battle, or why they cannot.
    fn examiner(
        &self,
        battle: BattleId,
        draft: battle::ExaminerDraft,
    ) -> BoxFuture<'_, Result<battle::Examiner, AppError>>;
    /// What it would take this judge to compare the results.
    fn estimate(&self, of: Compared, judge: battle::Judge) -> BoxFuture<'_, Result<Estimate, AppError>>;
}

/// Whose results would be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    Battle(BattleId),
    /// So many that are not there yet: each may turn out to be long.
    Unknown(usize),
}

/// Flows at work on projects, and what they reported.
pub trait Orchestrator: Send + Sync {
    /// Who would work if nobody is named.
    fn offer(&self) -> BoxFuture<'_, run::Offer>;
    /// Launches once, however often it is asked; refused with the reason, and then nothing is made.
    fn launch(&self, draft: run::Draft, origin: Origin) -> BoxFuture<'_, Result<RunId, AppError>>;
    /// The same question once more, under this id; in the same band where none is named.
    fn again(
        &self,
        run: RunId,
        id: RunId,
        band: Option<Band>,
        origin: Origin,
    ) -> BoxFuture<'_, Result<RunId, AppError>>;
    fn get(&self, run: RunId) -> BoxFuture<'_, Result<run::Shown, AppError>>;
    fn cancel(&self, run: RunId) -> BoxFuture<'_, Result<(), AppError>>;
    /// None while there is none yet.
    fn report(&self, run: RunId) -> BoxFuture<'_, Result<Option<Report>, AppError>>;
    /// All that was said at a step, attempt by attempt.
    fn said(&self, run: RunId, step: StepId) -> BoxFuture<'_, Result<Vec<(StreamId, String)>, AppError>>;
    /// Lines of a file as it was when the run began. The window counts lines from 0.
    fn file_at(
        &self,
        run: RunId,
        path: String,
        window: Window,
    ) -> BoxFuture<'_, Result<run::FileAt, AppError>>;
    /// The change that the flow looks at, as a patch; none where it looks at no change.
    fn change(&self, run: RunId) -> BoxFuture<'_, Result<Option<Vec<u8>>, AppError>>;
    /// All of a file as it was then.
    fn text_at(&self, run: RunId, path: String) -> BoxFuture<'_, Result<Vec<u8>, AppError>>;
}

/// A path, and what is there.
pub type ReadFile = (String, Result<Vec<u8>, String>);

/// What Settings shows and changes.
pub trait Settings: Send + Sync {
    /// `checked` is what [`Settings::keep`] gave.
    fn models(&self, checked: Option<Uuid>) -> BoxFuture<'_, Result<ModelSettings, AppError>>;
    /// Asks the address what it is; with `add`, adds the server if the rules allow it.
    fn check(&self, draft: Draft, key: TypedKey, add: bool) -> BoxFuture<'_, Result<Checked, AppError>>;
    /// Keeps a key for a server that was added here, in the place of the one before.
    fn set_key(&self, name: String, key: TypedKey) -> BoxFuture<'_, Result<(), AppError>>;
    fn remove_key(&self, name: String) -> BoxFuture<'_, Result<(), AppError>>;
    /// Keeps the answer to a form for a moment, for the page that a browser without scripts loads next.
    fn keep(&self, checked: Checked) -> Uuid;
    /// `told` is how many tasks were said to wait for it.
    fn remove_server(&self, name: String, told: u32) -> BoxFuture<'_, Result<(), AppError>>;
    /// Empty leaves it to the rules.
    fn set_default_model(&self, model: String) -> BoxFuture<'_, Result<(), AppError>>;
    /// Who works in flows; empty leaves it to the rules.
    fn set_flows(&self, backend: String, model: String) -> BoxFuture<'_, Result<(), AppError>>;
    fn facts(&self) -> BoxFuture<'_, Result<Vec<Fact>, AppError>>;
}

/// Who is signed in, and who may be.
pub trait Browsers: Send + Sync {
    fn list(&self, this: BrowserId) -> BoxFuture<'_, Result<Vec<Browser>, AppError>>;
    /// Signs a browser out and closes its live connections.
    fn revoke(&self, id: BrowserId) -> BoxFuture<'_, Result<(), AppError>>;
    fn revoke_others(&self, this: BrowserId) -> BoxFuture<'_, Result<(), AppError>>;
    /// The code that this browser asked for last.
    fn pairing(&self, this: BrowserId) -> BoxFuture<'_, Result<Pairing, AppError>>;
    /// A fresh code; the one before it no longer works.
    fn pair(&self, this: BrowserId) -> BoxFuture<'_, Result<Pairing, AppError>>;
}

/// What was changed, laid out for the screen. The same options give the same rows for as long as the stamp of the
/// answers is the same.
pub trait Diffs: Send + Sync {
    fn outline(&self, of: Of, options: Options) -> BoxFuture<'_, Result<Outline, AppError>>;
    fn rows(&self, of: Of, options: Options, window: Window) -> BoxFuture<'_, Result<Rows, AppError>>;
    fn find(&self, of: Of, options: Options, query: String) -> BoxFuture<'_, Result<Found, AppError>>;
    fn seek(
        &self,
        of: Of,
        options: Options,
        from: u32,
        seek: Seek,
    ) -> BoxFuture<'_, Result<Option<u32>, AppError>>;
    /// The patch of one file.
    fn patch(&self, of: Of, file: u32) -> BoxFuture<'_, Result<String, AppError>>;
}

/// The colours of code, by its grammar.
pub trait CodeColours: Send + Sync {
    /// For each piece as many as are known.
    fn of(&self, code: Vec<Code>) -> BoxFuture<'_, Result<Vec<Vec<Run>>, AppError>>;
}

/// The browser that a request comes from, among the request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThisBrowser(pub BrowserId);

#[derive(Debug, thiserror::Error)]
#[error("the server does not provide {0} to its pages")]
struct NotProvided(&'static str);

pub(crate) fn db() -> Result<store::Db, AppError> {
    provided("the database")
}

pub(crate) fn models() -> Result<Arc<dyn Catalogue>, AppError> {
    provided("the catalogue")
}

pub(crate) fn folders() -> Result<Arc<dyn Folders>, AppError> {
    provided("the folders")
}

pub(crate) fn files() -> Result<Arc<dyn Files>, AppError> {
    provided("the files")
}

pub(crate) fn personas() -> Result<Arc<dyn Personas>, AppError> {
    provided("the personas")
}

pub(crate) fn settings() -> Result<Arc<dyn Settings>, AppError> {
    provided("the settings")
}

pub(crate) fn browsers() -> Result<Arc<dyn Browsers>, AppError> {
    provided("the browsers")
}

pub(crate) fn coders() -> Result<Arc<dyn Coders>, AppError> {
    provided("the agents")
}

pub(crate) fn arena() -> Result<Arc<dyn Arena>, AppError> {
    provided("the arena")
}

pub(crate) fn orchestrator() -> Result<Arc<dyn Orchestrator>, AppError> {
    provided("the orchestrator")
}

pub(crate) fn diffs() -> Result<Arc<dyn Diffs>, AppError> {
    provided("the diffs")
}

pub(crate) fn code_colours() -> Result<Arc<dyn CodeColours>, AppError> {
    provided("the colours of code")
}

pub(crate) fn this_browser() -> Result<BrowserId, AppError> {
    let this = use_context::<Parts>().and_then(|request| request.extensions.get::<ThisBrowser>().copied());
    this.map(|ThisBrowser(id)| id).ok_or(AppError::NotLoggedIn)
}

/// Whether a browser without scripts sent a form, and loads a page for an answer.
pub(crate) fn is_plain_form() -> bool {
    use_context::<Parts>().is_some_and(|request| {
        let accepts = request.headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok());
        accepts.is_some_and(|accepts| accepts.contains("text/html"))
    })
}

fn provided<T: Clone + 'static>(what: &'static str) -> Result<T, AppError> {
    use_context::<T>().ok_or_else(|| AppError::internal(&NotProvided(what)))
}
