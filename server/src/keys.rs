//! Keys of model servers that were entered in Settings. The database holds them sealed; what opens them lies in the data
//! directory of the host that they were entered on, and nowhere else.

use std::{
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use store::keys::SealedKey;

use crate::{
    config::{ConfiguredServer, Key},
    data_dir::DataDir,
    private_file,
    secret::Secret,
};

const FILE: &str = "keys.secret";
const SECRET_BYTES: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {action} {}: {cause}", .path.display())]
    Io { action: &'static str, path: PathBuf, cause: io::Error },
    #[error("what opens the keys of model servers can be read by others; close it: chmod 600 {}", .0.display())]
    Exposed(PathBuf),
    #[error(
        "{} is damaged: restore it, or delete it and enter the keys of model servers again under Settings, Models",
        .0.display()
    )]
    Damaged(PathBuf),
}

pub struct Keys {
    secret: LessSafeKey,
    host: String,
}

impl Keys {
    /// With the secret of this data directory, which is made where there is none.
    pub fn open(data_dir: &DataDir, host: String) -> Result<Self, Error> {
        let path = data_dir.path().join(FILE);
        let bytes = match read(&path)? {
            Some(bytes) => bytes,
            None => {
                let fresh: [u8; SECRET_BYTES] = rand::random();
                private_file::put(&path, &fresh).map_err(|cause| Error::Io {
                    action: "write",
                    path: path.clone(),
                    cause,
                })?;
                fresh.to_vec()
            }
        };
        let secret = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| Error::Damaged(path))?;
        Ok(Self { secret: LessSafeKey::new(secret), host })
    }

    /// For the database. It opens for this server at this address alone: moved to another, it is worth nothing.
    pub fn seal(&self, server: &ConfiguredServer, key: &Secret) -> Option<SealedKey> {
        let nonce: [u8; NONCE_LEN] = rand::random();
        let mut sealed = key.expose().as_bytes().to_vec();
        let (of, bound) = (Nonce::assume_unique_for_key(nonce), self.bound_to(server));
        self.secret.seal_in_place_append_tag(of, Aad::from(bound), &mut sealed).ok()?;
        let sealed = [&nonce[..], &sealed].concat();
        Some(SealedKey { server: server.name.clone(), host: self.host.clone(), sealed })
    }

    /// What a server is asked with. A variable that is set goes first, as the environment does everywhere.
    pub fn resolve(&self, server: &ConfiguredServer, sealed: &[SealedKey]) -> Key {
        let mut entered = sealed.iter().filter(|key| key.server == server.name).peekable();
        let is_entered = entered.peek().is_some();
        let own = entered.find(|key| key.host == self.host);
        match (&server.key, own) {
            (Key::Set { .. }, _) => server.key.clone(),
            (_, Some(own)) => {
                self.unseal(server, &own.sealed).map_or(Key::Unreadable, |value| Key::Kept { value })
            }
            (Key::None, None) if is_entered => Key::Elsewhere,
            (key, None) => key.clone(),
        }
    }

    fn unseal(&self, server: &ConfiguredServer, sealed: &[u8]) -> Option<Secret> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let opened = self.secret.open_in_place(nonce, Aad::from(self.bound_to(server)), &mut sealed).ok()?;
        Some(Secret::new(std::str::from_utf8(opened).ok()?))
    }

    /// Whoever can write the database but not read this secret must not be able to have a key sent elsewhere.
    fn bound_to(&self, server: &ConfiguredServer) -> Vec<u8> {
        [server.name.as_str(), server.address.api(), &self.host].join("\n").into_bytes()
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let failed = |cause| Error::Io { action: "read", path: path.to_owned(), cause };
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
        Ok(found) if found.mode() & 0o077 != 0 => Err(Error::Exposed(path.to_owned())),
        Ok(_) => Ok(Some(std::fs::read(path).map_err(failed)?)),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use domain::settings::Draft;

    use super::*;
    use crate::config::from_draft;

    const KEY: &str = "sk-entered-in-settings";

    fn server(name: &str, url: &str, variable: &str) -> ConfiguredServer {
        let draft =
            Draft { name: name.into(), url: url.into(), api_key_env: variable.into(), ..Draft::default() };
        from_draft(&draft, &|name| (name == "SET").then(|| "sk-of-the-environment".to_owned())).unwrap()
    }

    fn keys(folder: &Path, host: &str) -> Keys {
        Keys::open(&DataDir::open(folder).unwrap(), host.to_owned()).unwrap()
    }

    #[test]
    fn a_key_opens_again_where_it_was_sealed_and_nowhere_else() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let desk = server("desk", "https://desk.example/v1", "");
        let sealed = keys(here.path(), "here").seal(&desk, &Secret::new(KEY)).unwrap();
        let kept = Key::Kept { value: Secret::new(KEY) };
        let check =
            |folder: &Path, host: &str, server: &ConfiguredServer, sealed: &SealedKey, expected: &Key| {
                assert_eq!(
                    &keys(folder, host).resolve(server, std::slice::from_ref(sealed)),
                    expected,
                    "{server:?}"
                );
            };
        check(here.path(), "here", &desk, &sealed, &kept);
        check(there.path(), "there", &desk, &sealed, &Key::Elsewhere);
        check(there.path(), "here", &desk, &sealed, &Key::Unreadable);
        // Whoever writes the database cannot have it sent elsewhere, nor by another name.
        check(here.path(), "here", &server("desk", "https://evil.example/v1", ""), &sealed, &Key::Unreadable);
        let renamed = SealedKey { server: "rack".into(), ..sealed.clone() };
        check(
            here.path(),
            "here",
            &server("rack", "https://desk.example/v1", ""),
            &renamed,
            &Key::Unreadable,
        );
        check(here.path(), "here", &server("rack", "https://desk.example/v1", ""), &sealed, &Key::None);
        for cut in [0, 5, sealed.sealed.len() - 1] {
            let cut = SealedKey { sealed: sealed.sealed[..cut].to_vec(), ..sealed.clone() };
            check(here.path(), "here", &desk, &cut, &Key::Unreadable);
        }
    }

    #[test]
    fn a_variable_goes_first_where_it_is_set() {
        let here = tempfile::tempdir().unwrap();
        let keys = keys(here.path(), "here");
        let check = |variable: &str, expected: fn(&Key) -> bool| {
            let desk = server("desk", "https://desk.example", variable);
            let sealed = keys.seal(&desk, &Secret::new(KEY)).unwrap();
            let key = keys.resolve(&desk, &[sealed]);
            assert!(expected(&key), "{key:?}");
        };
        check("SET", |key| matches!(key, Key::Set { .. }));
        check("NOT_SET", |key| matches!(key, Key::Kept { .. }));
        check("", |key| matches!(key, Key::Kept { .. }));
        let missing = keys.resolve(&server("desk", "https://desk.example", "NOT_SET"), &[]);
        assert!(matches!(missing, Key::Missing { .. }), "{missing:?}");
    }

    #[test]
    fn nothing_of_a_key_is_in_what_is_stored_and_no_two_are_alike() {
        let here = tempfile::tempdir().unwrap();
        let (keys, desk) = (keys(here.path(), "here"), server("desk", "https://desk.example", ""));
        let seal = || keys.seal(&desk, &Secret::new(KEY)).unwrap().sealed;
        let sealed = seal();
        assert!(!sealed.windows(6).any(|piece| KEY.as_bytes().windows(6).any(|of_key| of_key == piece)));
        assert_ne!(sealed, seal());
    }

    #[test]
    fn the_secret_is_private_and_made_once() {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join(FILE);
        drop(keys(here.path(), "here"));
        let (made, mode) = (fs::read(&path).unwrap(), path.metadata().unwrap().mode() & 0o777);
        assert_eq!((made.len(), mode), (SECRET_BYTES, 0o600));
        drop(keys(here.path(), "here"));
        assert_eq!(fs::read(&path).unwrap(), made);
        let refusal = |path: &Path| {
            let data = DataDir::open(path).unwrap();
            Keys::open(&data, "here".into()).err().unwrap().to_string()
        };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(refusal(here.path()).contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "short").unwrap();
        assert!(refusal(here.path()).contains("is damaged"));
    }
}
