//! Where the cluster's files are, who owns them, and the password that opens it.

use super::Error;
use crate::os::{self, Account};
use crate::private_file;
use crate::secret::Secret;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

pub(super) const SOCKET: &str = ".s.PGSQL.5432";
/// How the name of a cluster in the making begins.
pub(super) const DRAFT: &str = "cluster.new-";
/// `sun_path` holds 108 bytes with the closing zero, and the socket's name comes after a slash.
const SOCKET_DIR_BYTES_MAX: usize = 107 - 1 - SOCKET.len();

/// The paths of one private cluster. The password lies above `home`, so that it stays ours when `home`
/// belongs to the account that Postgres runs as.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub home: PathBuf,
    pub cluster: PathBuf,
    /// A cluster in the making: it becomes `cluster` by one rename when it is whole. Its name is new each
    /// time, so what is left of a killed initdb cannot meddle with ours.
    pub draft: PathBuf,
    pub socket_dir: PathBuf,
    pub secret: PathBuf,
    /// Set when we are root, which Postgres refuses to be.
    pub run_as: Option<Account>,
    /// Distinguishes this cluster's processes from any other's.
    pub name: String,
}

impl Place {
    pub fn prepare(data: &Path) -> Result<Self, Error> {
        let home = data.join("postgres");
        let run_as = if os::is_root() { Some(account_for(&home)?) } else { None };
        let digest = Sha256::digest(home.as_os_str().as_encoded_bytes());
        let name = digest[..8].iter().fold("boocode-".to_owned(), |name, byte| format!("{name}{byte:02x}"));
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|_| run_as.is_none());
        let place = Self {
            cluster: home.join("cluster"),
            draft: home.join(format!("{DRAFT}{:016x}", rand::random::<u64>())),
            socket_dir: socket_dir(&home, runtime.as_deref(), &name),
            secret: data.join("postgres.secret"),
            home,
            run_as,
            name,
        };
        place.make_private(&place.home)?;
        place.make_private(&place.socket_dir)?;
        Ok(place)
    }

    /// The major version of the cluster that is there, if one is.
    pub fn cluster_major(&self) -> Result<Option<u32>, Error> {
        let file = self.cluster.join("PG_VERSION");
        match std::fs::read_to_string(&file) {
            Ok(text) => match text.trim().parse() {
                Ok(major) => Ok(Some(major)),
                Err(_) => Err(Error::io("make sense of", file)(ErrorKind::InvalidData.into())),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", file)(error)),
        }
    }

    /// The password of a cluster that exists, or of the one that is about to be made.
    pub fn password(&self, cluster_exists: bool) -> Result<Secret, Error> {
        match self.secret.metadata() {
            Ok(found) if found.mode() & 0o077 != 0 => {
                return Err(Error::SecretExposed { path: self.secret.clone() });
            }
            Ok(_) => {
                let text = std::fs::read_to_string(&self.secret).map_err(Error::io("read", &self.secret))?;
                return Ok(Secret::new(text.trim()));
            }
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::io("read", &self.secret)(error));
            }
            Err(_) if cluster_exists => {
                return Err(Error::SecretMissing { secret: self.secret.clone(), cluster: self.home.clone() });
            }
            Err(_) => {}
        }
        let random: [u8; 32] = rand::random();
        let password = random.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        // The cluster must never reach the disk before the only copy of its password.
        private_file::put(&self.secret, password.as_bytes()).map_err(Error::io("write", &self.secret))?;
        Ok(Secret::new(password))
    }

    /// Creates `directory` for the account that Postgres runs as and for nobody else.
    fn make_private(&self, directory: &Path) -> Result<(), Error> {
        match DirBuilder::new().mode(0o700).create(directory) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("create", directory)(error)),
        }
        let me = rustix::process::geteuid().as_raw();
        let owner = self.run_as.as_ref().map_or(me, |account| account.uid);
        // Somebody may have been there first, or put a link there to have root open up what it leads to; so
        // what is looked at and what is changed is one opened directory.
        let taken = || Error::DirectoryTaken { path: directory.to_owned() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened =
            rustix::fs::open(directory, flags, Mode::empty()).map(File::from).map_err(|_| taken())?;
        let found = opened.metadata().map_err(Error::io("read", directory))?;
        if ![owner, me].contains(&found.uid()) {
            return Err(taken());
        }
        if let Some(account) = &self.run_as {
            fchown(&opened, Some(account.uid), Some(account.gid))
                .map_err(Error::io("hand over", directory))?;
        }
        opened.set_permissions(Permissions::from_mode(0o700)).map_err(Error::io("close", directory))
    }
}

/// The owner of what is there already, else the best: an account may be installed after the first start.
fn account_for(home: &Path) -> Result<Account, Error> {
    let accounts = os::unprivileged_accounts().map_err(Error::io("read", "/etc/passwd"))?;
    let owner = home.metadata().ok().map(|found| found.uid());
    let known = accounts.iter().position(|account| Some(account.uid) == owner).unwrap_or(0);
    accounts.into_iter().nth(known).ok_or(Error::NoAccount)
}

/// Within the data directory, or in a short place where the kernel's limit rules that out.
fn socket_dir(home: &Path, runtime: Option<&Path>, name: &str) -> PathBuf {
    let fits = |dir: &PathBuf| dir.as_os_str().len() <= SOCKET_DIR_BYTES_MAX;
    let runtime = runtime.filter(|dir| dir.is_absolute() && dir.is_dir()).map(|dir| dir.join(name));
    [Some(home.join("run")), runtime]
        .into_iter()
        .flatten()
        .find(fits)
        .unwrap_or_else(|| Path::new("/tmp").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(home_bytes: usize, runtime: Option<&str>, expected: &str) {
        let home = PathBuf::from(format!("/{}", "d".repeat(home_bytes - 1)));
        let found = socket_dir(&home, runtime.map(Path::new), "boocode-1");
        assert_eq!(found.display().to_string().replace(&home.display().to_string(), "HOME"), expected);
    }

    #[test]
    fn a_long_path_moves_the_socket() {
        check(89, None, "HOME/run");
        check(90, None, "/tmp/boocode-1");
        check(90, Some("/var"), "/var/boocode-1");
        check(90, Some("/not/there"), "/tmp/boocode-1");
        check(90, Some("relative"), "/tmp/boocode-1");
    }

    #[test]
    fn the_password_is_made_once_and_stays_private() {
        let temp = tempfile::tempdir().unwrap();
        let place = Place::prepare(temp.path()).unwrap();
        let missing = place.password(true).unwrap_err().to_string();
        assert!(missing.starts_with("the password of the database is missing"), "{missing}");

        let password = place.password(false).unwrap();
        assert_eq!(password.expose().len(), 64);
        assert_eq!(place.password(true).unwrap(), password);
        let found = place.secret.metadata().unwrap();
        assert_eq!((found.mode() & 0o777, found.uid()), (0o600, rustix::process::geteuid().as_raw()));

        std::fs::set_permissions(&place.secret, Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(place.password(true), Err(Error::SecretExposed { .. })));
    }

    #[test]
    fn a_squatted_directory_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let mut place = Place::prepare(temp.path()).unwrap();
        place.socket_dir = temp.path().join("link");
        std::os::unix::fs::symlink(temp.path(), &place.socket_dir).unwrap();
        let refused = place.make_private(&place.socket_dir);
        assert!(matches!(refused, Err(Error::DirectoryTaken { .. })), "{refused:?}");
    }
}
