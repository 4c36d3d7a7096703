//! The tools themselves, one file a subject.

pub mod command;
pub mod file;
pub mod list;
pub mod search;

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use crate::{call::Wrong, old_answers};

/// A path as a model writes it: from the project's folder, or whole and below it.
fn place(folder: &Path, path: &str) -> Result<PathBuf, Wrong> {
    let path = Path::new(path.trim());
    let inner = path.strip_prefix(folder).unwrap_or(path);
    let is_inside = inner.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_inside {
        return Err(Wrong(format!("{} is not a path in the project's folder.", path.display())));
    }
    Ok(folder.join(inner))
}

/// The same of something that is to be looked at. Old answers are no evidence.
fn seen(folder: &Path, path: &str) -> Result<PathBuf, Wrong> {
    let place = place(folder, path)?;
    let is_old = old_answers(folder).iter().any(|old| place.starts_with(folder.join(old)));
    if is_old { Err(Wrong(format!("{path} holds the results of battles."))) } else { Ok(place) }
}

fn shown<'a>(folder: &Path, path: &'a Path) -> std::borrow::Cow<'a, str> {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy()
}

/// What went wrong with a file, without the system's numbers.
fn trouble(path: &str, error: &io::Error) -> Wrong {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "does not exist",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "may not be touched",
        io::ErrorKind::IsADirectory => "is a folder",
        io::ErrorKind::NotADirectory => "leads through something that is no folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "did not fit on the disk",
        _ => return Wrong(format!("{path}: {error}.")),
    };
    Wrong(format!("{path} {why}."))
}
