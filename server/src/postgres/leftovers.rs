//! What a killed server or a killed Postgres left behind: processes that still end, and lock files.
//!
//! The caller holds the data directory's lock, so whoever else works in the cluster has lost its server.

use super::Error;
use super::place::{DRAFT, Place, SOCKET};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(5);
/// A fast shutdown writes a checkpoint, which on a busy disk takes its time.
const ASKED_LIMIT: Duration = Duration::from_secs(20);
const FORCED_LIMIT: Duration = Duration::from_secs(5);

/// Ends what still runs in the cluster and removes lock files that would mislead Postgres.
pub(super) fn settle(place: &Place) -> Result<(), Error> {
    let locks = [place.cluster.join("postmaster.pid"), place.socket_dir.join(format!("{SOCKET}.lock"))];
    // A clean end removes both, and a postmaster ends last of its processes.
    if locks.iter().all(|lock| !lock.exists()) {
        return Ok(());
    }
    end_all_in(&place.cluster, place)?;
    for lock in locks {
        remove_if_misleading(&lock)?;
    }
    Ok(())
}

/// Removes clusters that were never finished, and ends what a killed initdb left working on them.
pub(super) fn sweep_drafts(place: &Place) -> Result<(), Error> {
    let entries = place.home.read_dir().map_err(Error::io("read", &place.home))?;
    let drafts =
        entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(DRAFT.as_bytes()));
    for draft in drafts.map(|entry| entry.path()) {
        end_all_in(&draft, place)?;
        if let Err(error) = std::fs::remove_dir_all(&draft) {
            // A process that was just being started may still add a file. The name is its own, so it is in
            // nobody's way, and there is a second sweep.
            tracing::debug!(%error, draft = %draft.display(), "an unfinished cluster stays for now");
        }
    }
    Ok(())
}

/// Postgres takes a lock file for stale when its process is gone, and checks the shared memory besides; those
/// are left to it. But it believes in a zombie, and in any process that got the number since.
fn remove_if_misleading(lock: &Path) -> Result<(), Error> {
    let Ok(text) = std::fs::read_to_string(lock) else {
        return Ok(());
    };
    let gone = pid_in(&text).is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists());
    if gone {
        return Ok(());
    }
    tracing::warn!(file = %lock.display(), "removing a lock file that nobody owns");
    std::fs::remove_file(lock).map_err(Error::io("remove", lock))
}

fn end_all_in(cluster: &Path, place: &Place) -> Result<(), Error> {
    let postmaster =
        std::fs::read_to_string(cluster.join("postmaster.pid")).ok().and_then(|text| pid_in(&text));
    let mut living = living_in(cluster, place);
    // Without their postmaster the others cannot finish anything: they are crashing already.
    let headless = !living.iter().any(|process| Some(process.pid) == postmaster);
    let steps = [(Signal::INT, ASKED_LIMIT), (Signal::QUIT, FORCED_LIMIT), (Signal::KILL, FORCED_LIMIT)];
    for (signal, limit) in steps.into_iter().skip(usize::from(headless)) {
        if living.is_empty() {
            return Ok(());
        }
        for process in &living {
            // The first signal asks the postmaster, who ends the others in order.
            if signal != Signal::INT || Some(process.pid) == postmaster {
                tracing::warn!(pid = process.pid, ?signal, "ending a process of the previous Postgres");
                process.signal(signal);
            }
        }
        let began = Instant::now();
        while !living.is_empty() && began.elapsed() < limit {
            std::thread::sleep(POLL);
            living.retain(Process::lives);
            if living.is_empty() {
                // A process may have had a child while we looked.
                living = living_in(cluster, place);
            }
        }
    }
    match living.first() {
        Some(process) => Err(Error::WillNotStop { pid: process.pid }),
        None => Ok(()),
    }
}

/// A process, told from a later one of the same number by when it started.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    started: u64,
}

impl Process {
    fn lives(&self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started == self.started && !stat.dead)
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        // The handle is tied to one process, so looking after opening leaves no gap for another.
        if let Some(handle) = handle.filter(|_| self.lives()) {
            let _ = pidfd_send_signal(handle, signal);
        }
    }
}

