//! Writes the results folder of a battle into its project. Postgres is the truth: the folder is made of it.

use std::{io, os::fd::OwnedFd, path::PathBuf};

use app::error::AppError;
use domain::{
    battle::{Battle, export, names, results},
    feed::StreamId,
    id::{BattleId, TaskId},
};
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, renameat, unlinkat},
    io::Errno,
};
use store::Db;
use tokio::task::spawn_blocking;

use crate::{models::Models, secret::Secret};

/// The folder of all battles, which git does not see.
const FOLDER: &str = "Arena";
/// What is written of one contestant's words.
const SAID_BYTES_MAX: u64 = 8 * 1024 * 1024;

#[derive(Clone)]
pub struct Results {
    pub db: Db,
    pub models: Models,
    /// What must not be shown, besides the keys of model servers.
    pub secrets: Vec<Secret>,
}

impl Results {
    /// Writes all of it anew, and says where.
    pub async fn write(&self, id: BattleId) -> Result<PathBuf, AppError> {
        let battle = store::battles::get(&self.db, id).await?;
        let project = store::workspace::project(&self.db, battle.project).await?;
        let files = results::files(&battle, &self.texts(&battle).await?);
        let folder = names::folder(battle.kind, battle.created_at_ms, battle.id);
        let path = PathBuf::from(&project.path).join(FOLDER).join(&folder);
        let written = spawn_blocking(move || put(&project.path, &folder, &files)).await;
        let written = written.map_err(|error| AppError::internal(&error))?;
        written.map_err(|error| {
            AppError::Invalid(format!("The results could not be written to {}: {error}.", path.display()))
        })?;
        store::battles::set_results_path(&self.db, id, &path.display().to_string()).await?;
        Ok(path)
    }

    /// A battle as one file, and what it is called.
    pub async fn export(&self, id: BattleId) -> Result<(String, String), AppError> {
        let battle = store::battles::get(&self.db, id).await?;
        let texts = self.texts(&battle).await?;
        let name = format!("{}.html", names::folder(battle.kind, battle.created_at_ms, battle.id));
        let page = spawn_blocking(move || export::page(&battle, &texts)).await;
        Ok((name, page.map_err(|error| AppError::internal(&error))?))
    }

    async fn texts(&self, battle: &Battle) -> Result<results::Texts, AppError> {
        let mut texts = results::Texts::default();
        for contestant in &battle.contestants {
            let stream = contestant.tries.last().and_then(|task| newest(battle, *task));
            let (said, patch) = match stream {
                Some(stream) => (
                    store::streams::text(&self.db, stream, SAID_BYTES_MAX).await?,
                    store::results::patch(&self.db, stream).await?.unwrap_or_default(),
                ),
                None => Default::default(),
            };
            let keys = self.models.keys();
            texts.holds_secret.push(keys.iter().chain(&self.secrets).any(|secret| secret.is_in(&patch)));
            texts.said.push(said);
            texts.patches.push(patch);
        }
        for examination in &battle.examinations {
            texts.examinations.push(match newest(battle, examination.task) {
                Some(stream) => store::streams::text(&self.db, stream, SAID_BYTES_MAX).await?,
                None => String::new(),
            });
        }
        Ok(texts)
    }
}

fn newest(battle: &Battle, task: TaskId) -> Option<StreamId> {
    let attempt = battle.tasks.get(&task)?.attempts().last()?.0;
    Some(StreamId { task, attempt })
}

/// From one open folder to the next, without following a link: the project may be hostile.
fn put(project: &str, folder: &str, files: &[results::File]) -> io::Result<()> {
    let project = openat(CWD, project, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let arena = enter(&project, FOLDER)?;
    write(&arena, ".gitignore", b"*\n")?;
    let top = enter(&arena, folder)?;
    for file in files {
        match file.path.split_once('/') {
            Some((below, name)) => write(&enter(&top, below)?, name, &file.content)?,
            None => write(&top, &file.path, &file.content)?,
        }
    }
    Ok(())
}

fn enter(at: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(at, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(openat(at, name, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

/// Whole or not at all.
fn write(at: &OwnedFd, name: &str, content: &[u8]) -> io::Result<()> {
    let new = format!(".{name}.new");
    match unlinkat(at, &new, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(at, &new, flags, Mode::from_raw_mode(0o644))?;
    io::Write::write_all(&mut std::fs::File::from(file), content)?;
    Ok(renameat(at, &new, at, name)?)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn file(path: &str, text: &str) -> results::File {
        results::File { path: path.into(), content: text.into() }
    }

    #[test]
    fn a_folder_is_written_and_written_again() {
        let project = tempfile::tempdir().unwrap();
        let at = project.path().to_str().unwrap();
        put(at, "b", &[file("manifest.json", "1"), file("a/result.md", "x")]).unwrap();
        put(at, "b", &[file("manifest.json", "2")]).unwrap();
        let read = |path: &str| fs::read_to_string(project.path().join("Arena").join(path)).unwrap();
        assert_eq!([read("b/manifest.json"), read("b/a/result.md"), read(".gitignore")], ["2", "x", "*\n"]);
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = project.path().to_str().unwrap();
        symlink(outside.path(), project.path().join("Arena")).unwrap();
        assert!(put(at, "b", &[file("manifest.json", "1")]).is_err());
        fs::remove_file(project.path().join("Arena")).unwrap();
        put(at, "b", &[]).unwrap();
        let victim = outside.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, project.path().join("Arena/b/manifest.json")).unwrap();
        put(at, "b", &[file("manifest.json", "1")]).unwrap();
        // The link is replaced, not followed.
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        // The control: whoever follows it writes outside.
        symlink(&victim, project.path().join("Arena/b/other")).unwrap();
        fs::write(project.path().join("Arena/b/other"), "theirs").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs");
    }
}
