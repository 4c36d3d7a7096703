//! Processes that this program starts: each has an owner, a limit and a bounded way to end.

use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

const POLL: Duration = Duration::from_millis(10);
/// What a program may take to end, unless it is known to need longer.
const STOP_LIMIT: Duration = Duration::from_secs(20);
const TAIL_LINES: usize = 60;

/// How often somebody asked us to stop.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// A signal is only counted. Every wait looks at that and returns an error, so that owners stop what they
/// started on the ordinary way out.
pub fn watch_signals() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("signal handlers")?;
    thread::spawn(move || {
        for _ in signals.forever() {
            ASKED.fetch_add(1, Ordering::Relaxed);
        }
    });
    Ok(())
}

pub fn interrupted() -> bool {
    asked() > 0
}

fn asked() -> usize {
    ASKED.load(Ordering::Relaxed)
}

/// An error when the user asked to stop.
pub fn go_on() -> Result<()> {
    if interrupted() {
        bail!("interrupted");
    }
    Ok(())
}

/// Sleeps a poll's length; an error when the user asked to stop.
pub fn pause() -> Result<()> {
    go_on()?;
    thread::sleep(POLL);
    Ok(())
}

/// A child in a process group of its own: a terminal's Ctrl-C reaches only us, and ending the group takes
/// the grandchildren along.
pub struct Owned {
    child: Child,
    group: Pid,
    name: String,
    pub stop_with: Signal,
    pub stop_limit: Duration,
    /// Cut off halfway it would leave a mess behind: a wish to stop waits for its end.
    pub finishes: bool,
}

impl Owned {
    pub fn spawn(name: &str, command: &mut Command) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a process id")?;
        let (name, stop_with, stop_limit) = (name.to_owned(), Signal::TERM, STOP_LIMIT);
        Ok(Self { child, group, name, stop_with, stop_limit, finishes: false })
    }

    pub fn pid(&self) -> Pid {
        self.group
    }

    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits for the end. Past the limit, or when the user asked to stop, the group is ended instead.
    pub fn wait(&mut self, limit: Option<Duration>) -> Result<ExitStatus> {
        let started = Instant::now();
        let mut told = false;
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if limit.is_some_and(|limit| started.elapsed() > limit) {
                self.stop();
                bail!("{} did not end within {} s", self.name, limit.unwrap_or_default().as_secs());
            }
            match pause() {
                Err(_) if self.finishes => {
                    if !told {
                        eprintln!("\n{} has to finish first, then this stops", self.name);
                        told = true;
                    }
                    thread::sleep(POLL);
                }
                Err(interrupted) => {
                    self.stop();
                    return Err(interrupted);
                }
                Ok(()) => {}
            }
        }
    }

    /// Asks the group to end, then makes it.
    pub fn stop(&mut self) -> Option<ExitStatus> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Some(status);
        }
        let _ = kill_process_group(self.group, self.stop_with);
        let (began, mut heard) = (Instant::now(), asked());
        let mut status = None;
        while status.is_none() && began.elapsed() < self.stop_limit {
            thread::sleep(POLL);
            // Whoever asks again is in a hurry, and what we started may know a quicker way.
            if asked() > heard {
                heard = asked();
                let _ = kill_process_group(self.group, self.stop_with);
            }
            status = self.child.try_wait().ok().flatten();
        }
        // What outlived its leader in the group, or the leader itself when it did not listen.
        let _ = kill_process_group(self.group, Signal::KILL);
        status.or_else(|| self.child.wait().ok())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Runs a command with its output in a log file, and shows the log's tail only when it fails.
pub fn quietly(workspace: &Workspace, name: &str, limit: Duration, command: &mut Command) -> Result<PathBuf> {
    quietly_with(workspace, name, limit, |_| {}, command)
}

/// As `quietly`, for programs that are to be stopped in another way.
pub fn quietly_with(
    workspace: &Workspace,
    name: &str,
    limit: Duration,
    manner: impl FnOnce(&mut Owned),
    command: &mut Command,
) -> Result<PathBuf> {
    let log = workspace.log(name)?;
    let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut owned = Owned::spawn(name, command.stdout(file.try_clone()?).stderr(file))?;
    manner(&mut owned);
    let status = owned.wait(Some(limit)).with_context(|| tail(&log))?;
    if !status.success() {
        bail!("\n{}\n{name}: {status}; all of its output: {}", tail(&log), log.display());
    }
    Ok(log)
}

