//! The directory that holds everything BooCode keeps, and the lock that makes it one server's.

use crate::os;
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LOCK_FILE: &str = "boocode.lock";
const LOCK_BYTES_MAX: u64 = 4 * 1024;
/// A child of a killed server holds a copy of the lock from its fork until its exec.
const FORK_LIMIT: Duration = Duration::from_millis(100);
const FORK_POLL: Duration = Duration::from_millis(5);

/// An open data directory. The lock is the kernel's, so it ends with the last clone or with the process,
/// however that dies.
#[derive(Clone, Debug)]
pub struct DataDir {
    path: PathBuf,
    lock: Arc<Lock>,
}

/// Who holds the lock, as that server wrote it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub pid: u32,
    pub url: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("BooCode is already running on this data directory{}", .holder.as_ref().map(Holder::to_string).unwrap_or_default())]
    AlreadyRunning { holder: Option<Holder> },
    #[error(
        "the data directory {} belongs to user id {owner}, but BooCode runs as user id {me}: \
         run it as the owner, or name another directory with --data-dir", .path.display()
    )]
    Foreign { path: PathBuf, owner: u32, me: u32 },
    #[error("cannot create the data directory {}: {cause}; name another one with --data-dir", .path.display())]
    NotCreated { path: PathBuf, cause: io::Error },
    #[error("cannot {action} {}: {cause}", .path.display())]
    Io { action: &'static str, path: PathBuf, cause: io::Error },
}

impl DataDir {
    /// Creates the directory where it is missing and takes it for this process alone.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |action| move |cause| Error::Io { action, path: path.to_owned(), cause };
        DirBuilder::new()
            .recursive(true)
            .create(path)
            .map_err(|cause| Error::NotCreated { path: path.to_owned(), cause })?;
        let path = path.canonicalize().map_err(failed("resolve the data directory"))?;
        own(&path)?;

        let file = path.join(LOCK_FILE);
        let failed = |action| {
            let path = file.clone();
            move |cause| Error::Io { action, path, cause }
        };
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&file)
            .map_err(failed("open"))?;
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if began.elapsed() < FORK_LIMIT => {
                    std::thread::sleep(FORK_POLL)
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::AlreadyRunning { holder: holder_in(&lock) });
                }
                Err(TryLockError::Error(cause)) => return Err(failed("lock")(cause)),
            }
        }
        let dir = Self { path, lock: Arc::new(Lock(lock)) };
        dir.sign(None)?;
        Ok(dir)
    }

    /// Who runs on this data directory now, if somebody does.
    pub fn holder(path: &Path) -> Result<Option<Holder>, Error> {
        let file = path.join(LOCK_FILE);
        let failed = |action| {
            let path = file.clone();
            move |cause| Error::Io { action, path, cause }
        };
        let lock = match File::open(&file) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("open")(error)),
        };
        match lock.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(holder_in(&lock)),
            Err(TryLockError::Error(cause)) => Err(failed("lock")(cause)),
        }
    }

    /// Writes down where this server is reached, for the one that finds the directory taken.
    pub fn announce(&self, url: &str) -> Result<(), Error> {
        self.sign(Some(url))
    }

    /// What tells this directory from every other, also from one with the same path on another machine.
    pub fn identity(&self) -> Result<String, Error> {
        let file = self.path.join("identity");
        let failed = |action| {
            let path = file.clone();
            move |cause| Error::Io { action, path, cause }
        };
        match std::fs::read_to_string(&file) {
            Ok(identity) if !identity.trim().is_empty() => return Ok(identity.trim().to_owned()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed("read")(error)),
        }
        let identity = uuid::Uuid::now_v7().to_string();
        std::fs::write(&file, &identity).map_err(failed("write"))?;
        Ok(identity)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn sign(&self, url: Option<&str>) -> Result<(), Error> {
        let text = format!("{}\n{}\n", std::process::id(), url.unwrap_or_default());
        let Lock(file) = &*self.lock;
        let written = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0));
        written.map_err(|cause| Error::Io { action: "write", path: self.path.join(LOCK_FILE), cause })
    }
}

#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing would leave the lock to a child that is just being forked; this ends it for all copies.
        let _ = self.0.unlock();
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.url {
            Some(url) => write!(f, " (pid {}, {url})", self.pid),
            None => write!(f, " (pid {})", self.pid),
        }
    }
}

