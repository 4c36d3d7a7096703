//! The process that the server knows. It owns all others: what is orphaned inside comes back to it.

use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getegid, geteuid, getpid, getppid, kill_process,
    set_child_subreaper, set_parent_process_death_signal, setsid, wait,
};
use rustix::thread::UnshareFlags;

use super::{Description, END_NOW, Failure, Naming, inside, network};
use crate::processes;
use crate::sys::{self, Fork};

/// Held back here, not in the program: asking the group to end asks the program, not its keeper.
const HELD: [Signal; 5] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::CHILD, END_NOW];
const LOOK_AROUND: Duration = Duration::from_secs(1);
/// Between two looks at all processes.
const CHASES: usize = 100;
/// Only what hangs in the kernel survives being killed, and that nobody can end.
const END_LIMIT: Duration = Duration::from_secs(10);

pub fn run(description: &Description, command: &[OsString]) -> Result<i32, Failure> {
    sys::close_inherited(description.handed_over).naming("inherited files could not be closed")?;
    let handed_over = description.handed_over.map(sys::inherited).transpose();
    let handed_over = handed_over.naming("nobody takes the task's door")?;
    sys::hold_back(&HELD).naming("signals could not be held back")?;
    die_with(description.parent)?;
    // Into the server's terminal the program could otherwise type.
    setsid().naming("the terminal could not be left")?;
    set_child_subreaper(Some(getpid())).naming("orphans could not be adopted")?;
    let alive = pipe_with(PipeFlags::CLOEXEC).naming("no pipe")?;
    if description.demand.namespaces {
        new_namespaces()?;
        // Another user namespace may have cleared it.
        die_with(description.parent)?;
        network::build(description.wall.door.zip(handed_over))?;
    }
    match sys::fork().naming("no process could be started")? {
        Fork::Child => {
            let (keeper, own_end) = alive;
            drop(own_end);
            inside::run(description, command, keeper)
        }
        Fork::Parent(child) => {
            let (_, _alive) = alive;
            inside::silence()?;
            keep(child)
        }
    }
}

/// Waits for `child`, whose code is the result, and ends what it left.
fn keep(child: Pid) -> Result<i32, Failure> {
    let mut code = None;
    loop {
        let childless = reap(|pid, status| {
            if pid == child {
                code = Some(code_of(status));
            }
        })?;
        if code.is_some() || childless {
            break;
        }
        if sys::next_signal(&HELD, LOOK_AROUND) == Some(END_NOW.as_raw()) {
            break;
        }
    }
    end_all()?;
    Ok(code.unwrap_or(128 + Signal::KILL.as_raw()))
}

fn end_all() -> Result<(), Failure> {
    let start = Instant::now();
    // Whoever is orphaned by a kill becomes a child of this process, and is found in the next round.
    while !reap(|_, _| {})? {
        if start.elapsed() > END_LIMIT {
            // The server looks for itself, and names them.
            break;
        }
        let family = processes::descendants(getpid().as_raw_pid());
        for process in family.naming("processes could not be listed")? {
            // One that cannot be killed keeps this process waiting.
            let _ = process.kill();
        }
        for _ in 0..CHASES {
            chase();
        }
        sys::next_signal(&[Signal::CHILD], Duration::from_millis(10));
    }
    Ok(())
}

/// One that forks and exits again and again is somebody else by the time that a list of all processes is read. Its
/// next self is a child of this process, though, and the kernel lists those by themselves.
fn chase() {
    let own = getpid().as_raw_pid();
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    for child in children.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
        // Its number cannot be another's before its status is taken, and only this process takes that.
        let _ = kill_process(child, Signal::KILL);
    }
}

/// Takes the status of all that have ended. True when no child is left.
fn reap(mut ended: impl FnMut(Pid, WaitStatus)) -> Result<bool, Failure> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended(pid, status),
            Ok(None) => return Ok(false),
            Err(Errno::CHILD) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error).naming("processes could not be waited for"),
        }
    }
}

/// As a shell says it.
pub fn code_of(status: WaitStatus) -> i32 {
    status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal)).unwrap_or(1)
}

fn die_with(parent: Option<u32>) -> Result<(), Failure> {
    let Some(parent) = parent else { return Ok(()) };
    set_parent_process_death_signal(Some(END_NOW)).naming("the server's end could not be watched")?;
    // It may have died before the line above took effect.
    if getppid().map(|pid| pid.as_raw_pid().cast_unsigned()) != Some(parent) {
        return Err(Failure::Said("the server that asked for this is gone".to_owned()));
    }
    Ok(())
}

/// The user stays who it was, so that files are owned inside as outside.
fn new_namespaces() -> Result<(), Failure> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let namespaces = [UnshareFlags::NEWPID, UnshareFlags::NEWIPC, UnshareFlags::NEWNET];
    let namespaces = namespaces.into_iter().fold(UnshareFlags::NEWUSER, UnshareFlags::union);
    sys::unshare(namespaces).naming("this machine does not allow user namespaces")?;
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    for (file, map) in maps {
        fs::write(file, map).naming("this machine does not allow users in a namespace")?;
    }
    Ok(())
}

/// For [`inside`]: whether the keeper has died. Only it holds the other end.
pub fn is_gone(keeper: &OwnedFd) -> bool {
    let mut end = [rustix::event::PollFd::new(keeper, rustix::event::PollFlags::empty())];
    let nothing = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    !matches!(rustix::event::poll(&mut end, Some(&nothing)), Ok(0))
}
