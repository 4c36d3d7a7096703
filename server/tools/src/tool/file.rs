//! Reading and changing one file.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::Read as _,
    path::Path,
};

use serde::Deserialize;

use super::{place, seen, trouble};
use crate::call::Wrong;

const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
const LINES: usize = 1000;
/// A longer line is no code.
const LINE_CHARS_MAX: usize = 2000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    path: String,
    #[serde(default)]
    from: Option<usize>,
    #[serde(default)]
    lines: Option<usize>,
}

pub fn read(folder: &Path, wanted: &Read) -> Result<String, Wrong> {
    let text = text(folder, &wanted.path)?;
    let (from, count) = (wanted.from.unwrap_or(1).max(1), wanted.lines.unwrap_or(LINES));
    let total = text.lines().count();
    if from > total.max(1) {
        return Err(Wrong(format!("{} has {total} lines.", wanted.path)));
    }
    let mut shown = String::new();
    for (number, line) in text.lines().enumerate().skip(from - 1).take(count) {
        let line: String = line.chars().take(LINE_CHARS_MAX).collect();
        let _ = writeln!(shown, "{:>5}  {line}", number + 1);
    }
    let end = (from - 1).saturating_add(count);
    if end < total {
        let _ = writeln!(shown, "… {} more lines", total - end);
    }
    Ok(if shown.is_empty() { "The file is empty.".to_owned() } else { shown })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

pub fn edit(folder: &Path, wanted: &Edit) -> Result<String, Wrong> {
    let Edit { path, old, new, all } = wanted;
    if old.is_empty() {
        return Err(Wrong::new("`old` is empty: use write for a new file."));
    }
    if old == new {
        return Err(Wrong::new("`old` and `new` are the same."));
    }
    let text = text(folder, path)?;
    let count = text.matches(old.as_str()).count();
    match (count, all) {
        (0, _) => {
            return Err(Wrong(format!(
                "`old` does not stand in {path}. Read it again, and copy it exactly."
            )));
        }
        (2.., false) => {
            return Err(Wrong(format!(
                "`old` stands in {path} {count} times. Take more of what is around it, or set `all`."
            )));
        }
        _ => {}
    }
    let place = place(folder, path)?;
    fs::write(place, text.replace(old.as_str(), new)).map_err(|error| trouble(path, &error))?;
    Ok(format!("Replaced {count} in {path}."))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    path: String,
    content: String,
}

pub fn write(folder: &Path, wanted: &Write) -> Result<String, Wrong> {
    let Write { path, content } = wanted;
    let place = place(folder, path)?;
    // Whoever opens a pipe to write waits for its reader.
    if fs::metadata(&place).is_ok_and(|known| !known.is_file() && !known.is_dir()) {
        return Err(Wrong(format!("{path} is no regular file.")));
    }
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).map_err(|error| trouble(path, &error))?;
    }
    fs::write(place, content).map_err(|error| trouble(path, &error))?;
    Ok(format!("Wrote {} bytes to {path}.", content.len()))
}

fn text(folder: &Path, path: &str) -> Result<String, Wrong> {
    let place = seen(folder, path)?;
    let known = fs::metadata(&place).map_err(|error| trouble(path, &error))?;
    if known.is_dir() {
        return Err(Wrong(format!("{path} is a folder: use list.")));
    }
    if !known.is_file() {
        return Err(Wrong(format!("{path} is no regular file.")));
    }
    if known.len() > FILE_BYTES_MAX {
        return Err(Wrong(format!("{path} is larger than {} MB.", FILE_BYTES_MAX / 1024 / 1024)));
    }
    let mut bytes = Vec::new();
    let file = File::open(place).map_err(|error| trouble(path, &error))?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| trouble(path, &error))?;
    String::from_utf8(bytes).map_err(|_| Wrong(format!("{path} is not a text in UTF-8.")))
}
