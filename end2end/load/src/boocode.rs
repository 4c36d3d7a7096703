//! A BooCode of our own: a data directory that goes with us, its processes, and a browser that is logged in.

use std::{
    ffi::OsString,
    fs::{self, File},
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use domain::{
    feed::Snapshot,
    id::{ChatId, MessageId, SessionId},
    page::Page,
    settings::{Shown, WorktreeSettings},
};
use reqwest::{Client, RequestBuilder, StatusCode, header, redirect};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout},
    time::{Instant, sleep, timeout},
};
use uuid::Uuid;

use crate::{Programs, part::tied_to_us};

/// Generous, because the machine may be busy; nothing waits this long when all is well.
pub const PATIENCE: Duration = Duration::from_secs(60);
const CALL_LIMIT: Duration = Duration::from_secs(20);
pub const RETRY_EVERY: Duration = Duration::from_millis(20);
const LOG_TAIL_LINES: usize = 30;
const TOOLS: &str = "BOOCODE_TOOLS_DIR";
const SMALL_MODEL: &str = "BOOCODE_SMALL_MODEL";

/// A model server as BooCode is told of it. More than one task at once makes it a cloud's.
pub struct ModelServer {
    pub name: &'static str,
    pub url: String,
    pub parallel: u32,
}

pub struct Home {
    folder: TempDir,
    boocode: PathBuf,
    pg_bin_dir: PathBuf,
    /// The same at every start, because the browser's cookie belongs to it.
    port: u16,
    client: Client,
    environment: Vec<(&'static str, OsString)>,
}

impl Home {
    pub fn new(programs: &Programs, servers: &[ModelServer]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("boocode-load-").tempdir()?;
        // Root's Postgres is another user, who has to pass through here.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        fs::write(folder.path().join("boocode.toml"), settings(servers))?;
        let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).tcp_nodelay(true);
        Ok(Self {
            folder,
            boocode: programs.boocode.clone(),
            pg_bin_dir: programs.pg_bin_dir.clone(),
            port: free_port()?,
            client: client.build()?,
            environment: Vec::new(),
        })
    }

    /// What the server finds in its environment, from its next start on.
    pub fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.environment.push((name, value.into()));
    }

    /// Agents' own programs are found there.
    pub fn set_agents(&mut self, tools: &Path) {
        self.set(TOOLS, tools);
    }

    pub fn has_agents(&self) -> bool {
        self.environment.iter().any(|(name, _)| *name == TOOLS)
    }

    /// The small real model runs beside those that are named.
    pub fn set_small_model(&mut self, python: &Path) {
        self.set(SMALL_MODEL, "true");
        self.set("BOOCODE_SMALL_MODEL_PYTHON", python);
    }

    fn has_small_model(&self) -> bool {
        self.environment.iter().any(|(name, _)| *name == SMALL_MODEL)
    }

    /// Where projects may lie.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Where its Postgres works.
    pub fn cluster(&self) -> PathBuf {
        self.data_dir().join("postgres/cluster")
    }

    pub fn spawn(&self) -> Result<Server> {
        let folder = self.folder.path();
        let log = File::options().create(true).append(true).open(self.log())?;
        let mut command = tied_to_us(&self.boocode);
        command
            .args(["serve", "--port", &self.port.to_string(), "--no-discover"])
            .args((!self.has_small_model()).then_some("--no-model"))
            .arg("--config")
            .arg(folder.join("boocode.toml"))
            .arg("--data-dir")
            .arg(self.data_dir())
            .arg("--allowed-root")
            .arg(folder)
            .arg("--pg-bin-dir")
            .arg(&self.pg_bin_dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        let mut child = command.spawn().context("cannot start boocode")?;
        let stdout = child.stdout.take().context("no stdout")?;
        let pid = child.id().context("boocode has ended")?;
        Ok(Server { child, pid, lines: BufReader::new(stdout).lines() })
    }

    /// A server that is up, and a browser that is logged in to it.
    pub async fn start(&self) -> Result<(Server, Browser)> {
        let mut server = self.spawn()?;
        let link = timeout(PATIENCE, server.ready()).await.context("boocode does not get ready")??;
        let answer = self.client.get(&link).send().await?;
        let cookie = answer.headers().get(header::SET_COOKIE).context("the printed link does not log in")?;
        let cookie = cookie.to_str()?.split(';').next().unwrap_or_default().to_owned();
        let url = link.split("/login").next().unwrap_or_default().to_owned();
        Ok((server, Browser { url, cookie, client: self.client.clone() }))
    }

    /// A project with a commit, and its session.
    pub async fn new_project(&self, browser: &Browser) -> Result<SessionId> {
        let path = self.folder.path().join(Uuid::now_v7().to_string());
        fs::create_dir(&path)?;
        fs::write(path.join("a.txt"), "a\n")?;
        let git = |arguments: &[&str]| -> Result<()> {
            let mut git = std::process::Command::new("git");
            git.arg("-C").arg(&path).args(["-c", "user.name=A", "-c", "user.email=a@b"]).args(arguments);
            let status = git.status()?;
            if status.success() { Ok(()) } else { bail!("git {arguments:?}: {status}") }
        };
        git(&["init", "--quiet"])?;
        git(&["add", "--all"])?;
        git(&["commit", "--quiet", "--message", "first"])?;
        browser.call("add_project", &[("path", path.to_string_lossy().into_owned())]).await?;
        let workspace = browser.snapshot(None).await?.state.workspace;
        Ok(workspace.sessions.last().context("the project has no session")?.id)
    }

    /// A project with one chat in it.
    pub async fn new_chat(&self, browser: &Browser) -> Result<ChatId> {
        let chats = async || -> Result<Vec<ChatId>> {
            let page = browser.snapshot(None).await?.state;
            Ok(page.workspace.chats.iter().map(|chat| chat.id).collect())
        };
        let before = chats().await?;
        let path = self.folder.path().join(Uuid::now_v7().to_string());
        let git = std::process::Command::new("git").args(["init", "--quiet"]).arg(&path).status()?;
        if !git.success() {
            bail!("git init: {git}");
        }
        browser.call("add_project", &[("path", path.to_string_lossy().into_owned())]).await?;
        chats().await?.into_iter().find(|chat| !before.contains(chat)).context("the project has no chat")
    }

    /// Adds what the server said last, and leaves the folder behind, for a look at what went wrong.
    pub fn explain<T>(&mut self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            self.folder.disable_cleanup(true);
            let place = self.folder.path().display();
            error.context(format!("{}\nwhat is left of it: {place}", self.log_tail()))
        })
    }

    fn log_tail(&self) -> String {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

/// Below those that the kernel hands out by itself, so that nobody gets it while the server is down.
fn free_port() -> Result<u16> {
    let first = 20_000 + (std::process::id() % 5_000) as u16;
    let mut ports = first..first + 5_000;
    let free = ports.find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    free.context("no port is free")
}

fn settings(servers: &[ModelServer]) -> String {
    let one = |server: &ModelServer| {
        let lane = if server.parallel > 1 { "cloud" } else { "local" };
        format!(
            "[[model_server]]\nname = \"{}\"\nurl = \"{}\"\nlane = \"{lane}\"\nparallel = {}\n",
            server.name, server.url, server.parallel
        )
    };
    servers.iter().map(one).collect()
}

/// One BooCode process. Dropped, it is killed.
pub struct Server {
    child: Child,
    pub pid: u32,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Waits for the link that logs in. May be given up and asked again.
    pub async fn ready(&mut self) -> Result<String> {
        loop {
            let line = self.lines.next_line().await?.context("boocode ended before it was ready")?;
            if let Some((_, link)) = line.split_once("ready: ") {
                return Ok(link.trim().to_owned());
            }
        }
    }

    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// As `kill -9` does, and waited for.
    pub async fn kill(&mut self) -> Result<()> {
        // One that has just ended by itself is as dead.
        let _ = self.child.start_kill();
        self.child.wait().await?;
        Ok(())
    }

    pub async fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).context("a process id")?;
        kill_process(pid, Signal::TERM)?;
        let status = timeout(PATIENCE, self.child.wait()).await.context("boocode does not stop")??;
        if !status.success() {
            bail!("boocode ended badly: {status}");
        }
        Ok(())
    }
}

