//! Writes the results folder of a battle into its project. Postgres is the truth: the folder is made of it.

use std::{
    collections::BTreeMap,
    io::{self, Read as _},
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
};

use app::error::AppError;
use domain::{
    battle::{
        Battle, Input,
        export::{self, PATCH_BYTES_MAX, Texts},
        names,
        results::{self, Left, Part},
    },
    id::BattleId,
};
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, renameat, unlinkat},
    io::Errno,
};
use store::Db;
use tokio::{sync::Mutex, task::spawn_blocking};

use crate::{models::Models, secret::Secret};

/// The folder of all battles, which git does not see.
const FOLDER: &str = "Arena";
const IGNORE: &str = ".gitignore";
const IGNORE_ALL: &[u8] = b"*\n";
/// What is read of the beginning and of the end of one contestant's stream, most of which may be what its tools gave.
const SAID_END_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Of more battles it is not remembered what was written; then all of it is written again.
const REMEMBERED_MAX: usize = 64;

#[derive(Clone)]
pub struct Results {
    pub db: Db,
    pub models: Models,
    /// What must not be shown, besides the keys of model servers.
    pub secrets: Vec<Secret>,
    /// What was written last, by the marks of its parts. Whoever writes holds it, so that one does at a time.
    pub written: Arc<Mutex<Written>>,
}

#[derive(Default)]
pub struct Written(BTreeMap<BattleId, BTreeMap<Part, u64>>);

impl Written {
    fn remember(&mut self, id: BattleId, marks: BTreeMap<Part, u64>) {
        // Ids grow with time, so the first is the oldest.
        if self.0.len() >= REMEMBERED_MAX && !self.0.contains_key(&id) {
            self.0.pop_first();
        }
        self.0.insert(id, marks);
    }
}

impl Results {
    /// Writes all of it anew, and says where.
    pub async fn write(&self, id: BattleId) -> Result<PathBuf, AppError> {
        let mut written = self.written.lock().await;
        written.0.remove(&id);
        let done = self.write_changed(id, &mut written).await;
        self.tell(id, done).await
    }

    /// Writes what changed since it was written last.
    pub async fn update(&self, id: BattleId) -> Result<PathBuf, AppError> {
        let done = self.write_changed(id, &mut *self.written.lock().await).await;
        self.tell(id, done).await
    }

    /// Who looks at the battle sees why its folder is not up to date. What is refused, or is the database's fault, is no
    /// fault of the folder.
    async fn tell(&self, id: BattleId, done: Result<PathBuf, AppError>) -> Result<PathBuf, AppError> {
        let failure = match &done {
            Ok(_) => None,
            Err(AppError::Invalid(words)) => Some(words.clone()),
            Err(_) => return done,
        };
        store::commit::battle(&self.db, id, Input::Written { failure }).await?;
        done
    }

    async fn write_changed(&self, id: BattleId, written: &mut Written) -> Result<PathBuf, AppError> {
        let (battle, revision) = store::battles::with_revision(&self.db, id).await?;
        let battle = Arc::new(battle);
        let project = store::workspace::project(&self.db, battle.project).await?;
        let folder = names::folder(battle.kind, battle.created_at_ms, battle.id);
        let path = PathBuf::from(&project.path).join(FOLDER).join(&folder);
        let mut known = written.0.remove(&id).unwrap_or_default();
        for (part, mark) in results::parts(&battle) {
            if known.get(&part) == Some(&mark) {
                continue;
            }
            // One part at a time: a patch may take a quarter of a gigabyte.
            let texts = self.texts(&battle, part).await?;
            let (battle, project, folder) = (Arc::clone(&battle), project.path.clone(), folder.clone());
            let secrets = self.all_secrets();
            let put = move || put(&project, &folder, &texts.files(&battle, part, &secrets));
            let put = spawn_blocking(put).await.map_err(|error| AppError::internal(&error))?;
            put.map_err(|error| {
                let place = path.display();
                AppError::Invalid(format!("The results could not be written to {place}: {error}."))
            })?;
            known.insert(part, mark);
        }
        let contestants = battle.contestants.iter().map(|it| it.id).zip(names::contestants(&battle));
        let contestants: Vec<_> = contestants.collect();
        let place = path.display().to_string();
        store::battles::set_written(&self.db, id, &place, revision, &contestants).await?;
        written.remember(id, known);
        Ok(path)
    }

    /// A battle as one file, and what it is called.
    pub async fn export(&self, id: BattleId) -> Result<(String, String), AppError> {
        let battle = store::battles::get(&self.db, id).await?;
        let name = format!("{}.html", names::folder(battle.kind, battle.created_at_ms, battle.id));
        let mut texts = Texts::default();
        for place in 0..battle.contestants.len() {
            let read = self.texts(&battle, Part::Contestant(place)).await?;
            let secrets = self.all_secrets();
            let left = spawn_blocking(move || read.left(&secrets)).await;
            let mut left = left.map_err(|error| AppError::internal(&error))?;
            texts.patch_bytes.push(left.patch.as_ref().map_or(0, Vec::len));
            if let Some(patch) = &mut left.patch {
                patch.truncate(PATCH_BYTES_MAX);
                patch.shrink_to_fit();
            }
            texts.left.push(left);
        }
        for place in 0..battle.examinations.len() {
            texts.examinations.push(self.texts(&battle, Part::Examination(place)).await?.said);
        }
        let page = spawn_blocking(move || export::page(&battle, &texts)).await;
        Ok((name, page.map_err(|error| AppError::internal(&error))?))
    }

