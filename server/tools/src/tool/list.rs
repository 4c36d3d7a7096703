//! What lies in a folder.

use std::{fs, path::Path};

use serde::Deserialize;

use super::{seen, trouble};
use crate::{call::Wrong, old_answers};

const ENTRIES_MAX: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    #[serde(default)]
    path: String,
}

pub fn list(folder: &Path, wanted: &Wanted) -> Result<String, Wrong> {
    let (place, old) = (seen(folder, &wanted.path)?, old_answers(folder));
    let is_old = |path: &Path| old.iter().any(|old| path == folder.join(old));
    let entries = fs::read_dir(&place).map_err(|error| trouble(&wanted.path, &error))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.file_name() != ".git" && !is_old(&entry.path()))
        .map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            format!("{}{}", entry.file_name().to_string_lossy(), if is_folder { "/" } else { "" })
        })
        .collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(ENTRIES_MAX);
    names.truncate(ENTRIES_MAX);
    if more > 0 {
        names.push(format!("… and {more} more"));
    }
    Ok(if names.is_empty() { "The folder is empty.".to_owned() } else { names.join("\n") })
}
