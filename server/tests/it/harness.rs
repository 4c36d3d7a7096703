//! A world for one test: a database of its own, a scripted model server, and as many BooCode processes as it
//! needs.

mod page;
mod postgres;

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use domain::{
    feed::Snapshot,
    id::{ChatId, MessageId},
    page::Page,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode, header};
use scripted::Script;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpListener,
    process::{Child, Command},
    time::timeout,
};
use uuid::Uuid;

pub use page::Watcher;

/// Generous, because the machine may be busy; nothing waits this long when all is well.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct World {
    pub database_url: String,
    pub model_url: String,
    pub folder: TempDir,
    client: Client,
}

impl World {
    pub async fn new() -> Self {
        Self::with(Script { tokens_per_second: 200.0, ..Script::default() }).await
    }

    pub async fn with(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model_url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(scripted::serve(listener, script));
        let client = server::backend::http_client().unwrap();
        let folder = tempfile::Builder::new().prefix("boocode-test-").tempdir().unwrap();
        Self { database_url: postgres::new_database().await, model_url, folder, client }
    }

    /// A server with its own data directory on this world's database.
    pub async fn server(&self, name: &str) -> Server {
        self.server_with(name, &["--model-server", &format!("local={}", self.model_url)]).await
    }

    pub async fn server_with(&self, name: &str, args: &[&str]) -> Server {
        let mut command = self.command(name);
        command.args(args);
        Server::start(command, self.client.clone()).await
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_boocode"));
        command
            .args(["serve", "--port", "0", "--no-model", "--no-discover"])
            .arg("--data-dir")
            .arg(self.folder.path().join(name))
            .arg("--allowed-root")
            .arg(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("RUST_LOG", "warn,server=debug")
            .env("DATABASE_URL", &self.database_url);
        command
    }

    /// What the model server saw.
    pub async fn model_log(&self) -> Value {
        let url = format!("{}/scripted/requests", self.model_url);
        self.client.get(url).send().await.unwrap().json().await.unwrap()
    }

    pub fn repository(&self, name: &str) -> std::path::PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        git2_init(&path);
        path
    }
}

fn git2_init(path: &Path) {
    let done = std::process::Command::new("git").arg("init").arg("-q").arg(path).status().unwrap();
    assert!(done.success());
}

/// One BooCode process, with a browser that is logged in to it.
pub struct Server {
    child: Child,
    pub url: String,
    pub cookie: String,
    pub client: Client,
}

impl Server {
    async fn start(mut command: Command, client: Client) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let link = timeout(PATIENCE, async {
            loop {
                let line = lines.next_line().await.unwrap().expect("the server ended before it was ready");
                if let Some((_, link)) = line.split_once("ready: ") {
                    return link.trim().to_owned();
                }
            }
        });
        let link = link.await.expect("the server did not get ready");
        // Somebody has to read what comes later, or the server blocks on a full pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let answer = client.get(&link).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "the printed link logs in");
        let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let url = link.split("/login").next().unwrap().to_owned();
        Self { child, url, cookie, client }
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url)).header(header::COOKIE, &self.cookie)
    }

    pub fn post(&self, endpoint: &str, fields: &[(&str, String)]) -> RequestBuilder {
        let mut body = url_encoded(fields);
        if body.is_empty() {
            body = "_=".into();
        }
        self.client
            .post(format!("{}/api/{endpoint}", self.url))
            .header(header::COOKIE, &self.cookie)
            .header(header::ORIGIN, &self.url)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body)
    }

    pub async fn call(&self, endpoint: &str, fields: &[(&str, String)]) -> Response {
        let answer = self.post(endpoint, fields).send().await.unwrap();
        let status = answer.status();
        assert!(
            status.is_success() || status.is_redirection(),
            "{endpoint}: {status} {}",
            answer.text().await.unwrap()
        );
        answer
    }

    /// The words of a refusal.
    pub async fn refusal(&self, endpoint: &str, fields: &[(&str, String)]) -> String {
        let answer = self.post(endpoint, fields).send().await.unwrap();
        assert!(!answer.status().is_success(), "{endpoint} was not refused");
        answer.text().await.unwrap()
    }

    pub async fn snapshot(&self, chat: Option<ChatId>) -> Snapshot<Page> {
        let fields: Vec<_> = chat.map(|chat| ("chat", chat.to_string())).into_iter().collect();
        self.call("page_snapshot", &fields).await.json().await.unwrap()
    }

    /// A project with one chat in it.
    pub async fn new_chat(&self, world: &World) -> ChatId {
        let before: Vec<_> =
            self.snapshot(None).await.state.workspace.chats.iter().map(|chat| chat.id).collect();
        let path = world.repository(&Uuid::now_v7().to_string());
        self.call("add_project", &[("path", path.to_string_lossy().into_owned())]).await;
        let after = self.snapshot(None).await.state.workspace.chats;
        after.into_iter().map(|chat| chat.id).find(|chat| !before.contains(chat)).unwrap()
    }

    pub async fn ask(&self, chat: ChatId, text: &str) -> MessageId {
        let message = MessageId(Uuid::now_v7());
        let fields = [
            ("chat", chat.to_string()),
            ("message", message.to_string()),
            ("text", text.to_owned()),
            ("model", "local/small".to_owned()),
        ];
        self.call("ask", &fields).await;
        message
    }

    pub async fn watch(&self, chat: ChatId) -> Watcher {
        Watcher::new(self, chat).await
    }

    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// As `kill -9` does, and waited for.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    pub async fn stop(mut self) {
        let pid = rustix::process::Pid::from_raw(self.pid() as i32).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = timeout(PATIENCE, self.child.wait()).await.expect("the server does not stop").unwrap();
        assert!(status.success(), "a clean stop ends with {status}");
    }
}

fn url_encoded(fields: &[(&str, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Asks again and again until `check` gives something.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut check: impl FnMut() -> F) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = check().await {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