    /// What a part tells that is not in the battle itself.
    async fn texts(&self, battle: &Battle, part: Part) -> Result<Read, AppError> {
        let task = match part {
            Part::Summary => None,
            Part::Contestant(place) => battle.contestants.get(place).and_then(|it| it.tries.last().copied()),
            Part::Examination(place) => battle.examinations.get(place).map(|it| it.task),
        };
        let Some(stream) = task.and_then(|task| battle.stream_of(task)) else { return Ok(Read::default()) };
        let (said, _) = store::streams::text_of_ends(&self.db, stream, SAID_END_BYTES_MAX).await?;
        let patch = match part {
            Part::Contestant(_) => store::results::patch(&self.db, stream).await?,
            Part::Summary | Part::Examination(_) => None,
        };
        Ok(Read { said, patch })
    }

    fn all_secrets(&self) -> Vec<Secret> {
        self.models.keys().into_iter().chain(self.secrets.iter().cloned()).collect()
    }
}

/// What an attempt left.
#[derive(Default)]
struct Read {
    said: String,
    patch: Option<Vec<u8>>,
}

impl Read {
    fn left(self, secrets: &[Secret]) -> Left {
        let Self { said, patch } = self;
        let holds_secret =
            patch.as_ref().is_some_and(|patch| secrets.iter().any(|secret| secret.is_in(patch)));
        Left { said, patch, holds_secret }
    }

    fn files(self, battle: &Battle, part: Part, secrets: &[Secret]) -> Vec<results::File> {
        match part {
            Part::Summary => results::summary(battle),
            Part::Contestant(place) => results::contestant(battle, place, self.left(secrets)),
            Part::Examination(place) => results::examination(battle, place, &self.said).into_iter().collect(),
        }
    }
}

/// From one open folder to the next, without following a link: the project may be hostile.
fn put(project: &str, folder: &str, files: &[results::File]) -> io::Result<()> {
    let project = openat(CWD, project, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let (arena, is_new) = make(&project, FOLDER)?;
    let (top, _) = make(&arena, folder)?;
    // A folder of this name may be the project's own, of which git has to see the rest.
    let is_ours = is_new || read(&arena, IGNORE)?.is_some_and(|all| all == IGNORE_ALL);
    write(if is_ours { &arena } else { &top }, IGNORE, IGNORE_ALL)?;
    for results::File { path, content } in files {
        let below;
        let (at, name) = match path.split_once('/') {
            Some((folder, name)) => {
                (below, _) = make(&top, folder)?;
                (&below, name)
            }
            None => (&top, path.as_str()),
        };
        match content {
            Some(content) => write(at, name, content)?,
            None => remove(at, name)?,
        }
    }
    Ok(())
}

fn remove(at: &OwnedFd, name: &str) -> io::Result<()> {
    match unlinkat(at, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Enters a folder, and says whether it was not there.
fn make(at: &OwnedFd, name: &str) -> io::Result<(OwnedFd, bool)> {
    let is_new = match mkdirat(at, name, Mode::from_raw_mode(0o755)) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error.into()),
    };
    let folder = openat(at, name, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    Ok((folder, is_new))
}

/// The beginning of a file, as much as is looked for there; none where there is no file.
fn read(at: &OwnedFd, name: &str) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(at, name, flags, Mode::empty()) {
        Ok(file) => std::fs::File::from(file),
        Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    file.take(IGNORE_ALL.len() as u64 + 1).read_to_end(&mut found)?;
    Ok(Some(found))
}

/// Whole or not at all.
fn write(at: &OwnedFd, name: &str, content: &[u8]) -> io::Result<()> {
    let new = format!(".{name}.new");
    remove(at, &new)?;
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
        results::File { path: path.into(), content: Some(text.into()) }
    }

    #[test]
    fn a_folder_is_written_and_written_again() {
        let project = tempfile::tempdir().unwrap();
        let at = project.path().to_str().unwrap();
        put(at, "b", &[file("manifest.json", "1"), file("a/result.md", "x")]).unwrap();
        put(at, "b", &[file("manifest.json", "2")]).unwrap();
        let read = |path: &str| fs::read_to_string(project.path().join("Arena").join(path)).unwrap();
        assert_eq!([read("b/manifest.json"), read("b/a/result.md"), read(".gitignore")], ["2", "x", "*\n"]);
        // What must not be there goes; where it is not, nothing happens.
        let gone = [results::File { path: "a/result.md".into(), content: None }];
        put(at, "b", &gone).unwrap();
        put(at, "b", &gone).unwrap();
        assert!(!project.path().join("Arena/b/a/result.md").exists());
    }

    /// Whoever has sources in a folder of this name wants git to see them.
    #[test]
    fn what_a_project_keeps_in_its_own_folder_of_that_name_stays_visible() {
        let check = |ignored: Option<&str>, expected: [Option<&str>; 2]| {
            let project = tempfile::tempdir().unwrap();
            let arena = project.path().join("Arena");
            fs::create_dir(&arena).unwrap();
            if let Some(text) = ignored {
                fs::write(arena.join(".gitignore"), text).unwrap();
            }
            for _ in 0..2 {
                put(project.path().to_str().unwrap(), "b", &[file("manifest.json", "1")]).unwrap();
            }
            let found =
                ["", "b"].map(|folder| fs::read_to_string(arena.join(folder).join(".gitignore")).ok());
            assert_eq!(found.each_ref().map(Option::as_deref), expected, "{ignored:?}");
        };
        check(None, [None, Some("*\n")]);
        check(Some("*.o\n"), [Some("*.o\n"), Some("*\n")]);
        check(Some("*\n!mine\n"), [Some("*\n!mine\n"), Some("*\n")]);
        check(Some("*\n"), [Some("*\n"), None]);
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
