//! The work of Coders: where it is done, behind which wall, by whose hands, and what becomes of it.

pub mod agents;
mod asking;
mod disk;
mod external;
mod ground;
mod health;
mod home_file;
pub mod login;
mod measure;
mod native;
mod node;
mod offers;
mod port;
mod proxy;
mod recordings;
mod relay;
mod setup;
mod sources;
mod space;
mod tool_program;
mod way;
mod web;
mod worktrees;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use acp::Agent;
use domain::{feed::StreamId, id::WorktreeId};
use futures::future::{BoxFuture, FutureExt as _};
use store::Db;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wall::{Level, Marker, Process, Program, Wall};

use crate::{backend, engine::Processes, sentence::sentence};
use offers::Installing;
use relay::Relay;
use web::Web;

pub(crate) use asking::{Asked, Asking};
pub(crate) use external::ExternalAgent;
use ground::Ground;
pub(crate) use measure::Sum;
pub(crate) use native::{Form, NativeAgent};
pub use port::Port;
pub(crate) use port::{AUTHOR, applied, blocking as blocking_for_person, changes, committed};
pub(crate) use setup::Turn;
pub use sources::Changes;
pub(crate) use space::run_out as space_run_out;
pub(crate) use worktrees::{Place, blocking};

/// What a program finds behind the wall. Only folders that are granted.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// So many are taken side by side.
const LOOKS_MAX: usize = 2;

pub struct Coders {
    db: Db,
    /// Our own program, which puts up walls and serves tools behind them.
    helper: PathBuf,
    /// Whose processes and worktrees these are.
    host: String,
    worktrees: PathBuf,
    trash: PathBuf,
    /// What projects held when battles began.
    snapshots: PathBuf,
    /// The trees of checks, each for as long as it runs.
    checks: PathBuf,
    /// What projects held when runs began.
    recorded: PathBuf,
    /// What agents have for themselves while they only read.
    steps: PathBuf,
    /// What nobody behind a wall sees.
    hidden: Vec<PathBuf>,
    relay: Relay,
    web: Web,
    agents: Vec<&'static Agent>,
    /// Where tools, and agents among them, are installed.
    tools: PathBuf,
    installing: Mutex<BTreeMap<&'static str, Installing>>,
    sizes: tokio::sync::Mutex<disk::Sizes>,
    /// Held while a worktree goes to the trash or comes back.
    moving: tokio::sync::Mutex<()>,
    /// Looks at what changed: each may hold all of it in memory.
    looks: Arc<Semaphore>,
}

