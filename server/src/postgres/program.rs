//! How a program of Postgres is run: as whom, with what around it, and for how long.

use super::place::Place;
use super::{Error, reach};
use rustix::process::Signal;
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const SAID_BYTES_MAX: u64 = 16 * 1024;
const POLL: Duration = Duration::from_millis(3);

/// A command for `program` that ends with us, knows nothing of our environment and hears no Ctrl-C of our
/// terminal: we stop Postgres ourselves, after the last write.
pub(super) fn command(program: &Path, place: &Place, on_our_death: Signal) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        // Entered after the change of user, so an unreachable data directory shows here.
        .current_dir(&place.home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(account) = &place.run_as {
        command.uid(account.uid).gid(account.gid);
    }
    wall::die_with_parent(&mut command, on_our_death);
    command
}

pub(super) fn spawn(mut command: Command, program: &Path, place: &Place) -> Result<Child, Error> {
    command.spawn().map_err(|source| {
        let wall = match &place.run_as {
            Some(account) if source.kind() == ErrorKind::PermissionDenied => {
                reach::wall_before(&place.home, account).or_else(|| reach::wall_before(program, account))
            }
            _ => None,
        };
        wall.map_or_else(|| Error::io("run", program)(source), Error::Unreachable)
    })
}

/// Runs to the end; what it says on standard error explains a failure.
pub(super) fn run(
    command: Command,
    program: &Path,
    name: &'static str,
    place: &Place,
    limit: Duration,
) -> Result<(), Error> {
    let mut child = spawn(command, program, place)?;
    let said = said_by(&mut child);
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(Error::io("wait for", program))? {
            Some(status) => break status,
            None if began.elapsed() > limit => {
                child.kill().and_then(|()| child.wait()).map_err(Error::io("end", program))?;
                return Err(Error::TooSlow { program: name, limit, said: said() });
            }
            None => std::thread::sleep(POLL),
        }
    };
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed { program: name, status: status.to_string(), said: said() })
}

/// Collects standard error aside, since a full pipe would stop the program.
fn said_by(child: &mut Child) -> impl FnOnce() -> String + use<> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stderr) = child.stderr.take() {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = stderr.by_ref().take(SAID_BYTES_MAX).read_to_end(&mut said);
            let _ = sender.send(said);
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        });
    }
    // A grandchild may hold the pipe open; the explanation is not worth waiting for it.
    move || {
        let said = receiver.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        String::from_utf8_lossy(&said).trim().to_owned()
    }
}
