//! A task's program behind its wall, from start to verified end.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::enter::Description;
use crate::level::Level;
use crate::marker::{Marker, VARIABLE, Whose};
use crate::processes::{self, Identity};
use crate::wall::{Program, Wall};
use crate::{Error, door, leftovers, spawner, sys};

/// For the helper to end all that it owns.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Dropped without [`Process::end`], it is killed without being waited for.
#[derive(Debug)]
pub struct Process {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    /// Where the task's connections to [`Wall::door`] arrive, if it has a network of its own. Without one they come
    /// to the machine's port of that number.
    pub door: Option<TcpListener>,
    helper: Child,
    marker: Marker,
}

/// How long each polite request to end is given.
#[derive(Clone, Copy, Debug)]
pub struct Grace {
    pub after_stdin: Duration,
    pub after_term: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self { after_stdin: Duration::from_secs(2), after_term: Duration::from_secs(2) }
    }
}

/// What it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    HadExited,
    StdinClosed,
    Terminated,
    Killed,
}

#[derive(Clone, Copy, Debug)]
pub struct Ending {
    pub step: Step,
    pub status: ExitStatus,
    /// Processes that even the helper had not ended.
    pub strays: usize,
}

impl Process {
    /// `helper` is the binary whose `wall` subcommand calls [`crate::enter`].
    pub async fn spawn(
        helper: &Path,
        level: &Level,
        wall: &Wall,
        program: Program,
        marker: &Marker,
    ) -> Result<Self, Error> {
        wall.check()?;
        program.check()?;
        let demand = level.admits(wall)?;
        let handed_over = (demand.namespaces && wall.door.is_some()).then(UnixStream::pair);
        let (taken, given) = handed_over.transpose().map_err(Error::Start)?.unzip();
        let description = Description {
            parent: Some(std::process::id()),
            demand,
            handed_over: given.as_ref().map(AsRawFd::as_raw_fd),
            folder: program.folder,
            wall: wall.clone(),
        };
        let description = description.to_argument().map_err(|error| Error::Start(error.into()))?;
        let mut command = Command::new(helper);
        command.arg("wall").arg(description).arg("--").arg(program.program).args(program.args);
        command.env_clear().envs(program.env).env(VARIABLE, marker.to_string()).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(given) = given {
            sys::let_inherit(command.as_std_mut(), OwnedFd::from(given));
        }
        let mut helper = spawner::spawn(command).await.map_err(Error::Start)?;
        let mut process = Self {
            stdin: helper.stdin.take(),
            stdout: helper.stdout.take(),
            stderr: helper.stderr.take(),
            door: None,
            helper,
            marker: marker.clone(),
        };
        if let Some(taken) = taken {
            process.door = match door::taken(taken).await {
                Ok(door) => door,
                Err(error) => {
                    // Nothing of it may begin later.
                    process.end(Grace { after_stdin: Duration::ZERO, after_term: Duration::ZERO }).await?;
                    return Err(Error::Start(error));
                }
            };
        }
        Ok(process)
    }

    /// The helper's number, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.helper.id()
    }

    /// The program's own end. What it left behind is ended with it; [`Process::end`] makes sure.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.helper.wait().await
    }

    /// Asks politely, then not, until every process of the task is gone.
    pub async fn end(mut self, grace: Grace) -> Result<Ending, Error> {
        let mut known = Vec::new();
        let (step, status) = self.ended(grace, &mut known).await?;
        let strays = leftovers::sweep(Whose::Task(&self.marker), &known).await?;
        Ok(Ending { step, status, strays })
    }

    /// Notes whom it saw, since the marker of a process is its own to remove.
    async fn ended(&mut self, grace: Grace, known: &mut Vec<Identity>) -> Result<(Step, ExitStatus), Error> {
        if let Some(status) = self.helper.try_wait().map_err(Error::Watch)? {
            return Ok((Step::HadExited, status));
        }
        for step in [Step::StdinClosed, Step::Terminated, Step::Killed] {
            known.extend(self.family()?);
            let limit = self.ask(step, grace);
            if let Ok(status) = timeout(limit, self.helper.wait()).await {
                return Ok((step, status.map_err(Error::Watch)?));
            }
        }
        // The helper itself hangs.
        known.extend(self.family()?);
        self.helper.start_kill().map_err(Error::Watch)?;
        match timeout(KILL_LIMIT, self.helper.wait()).await {
            Ok(status) => Ok((Step::Killed, status.map_err(Error::Watch)?)),
            Err(_) => Err(Error::Remain(self.pid().map(Pid::as_raw_pid).into_iter().collect())),
        }
    }

    /// Returns how long that may take.
    fn ask(&mut self, step: Step, grace: Grace) -> Duration {
        match step {
            Step::HadExited | Step::StdinClosed => {
                self.stdin = None;
                grace.after_stdin
            }
            Step::Terminated => {
                // The helper leads its session's group, and holds this signal back for itself. Not being there
                // yet, or any more, is as good as having heard it.
                let _ = self.pid().map(|pid| kill_process_group(pid, Signal::TERM));
                grace.after_term
            }
            Step::Killed => {
                spawner::end_now(&self.helper);
                KILL_LIMIT
            }
        }
    }

    fn family(&self) -> Result<Vec<Identity>, Error> {
        let Some(pid) = self.pid() else { return Ok(Vec::new()) };
        processes::descendants(pid.as_raw_pid()).map_err(Error::Watch)
    }

    fn pid(&self) -> Option<Pid> {
        self.helper.id().and_then(|pid| Pid::from_raw(pid.cast_signed()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        spawner::end_now(&self.helper);
    }
}
