//! What the operating system offers only below the safe standard library.
//!
//! This is the one module where `unsafe` is allowed: a child can be tied to our life only from inside the
//! child, between fork and exec, and the compiler cannot check what is sound there.
#![allow(unsafe_code)]

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A line of `/etc/passwd`, as far as running a program under it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The accounts for programs that refuse to run as root, best first: Postgres's own owns nothing else.
pub fn unprivileged_accounts() -> io::Result<Vec<Account>> {
    // System accounts are local, so the file is enough and no name service has to be asked.
    let passwd = std::fs::read_to_string("/etc/passwd")?;
    Ok(["postgres", "nobody"].iter().filter_map(|name| account_in(&passwd, name)).collect())
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

fn account_in(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account { name: name.to_owned(), uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(passwd: &str, name: &str, expected: Option<(u32, u32)>) {
        assert_eq!(account_in(passwd, name).map(|found| (found.uid, found.gid)), expected, "{passwd:?}");
    }

    #[test]
    fn accounts_are_read_from_passwd() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65533::/:/bin/false\n";
        check(passwd, "nobody", Some((65534, 65533)));
        check(passwd, "postgres", None);
        check(passwd, "no", None);
        check("postgres:x:one:2::/:\n", "postgres", None);
        check("postgres:x:1", "postgres", None);
        check("", "postgres", None);
    }
}
