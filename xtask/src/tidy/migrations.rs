//! Migrations only grow: what an installation may have applied is never changed, removed or preceded.

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The SQL files in the order in which they apply.
pub fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(dir)?.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    Ok(files)
}

pub fn faults(dir: &Path) -> Result<Vec<String>> {
    let (listed, present) = (listed(dir)?, present(dir)?);
    let mut faults = broken(&listed, &present);
    for name in present.keys().filter(|name| !listed.contains_key(*name)) {
        faults.push(format!("migrations/{name} is not in checksums.txt: run cargo xtask migrations"));
    }
    Ok(faults)
}

/// Adds the checksums of new migrations.
pub fn append(dir: &Path) -> Result<()> {
    let (listed, present) = (listed(dir)?, present(dir)?);
    let mut faults = broken(&listed, &present);
    let new: Vec<_> = present.iter().filter(|(name, _)| !listed.contains_key(*name)).collect();
    if let Some((last, _)) = listed.last_key_value() {
        let early = new.iter().filter(|(name, _)| *name < last);
        faults.extend(
            early.map(|(name, _)| format!("migrations/{name} comes before {last}: give it a later number")),
        );
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    let mut text = String::new();
    for (name, sum) in listed.iter().chain(new.iter().copied()) {
        text.push_str(&format!("{sum}  {name}\n"));
    }
    fs::write(dir.join("checksums.txt"), text)?;
    for (name, _) in new {
        println!("added {name}");
    }
    Ok(())
}

type Sums = BTreeMap<String, String>;

fn broken(listed: &Sums, present: &Sums) -> Vec<String> {
    let compare = |(name, sum): (&String, &String)| match present.get(name) {
        None => Some(format!("migrations/{name} was removed; migrations only grow")),
        Some(other) if other != sum => {
            Some(format!("migrations/{name} was changed; put it back and add a new one instead"))
        }
        Some(_) => None,
    };
    listed.iter().filter_map(compare).collect()
}

fn present(dir: &Path) -> Result<Sums> {
    let mut sums = Sums::new();
    for file in files(dir)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        sums.insert(name, format!("{:x}", Sha256::digest(fs::read(&file)?)));
    }
    Ok(sums)
}

/// The format of `sha256sum`.
fn listed(dir: &Path) -> Result<Sums> {
    let text = fs::read_to_string(dir.join("checksums.txt")).unwrap_or_default();
    let parse = |line: &str| {
        let (sum, name) = line.split_once("  ")?;
        Some((name.to_owned(), sum.to_owned()))
    };
    text.lines()
        .map(|line| parse(line).with_context(|| format!("migrations/checksums.txt: {line:?}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records one migration, lets `change` do its work, and compares what the check then says.
    fn check(change: impl FnOnce(&Path), expected: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("0002_tasks.sql"), "create table tasks ();").unwrap();
        append(dir.path()).unwrap();
        assert_eq!(faults(dir.path()).unwrap(), Vec::<String>::new());
        change(dir.path());
        let faults = faults(dir.path()).unwrap();
        assert_eq!(faults.len(), expected.len(), "{faults:?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.contains(expected), "{fault}");
        }
    }

    #[test]
    fn changes_removals_and_unlisted_ones_are_faults() {
        check(|_| (), &[]);
        check(|dir| fs::write(dir.join("0002_tasks.sql"), "x").unwrap(), &["0002_tasks.sql was changed"]);
        check(|dir| fs::remove_file(dir.join("0002_tasks.sql")).unwrap(), &["0002_tasks.sql was removed"]);
        check(|dir| fs::write(dir.join("0003_x.sql"), "x").unwrap(), &["run cargo xtask migrations"]);
        check(|dir| fs::write(dir.join("notes.md"), "x").unwrap(), &[]);
    }

    #[test]
    fn appending_keeps_what_was_and_refuses_what_broke() {
        let later = |dir: &Path| {
            fs::write(dir.join("0003_x.sql"), "x").unwrap();
            append(dir).unwrap();
        };
        check(later, &[]);
        let changed = |dir: &Path| {
            fs::write(dir.join("0002_tasks.sql"), "x").unwrap();
            append(dir).unwrap_err();
        };
        check(changed, &["0002_tasks.sql was changed"]);
        let earlier = |dir: &Path| {
            fs::write(dir.join("0001_x.sql"), "x").unwrap();
            assert!(append(dir).unwrap_err().to_string().contains("comes before"));
        };
        check(earlier, &["0001_x.sql is not in checksums.txt"]);
    }
}
