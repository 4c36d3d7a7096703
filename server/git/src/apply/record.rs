//! What applies brought onto the project's files. The next one goes on from that, and not from the worktree's
//! beginning: only so what the agent changed once more, or took back, comes to the project too.

use std::{collections::BTreeMap, fs, io, path::Path};

use git2::Oid;
use serde::{Deserialize, Serialize};

use super::journal::write_whole;
use crate::{Error, entry::Blob, error::io as failed};

/// In the worktree's folder, which is out of an agent's reach.
const NAME: &str = "applied.json";

/// By path, in git's order; none where a file was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Brought>", into = "Vec<Brought>")]
pub struct Record(BTreeMap<Vec<u8>, Option<Blob>>);

#[derive(Serialize, Deserialize)]
struct Brought {
    path: Vec<u8>,
    blob: Option<(u32, String)>,
}

impl Record {
    /// Empty where nothing was applied yet.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let text = match fs::read(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            text => text.map_err(failed(&path))?,
        };
        serde_json::from_slice(&text).map_err(|cause| failed(&path)(cause.into()))
    }

    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        write_whole(self, folder, NAME)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, path: &[u8]) -> Option<Option<Blob>> {
        self.0.get(path).copied()
    }

    pub fn put(&mut self, path: Vec<u8>, blob: Option<Blob>) {
        self.0.insert(path, blob);
    }

    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().map(Vec::as_slice)
    }

    /// Of the files that were not removed.
    pub fn contents(&self) -> impl Iterator<Item = Oid> {
        self.0.values().flatten().map(|blob| blob.id)
    }
}

impl TryFrom<Vec<Brought>> for Record {
    type Error = git2::Error;

    fn try_from(all: Vec<Brought>) -> Result<Self, git2::Error> {
        let known = |Brought { path, blob }| {
            let blob = blob.map(|(mode, id)| Ok::<_, git2::Error>(Blob { mode, id: Oid::from_str(&id)? }));
            Ok((path, blob.transpose()?))
        };
        all.into_iter().map(known).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Record> for Vec<Brought> {
    fn from(record: Record) -> Self {
        let brought = |(path, blob): (_, Option<Blob>)| Brought {
            path,
            blob: blob.map(|blob| (blob.mode, blob.id.to_string())),
        };
        record.0.into_iter().map(brought).collect()
    }
}
