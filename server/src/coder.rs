//! The work of Coders: where it is done, behind which wall, by whose hands, and what becomes of it.

mod asking;
mod disk;
mod external;
mod home_file;
mod measure;
mod native;
mod offers;
mod port;
mod relay;
mod setup;
mod sources;
mod tool_program;
mod web;
mod worktrees;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Mutex,
};

use domain::{feed::StreamId, id::WorktreeId};
use store::Db;
use tokio_util::sync::CancellationToken;
use wall::{Access, Level, Marker, Wall};

use crate::backend;
use offers::Installing;
use relay::Relay;
use web::Web;

pub(crate) use asking::Asking;
pub(crate) use external::ExternalAgent;
pub(crate) use native::NativeAgent;
pub use port::Port;
pub use sources::CoderChanges;

/// What a program finds behind the wall. Only folders that are granted.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

pub struct Coders {
    db: Db,
    /// Our own program, which puts up walls and serves tools behind them.
    helper: PathBuf,
    /// Whose processes and worktrees these are.
    host: String,
    worktrees: PathBuf,
    trash: PathBuf,
    /// What nobody behind a wall sees.
    hidden: Vec<PathBuf>,
    relay: Relay,
    web: Web,
    /// Where tools, and agents among them, are installed.
    tools: PathBuf,
    installing: Mutex<BTreeMap<&'static str, Installing>>,
}

impl Coders {
    /// Makes the folders, and ends whatever a server that was killed left running here.
    pub async fn start(
        db: Db,
        client: reqwest::Client,
        data_dir: &Path,
        host: &str,
        web_search_url: Option<String>,
        shutdown: CancellationToken,
    ) -> anyhow::Result<Self> {
        let (worktrees, trash) = (data_dir.join("worktrees"), data_dir.join("trash"));
        for folder in [&worktrees, &trash] {
            std::fs::create_dir_all(folder)?;
        }
        let ended = wall::end_leftovers(host).await?;
        if ended > 0 {
            tracing::info!(ended, "processes of earlier tasks were still running and were ended");
        }
        Ok(Self {
            db,
            helper: std::env::current_exe()?.canonicalize()?,
            host: host.to_owned(),
            worktrees: worktrees.canonicalize()?,
            trash: trash.canonicalize()?,
            hidden: vec![data_dir.canonicalize()?],
            relay: Relay::start(client, shutdown).await?,
            web: Web::new(web_search_url)?,
            tools: crate::tools::dir(|name| std::env::var(name).ok())
                .unwrap_or_else(|| data_dir.join("tools")),
            installing: Mutex::default(),
        })
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    async fn level(&self) -> Level {
        wall::level(&self.helper).await
    }

    fn marker(&self, stream: StreamId) -> Marker {
        Marker::new(self.host.clone(), stream.task, stream.attempt.0)
    }

    fn folder(&self, id: WorktreeId) -> PathBuf {
        self.worktrees.join(id.to_string())
    }

    /// Its own tree, and nothing of its siblings or ours.
    fn wall(&self, worktree: &git::Worktree, connect: Vec<u16>) -> Result<Wall, backend::Error> {
        let objects = worktree.objects().map_err(|error| unprepared(&error))?;
        Ok(Wall {
            access: Access::Write { tree: worktree.tree(), objects: vec![objects] },
            home: worktree.home(),
            tmp: worktree.tmp(),
            programs: vec![self.helper.clone()],
            readable: Vec::new(),
            hidden: self.hidden.clone(),
            connect,
            bind: Vec::new(),
        })
    }
}

/// What every program behind a wall is given.
fn environment(worktree: &git::Worktree) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let (home, tmp) = (worktree.home(), worktree.tmp());
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
