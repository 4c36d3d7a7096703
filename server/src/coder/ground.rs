//! Where a task works: its folder, what is its own beside it, and what the wall lets it do there.

use std::{
    io,
    path::{Path, PathBuf},
};

use domain::feed::StreamId;
use tokio::task::spawn_blocking;
use wall::{Access, Level};

use super::{Coders, unprepared};
use crate::backend;

pub(crate) struct Ground {
    pub folder: PathBuf,
    pub home: PathBuf,
    pub tmp: PathBuf,
    pub access: Access,
    /// What is not seen of what may be read.
    pub hidden: Vec<PathBuf>,
}

impl Ground {
    /// A worktree, which may be changed.
    pub fn of(worktree: &git::Worktree) -> Result<Self, backend::Error> {
        let objects = worktree.objects().map_err(|error| unprepared(&error))?;
        let access = Access::Write { tree: worktree.tree(), objects: vec![objects] };
        let (folder, home, tmp) = (worktree.tree(), worktree.home(), worktree.tmp());
        Ok(Self { folder, home, tmp, access, hidden: Vec::new() })
    }
}

/// A ground on which nothing can be changed. What an agent needs for itself goes with it.
pub(crate) struct Reading {
    pub ground: Ground,
    own: PathBuf,
}

impl Reading {
    /// Nothing runs there any more.
    pub async fn end(self) {
        let own = self.own;
        let removed = spawn_blocking(move || git::remove_folder(&own)).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%error, "what an agent had for itself stays until the next start");
        }
    }
}

impl Coders {
    /// A project's own folder to be read, or an empty one where the project must not be seen.
    pub(super) async fn reading(
        &self,
        stream: StreamId,
        project: Option<&Path>,
    ) -> Result<Reading, backend::Error> {
        let own = self.steps.join(stream.to_string());
        let project = project.map(Path::to_owned);
        // Nothing else could take them out of a project that is read.
        let hides = matches!(self.level().await, Level::Full { .. });
        let made = spawn_blocking(move || make(own, project, hides)).await;
        made.map_err(|error| unprepared(&error))?.map_err(|error| unprepared(&error))
    }
}

/// `hides`: whether what battles left in the project is taken out of it, since old answers are no evidence.
fn make(own: PathBuf, project: Option<PathBuf>, hides: bool) -> io::Result<Reading> {
    // An attempt has a name of its own, so what lies there is a killed server's.
    git::remove_folder(&own)?;
    let [home, tmp, empty] = ["home", "tmp", "empty"].map(|name| own.join(name));
    for folder in [&home, &tmp, &empty] {
        std::fs::create_dir_all(folder)?;
    }
    let (folder, hidden) = match project {
        Some(project) => {
            let project = project.canonicalize()?;
            let old = if hides { tools::old_answers(&project) } else { Vec::new() };
            let hidden = old.into_iter().map(|old| project.join(old)).collect();
            (project, hidden)
        }
        None => (empty, Vec::new()),
    };
    let access = Access::Read { project: folder.clone() };
    Ok(Reading { ground: Ground { folder, home, tmp, access, hidden }, own })
}

/// Throws away what killed servers left. What an agent made there is never why no server starts.
pub(super) fn clear(steps: &Path) {
    for entry in std::fs::read_dir(steps).into_iter().flatten().flatten() {
        if let Err(error) = git::remove_folder(&entry.path()) {
            let folder = entry.file_name();
            tracing::warn!(%error, ?folder, "what an agent had for itself could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

    use super::*;

    #[test]
    fn what_an_agent_locked_or_nested_is_cleared() {
        let steps = tempfile::tempdir().unwrap();
        let read_only = steps.path().join("one/home/x");
        fs::create_dir_all(&read_only).unwrap();
        fs::write(read_only.join("f"), "").unwrap();
        fs::set_permissions(&read_only, fs::Permissions::from_mode(0o555)).unwrap();
        let mut folder = openat(CWD, steps.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        // Deeper than a path can name.
        for _ in 0..3_000 {
            mkdirat(&folder, "deep", Mode::RWXU).unwrap();
            folder = openat(&folder, "deep", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        fs::write(steps.path().join("file"), "").unwrap();
        clear(steps.path());
        assert_eq!(fs::read_dir(steps.path()).unwrap().count(), 0);
    }
}
