//! `owner.json`: that a folder is ours, and of what.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{Error, Refused, beneath::Folder, error::io};

pub const NAME: &str = "owner.json";
/// It is written under this name first.
pub const NEW: &str = "owner.json.new";
const SCHEMA: u32 = 1;
const BYTES_MAX: u64 = 128 * 1024;
const ID_MAX: usize = 64;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Marker {
    schema: u32,
    pub id: String,
    pub project: PathBuf,
    pub base: String,
    /// The tree that diffs are taken against. None until the worktree is complete.
    pub start: Option<String>,
    /// What it held when its work was done: a tree that is kept beside it.
    #[serde(default)]
    pub result: Option<String>,
    /// Files that come along with whatever begins here, as they were; their contents are kept beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<Copied>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Copied {
    pub path: String,
    pub mode: u32,
    pub blob: String,
    /// Whether git does not see it, so that it is nobody's change.
    pub is_ignored: bool,
}

impl Marker {
    pub fn new(id: &str, project: &Path, base: String) -> Self {
        Self {
            schema: SCHEMA,
            id: id.to_owned(),
            project: project.to_owned(),
            base,
            start: None,
            result: None,
            copied: Vec::new(),
        }
    }

    /// A link is not followed: what it leads to is another's.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let not_ours = || Error::NotOurs(folder.to_owned());
        let open = Folder::open(folder).map_err(|_| not_ours())?;
        let found = open.read(NAME.as_bytes(), BYTES_MAX).map_err(|_| not_ours())?;
        let (text, _) = found.ok_or_else(not_ours)?;
        let marker: Self = serde_json::from_slice(&text).map_err(|_| not_ours())?;
        if marker.schema != SCHEMA || check_id(&marker.id).is_err() {
            return Err(not_ours());
        }
        Ok(marker)
    }

    /// Whole or not at all. It is not forced to the disk: what a machine that stops loses of it, it loses of the
    /// tree too, and a mark that cannot be read only keeps the folder.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let (path, new) = (folder.join(NAME), folder.join(NEW));
        let text = serde_json::to_vec_pretty(self).map_err(|_| Refused::ProjectPath(self.project.clone()))?;
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(io(&path))
    }
}

/// Becomes a part of a path and of a ref.
pub fn check_id(id: &str) -> Result<(), Refused> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if id.is_empty() || id.len() > ID_MAX || !id.bytes().all(is_fine) {
        return Err(Refused::Id(id.to_owned()));
    }
    Ok(())
}
