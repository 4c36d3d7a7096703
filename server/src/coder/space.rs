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

pub(super) struct Space {
    /// What a task may take beyond what was there when it began.
    own_bytes_max: u64,
    /// A task that took as much itself is stopped when less than this is left for everybody.
    left_bytes_min: u64,
    look_every: Duration,
}

/// To look at every file costs the disk something too, so the pauses are longer where that takes long.
const PAUSE_FACTOR: u32 = 20;

impl Default for Space {
    fn default() -> Self {
        Self { own_bytes_max: 16 << 30, left_bytes_min: 512 << 20, look_every: Duration::from_secs(5) }
    }
}

impl Space {
    /// As `run_out`, for an agent, whose work so far counts.
    pub async fn stop_agent(&self, ground: &Ground) -> backend::Error {
        let why = self.run_out(ground).await;
        backend::Error::Agent { words: format!("The agent was stopped: {why}. What it did is kept.") }
    }

    /// Waits until the task has taken more than it may, and says so.
    pub async fn run_out(&self, ground: &Ground) -> String {
        let mut before = Before::default();
        loop {
            let started = Instant::now();
            let Looked { taken, left } = look(own_folders(ground)).await;
            let grown = match taken {
                Ok(taken) => before.grown(taken),
                // So many files, or so deep, that nobody can tell what they take.
                Err(error @ git::Error::TooLarge { .. }) => {
                    return format!("it left {error}");
                }
                Err(_) => before.shrunk(left),
            };
            if let Some(why) = self.judge(grown, left) {
                return why;
            }
            before.left.get_or_insert(left);
            sleep(self.look_every.max(started.elapsed() * PAUSE_FACTOR)).await;
        }
    }

    fn judge(&self, grown: u64, left: u64) -> Option<String> {
        let megabytes = |bytes: u64| bytes >> 20;
        if grown > self.own_bytes_max {
            return Some(format!(
                "it took {} MB of the disk, and may take {} MB",
                megabytes(grown),
                megabytes(self.own_bytes_max)
            ));
        }
        (left < self.left_bytes_min && grown > self.left_bytes_min).then(|| {
            format!("it took {} MB of the disk, which has {} MB left", megabytes(grown), megabytes(left))
        })
    }
}

/// What the first looks found.
#[derive(Default)]
struct Before {
    taken: Option<u64>,
    left: Option<u64>,
}

impl Before {
    fn grown(&mut self, taken: u64) -> u64 {
        taken.saturating_sub(*self.taken.get_or_insert(taken))
    }

    /// Where what it took cannot be told: what the disk lost since.
    fn shrunk(&self, left: u64) -> u64 {
        self.left.map_or(0, |before| before.saturating_sub(left))
    }
}

/// As `run_out`, of what runs in this worktree without an agent.
pub(crate) async fn run_out(tree: &git::Worktree) -> String {
    match Ground::of(tree) {
        Ok(ground) => Space::default().run_out(&ground).await,
        Err(_) => std::future::pending().await,
    }
}

struct Looked {
    taken: Result<u64, git::Error>,
    left: u64,
}

async fn look(folders: Vec<PathBuf>) -> Looked {
    let looked = spawn_blocking(move || {
        let left = folders.first().and_then(|folder| left(folder).ok()).unwrap_or(u64::MAX);
        Looked { taken: git::size_of(&folders, &Limits::default()), left }
    });
    looked.await.unwrap_or(Looked { taken: Err(git::Error::Cancelled), left: u64::MAX })
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
        let ground = Ground { folder, home, tmp, access, hidden: Vec::new() };
        let space =
            Space { own_bytes_max: 4 << 20, look_every: Duration::from_millis(1), ..Space::default() };
        let mut run_out = Box::pin(space.run_out(&ground));
        // What was there before is not the task's, and what it takes back does not count.
        let quiet = tokio::time::timeout(Duration::from_millis(200), &mut run_out).await;
        assert!(quiet.is_err(), "{quiet:?}");
        fs::write(ground.home.join("cache"), vec![1; 3 << 20]).unwrap();
        fs::write(ground.folder.join("made"), vec![1; 3 << 20]).unwrap();
        let why = run_out.await;
        assert!(why.starts_with("it took ") && why.ends_with(" may take 4 MB"), "{why}");
    }

    #[test]
    fn where_a_look_fails_the_disk_itself_tells() {
        let mut before = Before::default();
        assert_eq!((before.grown(5), before.shrunk(100)), (0, 0), "nothing is known yet");
        before.left.get_or_insert(100);
        assert_eq!((before.grown(8), before.shrunk(30), before.shrunk(200)), (3, 70, 0));
    }

    #[test]
    fn a_disk_that_is_nearly_full_is_the_fault_of_who_filled_it() {
        let space = Space::default();
        assert_eq!(space.judge(1 << 20, 1 << 20), None, "it was full before");
        assert_eq!(space.judge(8 << 30, 8 << 30), None);
        assert!(space.judge(8 << 30, 100 << 20).is_some_and(|words| words.contains("100 MB left")));
    }
}