/// A directory of somebody else could be changed under us; one with content keeps the mode it was given.
fn own(path: &Path) -> Result<(), Error> {
    let failed = |action| move |cause| Error::Io { action, path: path.to_owned(), cause };
    let me = rustix::process::geteuid().as_raw();
    let owner = path.metadata().map_err(failed("read"))?.uid();
    if owner != me {
        return Err(Error::Foreign { path: path.to_owned(), owner, me });
    }
    let mut entries = path.read_dir().map_err(failed("read"))?;
    if entries.next().is_some() {
        return Ok(());
    }
    let guests = if os::is_root() { os::unprivileged_accounts() } else { Ok(Vec::new()) };
    let mode = match guests.map_err(failed("find an account for"))?.first() {
        // Postgres runs as this account and has to pass through, but not to look around.
        Some(account) => {
            chown(path, None, Some(account.gid)).map_err(failed("hand the group of"))?;
            0o710
        }
        None => 0o700,
    };
    std::fs::set_permissions(path, Permissions::from_mode(mode)).map_err(failed("set the mode of"))
}

fn holder_in(lock: &File) -> Option<Holder> {
    let mut text = String::new();
    lock.take(LOCK_BYTES_MAX).read_to_string(&mut text).ok()?;
    let mut lines = text.lines();
    let pid = lines.next()?.parse().ok()?;
    let url = lines.next().filter(|url| !url.is_empty()).map(str::to_owned);
    // A server that has just taken the lock may not have signed it yet: then the name is a dead one's.
    Path::new("/proc").join(format!("{pid}")).exists().then_some(Holder { pid, url })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_holds_the_directory() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("new/data");
        let first = DataDir::open(&path).unwrap();
        let me = std::process::id();
        let message = |path| DataDir::open(path).unwrap_err().to_string();

        assert_eq!(message(&path), format!("BooCode is already running on this data directory (pid {me})"));
        first.announce("http://127.0.0.1:4000").unwrap();
        assert_eq!(
            message(&path),
            format!("BooCode is already running on this data directory (pid {me}, http://127.0.0.1:4000)")
        );
        let clone = first.clone();
        drop(first);
        assert!(DataDir::open(&path).is_err(), "a clone keeps the lock");
        drop(clone);
        DataDir::open(&path).unwrap();
    }

    #[test]
    fn what_cannot_be_created_is_told_once_and_with_a_way_out() {
        let temp = tempfile::NamedTempFile::new().unwrap();
        let path = temp.path().join("data");
        let error = anyhow::Error::from(DataDir::open(&path).unwrap_err());
        let expected = "Not a directory (os error 20); name another one with --data-dir";
        let expected = format!("cannot create the data directory {}: {expected}", path.display());
        assert_eq!(format!("{error:#}"), expected);
    }

    #[test]
    fn a_stale_signature_is_not_believed() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path()).unwrap();
        for text in ["", "4194305\nhttp://x\n", "nonsense\n"] {
            std::fs::write(temp.path().join(LOCK_FILE), text).unwrap();
            let message = DataDir::open(temp.path()).unwrap_err().to_string();
            assert_eq!(message, "BooCode is already running on this data directory", "{text:?}");
        }
        drop(dir);
    }

    #[test]
    fn only_a_new_or_empty_directory_gets_our_mode() {
        let temp = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        let others = |path: &Path| mode(path) & 0o007;

        let new = temp.path().join("new");
        DataDir::open(&new).unwrap();
        assert_eq!(others(&new), 0);

        let used = temp.path().join("used");
        std::fs::create_dir(&used).unwrap();
        std::fs::write(used.join("file"), "").unwrap();
        std::fs::set_permissions(&used, Permissions::from_mode(0o755)).unwrap();
        DataDir::open(&used).unwrap();
        assert_eq!(mode(&used), 0o755);
    }

    #[test]
    fn a_directory_of_somebody_else_is_refused() {
        let foreign = if os::is_root() {
            let temp = tempfile::tempdir().unwrap();
            chown(temp.path(), Some(65534), None).unwrap();
            temp.keep()
        } else {
            PathBuf::from("/")
        };
        let refused = DataDir::open(&foreign);
        if os::is_root() {
            std::fs::remove_dir(&foreign).unwrap();
        }
        assert!(matches!(refused, Err(Error::Foreign { .. })), "{refused:?}");
    }
}
