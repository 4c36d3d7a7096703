//! A project as it was when a run began. Everything here reads the disk: call it from a thread that may block.

use std::{
    borrow::Cow,
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
    path::Path,
};

use domain::flow::{
    brief::{DIFF_BYTES_MAX, TEMPLATE_BYTES_MAX},
    cited::Tree,
    evidence::ProjectText,
    request::Target,
};

/// What is longer is no text that somebody wrote.
const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Of all files that are looked at for one report.
const KEPT_BYTES_MAX: usize = 256 * 1024 * 1024;

pub(crate) struct Recorded {
    snapshot: git::Snapshot,
    reader: git::Reader,
    kept: RefCell<Kept>,
    paths: OnceCell<HashSet<String>>,
    /// Where the project lies.
    folders: Vec<String>,
}

#[derive(Default)]
struct Kept {
    texts: HashMap<String, Option<Text>>,
    bytes: usize,
}

struct Text {
    text: String,
    /// Where its lines begin.
    starts: Vec<usize>,
}

impl Recorded {
    pub fn open(folder: &Path) -> Result<Self, git::Error> {
        let snapshot = git::Snapshot::open(folder)?;
        let reader = snapshot.reader()?;
        let (kept, paths, folders) = (RefCell::default(), OnceCell::new(), Vec::new());
        Ok(Self { reader, snapshot, kept, paths, folders })
    }

    /// Of this project, as its folder is given and as it is where links are followed: agents see the latter.
    pub fn of(mut self, project: &Path) -> Self {
        let found = project.canonicalize().ok();
        let folders = [Some(project.to_owned()), found].into_iter().flatten();
        self.folders = folders.filter_map(|folder| folder.into_os_string().into_string().ok()).collect();
        self
    }

    /// None where there was no such text.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let bytes = self.reader.text(path.as_bytes(), TEXT_BYTES_MAX).ok().flatten()?;
        (!bytes.contains(&0)).then_some(bytes)
    }

    /// What was changed in the target since a commit, as much of it as a prompt holds and a little more, so that it is
    /// told.
    pub fn change_for_prompt(&self, since: &str, target: &Target) -> Result<String, git::Error> {
        let patch = self.snapshot.patch_since(since, target.path(), DIFF_BYTES_MAX)?;
        Ok(String::from_utf8_lossy(&patch).into_owned())
    }

    /// All of it: a patch that is cut somewhere fits nowhere. None where it is longer than any that is shown.
    pub fn change(&self, since: &str, target: &Target) -> Result<Option<Vec<u8>>, git::Error> {
        let bytes_max = git::Limits::default().total_bytes as usize;
        let patch = self.snapshot.patch_since(since, target.path(), bytes_max)?;
        Ok((patch.len() <= bytes_max).then_some(patch))
    }

    pub fn template(&self, path: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes(path)?).into_owned();
        let end = text.floor_char_boundary(TEMPLATE_BYTES_MAX + 1);
        Some(text[..end].to_owned())
    }

    /// The files that the project does not hold as it did. What it holds now is recorded aside for as long as that takes.
    pub fn changed_meanwhile(
        &self,
        project: &Path,
        aside: &Path,
        id: &str,
    ) -> Result<Vec<String>, git::Error> {
        let now = git::Snapshot::take(aside, id, project, true, &git::Limits::default())?;
        let changed = match now.content() == self.snapshot.content() {
            true => Ok(Vec::new()),
            false => self.snapshot.differing(&now),
        };
        if let Err(error) = git::Worktree::open(aside).and_then(git::Worktree::remove) {
            tracing::warn!(%error, "what a project was compared with stays until the next start");
        }
        Ok(changed?.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    fn with<T>(&self, path: &str, look: impl FnOnce(&Text) -> Option<T>) -> Option<T> {
        let mut kept = self.kept.borrow_mut();
        if !kept.texts.contains_key(path) {
            let text = self.bytes(path).map(Text::new);
            kept.bytes += text.as_ref().map_or(0, |text| text.text.len());
            if kept.bytes > KEPT_BYTES_MAX {
                *kept = Kept::default();
            }
            kept.texts.insert(path.to_owned(), text);
        }
        kept.texts.get(path)?.as_ref().and_then(look)
    }
}

impl Text {
    fn new(bytes: Vec<u8>) -> Self {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let ends = text.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        let mut starts: Vec<usize> = [0].into_iter().chain(ends).collect();
        // What follows the last newline is a line only if there is something.
        starts.pop_if(|start| *start == text.len());
        Self { text, starts }
    }

    fn line(&self, number: usize) -> Option<&str> {
        let start = *self.starts.get(number.checked_sub(1)?)?;
        let end = self.starts.get(number).copied().unwrap_or(self.text.len());
        Some(self.text[start..end].trim_end_matches(['\n', '\r']))
    }
}

impl Tree for Recorded {
    fn holds(&self, path: &str) -> bool {
        let read = || {
            let paths =
                self.snapshot.paths().inspect_err(|error| tracing::warn!(%error, "no paths are known"));
            paths.into_iter().flatten().filter_map(|path| String::from_utf8(path).ok()).collect()
        };
        self.paths.get_or_init(read).contains(path)
    }

    fn folders(&self) -> &[String] {
        &self.folders
    }
}

impl ProjectText for Recorded {
    fn line_count(&self, path: &str) -> Option<usize> {
        self.with(path, |text| Some(text.starts.len()))
    }

    fn line(&self, path: &str, number: usize) -> Option<Cow<'_, str>> {
        self.with(path, |text| text.line(number).map(|line| Cow::Owned(line.to_owned())))
    }
}
