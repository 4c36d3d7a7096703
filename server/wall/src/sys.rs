//! What the operating system offers only below safe Rust.
//!
//! This is the one module where `unsafe` is allowed. Everything in it but [`landlock_version`], [`let_inherit`] and
//! [`die_with_parent`] is called by the helper alone, which is a process of one thread: that is what makes forking,
//! unsharing and closing sound.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;

pub enum Fork {
    Child,
    Parent(Pid),
}

pub fn fork() -> io::Result<Fork> {
    // SAFETY: with one thread the child is a whole process; no lock can be held by a thread it lacks.
    let pid = checked(unsafe { libc::fork() }.into())?;
    Ok(i32::try_from(pid).ok().and_then(Pid::from_raw).map_or(Fork::Child, Fork::Parent))
}

pub fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: the table of descriptors is never among the flags, so no descriptor is lost to another thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces - UnshareFlags::FILES) }?)
}

/// Closes all but standard input, output and error, and `kept`.
pub fn close_inherited(kept: Option<RawFd>) -> io::Result<()> {
    let close = |first: libc::c_uint, last: libc::c_uint| match first <= last {
        // SAFETY: called first of all, when no value owns a descriptor beyond the standard ones.
        true => checked(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).map(drop),
        false => Ok(()),
    };
    match kept.and_then(|kept| libc::c_uint::try_from(kept).ok()) {
        Some(kept) => {
            close(3, kept.saturating_sub(1))?;
            close(kept.saturating_add(1), libc::c_uint::MAX)
        }
        None => close(3, libc::c_uint::MAX),
    }
}

/// A descriptor that this process was started with, from now on closed when another program takes its place.
pub fn inherited(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: where nothing is open under the number, that is an error.
    checked(unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) }.into())?;
    // SAFETY: it is open, and the caller takes it once.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The child finds `descriptor` open under the same number.
pub fn let_inherit(command: &mut Command, descriptor: OwnedFd) {
    let let_through = move || Ok(rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::empty())?);
    // SAFETY: after fork only async-signal-safe work is sound; this is one raw system call.
    unsafe { command.pre_exec(let_through) };
}

/// Without it nothing in a new network reaches anything, not even itself.
pub fn bring_loopback_up() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: a request of zeros is a valid one, and a name that is shorter than its room ends with a zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (room, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
        *room = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: the kernel reads the request, which outlives the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    checked(done.into()).map(drop)
}

/// The signals are kept until [`next_signal`] takes them; all others come as usual. Programs inherit this.
pub fn hold_back(signals: &[Signal]) -> io::Result<()> {
    let set = set_of(signals);
    // SAFETY: `set` is initialised, and the old mask is not asked for.
    checked(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) }.into())
        .map(drop)
}

/// The next of the signals that are held back, or nothing within `limit`.
pub fn next_signal(signals: &[Signal], limit: Duration) -> Option<i32> {
    let set = set_of(signals);
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(limit.subsec_nanos()),
    };
    // SAFETY: both values are initialised and outlive the call; the details of the signal are not asked for.
    let signal = unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const limit) };
    (signal > 0).then_some(signal)
}

/// The attributes are added to the mount of `path` beneath `dir`, and with `recursive` to those inside it.
/// An empty path is `dir` itself.
pub fn restrict_mount(dir: impl AsFd, path: &Path, recursive: bool, attributes: u64) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: `path` ends with a zero, and `attr` is as large as is said.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            dir.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
}

/// As the kernel counts it.
pub fn landlock_version() -> Option<u8> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag nothing is read and nothing is created.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    u8::try_from(version).ok()
}

/// The child gets `signal` when the thread that spawned it ends, so also on `kill -9` of this process.
/// Spawn it from a thread that outlives it: a pool's worker may end at any time.
pub fn die_with_parent(command: &mut Command, signal: Signal) {
    let parent = getpid();
    let arm = move || {
        set_parent_process_death_signal(Some(signal))?;
        // We may have died before the line above took effect; then nobody would ever send the signal.
        if getppid() != Some(parent) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        Ok(())
    };
    // SAFETY: after fork only async-signal-safe work is sound. `arm` makes two raw system calls, takes no
    // lock and allocates nothing, on its error paths too. The standard library runs it after it has changed
    // the user, which would otherwise clear the death signal again.
    unsafe { command.pre_exec(arm) };
}

fn set_of(signals: &[Signal]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call initialises the set, and the numbers are those of real signals.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal.as_raw());
        }
        set.assume_init()
    }
}

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