fn living_in(cluster: &Path, place: &Place) -> Vec<Process> {
    let owner = place.run_as.as_ref().map_or(rustix::process::geteuid().as_raw(), |account| account.uid);
    let Ok(home) = cluster.metadata() else {
        return Vec::new();
    };
    let pids = Path::new("/proc").read_dir().into_iter().flatten().flatten();
    pids.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        if entry.metadata().ok()?.uid() != owner {
            return None;
        }
        // A shell that stands in the directory is none of ours.
        let stat = stat(pid).filter(|stat| !stat.dead && stat.name == "postgres")?;
        // Every process of a cluster works in its directory. Root in a container may not be allowed to see
        // that of another account; then the title tells.
        let inside = match entry.path().join("cwd").metadata() {
            Ok(cwd) => (cwd.dev(), cwd.ino()) == (home.dev(), home.ino()),
            Err(_) => titled(&std::fs::read(entry.path().join("cmdline")).ok()?, cluster, &place.name),
        };
        inside.then_some(Process { pid, started: stat.started })
    })
    .collect()
}

/// The postmaster's arguments name the cluster's directory, its children's title the cluster's name.
fn titled(command_line: &[u8], cluster: &Path, name: &str) -> bool {
    let mut arguments = command_line.split(|byte| *byte == 0);
    let child = format!("postgres: {name}:");
    command_line.starts_with(child.as_bytes())
        || arguments.any(|argument| argument == cluster.as_os_str().as_encoded_bytes())
}

struct Stat {
    name: String,
    dead: bool,
    started: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(PathBuf::from(format!("/proc/{pid}/stat"))).ok()?;
    stat_in(&text)
}

/// `pid (name) state …`, where the name may hold spaces and brackets and the 22nd field is the start time.
fn stat_in(text: &str) -> Option<Stat> {
    let (head, rest) = text.rsplit_once(") ")?;
    let name = head.split_once(" (")?.1.to_owned();
    let mut fields = rest.split(' ');
    let dead = matches!(fields.next()?, "Z" | "X" | "x");
    Some(Stat { name, dead, started: fields.nth(18)?.parse().ok()? })
}

fn pid_in(lock: &str) -> Option<u32> {
    // Single-user mode writes its number negative.
    lock.lines().next()?.trim().trim_start_matches('-').parse().ok().filter(|pid| *pid > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_survives_any_name() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20";
        for (name, state, dead) in
            [("postgres", 'S', false), ("post) R (gres", 'Z', true), ("a b", 'X', true)]
        {
            let stat = stat_in(&format!("5 ({name}) {state} {rest}")).unwrap();
            assert_eq!((stat.name.as_str(), stat.dead, stat.started), (name, dead, 777));
        }
        assert!(stat_in("5 (postgres").is_none());
    }

    #[test]
    fn lock_files_name_a_process_or_nothing() {
        for (text, pid) in [
            ("12\n/data\n", Some(12)),
            ("-12\n", Some(12)),
            (" 7", Some(7)),
            ("", None),
            ("0", None),
            ("x\n", None),
        ] {
            assert_eq!(pid_in(text), pid, "{text:?}");
        }
    }

    #[test]
    fn titles_tell_this_cluster_from_another() {
        for (line, expected) in [
            (&b"/bin/postgres\0-D\0/d/cluster\0"[..], true),
            (b"/bin/postgres\0-D\0/d/cluster2\0", false),
            (b"postgres: boocode-1: checkpointer ", true),
            (b"postgres: boocode-12: checkpointer ", false),
            (b"", false),
        ] {
            assert_eq!(titled(line, Path::new("/d/cluster"), "boocode-1"), expected, "{line:?}");
        }
    }

    #[test]
    fn a_zombie_does_not_live_and_a_stranger_is_not_signalled() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let started = stat(child.id()).unwrap().started;
        let stranger = Process { pid: child.id(), started: started + 1 };
        assert!(!stranger.lives());
        stranger.signal(Signal::KILL);
        let known = Process { pid: child.id(), started };
        assert!(known.lives());
        known.signal(Signal::KILL);
        while known.lives() {
            std::thread::sleep(POLL);
        }
        assert!(stat(child.id()).unwrap().dead);
        child.wait().unwrap();
    }
}
