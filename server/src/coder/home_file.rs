//! Writes a file into an agent's home, and takes it away. The agent may have put links there, so none is followed.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, renameat, unlinkat},
    io::Errno,
};

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::RDONLY).union(OFlags::CLOEXEC);
const NEW: OFlags =
    OFlags::CREATE.union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::WRONLY).union(OFlags::CLOEXEC);
const ASIDE: &str = ".boocode-new";

/// `path` is ours and plain: names with slashes between them.
pub fn put(home: &Path, path: &str, text: &str) -> io::Result<()> {
    let (at, name) = walk(home, path, |at, folder| match mkdirat(at, folder, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error),
    })?;
    match unlinkat(&at, ASIDE, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let mut file = File::from(openat(&at, ASIDE, NEW, Mode::RUSR | Mode::WUSR)?);
    file.write_all(text.as_bytes())?;
    // Takes the place of whatever has the name, a link included.
    Ok(renameat(&at, ASIDE, &at, name)?)
}

/// Whatever has the name is taken away, and nothing else. It need not be there.
pub fn remove(home: &Path, path: &str) -> io::Result<()> {
    let removed =
        walk(home, path, |_, _| Ok(())).and_then(|(at, name)| unlinkat(&at, name, AtFlags::empty()));
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The folder of a path and the name in it. `make` is asked for each folder on the way before it is entered.
fn walk<'a>(
    home: &Path,
    path: &'a str,
    make: impl Fn(&OwnedFd, &str) -> rustix::io::Result<()>,
) -> rustix::io::Result<(OwnedFd, &'a str)> {
    let mut at = openat(CWD, home, FOLDER, Mode::empty())?;
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
        make(&at, folder)?;
        at = openat(&at, folder, FOLDER, Mode::empty())?;
    }
    Ok((at, name))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_file_is_written_and_replaced() {
        let home = tempfile::tempdir().unwrap();
        for text in ["one", "two"] {
            put(home.path(), ".agent/deep/settings.json", text).unwrap();
            let read = fs::read_to_string(home.path().join(".agent/deep/settings.json")).unwrap();
            assert_eq!(read, text);
        }
        for _ in 0..2 {
            remove(home.path(), ".agent/deep/settings.json").unwrap();
            assert!(!home.path().join(".agent/deep/settings.json").exists());
        }
        remove(home.path(), ".another/file").unwrap();
        assert!(!home.path().join(".another").exists());
    }

    /// The control writes the same path as anybody would, and reaches what lies elsewhere.
    #[test]
    fn no_link_leads_out() {
        let disk = tempfile::tempdir().unwrap();
        let (home, outside) = (disk.path().join("home"), disk.path().join("outside"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&outside).unwrap();
        symlink(&outside, home.join(".agent")).unwrap();
        fs::write(home.join(".agent/control"), "x").unwrap();
        assert!(outside.join("control").exists(), "the control");
        assert!(put(&home, ".agent/settings.json", "text").is_err());
        assert!(remove(&home, ".agent/control").is_err());
        assert!(outside.join("control").exists());
        assert!(!outside.join("settings.json").exists());

        let victim = disk.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, home.join("plain")).unwrap();
        put(&home, "plain", "text").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(fs::read_to_string(home.join("plain")).unwrap(), "text");
    }
}
