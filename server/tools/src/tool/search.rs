//! Searching the tree, as git sees it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use ignore::{WalkBuilder, overrides::OverrideBuilder};
use regex::RegexBuilder;
use serde::Deserialize;

use super::{seen, shown};
use crate::{call::Wrong, old_answers};

const FOUND_MAX: usize = 200;
const LINE_CHARS_MAX: usize = 300;
/// A larger file is no source.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
const SECONDS_MAX: u64 = 30;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grep {
    pattern: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
}

pub fn grep(folder: &Path, wanted: &Grep) -> Result<String, Wrong> {
    let pattern = RegexBuilder::new(&wanted.pattern).case_insensitive(wanted.ignore_case).build();
    let pattern = pattern.map_err(|error| Wrong(format!("The pattern cannot be read: {error}.")))?;
    let top = seen(folder, &wanted.path)?;
    if !top.exists() {
        return Err(Wrong(format!("{} does not exist.", wanted.path)));
    }
    let mut found = Found::new();
    walk(folder, &top, wanted.glob.as_deref(), |path| {
        let is_small = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= FILE_BYTES_MAX);
        let Some(text) = is_small.then(|| fs::read(path).ok()).flatten() else { return !found.is_full() };
        let Ok(text) = String::from_utf8(text) else { return !found.is_full() };
        for (number, line) in text.lines().enumerate() {
            if pattern.is_match(line) {
                let line: String = line.trim_end().chars().take(LINE_CHARS_MAX).collect();
                found.push(format!("{}:{}: {line}", shown(folder, path), number + 1));
            }
            if found.is_full() {
                return false;
            }
        }
        true
    })?;
    Ok(found.words("Nothing matches."))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Find {
    pattern: String,
}

pub fn find(folder: &Path, wanted: &Find) -> Result<String, Wrong> {
    let is_glob = wanted.pattern.contains(['*', '?', '[', '{']);
    let glob = is_glob.then_some(wanted.pattern.as_str());
    let part = wanted.pattern.to_lowercase();
    let mut found = Found::new();
    walk(folder, folder, glob, |path| {
        let path = shown(folder, path);
        if is_glob || path.to_lowercase().contains(&part) {
            found.push(path.into_owned());
        }
        !found.is_full()
    })?;
    Ok(found.words("No file is like that."))
}

/// Every file below `top`, until `visit` has enough. The walk begins at the project's folder all the same: rules stand
/// on the way. A file that is named is meant, whatever they say.
fn walk(
    folder: &Path,
    top: &Path,
    glob: Option<&str>,
    mut visit: impl FnMut(&Path) -> bool,
) -> Result<(), Wrong> {
    if top.is_file() {
        visit(top);
        return Ok(());
    }
    check_no_link(folder, top)?;
    let mut builder = WalkBuilder::new(folder);
    builder.sort_by_file_path(Ord::cmp);
    // The project's own rules, not those of whoever's HOME this is.
    builder.hidden(false).git_global(false).require_git(false).parents(false);
    let wanted: PathBuf = top.components().collect();
    let old: Vec<PathBuf> = old_answers(folder).into_iter().map(|old| folder.join(old)).collect();
    builder.filter_entry(move |entry| {
        let is_on_the_way = entry.path().starts_with(&wanted) || wanted.starts_with(entry.path());
        let is_old_answer = old.iter().any(|old| old == entry.path());
        is_on_the_way && entry.file_name() != ".git" && !is_old_answer
    });
    if let Some(glob) = glob {
        let mut only = OverrideBuilder::new(folder);
        let only = only.add(glob).and_then(|only| only.build());
        builder.overrides(only.map_err(|error| Wrong(format!("The glob cannot be read: {error}.")))?);
    }
    let started = Instant::now();
    let mut is_reached = false;
    for entry in builder.build().flatten() {
        is_reached |= entry.path().starts_with(top);
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if (is_file && !visit(entry.path())) || started.elapsed().as_secs() > SECONDS_MAX {
            break;
        }
    }
    match is_reached {
        true => Ok(()),
        false => Err(Wrong(format!("git ignores {}: name a file in it.", shown(folder, top)))),
    }
}

/// The walk follows no link, and would find nothing behind one.
fn check_no_link(folder: &Path, top: &Path) -> Result<(), Wrong> {
    let (Ok(root), Ok(real), Ok(path)) =
        (folder.canonicalize(), top.canonicalize(), top.strip_prefix(folder))
    else {
        return Ok(());
    };
    if real == root.join(path) {
        return Ok(());
    }
    let link = shown(folder, top);
    Err(Wrong(match real.strip_prefix(&root) {
        Ok(inside) => format!("{link} is a link: search {} in its place.", inside.display()),
        Err(_) => format!("{link} is a link that leads out of the project's folder."),
    }))
}

struct Found {
    lines: Vec<String>,
}

impl Found {
    fn new() -> Self {
        Self { lines: Vec::new() }
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= FOUND_MAX
    }

    fn words(mut self, none: &str) -> String {
        if self.lines.is_empty() {
            return none.to_owned();
        }
        if self.is_full() {
            self.lines.push(format!("… only the first {FOUND_MAX} are shown"));
        }
        self.lines.join("\n")
    }
}
