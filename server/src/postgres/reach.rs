//! Why the account that Postgres runs as cannot get to a path.

use crate::os::Account;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory that lets root through and the account not, such as a private home.
#[derive(Debug, thiserror::Error)]
#[error(
    "Postgres refuses to run as root and so runs as `{account}`, which may not enter {} (mode {mode:04o}) \
     on the way to {}: choose a place outside of it (the default is /var/lib/boocode), or open it: chmod o+x {}",
    .directory.display(), .target.display(), .directory.display()
)]
pub struct Wall {
    pub account: String,
    pub directory: PathBuf,
    pub target: PathBuf,
    mode: u32,
}

/// The first directory on the way to `target` that `account` cannot enter. Only asked after a refusal, so
/// that an access list, which the mode does not show, is never second-guessed.
pub(super) fn wall_before(target: &Path, account: &Account) -> Option<Wall> {
    let mut way: Vec<&Path> = target.ancestors().collect();
    way.reverse();
    way.into_iter().find_map(|directory| {
        let found = directory.metadata().ok()?;
        (found.is_dir() && !may_enter(&found, account)).then(|| Wall {
            account: account.name.clone(),
            directory: directory.to_owned(),
            target: target.to_owned(),
            mode: found.mode() & 0o7777,
        })
    })
}

fn may_enter(directory: &Metadata, account: &Account) -> bool {
    // The kernel looks at one class only: an owner without the right is not saved by "others" having it.
    let bit = if directory.uid() == account.uid {
        0o100
    } else if directory.gid() == account.gid {
        0o010
    } else {
        0o001
    };
    directory.mode() & bit != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    fn check(mode: u32, uid_shift: u32, gid_shift: u32, blocked: bool) {
        let temp = tempfile::tempdir().unwrap();
        let inner = temp.path().join("home");
        std::fs::create_dir_all(inner.join("data")).unwrap();
        let owner = inner.metadata().unwrap();
        let account =
            Account { name: "guest".into(), uid: owner.uid() + uid_shift, gid: owner.gid() + gid_shift };
        std::fs::set_permissions(temp.path(), Permissions::from_mode(0o755)).unwrap();
        std::fs::set_permissions(inner.join("data"), Permissions::from_mode(0o755)).unwrap();
        std::fs::set_permissions(&inner, Permissions::from_mode(mode)).unwrap();

        let wall = wall_before(&inner.join("data"), &account);
        assert_eq!(wall.map(|wall| wall.directory), blocked.then(|| inner.clone()), "{mode:o}");
        std::fs::set_permissions(&inner, Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn the_class_that_applies_decides() {
        check(0o700, 1, 1, true);
        check(0o701, 1, 1, false);
        check(0o701, 1, 0, true);
        check(0o710, 1, 0, false);
        check(0o711, 0, 1, false);
    }
}
