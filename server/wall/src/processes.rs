//! Processes as the kernel lists them. One is known by its number and its start: numbers are given again.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::marker::Whose;

/// More than a program can be started with.
const ENVIRON_BYTES_MAX: u64 = 8 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub pid: i32,
    /// In clock ticks since the machine started.
    started: u64,
}

struct Stat {
    parent: i32,
    dead: bool,
    started: u64,
}

impl Identity {
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self { pid, started: stat(pid)?.started })
    }

    /// A zombie is gone: it does nothing any more, and its parent will take its status.
    pub fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started == self.started && !stat.dead)
    }

    pub fn kill(self) -> io::Result<()> {
        let Some(pid) = Pid::from_raw(self.pid) else { return Ok(()) };
        // The descriptor holds on to one process, so that what is compared is what is killed.
        let gone = |errno| matches!(errno, Errno::SRCH | Errno::INVAL);
        let process = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(errno) if gone(errno) => return Ok(()),
            process => process?,
        };
        if !self.is_alive() {
            return Ok(());
        }
        match pidfd_send_signal(process, Signal::KILL) {
            Err(errno) if gone(errno) => Ok(()),
            sent => Ok(sent?),
        }
    }
}

/// Living ones, the children before the grandchildren.
pub fn descendants(of: i32) -> io::Result<Vec<Identity>> {
    let mut children: HashMap<i32, Vec<(Identity, bool)>> = HashMap::new();
    for pid in all()? {
        if let Some(stat) = stat(pid) {
            let identity = Identity { pid, started: stat.started };
            children.entry(stat.parent).or_default().push((identity, stat.dead));
        }
    }
    let mut found = Vec::new();
    let mut open = vec![of];
    while let Some(parent) = open.pop() {
        for (child, dead) in children.remove(&parent).into_iter().flatten() {
            open.push(child.pid);
            if !dead {
                found.push(child);
            }
        }
    }
    Ok(found)
}

/// Living ones that carry the marker, without this process.
pub fn marked(whose: Whose) -> io::Result<Vec<Identity>> {
    let own = i32::try_from(std::process::id()).ok();
    let carries = |pid: i32| {
        let mut environ = Vec::new();
        // Other users' processes cannot be read, and are none of ours.
        let file = fs::File::open(format!("/proc/{pid}/environ")).ok()?;
        file.take(ENVIRON_BYTES_MAX).read_to_end(&mut environ).ok()?;
        whose.is_in(&environ).then_some(pid)
    };
    let others = all()?.into_iter().filter(|pid| Some(*pid) != own);
    // The start is read before the marker: a number given again in between then stands for nobody.
    let marked = others.filter_map(|pid| Identity::of(pid).filter(|_| carries(pid).is_some()));
    Ok(marked.filter(|identity| identity.is_alive()).collect())
}

fn all() -> io::Result<Vec<i32>> {
    let entries = fs::read_dir("/proc")?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

fn stat(pid: i32) -> Option<Stat> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name in the parentheses is the process's own choice, and may look like the rest of the line.
fn parse(line: &str) -> Option<Stat> {
    let (_, line) = line.rsplit_once(')')?;
    let mut fields = line.split_ascii_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(Stat { parent, dead, started })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_whatever_the_name() {
        let check = |line: &str, expected: Option<(i32, bool, u64)>| {
            assert_eq!(parse(line).map(|stat| (stat.parent, stat.dead, stat.started)), expected, "{line}");
        };
        let rest = "5 9 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 777 1000 2 3";
        check(&format!("12 (sh) S {rest}"), Some((5, false, 777)));
        check(&format!("12 (a) Z 1 (b) S {rest}"), Some((5, false, 777)));
        check(&format!("12 (sh) Z {rest}"), Some((5, true, 777)));
        check("12 (sh) S 5 9", None);
        check("", None);
    }

    #[test]
    fn a_process_is_alive_under_its_own_start_only() {
        let own = Identity::of(std::process::id().cast_signed()).unwrap();
        assert!(own.is_alive());
        assert!(!Identity { started: own.started + 1, ..own }.is_alive());
    }
}
