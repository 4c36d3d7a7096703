//! What the kernel knows of a process.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, Result};

/// Time on a processor so far, in the process and in the kernel for it.
pub fn cpu(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name before the last parenthesis may hold spaces.
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = |index: usize| -> Option<u64> { fields.split(' ').nth(index)?.parse().ok() };
    let (user, system) = (ticks(11).context("no utime")?, ticks(12).context("no stime")?);
    Ok(Duration::from_secs_f64((user + system) as f64 / rustix::param::clock_ticks_per_second() as f64))
}

/// Time on a processor of everything that works in `dir`.
pub fn cpu_in(dir: &Path) -> Duration {
    processes_of(dir).into_iter().filter(|process| process.inside).flat_map(|process| cpu(process.pid)).sum()
}

/// Resident memory in bytes, and what it is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resident {
    pub total: u64,
    /// The highest it ever was.
    pub peak: u64,
    /// Its own data.
    pub anonymous: u64,
    /// The program itself, as far as it was touched.
    pub mapped: u64,
}

pub fn resident(pid: u32) -> Result<Resident> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let bytes = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    Ok(Resident {
        total: bytes("VmRSS"),
        peak: bytes("VmHWM"),
        anonymous: bytes("RssAnon"),
        mapped: bytes("RssFile"),
    })
}

/// Lets the peak begin anew.
pub fn forget_peak(pid: u32) -> Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").context("the peak could not be reset")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    /// Works in the directory, as Postgres does, rather than naming it in its arguments.
    pub inside: bool,
}

impl Process {
    /// Its id and what it was started with.
    pub fn words(&self) -> String {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        format!("{} {}", self.pid, String::from_utf8_lossy(&line).replace('\0', " ").trim_end())
    }
}

/// Whoever works in `dir` or was started with it. A zombie does neither.
pub fn processes_of(dir: &Path) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        let inside = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir));
        let named = || {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&*dir.to_string_lossy())
        };
        (inside || named()).then(|| Process { pid, parent: parent(pid).unwrap_or(0), inside })
    })
    .collect()
}

/// The process that all others of `cluster` come from. Agents work below the same data directory, so it is known by its
/// name and by the folder itself.
pub fn postmaster_of(cluster: &Path) -> Option<u32> {
    let is_postgres = |process: &Process| {
        let of = |file: &str| format!("/proc/{}/{file}", process.pid);
        fs::read_link(of("cwd")).is_ok_and(|cwd| cwd == cluster)
            && fs::read_to_string(of("comm")).is_ok_and(|name| name.trim_end() == "postgres")
    };
    let inside: Vec<_> = processes_of(cluster).into_iter().filter(is_postgres).collect();
    let first = inside.iter().find(|process| inside.iter().all(|other| other.pid != process.parent))?;
    Some(first.pid)
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, process::Command};

    use super::*;

    #[test]
    fn only_postgres_in_its_own_folder_is_its_first_process() {
        let folder = tempfile::tempdir().unwrap();
        let cluster = folder.path().join("data/postgres/cluster");
        let deeper = cluster.join("base");
        fs::create_dir_all(&deeper).unwrap();
        for name in ["postgres", "goose"] {
            symlink("/bin/sleep", folder.path().join(name)).unwrap();
        }
        let check = |name: &str, cwd: &Path, is_found: bool| {
            let program = folder.path().join(name);
            let mut child = Command::new(&program).arg("60").current_dir(cwd).spawn().unwrap();
            let found = postmaster_of(&cluster);
            assert_eq!(found, is_found.then_some(child.id()), "{name} in {}", cwd.display());
            child.kill().unwrap();
            child.wait().unwrap();
        };
        check("postgres", &cluster, true);
        check("postgres", &deeper, false);
        check("postgres", folder.path(), false);
        check("goose", &cluster, false);
    }
}
