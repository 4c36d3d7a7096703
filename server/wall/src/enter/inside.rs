//! What happens on the program's side of the fork.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions, set_parent_process_death_signal, wait};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::{Description, Failure, Naming, bounds, keeper, landlock_rules, privileges, root, seccomp};
use crate::sys::{self, Fork};

/// In a namespace this is its first process, at whose end the kernel ends all others in it.
pub fn run(description: &Description, command: &[OsString], keeper: OwnedFd) -> Result<i32, Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).naming("the keeper's end could not be watched")?;
    if keeper::is_gone(&keeper) {
        return Err(Failure::Said("the keeper of this wall is gone".to_owned()));
    }
    drop(keeper);
    if !description.demand.namespaces {
        privileges::drop_all()?;
        return execute(description, command);
    }
    root::build(&description.wall)?;
    privileges::drop_all()?;
    match sys::fork().naming("no process could be started")? {
        Fork::Child => execute(description, command),
        Fork::Parent(program) => {
            silence()?;
            loop {
                match wait(WaitOptions::empty()) {
                    Ok(Some((pid, status))) if pid == program => return Ok(keeper::code_of(status)),
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error).naming("processes could not be waited for"),
                }
            }
        }
    }
}

/// Lets go of the program's pipes, so that their other end notices when the program closes them.
pub fn silence() -> Result<(), Failure> {
    let null = File::options().read(true).write(true).open("/dev/null").naming("/dev/null")?;
    dup2_stdin(&null).and_then(|()| dup2_stdout(&null)).and_then(|()| dup2_stderr(&null)).naming("/dev/null")
}

fn execute(description: &Description, command: &[OsString]) -> Result<i32, Failure> {
    bounds::enforce(description.demand.namespaces)?;
    landlock_rules::enforce(&description.wall, description.demand.landlock)?;
    seccomp::enforce()?;
    let Some((program, args)) = command.split_first() else { return Ok(0) };
    sys::hold_back(&[]).naming("signals could not be let through")?;
    let error = Command::new(program).args(args).current_dir(&description.folder).exec();
    Err(Failure::Program { program: program.into(), error })
}
