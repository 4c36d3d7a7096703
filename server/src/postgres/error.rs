use super::reach::Wall;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "no Postgres server programs found in {}; install them (apt-get install postgresql), \
         or set PG_BIN_DIR to the folder that holds initdb and postgres, or set DATABASE_URL",
        .searched.join(", ")
    )]
    NoBinaries { searched: Vec<String> },
    #[error("PG_BIN_DIR is {}, but {missing} is not there", .dir.display())]
    BadBinDir { dir: PathBuf, missing: &'static str },
    #[error(
        "the database in {} was made by Postgres {cluster}, but only version {} is here: \
         install Postgres {cluster} (apt-get install postgresql-{cluster}) or set PG_BIN_DIR to its programs",
        .path.display(), .found.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ")
    )]
    VersionMismatch { path: PathBuf, cluster: u32, found: Vec<u32> },
    #[error("{} does not say its version: {said:?}", .program.display())]
    NoVersion { program: PathBuf, said: String },
    #[error("Postgres refuses to run as root, and there is no account `postgres` or `nobody` to run it as")]
    NoAccount,
    #[error(transparent)]
    Unreachable(Wall),
    #[error(
        "the password of the database is missing: restore {}, or move {} away to begin with an empty one",
        .secret.display(), .cluster.display()
    )]
    SecretMissing { secret: PathBuf, cluster: PathBuf },
    #[error("the password of the database can be read by others; close it: chmod 600 {}", .path.display())]
    SecretExposed { path: PathBuf },
    #[error("{} is for Postgres alone, but is a link or belongs to somebody else; move it away", .path.display())]
    DirectoryTaken { path: PathBuf },
    #[error("{program} failed ({status}): {said}")]
    Failed { program: &'static str, status: String, said: String },
    #[error("{program} was not done after {} s: {said}", .limit.as_secs())]
    TooSlow { program: &'static str, limit: Duration, said: String },
    #[error("Postgres (pid {pid}) does not stop; end it by hand: kill -9 {pid}")]
    WillNotStop { pid: u32 },
    #[error("Postgres ended {times} times within {} s and is not started again: {last}", .window.as_secs())]
    KeepsEnding { times: usize, window: Duration, last: String },
    #[error("Postgres was told to stop while it started")]
    Stopped,
    #[error("cannot {action} {}: {cause}", .path.display())]
    Io { action: &'static str, path: PathBuf, cause: io::Error },
}

impl Error {
    /// For `map_err`: what was being done to which path.
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io { action, path, cause }
    }
}
