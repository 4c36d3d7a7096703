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

struct Agent {
    name: &'static str,
    program: &'static str,
    package: &'static str,
    /// The newest that was tried with this server.
    version: &'static str,
}

const AGENTS: &[Agent] = &[
    agent("Claude Code", "claude-agent-acp", "@agentclientprotocol/claude-agent-acp", "0.49.0"),
    agent("OpenCode", "opencode", "opencode-ai", "1.18.33"),
    agent("Qwen Code", "qwen", "@qwen-code/qwen-code", "0.15.10"),
    agent("Goose", "goose", "@aaif/goose-binary-linux-x64", "1.52.0"),
    agent("Codex", "codex-acp", "@agentclientprotocol/codex-acp", "2.6.0"),
    agent("Gemini CLI", "gemini", "@google/gemini-cli", "0.61.0"),
];

const fn agent(
    name: &'static str,
    program: &'static str,
    package: &'static str,
    version: &'static str,
) -> Agent {
    Agent { name, program, package, version }
}

pub(super) async fn agents() -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    join_all(AGENTS.iter().map(|agent| look_for_agent(agent, &path))).await
}

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

async fn look_for_agent(agent: &Agent, path: &OsStr) -> Finding {
    let install = format!("npm install -g {}@{}", agent.package, agent.version);
    let Some(file) = on_path(agent.program, path) else {
        return Finding::absent(agent.name, format!("{} not found on PATH", agent.program), install);
    };
    // Its package says the version without being run: some agents start working when asked for it.
    let version = match package_version(&file, agent.package) {
        Some(version) => Ok(version),
        None => first_line(&file, &["--version"]).await,
    };
    match version {
        Ok(version) if version.contains(agent.version) => {
            Finding::fine(agent.name, format!("{version} ({})", file.display()))
        }
        Ok(version) => {
            let detail = format!("{version} ({}); {} was tried", file.display(), agent.version);
            Finding { fix: Some(install), ..Finding::fine(agent.name, detail) }
        }
        Err(problem) => Finding::absent(agent.name, format!("{} {problem}", file.display()), install),
    }
}

fn package_version(program: &Path, package: &str) -> Option<String> {
    let file = program.canonicalize().ok()?;
    file.ancestors().skip(1).take(6).find_map(|folder| {
        let text = std::fs::read(folder.join("package.json")).ok()?;
        let json: serde_json::Value = serde_json::from_slice(&text).ok()?;
        (json["name"] == package).then(|| json["version"].as_str().map(String::from))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{doctor::Verdict, test_program::write_program};

    #[tokio::test]
    async fn agents_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        write_program(&bin.join("plain"), "echo plain 1.2.3");
        write_program(&bin.join("old"), "echo old 1.0.0");
        write_program(&bin.join("failing"), "exit 2");
        // As npm installs it: a link into the package, which must not be run to learn its version.
        let package = folder.path().join("lib/node_modules/@x/packaged");
        write_program(&package.join("dist/cli.js"), "touch ran; echo 9.9.9");
        std::fs::write(package.join("package.json"), r#"{ "name": "@x/packaged", "version": "1.2.3" }"#)
            .unwrap();
        std::os::unix::fs::symlink(package.join("dist/cli.js"), bin.join("packaged")).unwrap();

        let check =
            async |program: &'static str, package: &'static str, verdict, detail: &str, fix: Option<&str>| {
                let found = look_for_agent(&agent("It", program, package, "1.2.3"), bin.as_os_str()).await;
                let shown = found.detail.replace(bin.to_str().unwrap(), "BIN");
                assert_eq!((found.verdict, &*shown, found.fix.as_deref()), (verdict, detail, fix));
            };
        check("plain", "p", Verdict::Fine, "plain 1.2.3 (BIN/plain)", None).await;
        check("packaged", "@x/packaged", Verdict::Fine, "1.2.3 (BIN/packaged)", None).await;
        let install = Some("npm install -g p@1.2.3");
        check("old", "p", Verdict::Fine, "old 1.0.0 (BIN/old); 1.2.3 was tried", install).await;
        check("failing", "p", Verdict::Absent, "BIN/failing fails (exit status: 2)", install).await;
        check("missing", "p", Verdict::Absent, "missing not found on PATH", install).await;
        assert!(!package.join("dist/ran").exists());
    }
}
