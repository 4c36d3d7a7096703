//! A world for one test: a database of its own, a scripted model server, and as many BooCode processes as it
//! needs.

pub mod door;
mod kernel;
mod page;
mod postgres;

use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
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
    task::AbortHandle,
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
    model: AbortHandle,
}

impl World {
    pub async fn new() -> Self {
        Self::with(Script { tokens_per_second: 200.0, ..Script::default() }).await
    }

    pub async fn with(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model_url = format!("http://{}", listener.local_addr().unwrap());
        let model = tokio::spawn(scripted::serve(listener, script)).abort_handle();
        let client = server::backend::http_client().unwrap();
        let folder = tempfile::Builder::new().prefix("boocode-test-").tempdir().unwrap();
        Self { database_url: postgres::new_database().await, model_url, folder, client, model }
    }

    /// From now on nobody answers where the model server was.
    pub fn stop_model(&self) {
        self.model.abort();
    }

    /// A server with its own data directory on this world's database.
    pub async fn server(&self, name: &str) -> Server {
        self.server_with(name, &["--model-server", &format!("local={}", self.model_url)]).await
    }

    /// The same with a model server that is known to speak every protocol.
    pub async fn server_that_speaks_all(&self, name: &str) -> Server {
        self.server_with_settings(name, "").await
    }

    /// With more in its settings file than the model server.
    pub async fn server_with_settings(&self, name: &str, more: &str) -> Server {
        let speaks = r#"speaks = ["messages", "responses", "gemini"]"#;
        let model_server =
            format!("[[model_server]]\nname = \"local\"\nurl = \"{}\"\n{speaks}\n", self.model_url);
        let file = self.folder.path().join(format!("{name}.toml"));
        std::fs::write(&file, format!("{model_server}{more}")).unwrap();
        self.server_with(name, &["--config", file.to_str().unwrap()]).await
    }

    pub async fn server_with(&self, name: &str, args: &[&str]) -> Server {
        let mut command = self.command(name, 0);
        command.args(args);
        Server::start(command, self.client.clone(), None).await
    }

    /// A server whose model server asks for this key.
    pub async fn server_with_key(&self, name: &str, key: &str) -> Server {
        let settings = format!(
            "[[model_server]]\nname = \"local\"\nurl = \"{}\"\napi_key_env = \"SCRIPTED_KEY\"\n",
            self.model_url
        );
        let file = self.folder.path().join(format!("{name}.toml"));
        std::fs::write(&file, settings).unwrap();
        let mut command = self.command(name, 0);
        command.env("SCRIPTED_KEY", key).arg("--config").arg(file);
        Server::start(command, self.client.clone(), None).await
    }

    /// A server that finds its agents in a folder of the test's.
    pub async fn server_with_tools(&self, name: &str, tools: &Path) -> Server {
        let mut command = self.command(name, 0);
        command
            .env("BOOCODE_TOOLS_DIR", tools)
            .arg("--model-server")
            .arg(format!("local={}", self.model_url));
        Server::start(command, self.client.clone(), None).await
    }

    /// The same with programs of the test's before all others.
    pub async fn server_with_programs(&self, name: &str, tools: &Path, programs: &Path) -> Server {
        let mut path = programs.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = self.command(name, 0);
        command
            .env("BOOCODE_TOOLS_DIR", tools)
            .env("PATH", path)
            .arg("--model-server")
            .arg(format!("local={}", self.model_url));
        Server::start(command, self.client.clone(), None).await
    }

    /// A server on a kernel that has no Landlock, as far as it can tell.
    pub async fn server_without_landlock(&self, name: &str) -> Server {
        let mut command = self.command(name, 0);
        command.arg("--model-server").arg(format!("local={}", self.model_url));
        let child = kernel::on_one_without_landlock(move || Server::spawn(command));
        Server::greet(child, self.client.clone(), None).await
    }