/// An error without the long output of a program in it: of each cause its last two lines.
pub fn in_one_line(error: &anyhow::Error) -> String {
    let brief = |cause: &(dyn std::error::Error + 'static)| {
        let text = cause.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(2)..].join("; ")
    };
    error.chain().map(brief).collect::<Vec<_>>().join(": ")
}

/// What a quick question to a program answers on stdout; nothing when it is missing, fails or hangs.
pub fn answer(command: &mut Command) -> Option<String> {
    let out = tempfile::NamedTempFile::new().ok()?;
    let mut owned =
        Owned::spawn("a question", command.stdout(out.reopen().ok()?).stderr(Stdio::null())).ok()?;
    let status = owned.wait(Some(Duration::from_secs(20))).ok()?;
    if !status.success() {
        return None;
    }
    fs::read_to_string(out.path()).ok().map(|text| text.trim().to_owned())
}

/// The command, ended by the kernel when this process dies, even by `kill -9`. `setpriv` is part of every
/// Debian; without it the child still ends on every orderly way out.
pub fn tied_to_us(program: &Path, signal: &str) -> Command {
    match find_program("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", signal, "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

pub fn find_program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(name)).find(|path| path.is_file())
}

fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::test_kill_process;
    use std::io::{BufRead, BufReader};

    #[test]
    fn stopping_ends_the_whole_group() {
        let pid_file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("sleep 600 & echo $! > {}; wait", pid_file.path().display());
        let mut owned = Owned::spawn("sh", Command::new("sh").args(["-c", &script])).unwrap();
        let grandchild = loop {
            let text = fs::read_to_string(pid_file.path()).unwrap();
            if let Some(pid) = text.trim().parse().ok().and_then(Pid::from_raw) {
                break pid;
            }
            thread::sleep(POLL);
        };
        owned.stop();
        // The grandchild is init's to reap, so it may be a zombie for a moment: gone or dead, not running.
        let state = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", grandchild.as_raw_nonzero())).ok()?;
            stat.rsplit(") ").next().map(|rest| rest.starts_with('Z'))
        };
        while test_kill_process(grandchild).is_ok() && state() == Some(false) {
            thread::sleep(POLL);
        }
    }

    /// A wish to stop reaches the whole program, so such a test runs itself again in a process of its own.
    fn is_alone(test: &str) -> bool {
        const ALONE: &str = "XTASK_TEST_ALONE";
        if std::env::var_os(ALONE).is_some() {
            return true;
        }
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args([test, "--nocapture"]).env(ALONE, "1");
        assert!(again.status().unwrap().success());
        false
    }

    #[test]
    fn what_must_finish_is_not_cut_off() {
        if !is_alone("what_must_finish_is_not_cut_off") {
            return;
        }
        ASKED.store(1, Ordering::Relaxed);
        for finishes in [false, true] {
            let mut owned = Owned::spawn("sh", Command::new("sh").args(["-c", "sleep 0.3; exit 7"])).unwrap();
            owned.finishes = finishes;
            let status = owned.wait(None).ok().and_then(|status| status.code());
            assert_eq!(status, finishes.then_some(7));
        }
    }

    #[test]
    fn who_asks_twice_is_heard_twice() {
        if !is_alone("who_asks_twice_is_heard_twice") {
            return;
        }
        let script = "trap 'trap \"exit 5\" TERM; echo once' TERM; echo ready; while :; do sleep 0.02; done";
        let mut command = Command::new("sh");
        let mut owned = Owned::spawn("sh", command.args(["-c", script]).stdout(Stdio::piped())).unwrap();
        let mut said = BufReader::new(owned.child.stdout.take().unwrap()).lines();
        assert_eq!(said.next().unwrap().unwrap(), "ready");
        let hurry = thread::spawn(move || {
            assert_eq!(said.next().unwrap().unwrap(), "once");
            ASKED.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(owned.stop().and_then(|status| status.code()), Some(5));
        hurry.join().unwrap();
    }

    #[test]
    fn a_long_failure_fits_on_one_line() {
        let output = "\none\n\ntwo\n  no such host\npip: exit status: 1; all of its output: /log";
        let error = anyhow::anyhow!("{output}").context("python is missing: apt-get install python3");
        assert_eq!(
            in_one_line(&error),
            "python is missing: apt-get install python3: no such host; pip: exit status: 1; all of its output: /log"
        );
    }

    #[test]
    fn a_limit_ends_a_child_that_hangs() {
        let mut owned = Owned::spawn("sleep", Command::new("sleep").arg("600")).unwrap();
        let error = owned.wait(Some(Duration::from_millis(50))).unwrap_err();
        assert_eq!(error.to_string(), "sleep did not end within 0 s");
        assert!(owned.ended().unwrap().is_some());
    }
}