impl Coders {
    /// Makes the folders, and ends whatever a server that was killed left running here.
    pub async fn start(
        db: Db,
        client: reqwest::Client,
        data_dir: &Path,
        host: &str,
        web_search_url: Option<String>,
        agents: Vec<&'static Agent>,
        shutdown: CancellationToken,
    ) -> anyhow::Result<Self> {
        let [worktrees, trash, snapshots, checks] =
            ["worktrees", "trash", "snapshots", "checks"].map(|name| data_dir.join(name));
        let [recorded, steps] = ["recorded", "steps"].map(|name| data_dir.join(name));
        for folder in [&worktrees, &trash, &snapshots, &checks, &recorded, &steps] {
            std::fs::create_dir_all(folder)?;
        }
        let ended = wall::end_leftovers(host).await?;
        if ended > 0 {
            tracing::info!(ended, "processes of earlier tasks were still running and were ended");
        }
        ground::clear(&steps);
        Ok(Self {
            db,
            helper: std::env::current_exe()?.canonicalize()?,
            host: host.to_owned(),
            worktrees: worktrees.canonicalize()?,
            trash: trash.canonicalize()?,
            snapshots: snapshots.canonicalize()?,
            checks: checks.canonicalize()?,
            recorded: recorded.canonicalize()?,
            steps: steps.canonicalize()?,
            hidden: vec![data_dir.canonicalize()?],
            relay: Relay::start(client, shutdown).await?,
            web: Web::new(web_search_url)?,
            agents,
            tools: crate::tools::dir(|name| std::env::var(name).ok())
                .unwrap_or_else(|| data_dir.join("tools")),
            installing: Mutex::default(),
            sizes: tokio::sync::Mutex::default(),
            moving: tokio::sync::Mutex::default(),
            looks: Arc::new(Semaphore::new(LOOKS_MAX)),
        })
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn db(&self) -> &Db {
        &self.db
    }

    pub(crate) fn checks(&self) -> &Path {
        &self.checks
    }

    /// Starts a program of the system in a worktree, behind its wall.
    pub(crate) async fn command(
        &self,
        worktree: &git::Worktree,
        program: &str,
        args: Vec<OsString>,
        stream: StreamId,
    ) -> Result<Process, backend::Error> {
        let ground = Ground::of(worktree)?;
        let wall = self.wall(&ground, None);
        let (env, folder) = (environment(&ground), ground.folder);
        let program = Program { program: program.into(), args, env, folder };
        let (level, marker) = (self.level().await, self.marker(stream));
        let spawned = Process::spawn(&self.helper, &level, &wall, program, &marker).await;
        spawned.map_err(|error| unprepared(&error))
    }

    pub(crate) async fn level(&self) -> Level {
        wall::level(&self.helper).await
    }

    fn marker(&self, stream: StreamId) -> Marker {
        Marker::new(self.host.clone(), stream.task, stream.attempt.0)
    }

    /// Whether the web can be searched.
    pub(crate) fn has_search(&self) -> bool {
        self.web.has_search()
    }

    /// Whether an agent can be kept from changing this folder, or why not.
    pub(crate) async fn may_read(&self, project: &Path) -> Result<(), String> {
        let (own, access) = (self.steps.clone(), wall::Access::Read { project: project.to_owned() });
        let (home, tmp) = (own.join("home"), own.join("tmp"));
        let ground = Ground { folder: project.to_owned(), home, tmp, access, hidden: Vec::new() };
        let admitted = self.level().await.admits(&self.wall(&ground, None));
        admitted.map(drop).map_err(|refused| sentence(&refused.to_string()))
    }

    pub(crate) fn snapshot_folder(&self, of: Uuid) -> PathBuf {
        self.snapshots.join(of.to_string())
    }

    pub(crate) fn folder(&self, id: WorktreeId) -> PathBuf {
        self.worktrees.join(id.to_string())
    }

    /// Its own ground, and nothing of its siblings or ours.
    fn wall(&self, ground: &Ground, door: Option<u16>) -> Wall {
        Wall {
            access: ground.access.clone(),
            home: ground.home.clone(),
            tmp: ground.tmp.clone(),
            programs: vec![self.helper.clone()],
            shared: Vec::new(),
            hidden: self.hidden.iter().chain(&ground.hidden).cloned().collect(),
            door,
            own_port: None,
        }
    }
}

impl Processes for Coders {
    fn end(&self, stream: StreamId) -> BoxFuture<'_, ()> {
        async move {
            match wall::end_task(&self.marker(stream)).await {
                Ok(ended) => tracing::warn!(%stream, ended, "an attempt that did not stop was ended"),
                Err(error) => {
                    tracing::error!(%stream, %error, "an attempt's processes could not all be ended")
                }
            }
        }
        .boxed()
    }
}

/// What every program behind a wall is given.
fn environment(ground: &Ground) -> Vec<(OsString, OsString)> {
    let (home, tmp) = (ground.home.clone(), ground.tmp.clone());
    let pairs = [
        ("PATH", PATH.into()),
        ("HOME", home.into_os_string()),
        ("TMPDIR", tmp.into_os_string()),
        ("LANG", "C.UTF-8".into()),
        // Commits behind the wall are nobody's but the agent's.
        ("GIT_AUTHOR_NAME", "BooCode agent".into()),
        ("GIT_AUTHOR_EMAIL", "agent@boocode.invalid".into()),
        ("GIT_COMMITTER_NAME", "BooCode agent".into()),
        ("GIT_COMMITTER_EMAIL", "agent@boocode.invalid".into()),
        ("GIT_TERMINAL_PROMPT", "0".into()),
    ];
    pairs.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// Something that is ours to mend, or the project's: never the model's loss.
fn unprepared(error: &dyn std::fmt::Display) -> backend::Error {
    backend::Error::Unprepared(error.to_string())
}