#[derive(Clone)]
pub struct Browser {
    pub url: String,
    pub cookie: String,
    client: Client,
}

impl Browser {
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url)).header(header::COOKIE, &self.cookie)
    }

    pub async fn call(&self, endpoint: &str, fields: &[(&str, String)]) -> Result<String> {
        let mut body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        if body.is_empty() {
            body = "_=".into();
        }
        let request = self
            .client
            .post(format!("{}/api/{endpoint}", self.url))
            .timeout(CALL_LIMIT)
            .header(header::COOKIE, &self.cookie)
            .header(header::ORIGIN, &self.url)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = request.body(body).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        if status != StatusCode::OK && !status.is_redirection() {
            bail!("{endpoint}: {status} {text}");
        }
        Ok(text)
    }

    /// As a script does it: asks with a body, looks without one.
    pub async fn script(&self, path: &str, body: Option<&Value>) -> Result<Value> {
        let url = format!("{}{path}", self.url);
        let request = match body {
            Some(body) => self.client.post(url).header(header::ORIGIN, &self.url).json(body),
            None => self.client.get(url),
        };
        let answer = request.timeout(CALL_LIMIT).header(header::COOKIE, &self.cookie).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        if !status.is_success() {
            bail!("{path}: {status} {text}");
        }
        Ok(serde_json::from_str(&text)?)
    }

    pub async fn snapshot(&self, chat: Option<ChatId>) -> Result<Snapshot<Page>> {
        let path = chat.map_or("/".to_owned(), |chat| format!("/chat/{chat}"));
        let text = self.call("page_snapshot", &[("path", path)]).await?;
        Ok(serde_json::from_str(&text)?)
    }

    /// What Settings tell of worktrees.
    pub async fn worktrees(&self) -> Result<WorktreeSettings> {
        let text = self.call("show_settings", &[("section", "worktrees".to_owned())]).await?;
        match serde_json::from_str(&text)? {
            Shown::Worktrees(told) => Ok(told),
            other => bail!("not what was asked for: {other:?}"),
        }
    }

    /// Asks, and again while the server is not able to answer: the same question, so it is asked once.
    pub async fn ask(&self, question: &Question) -> Result<()> {
        let began = Instant::now();
        loop {
            match self.call("ask", &question.fields()).await {
                Ok(_) => return Ok(()),
                Err(error) if began.elapsed() > PATIENCE => return Err(error),
                Err(_) => sleep(RETRY_EVERY).await,
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Question {
    pub chat: ChatId,
    pub message: MessageId,
    pub text: String,
    pub model: String,
}

impl Question {
    pub fn new(chat: ChatId, model: &str, text: String) -> Self {
        Self { chat, message: MessageId(Uuid::now_v7()), text, model: model.to_owned() }
    }

    pub fn fields(&self) -> [(&'static str, String); 4] {
        [
            ("chat", self.chat.to_string()),
            ("message", self.message.to_string()),
            ("text", self.text.clone()),
            ("model", self.model.clone()),
        ]
    }
}
