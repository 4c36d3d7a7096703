//! The files of a project, for mentions in a message.

use serde::{Deserialize, Serialize};

pub mod api;

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesFound {
    /// The best ones, best first.
    pub files: Vec<Found>,
    /// How many there are, shown or not.
    pub total: usize,
    /// The project has more files than are looked at.
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Beneath the project's folder.
    pub path: String,
    /// The byte offsets of the characters that matched, in order.
    pub positions: Vec<u32>,
}
