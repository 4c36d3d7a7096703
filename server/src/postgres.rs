//! The embedded Postgres: a private cluster in the data directory, reached over a unix socket with a
//! password, run as our child.
//!
//! It ends when we end, however that happens; it is started again when it alone dies; and it leaves nothing
//! behind that would keep the next start from coming up.

mod binaries;
mod cluster;
mod error;
mod leftovers;
mod log;
mod owner;
mod place;
mod program;
mod reach;
mod settings;
mod verifier;

pub use binaries::{Binaries, unpacked};
pub use error::Error;
pub use reach::Wall;

use crate::{data_dir::DataDir, secret::Secret};
use owner::{Control, State};
use place::Place;
use rustix::process::Signal;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

const USER: &str = "boocode";
/// The one that initdb makes: the cluster is ours alone, so there is nothing to tell apart.
const DATABASE: &str = "postgres";

/// Ask, insist, force. A forced end loses nothing that was committed; the next start only takes longer.
const STOP_STEPS: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(20)),
    (Signal::QUIT, Duration::from_secs(5)),
    (Signal::KILL, Duration::from_secs(5)),
];

/// A running private Postgres. Dropping it stops Postgres too, without waiting.
pub struct Embedded {
    access: Access,
    control: Arc<Control>,
    state: watch::Receiver<State>,
}

/// What a client needs to get in.
struct Access {
    socket_dir: PathBuf,
    password: Secret,
}

impl Embedded {
    /// Makes the cluster at the first start, clears up after a crash, and returns when connections are
    /// accepted. The data directory stays locked until Postgres has ended.
    pub async fn start(dir: &DataDir, bin_dir: Option<PathBuf>) -> Result<Self, Error> {
        let control = Arc::new(Control::default());
        let (sender, state) = watch::channel(State::Starting);
        let (ready, started) = oneshot::channel();
        let (dir, orders) = (dir.clone(), control.clone());
        std::thread::Builder::new()
            .name("postgres-owner".into())
            .spawn(move || owner::own(dir, bin_dir, &orders, &sender, ready))
            .map_err(Error::io("start the thread for", "postgres"))?;
        // The thread answers unless it panicked, and then there is no Postgres either.
        let access = started.await.map_err(|_| Error::Stopped)??;
        Ok(Self { access, control, state })
    }

    pub fn connect_options(&self) -> PgConnectOptions {
        self.access.connect_options()
    }

    /// So that it can be kept out of what is shown.
    pub fn password(&self) -> Secret {
        self.access.password.clone()
    }

    /// The postmaster's process, unless it is being started again just now.
    pub fn pid(&self) -> Option<u32> {
        match *self.state.borrow() {
            State::Ready { pid } => Some(pid),
            State::Starting | State::Ended(_) => None,
        }
    }

    /// Resolves when Postgres has ended unasked and could not be brought back.
    pub async fn failed(&self) -> Arc<Error> {
        let mut state = self.state.clone();
        let ended = state.wait_for(|state| matches!(state, State::Ended(_))).await;
        match ended.as_deref() {
            Ok(State::Ended(Some(error))) => error.clone(),
            _ => Arc::new(Error::Stopped),
        }
    }

    /// Stops Postgres and returns when it has ended. Close the pools first: their connections are cut.
    pub async fn stop(mut self) -> Result<(), Error> {
        let pid = self.pid().unwrap_or_default();
        for (signal, limit) in STOP_STEPS {
            self.control.stop(signal);
            let ended = self.state.wait_for(|state| matches!(state, State::Ended(_)));
            if tokio::time::timeout(limit, ended).await.is_ok() {
                return Ok(());
            }
            tracing::warn!(pid, ?signal, "Postgres does not stop");
        }
        Err(Error::WillNotStop { pid })
    }
}

/// The way into the cluster that another process runs in this data directory.
pub fn connect_options_of(data_dir: &Path) -> Result<PgConnectOptions, Error> {
    let data_dir = data_dir.canonicalize().map_err(Error::io("find", data_dir))?;
    let place = Place::prepare(&data_dir)?;
    let password = place.password(true)?;
    Ok(Access { socket_dir: place.socket_dir, password }.connect_options())
}

impl Access {
    fn connect_options(&self) -> PgConnectOptions {
        // libpq's variables name some other database of the user; where this one is, they have no say.
        PgConnectOptions::new_without_pgpass()
            .socket(&self.socket_dir)
            .port(5432)
            .username(USER)
            .password(self.password.expose())
            .database(DATABASE)
            .ssl_mode(PgSslMode::Disable)
            .application_name("boocode")
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.control.stop(Signal::INT);
    }
}
