//! Programs on the search path and their versions.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use futures::future::join_all;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{io::AsyncReadExt, process::Command, time::timeout};

use super::Finding;

/// Programs on node take seconds to start on a busy machine.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: u64 = 4 * 1024;

pub(super) async fn tools() -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tools = [
        ("git", "agents work with it", "apt-get install git"),
        ("node", "most agents run on it", "apt-get install nodejs npm"),
        ("python3", "the small model runs on it", "apt-get install python3 python3-venv"),
    ];
    let look = async |(program, why, fix): (&'static str, &str, &str)| match on_path(program, &path) {
        None => Finding::absent(program, format!("not found on PATH; {why}"), fix),
        Some(file) => match first_line(&file, &["--version"]).await {
            Ok(version) => Finding::fine(program, format!("{version} ({})", file.display())),
            Err(problem) => Finding::absent(program, format!("{} {problem}; {why}", file.display()), fix),
        },
    };
    join_all(tools.map(look)).await
}

/// What a program says in its first line, within the time limit and with nothing of our environment but the
/// search path, which scripts need to find their interpreter.
pub(super) async fn first_line(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let spawned = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    let mut child = spawned.map_err(|error| format!("cannot be started: {error}"))?;
    let group = child.id().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
    let stdout = child.stdout.take();
    let exchange = async {
        let mut said = Vec::new();
        if let Some(stdout) = stdout {
            stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut said).await.map_err(|error| error.to_string())?;
        }
        let status = child.wait().await.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().trim().to_owned();
        if status.success() { Ok(text) } else { Err(format!("fails ({status})")) }
    };
    let answer = timeout(ANSWER_LIMIT, exchange).await;
    if answer.is_err()
        && let Some(group) = group
    {
        // It may have left by itself just now; then there is nothing to end.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = timeout(ANSWER_LIMIT, child.wait()).await;
    }
    answer.unwrap_or_else(|_| Err(format!("does not answer within {} s", ANSWER_LIMIT.as_secs())))
}

pub(super) fn on_path(program: &str, path: &OsStr) -> Option<PathBuf> {
    let executable =
        |file: &PathBuf| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(executable)
}
