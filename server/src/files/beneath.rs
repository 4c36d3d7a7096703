//! Opens a file beneath a folder and nowhere else. Each part of the path is looked up in the folder before it
//! without following a link, and what it is is known before it is opened: a pipe or a device never is.

use std::{
    fs::File,
    io::{self, Read as _},
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, fstat, open, openat},
    io::Errno,
};

/// Looks without opening.
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// At most `max` bytes of the regular file at `path` beneath `top`, and one more where it is longer. `None`
/// where there is no such file that may be read. Reads the disk: call it from `spawn_blocking`.
pub fn read(top: &Path, path: &str, max: usize) -> io::Result<Option<Vec<u8>>> {
    let Some(looked) = look(top, path)? else { return Ok(None) };
    // The very file that was looked at, whatever its name leads to by now.
    let file = File::from(open(format!("/proc/self/fd/{}", looked.as_raw_fd()), OPEN, Mode::empty())?);
    let mut content = Vec::new();
    file.take(max as u64 + 1).read_to_end(&mut content)?;
    Ok(Some(content))
}

const OPEN: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

fn look(top: &Path, path: &str) -> io::Result<Option<OwnedFd>> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_odd = |part: &&str| {
        matches!(*part, "" | "." | "..") || part.eq_ignore_ascii_case(".git") || part.contains('\0')
    };
    if parts.iter().any(is_odd) {
        return Ok(None);
    }
    let mut at = openat(CWD, top, LOOK | OFlags::DIRECTORY, Mode::empty())?;
    for part in parts {
        at = match openat(at.as_fd(), part, LOOK, Mode::empty()) {
            Ok(next) => next,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG | Errno::ACCESS) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
    }
    let is_file = FileType::from_raw_mode(fstat(&at)?.st_mode) == FileType::RegularFile;
    Ok(is_file.then_some(at))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, sync::mpsc, thread, time::Duration};

    use rustix::fs::mkfifoat;
    use tempfile::TempDir;

    use super::*;

    /// `top/` holds `file`, `folder/inner` and the traps; `secret` lies beside it.
    fn disk() -> TempDir {
        let disk = tempfile::tempdir().unwrap();
        let top = disk.path().join("top");
        fs::create_dir_all(top.join("folder")).unwrap();
        fs::create_dir_all(top.join(".git")).unwrap();
        fs::write(disk.path().join("secret"), "secret").unwrap();
        for name in ["file", "folder/inner", ".git/config", ".env"] {
            fs::write(top.join(name), "content").unwrap();
        }
        symlink("../secret", top.join("link")).unwrap();
        symlink("..", top.join("up")).unwrap();
        symlink("folder", top.join("inside")).unwrap();
        symlink("/dev/zero", top.join("zero")).unwrap();
        mkfifoat(CWD, top.join("pipe"), Mode::RWXU).unwrap();
        disk
    }

    fn read_in(disk: &TempDir, path: &str) -> Option<String> {
        let content = read(&disk.path().join("top"), path, 100).unwrap()?;
        Some(String::from_utf8(content).unwrap())
    }

    #[test]
    fn a_file_beneath_is_read_and_no_more_than_wanted() {
        let disk = disk();
        for path in ["file", "folder/inner", ".env"] {
            assert_eq!(read_in(&disk, path).as_deref(), Some("content"), "{path}");
        }
        assert_eq!(read(&disk.path().join("top"), "file", 3).unwrap().unwrap(), b"cont");
        for path in ["", "none", "folder", "folder/none", "file/inner", &"x".repeat(300)] {
            assert_eq!(read_in(&disk, path), None, "{path}");
        }
    }

    /// The control reads the same path as anybody would, and gets what lies elsewhere.
    #[test]
    fn nothing_leads_out() {
        let disk = disk();
        for path in ["link", "up/secret", "../secret", "folder/../../secret", "up/top/file"] {
            assert!(fs::read(disk.path().join("top").join(path)).is_ok(), "the control: {path}");
            assert_eq!(read_in(&disk, path), None, "{path}");
        }
        let absolute = disk.path().join("secret");
        assert!(fs::read(disk.path().join("top").join(&absolute)).is_ok(), "the control");
        assert_eq!(read_in(&disk, absolute.to_str().unwrap()), None);
        // A link is not followed even where it stays inside, and git's own files are nobody's to send.
        for path in ["inside/inner", ".git/config", ".GIT/config", "./file", "folder//inner"] {
            assert_eq!(read_in(&disk, path), None, "{path}");
        }
    }

    /// The control opens the pipe as anybody would, and never comes back.
    #[test]
    fn pipes_and_devices_are_not_opened() {
        let disk = disk();
        let within_limit = |work: Box<dyn FnOnce() + Send>| {
            let (done, ended) = mpsc::channel();
            thread::spawn(move || {
                work();
                let _ = done.send(());
            });
            ended.recv_timeout(Duration::from_millis(500)).is_ok()
        };
        let pipe = disk.path().join("top/pipe");
        let control = within_limit(Box::new({
            let pipe = pipe.clone();
            move || drop(fs::read(pipe))
        }));
        assert!(!control, "the control: reading a pipe waits for its writer");
        for path in ["pipe", "zero"] {
            assert_eq!(read_in(&disk, path), None, "{path}");
        }
        assert_eq!(read(Path::new("/dev"), "zero", 10).unwrap(), None, "a device itself");
        // Lets the control's thread end.
        drop(fs::OpenOptions::new().write(true).open(pipe));
    }
}
