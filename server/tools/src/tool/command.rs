//! Running a program. It may take only so long and say only so much, and whatever it started ends with it.

mod git;

use std::{
    io::{self, PipeReader, Read},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use crate::Answer;

const SECONDS: u64 = 120;
const SECONDS_MAX: u64 = 600;
/// More is read and thrown away, so that the program does not wait for a reader.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// How long pipes may stay open after their program is gone.
const DRAIN: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    command: String,
    #[serde(default)]
    seconds: Option<u64>,
}

pub fn run(folder: &Path, wanted: &Run) -> Answer {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(&wanted.command);
    finish(folder, command, wanted.seconds.unwrap_or(SECONDS).clamp(1, SECONDS_MAX))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Git {
    command: String,
}

pub fn git(folder: &Path, wanted: &Git) -> Answer {
    let arguments = match git::arguments(&wanted.command) {
        Ok(arguments) => arguments,
        Err(wrong) => return Answer::failed(wrong.0),
    };
    let mut list = Command::new("git");
    list.args(git::LIST_FILTERS).envs(git::ENVIRONMENT);
    let filters = match gather(folder, list, Voices::Output, SECONDS) {
        // It ends with 1 where there are none.
        Ok((Some(status), filters)) if matches!(status.code(), Some(0 | 1)) && !is_full(&filters) => filters,
        Ok(_) => return Answer::failed("The repository's settings cannot be read."),
        Err(error) => return not_started(&error),
    };
    let mut command = Command::new("git");
    command.args(git::without_filters(&filters)).args(arguments).envs(git::ENVIRONMENT);
    finish(folder, command, SECONDS)
}

fn finish(folder: &Path, command: Command, seconds: u64) -> Answer {
    let (status, output) = match gather(folder, command, Voices::Both, seconds) {
        Ok(gathered) => gathered,
        Err(error) => return not_started(&error),
    };
    let output = String::from_utf8_lossy(&output).into_owned();
    match status {
        Some(status) if status.success() => {
            Answer::done(if output.is_empty() { "Done, it said nothing.".to_owned() } else { output })
        }
        Some(status) => Answer::failed(format!("{output}\n[{}]", ended(status))),
        None => Answer::failed(format!("{output}\n[It was stopped after {seconds} s.]")),
    }
}

fn not_started(error: &io::Error) -> Answer {
    Answer::failed(format!("It could not be started: {error}."))
}

fn is_full(output: &[u8]) -> bool {
    output.len() == OUTPUT_BYTES_MAX
}

/// Which of a program's voices is heard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Voices {
    Output,
    /// On one pipe, so that what it says stays in the order in which it was said.
    Both,
}

/// What it said, and how it ended: not at all, where it had to be stopped.
fn gather(
    folder: &Path,
    command: Command,
    voices: Voices,
    seconds: u64,
) -> io::Result<(Option<ExitStatus>, Vec<u8>)> {
    let (mut child, pipe) = start(folder, command, voices)?;
    let (said, heard) = mpsc::channel();
    listen(pipe, said);
    let status = wait(&mut child, Instant::now() + Duration::from_secs(seconds));
    // What it left running would hold the pipes, and nobody would own it.
    end_group(&child);
    let mut output = Vec::new();
    let drained = Instant::now() + DRAIN;
    while let Ok(piece) = heard.recv_timeout(drained.saturating_duration_since(Instant::now())) {
        let room = OUTPUT_BYTES_MAX.saturating_sub(output.len());
        output.extend_from_slice(&piece[..piece.len().min(room)]);
    }
    Ok((status, output))
}

/// The command is gone when this returns, and with it our own end for writing: the pipe ends when the program's last
/// copy is closed.
fn start(folder: &Path, mut command: Command, voices: Voices) -> io::Result<(Child, PipeReader)> {
    let (heard, said) = io::pipe()?;
    let errors = if voices == Voices::Both { said.try_clone()?.into() } else { Stdio::null() };
    command.current_dir(folder).stdin(Stdio::null()).stdout(said).stderr(errors);
    command.process_group(0);
    Ok((command.spawn()?, heard))
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("It ended with code {code}."),
        (None, Some(signal)) => format!("It was ended by signal {signal}."),
        (None, None) => "It ended.".to_owned(),
    }
}

fn wait(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_millis(2);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= until {
            end_group(child);
            let _ = child.wait();
            return None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn end_group(child: &Child) {
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn listen(mut pipe: PipeReader, said: mpsc::Sender<Vec<u8>>) {
    thread::spawn(move || {
        let (mut piece, mut sent) = (vec![0; 16 * 1024], 0);
        while let Ok(read @ 1..) = pipe.read(&mut piece) {
            if sent < OUTPUT_BYTES_MAX {
                sent += read;
                if said.send(piece[..read].to_vec()).is_err() {
                    return;
                }
            }
        }
    });
}
