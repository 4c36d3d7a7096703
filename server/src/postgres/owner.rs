//! The thread that owns Postgres: it starts it, waits for it, and starts it again when it dies under us.
//!
//! The kernel ends Postgres when the thread that spawned it ends, so that thread has to live as long.

use super::binaries::Binaries;
use super::log::Log;
use super::place::Place;
use super::program::{command, spawn};
use super::{Access, Error, cluster, leftovers, settings};
use crate::data_dir::DataDir;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// Recovery after a crash replays at most `max_wal_size` and a little more; slow disks get their time.
const START_LIMIT: Duration = Duration::from_secs(120);
const START_POLL: Duration = Duration::from_millis(2);
const RESTARTS_MAX: usize = 5;
const RESTARTS_WINDOW: Duration = Duration::from_secs(60);

/// What the owner says about Postgres.
#[derive(Clone, Debug)]
pub(super) enum State {
    Starting,
    Ready {
        pid: u32,
    },
    /// With the reason when nobody asked for it.
    Ended(Option<Arc<Error>>),
}

/// How the owner is told to stop. The handle cannot hit a later process of the same number.
#[derive(Default)]
pub(super) struct Control(Mutex<Orders>);

#[derive(Default)]
struct Orders {
    stopping: bool,
    postmaster: Option<OwnedFd>,
}

impl Control {
    pub fn stop(&self, signal: Signal) {
        let mut orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        orders.stopping = true;
        if let Some(postmaster) = &orders.postmaster {
            // It may have ended by itself.
            let _ = pidfd_send_signal(postmaster, signal);
        }
    }

    fn stopping(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).stopping
    }

    /// Spawns under the lock, so that a stop comes either before or finds the process.
    fn spawn(&self, spawn: impl FnOnce() -> Result<Child, Error>) -> Result<Child, Error> {
        let mut orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if orders.stopping {
            return Err(Error::Stopped);
        }
        let mut child = spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(rustix::io::Errno::SRCH);
        match pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty())) {
            Ok(handle) => orders.postmaster = Some(handle),
            Err(error) => {
                // What cannot be stopped must not run.
                child.kill().and_then(|()| child.wait()).map_err(Error::io("end", "postgres"))?;
                return Err(Error::io("get a handle for", "postgres")(error.into()));
            }
        }
        Ok(child)
    }
}

/// The thread's whole life. `ready` hears of the first start; `state` of everything after it.
pub(super) fn own(
    dir: DataDir,
    bin_dir: Option<PathBuf>,
    control: &Control,
    state: &watch::Sender<State>,
    ready: oneshot::Sender<Result<Access, Error>>,
) {
    let started = Server::prepare(&dir, bin_dir).and_then(|(server, access)| {
        let child = server.start(control, state)?;
        Ok((server, access, child))
    });
    let ending = match started {
        Ok((server, access, child)) => {
            if ready.send(Ok(access)).is_err() {
                // Nobody waits for the start any more, so nobody would ever stop it.
                control.stop(Signal::INT);
            }
            let ending = server.keep_up(child, control, state);
            server.tidy();
            ending
        }
        Err(error) => {
            let _ = ready.send(Err(error));
            Ok(())
        }
    };
    // The directory's lock goes first: whoever hears of the end may open it again.
    drop(dir);
    state.send_replace(State::Ended(ending.err().map(Arc::new)));
}

struct Server {
    place: Place,
    binaries: Binaries,
    log: Log,
}

impl Server {
    fn prepare(dir: &DataDir, bin_dir: Option<PathBuf>) -> Result<(Self, Access), Error> {
        let place = Place::prepare(dir.path())?;
        let major = place.cluster_major()?;
        let cluster = major.map(|major| (major, place.cluster.as_path()));
        let binaries = Binaries::find(bin_dir.as_deref(), cluster)?;
        let password = place.password(major.is_some())?;
        if major.is_none() {
            let began = Instant::now();
            cluster::create(&place, &binaries, password.expose())?;
            tracing::info!(
                ms = began.elapsed().as_millis(),
                major = binaries.major,
                "made the database cluster"
            );
        }
        let access = Access { socket_dir: place.socket_dir.clone(), password };
        Ok((Self { place, binaries, log: Log::default() }, access))
    }

    fn start(&self, control: &Control, state: &watch::Sender<State>) -> Result<Child, Error> {
        leftovers::settle(&self.place)?;
        let began = Instant::now();
        let program = self.binaries.postgres();
        let mut child = control.spawn(|| {
            // A fast shutdown, should we be killed.
            let mut command = command(&program, &self.place, Signal::INT);
            command.arg("-D").arg(&self.place.cluster).args(settings::arguments(&self.place));
            spawn(command, &program, &self.place)
        })?;
        self.log.follow(&mut child);
        let pid = child.id();
        while !self.is_ready(pid) {
            if let Some(status) = child.try_wait().map_err(Error::io("wait for", &program))? {
                if control.stopping() {
                    return Err(Error::Stopped);
                }
                let (status, said) = (status.to_string(), self.log.tail());
                return Err(Error::Failed { program: "postgres", status, said });
            }
            if began.elapsed() > START_LIMIT {
                child.kill().and_then(|()| child.wait()).map_err(Error::io("end", &program))?;
                return Err(Error::TooSlow {
                    program: "postgres",
                    limit: START_LIMIT,
                    said: self.log.tail(),
                });
            }
            std::thread::sleep(START_POLL);
        }
        tracing::info!(ms = began.elapsed().as_millis(), pid, "Postgres is up");
        state.send_replace(State::Ready { pid });
        Ok(child)
    }

    /// The postmaster writes its state into its lock file, which is cheaper to ask than a connection.
    fn is_ready(&self, pid: u32) -> bool {
        let Ok(text) = std::fs::read_to_string(self.place.cluster.join("postmaster.pid")) else {
            return false;
        };
        let mut lines = text.lines();
        let ours = lines.next().is_some_and(|line| line.trim() == pid.to_string());
        ours && lines.nth(6).is_some_and(|line| line.trim() == "ready")
    }

    /// Waits for the end that was asked for; any other is an accident and Postgres is started again.
    fn keep_up(
        &self,
        mut child: Child,
        control: &Control,
        state: &watch::Sender<State>,
    ) -> Result<(), Error> {
        let mut restarts = VecDeque::new();
        loop {
            let status = child.wait().map_err(Error::io("wait for", "postgres"))?;
            if control.stopping() {
                tracing::info!(%status, "Postgres has stopped");
                return Ok(());
            }
            state.send_replace(State::Starting);
            tracing::error!(%status, "Postgres ended unasked; starting it again");
            restarts.retain(|at: &Instant| at.elapsed() < RESTARTS_WINDOW);
            restarts.push_back(Instant::now());
            if restarts.len() > RESTARTS_MAX {
                let (times, last) = (restarts.len(), format!("{status}: {}", self.log.tail()));
                return Err(Error::KeepsEnding { times, window: RESTARTS_WINDOW, last });
            }
            child = match self.start(control, state) {
                Err(Error::Stopped) => return Ok(()),
                started => started?,
            };
        }
    }

    /// A socket directory in a shared place goes when it is empty; the one in the data directory may stay.
    fn tidy(&self) {
        if !self.place.socket_dir.starts_with(&self.place.home) {
            let _ = std::fs::remove_dir(&self.place.socket_dir);
        }
    }
}