    /// A server that is called by the name of a proxy in front, of which this test plays the part.
    pub async fn server_behind(&self, name: &str, public_url: &str, proxy: &str) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let mut command = self.command(name, port);
        command.args(["--public-url", public_url, "--trusted-proxy", proxy]);
        Server::start(command, self.client.clone(), Some(port)).await
    }

    /// A server on the Postgres that it runs itself.
    pub async fn server_with_own_postgres(&self, name: &str) -> Server {
        // As root, Postgres runs as somebody else, who has to get there.
        std::fs::set_permissions(self.folder.path(), Permissions::from_mode(0o711)).unwrap();
        let mut command = self.command(name, 0);
        command.env_remove("DATABASE_URL").arg("--model-server").arg(format!("local={}", self.model_url));
        Server::start(command, self.client.clone(), None).await
    }

    fn command(&self, name: &str, port: u16) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_boocode"));
        command
            .args(["serve", "--no-model", "--no-discover", "--port", &port.to_string()])
            .arg("--data-dir")
            .arg(self.folder.path().join(name))
            .arg("--allowed-root")
            .arg(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("RUST_LOG", "warn,server=debug")
            .env("BOOCODE_TOOLS_DIR", tools_dir())
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

/// Where the agents are that tests run: `cargo xtask test` installs them.
pub fn tools_dir() -> PathBuf {
    let env = |name: &str| std::env::var(name).ok();
    server::tools::dir(env).unwrap()
}

fn git2_init(path: &Path) {
    let done = std::process::Command::new("git").arg("init").arg("-q").arg(path).status().unwrap();
    assert!(done.success());
}

/// One BooCode process, with a browser that is logged in to it.
pub struct Server {
    child: Child,
    pub url: String,
    /// The cookie as it was set, with its attributes.
    pub set_cookie: String,
    pub cookie: String,
    pub client: Client,
}

impl Server {
    /// `behind` is the port of a server whose link leads to a proxy.
    async fn start(command: Command, client: Client, behind: Option<u16>) -> Self {
        Self::greet(Self::spawn(command), client, behind).await
    }

    fn spawn(mut command: Command) -> Child {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command.kill_on_drop(true).spawn().unwrap()
    }

    /// Waits until it is ready, and logs in.
    async fn greet(mut child: Child, client: Client, behind: Option<u16>) -> Self {
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
        let (home, path) = link.split_at(link.find("/login").unwrap());
        let url = behind.map_or(home.to_owned(), |port| format!("http://127.0.0.1:{port}"));
        let host = home.split("://").nth(1).unwrap();
        let answer = client.get(format!("{url}{path}")).header(header::HOST, host).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "the printed link logs in");
        let set_cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
        let cookie = set_cookie.split(';').next().unwrap().to_owned();
        Self { child, url, set_cookie, cookie, client }
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url)).header(header::COOKIE, &self.cookie)
    }

    pub fn post(&self, endpoint: &str, fields: &[(&str, String)]) -> RequestBuilder {
        self.post_as(&self.cookie, "application/json", endpoint, fields)
    }

    /// As another browser, or as one without scripts, which accepts a page.
    pub fn post_as(
        &self,
        cookie: &str,
        accept: &str,
        endpoint: &str,
        fields: &[(&str, String)],
    ) -> RequestBuilder {
        let mut body = url_encoded(fields);
        if body.is_empty() {
            body = "_=".into();
        }
        self.client
            .post(format!("{}/api/{endpoint}", self.url))
            .header(header::COOKIE, cookie)
            .header(header::ORIGIN, &self.url)
            .header(header::ACCEPT, accept)
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

    /// As a script asks, in JSON.
    pub async fn script(&self, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let asked = match &body {
            Some(body) => {
                self.client.post(format!("{}{path}", self.url)).header(header::ORIGIN, &self.url).json(body)
            }
            None => self.client.get(format!("{}{path}", self.url)),
        };
        let answer = asked.header(header::COOKIE, &self.cookie).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub async fn snapshot(&self, chat: Option<ChatId>) -> Snapshot<Page> {
        let path = chat.map_or("/".to_owned(), |chat| format!("/chat/{chat}"));
        self.call("page_snapshot", &[("path", path)]).await.json().await.unwrap()
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
        self.ask_of(chat, text, "local/small").await
    }

    pub async fn ask_of(&self, chat: ChatId, text: &str, model: &str) -> MessageId {
        let message = MessageId(Uuid::now_v7());
        let fields = [
            ("chat", chat.to_string()),
            ("message", message.to_string()),
            ("text", text.to_owned()),
            ("model", model.to_owned()),
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
