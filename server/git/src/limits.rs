use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::Error;

/// How much one call may take, and how it is stopped. Whatever an agent leaves behind is read within these.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Changed files.
    pub files: usize,
    /// Files and folders that are looked at.
    pub entries: usize,
    pub file_bytes: u64,
    /// All changed files together, and the patch.
    pub total_bytes: u64,
    pub until: Instant,
    /// Setting it stops the call at its next file.
    pub cancel: Arc<AtomicBool>,
}

const TIME: Duration = Duration::from_secs(120);

impl Default for Limits {
    /// From now on.
    fn default() -> Self {
        Self {
            files: 20_000,
            entries: 2_000_000,
            file_bytes: 64 << 20,
            total_bytes: 256 << 20,
            until: Instant::now() + TIME,
            cancel: Arc::default(),
        }
    }
}

impl Limits {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        if Instant::now() > self.until {
            return Err(Error::TooLong);
        }
        Ok(())
    }

    /// Of something that was left out because it is too much.
    pub(crate) fn exceeded_by(&self, path: &[u8]) -> Error {
        let limit =
            format!("{} bytes a file, {} bytes or {} files", self.file_bytes, self.total_bytes, self.files);
        Error::TooLarge { what: crate::display(path), limit }
    }

    pub(crate) fn file(&self, path: &[u8], bytes: u64) -> Result<(), Error> {
        within(bytes, self.file_bytes, || format!("{} with {bytes} bytes", crate::display(path)), "bytes")
    }

    pub(crate) fn total(&self, bytes: u64) -> Result<(), Error> {
        within(bytes, self.total_bytes, || format!("changes of {bytes} bytes"), "bytes")
    }

    pub(crate) fn changed(&self, files: usize) -> Result<(), Error> {
        within(files as u64, self.files as u64, || format!("{files} changed files"), "files")
    }

    pub(crate) fn looked_at(&self, entries: usize) -> Result<(), Error> {
        within(entries as u64, self.entries as u64, || format!("a tree of {entries} entries"), "entries")
    }
}

fn within(value: u64, max: u64, what: impl FnOnce() -> String, unit: &str) -> Result<(), Error> {
    if value <= max {
        return Ok(());
    }
    Err(Error::TooLarge { what: what(), limit: format!("{max} {unit}") })
}
