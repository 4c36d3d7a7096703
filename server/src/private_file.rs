//! Files that only their owner reads.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, fchown},
    path::Path,
};

use crate::os::Account;

/// Writes a file that only its owner reads, and waits until it is on the disk.
pub fn write(path: &Path, content: &[u8], owner: Option<&Account>) -> io::Result<()> {
    // One left by a crash may have another owner or mode.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    if let Some(account) = owner {
        fchown(&file, Some(account.uid), Some(account.gid))?;
    }
    file.write_all(content)?;
    file.sync_all()
}

/// The same beside and then renamed: a crash never leaves half of it. Returns when its name is on the disk too.
pub fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    write(&beside, content, None)?;
    std::fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
