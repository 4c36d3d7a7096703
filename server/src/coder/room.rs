//! How much of the disk a task may take while it runs. The kernel bounds a single file; this bounds all of them.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use git::Limits;
use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep},
};
use wall::Access;

use super::Ground;
use crate::backend;

pub(super) struct Room {
    /// What a task may take beyond what was there when it began.
    own_bytes_max: u64,
    /// A task that took as much itself is stopped when less than this is left for everybody.
    left_bytes_min: u64,
    look_every: Duration,
}

/// To look at every file costs the disk something too, so the pauses are longer where that takes long.
const PAUSE_FACTOR: u32 = 20;

impl Default for Room {
    fn default() -> Self {
        Self { own_bytes_max: 16 << 30, left_bytes_min: 512 << 20, look_every: Duration::from_secs(5) }
    }
}

impl Room {
    /// Waits until the task has taken more than it may, and says so.
    pub async fn run_out(&self, ground: &Ground) -> backend::Error {
        let mut before = None;
        loop {
            let started = Instant::now();
            match look(own_folders(ground)).await {
                Ok(Looked { taken, left }) => {
                    let grown = taken.saturating_sub(*before.get_or_insert(taken));
                    if let Some(words) = self.judge(grown, left) {
                        return backend::Error::Agent { words };
                    }
                }
                // So many files, or so deep, that nobody can tell what they take.
                Err(error @ git::Error::TooLarge { .. }) => {
                    return backend::Error::Agent {
                        words: format!("The agent was stopped: it left {error}."),
                    };
                }
                // What changes while it is looked at is looked at again.
                Err(_) => {}
            }
            sleep(self.look_every.max(started.elapsed() * PAUSE_FACTOR)).await;
        }
    }

    fn judge(&self, grown: u64, left: u64) -> Option<String> {
        let megabytes = |bytes: u64| bytes >> 20;
        if grown > self.own_bytes_max {
            return Some(format!(
                "The agent was stopped: it took {} MB of the disk, and may take {} MB. What it did is kept.",
                megabytes(grown),
                megabytes(self.own_bytes_max)
            ));
        }
        (left < self.left_bytes_min && grown > self.left_bytes_min).then(|| {
            format!(
                "The agent was stopped: it took {} MB of the disk, which has {} MB left. What it did is kept.",
                megabytes(grown),
                megabytes(left)
            )
        })
    }
}

struct Looked {
    taken: u64,
    left: u64,
}

async fn look(folders: Vec<PathBuf>) -> Result<Looked, git::Error> {
    let looked = spawn_blocking(move || {
        let left = folders.first().map_or(Ok(u64::MAX), |folder| left(folder));
        let left = left.map_err(|cause| git::Error::Io { path: PathBuf::new(), cause })?;
        Ok(Looked { taken: git::size_of(&folders, &Limits::default())?, left })
    });
    looked.await.unwrap_or(Err(git::Error::Cancelled))
}

fn left(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// What it can write.
fn own_folders(ground: &Ground) -> Vec<PathBuf> {
    let mut own = vec![ground.home.clone(), ground.tmp.clone()];
    if let Access::Write { tree, .. } = &ground.access {
        own.push(tree.clone());
    }
    own
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn a_task_that_fills_the_disk_is_told_so() {
        let disk = tempfile::tempdir().unwrap();
        let [folder, home, tmp] = ["tree", "home", "tmp"].map(|name| disk.path().join(name));
        for folder in [&folder, &home, &tmp] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(folder.join("before"), vec![1; 8 << 20]).unwrap();
        let access = Access::Write { tree: folder.clone(), objects: Vec::new() };
        let ground = Ground { folder, home, tmp, access };
        let room = Room { own_bytes_max: 4 << 20, look_every: Duration::from_millis(1), ..Room::default() };
        let mut run_out = Box::pin(room.run_out(&ground));
        // What was there before is not the task's, and what it takes back does not count.
        let quiet = tokio::time::timeout(Duration::from_millis(200), &mut run_out).await;
        assert!(quiet.is_err(), "{quiet:?}");
        fs::write(ground.home.join("cache"), vec![1; 3 << 20]).unwrap();
        fs::write(ground.folder.join("made"), vec![1; 3 << 20]).unwrap();
        let backend::Error::Agent { words } = run_out.await else { panic!("it is the agent's doing") };
        assert!(words.starts_with("The agent was stopped: it took 6 MB"), "{words}");
    }

    #[test]
    fn a_disk_that_is_nearly_full_is_the_fault_of_who_filled_it() {
        let room = Room::default();
        assert_eq!(room.judge(1 << 20, 1 << 20), None, "it was full before");
        assert_eq!(room.judge(8 << 30, 8 << 30), None);
        assert!(room.judge(8 << 30, 100 << 20).is_some_and(|words| words.contains("100 MB left")));
    }
}
