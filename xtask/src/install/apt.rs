//! Debian's package manager, where we may use it without a question.

use super::INSTALL_LIMIT;
use crate::{
    process::{Owned, answer, find_program, go_on, quietly, quietly_with},
    workspace::Workspace,
};
use anyhow::Result;
use std::process::Command;

pub struct Apt {
    with_sudo: bool,
}

impl Apt {
    pub fn find() -> Option<Self> {
        find_program("apt-get")?;
        if rustix::process::geteuid().is_root() {
            return Some(Self { with_sudo: false });
        }
        answer(Command::new("sudo").args(["-n", "true"]))?;
        Some(Self { with_sudo: true })
    }

    /// Fetching may be cut off at any time, installing may not: that would leave the machine's package
    /// manager broken.
    pub fn install(&self, workspace: &Workspace, packages: &[&str]) -> Result<()> {
        let fetch = || {
            let mut command = self.installation(packages);
            quietly(workspace, "apt fetch", INSTALL_LIMIT, command.arg("--download-only"))
        };
        // A fresh image has no package lists, an old one has stale ones, and somebody's installation may
        // have been cut off; all show as a failure.
        if fetch().is_err() {
            go_on()?;
            let mut repair = self.as_root("dpkg");
            to_its_end(workspace, "dpkg configure", repair.args(["--configure", "-a"]))?;
            quietly(workspace, "apt update", INSTALL_LIMIT, self.as_root("apt-get").arg("update"))?;
            fetch()?;
        }
        go_on()?;
        to_its_end(workspace, "apt install", &mut self.installation(packages))
    }

    pub fn as_root(&self, program: &str) -> Command {
        if self.with_sudo {
            let mut command = Command::new("sudo");
            command.args(["-n", "DEBIAN_FRONTEND=noninteractive", program]);
            return command;
        }
        let mut command = Command::new(program);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    }

    fn installation(&self, packages: &[&str]) -> Command {
        let mut command = self.as_root("apt-get");
        // A machine that has just been started often updates itself, and holds the lock meanwhile.
        command.args(["install", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=600"]);
        command.args(packages);
        command
    }
}

fn to_its_end(workspace: &Workspace, name: &str, command: &mut Command) -> Result<()> {
    let finishing = |owned: &mut Owned| owned.finishes = true;
    quietly_with(workspace, name, INSTALL_LIMIT, finishing, command).map(drop)
}
