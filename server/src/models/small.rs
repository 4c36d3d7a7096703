//! The small real model as a child of ours: started, watched, started again for as long as it is wanted, and ended with us.

use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rand::RngCore;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStderr, ChildStdout, Command},
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::secret::Secret;

/// As the server below calls it.
pub const MODEL: &str = "smollm2-135m";
/// As its script sets it.
pub const CONTEXT_TOKENS: u32 = 4096;

const SERVE: &str = include_str!("../../small_model/serve.py");
const READY_LIMIT: Duration = Duration::from_secs(60);
const READY_LINE_BYTES_MAX: u64 = 4 * 1024;
/// How long it has, after its stdin ended, to go by itself.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);
const GONE_LIMIT: Duration = Duration::from_secs(5);
const LAST_WORDS_BYTES_MAX: usize = 2 * 1024;
/// After so many in a row it is tried rarely.
const FAILURES_MAX: u32 = 5;
const RARELY: Duration = Duration::from_secs(5 * 60);
/// A child that lived this long was not failing to start.
const STEADY_AFTER: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmallState {
    Starting,
    Ready { port: u16, key: Secret },
    Down { reason: String },
}

pub fn start(python: PathBuf, tasks: &TaskTracker, cancel: CancellationToken) -> watch::Receiver<SmallState> {
    let (state, receiver) = watch::channel(SmallState::Starting);
    tasks.spawn(keep_running(python, state, cancel));
    receiver
}

async fn keep_running(python: PathBuf, state: watch::Sender<SmallState>, cancel: CancellationToken) {
    let mut failures = 0;
    loop {
        state.send_replace(SmallState::Starting);
        let started = Instant::now();
        let Some(reason) = live(&python, &state, &cancel).await else {
            return;
        };
        failures = if started.elapsed() > STEADY_AFTER { 1 } else { failures + 1 };
        tracing::warn!(failures, "the small model is down: {reason}");
        let pause = pause_after(failures);
        let reason = format!("{reason} — trying again in {} s", pause.as_secs());
        state.send_replace(SmallState::Down { reason });
        if cancel.run_until_cancelled(sleep(pause)).await.is_none() {
            return;
        }
    }
}

/// What keeps it from starting may be mended while we run.
fn pause_after(failures: u32) -> Duration {
    if failures < FAILURES_MAX { Duration::from_secs(1 << (failures - 1)) } else { RARELY }
}

/// One life of the child, from start to verified end. `None` when we were asked to stop, else why it ended.
async fn live(
    python: &Path,
    state: &watch::Sender<SmallState>,
    cancel: &CancellationToken,
) -> Option<String> {
    let key = random_key();
    let mut child = match spawn(python) {
        Ok(child) => child,
        Err(error) => return Some(format!("{} cannot be started: {error}", python.display())),
    };
    let group = child.id().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
    let mut stdin = child.stdin.take();
    let last_words = child.stderr.take().map(|stderr| tokio::spawn(last_words(stderr)));
    let ready = announce(stdin.as_mut(), child.stdout.take(), &key);

    let ended = tokio::select! {
        () = cancel.cancelled() => None,
        status = child.wait() => Some(describe(status)),
        ready = timeout(READY_LIMIT, ready) => match ready {
            Ok(Ok(port)) => {
                tracing::info!(port, "the small model is ready");
                state.send_replace(SmallState::Ready { port, key });
                tokio::select! {
                    () = cancel.cancelled() => None,
                    status = child.wait() => Some(describe(status)),
                }
            }
            // It closed its stdout, most likely because it is ending: its status and last words tell more.
            Ok(Err(error)) => match timeout(LEAVE_LIMIT, child.wait()).await {
                Ok(status) => Some(describe(status)),
                Err(_) => Some(format!("the small model did not say its port: {error}")),
            },
            Err(_) => Some(format!("the small model was not ready within {} s", READY_LIMIT.as_secs())),
        },
    };
    // The end of its stdin is the child's signal to leave.
    drop(stdin);
    end(&mut child, group).await;
    let words = match last_words {
        Some(task) => timeout(LEAVE_LIMIT, task).await.ok().and_then(Result::ok).unwrap_or_default(),
        None => String::new(),
    };
    ended.map(|reason| if words.is_empty() { reason } else { format!("{reason}: {words}") })
}

fn spawn(python: &Path) -> io::Result<Child> {
    Command::new(python)
        // Isolated: neither the user's site packages nor variables nor the current folder have a say.
        .args(["-I", "-c", SERVE])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// Hands the key over and reads the port back. The key goes by pipe: arguments are there for everyone to read.
async fn announce(
    stdin: Option<&mut tokio::process::ChildStdin>,
    stdout: Option<ChildStdout>,
    key: &Secret,
) -> io::Result<u16> {
    #[derive(Deserialize)]
    struct Ready {
        port: u16,
    }
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    stdin.write_all(format!("{}\n", key.expose()).as_bytes()).await?;
    stdin.flush().await?;
    let mut line = String::new();
    BufReader::new(stdout).take(READY_LINE_BYTES_MAX).read_line(&mut line).await?;
    Ok(serde_json::from_str::<Ready>(&line)?.port)
}

/// Returns when the child is reaped and its whole group is gone.
async fn end(child: &mut Child, group: Option<Pid>) {
    let left = timeout(LEAVE_LIMIT, child.wait()).await;
    let Some(group) = group else { return };
    let deadline = Instant::now() + GONE_LIMIT;
    let mut reaped = left.is_ok();
    while !reaped || test_kill_process_group(group).is_ok() {
        // An error means that the group has just gone, which the loop's condition notices.
        let _ = kill_process_group(group, Signal::KILL);
        reaped = reaped || timeout(LEAVE_LIMIT, child.wait()).await.is_ok();
        if Instant::now() > deadline {
            tracing::error!(group = group.as_raw_nonzero(), "the small model could not be ended");
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// Reads stderr to its end, so that the child never blocks on it, and keeps the last line.
async fn last_words(mut stderr: ChildStderr) -> String {
    let mut tail = VecDeque::new();
    let mut piece = [0; 1024];
    while let Ok(length @ 1..) = stderr.read(&mut piece).await {
        tail.extend(&piece[..length]);
        tail.drain(..tail.len().saturating_sub(LAST_WORDS_BYTES_MAX));
    }
    let tail: Vec<u8> = tail.into();
    let text = String::from_utf8_lossy(&tail);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

fn describe(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => format!("the small model ended ({status})"),
        Err(error) => format!("the small model cannot be waited for: {error}"),
    }
}

fn random_key() -> Secret {
    let mut bytes = [0u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_tried_again_soon_and_then_rarely_but_always() {
        let pauses: Vec<_> = [1, 2, 3, 4, 5, 1_000].map(|failures| pause_after(failures).as_secs()).into();
        assert_eq!(pauses, [1, 2, 4, 8, 300, 300]);
    }

    #[test]
    fn the_script_sets_what_the_catalogue_says() {
        assert!(SERVE.contains(&format!("\nCONTEXT_TOKENS = {CONTEXT_TOKENS}\n")));
    }
}
