//! A real agent's process, as the server would start it, but without its wall.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use acp::install::node::Node;
use acp::install::{folder, install};
use acp::{Agent, Block, Ended, Endpoint, Error, Limits, Mode, Source, Turn, run};
use domain::output::Output;
use scripted::Script;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::permits::Person;

/// A busy machine is slow; a test that hangs is to fail.
const PATIENCE: Duration = Duration::from_secs(120);
const LEAVING: Duration = Duration::from_secs(10);

/// An agent with its home and a folder to work in, and a model server of its own.
pub struct Workshop {
    pub agent: &'static Agent,
    node: Node,
    installed: PathBuf,
    places: TempDir,
    address: String,
    server: JoinHandle<()>,
}

pub struct Outcome {
    pub ended: Result<Ended, Error>,
    pub told: Vec<Output>,
    /// Whether the process ended once its stdin was closed.
    pub left_by_itself: bool,
}

impl Drop for Workshop {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Workshop {
    pub async fn open(agent: &'static Agent) -> Self {
        let tools = tools();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let node = Node::find(&path, &tools).await.expect("node with npm");
        let root = tools.join("agents");
        let (progress, _) = mpsc::channel(1);
        install(&node, &root, agent, &progress).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let script = Script { tokens_per_second: 0.0, ..Script::default() };
        let server = tokio::spawn(async move { scripted::serve(listener, script).await.unwrap() });
        let places = tempfile::tempdir().unwrap();
        for place in ["home", "work", "tmp"] {
            std::fs::create_dir(places.path().join(place)).unwrap();
        }
        Self { agent, node, installed: folder(&root, agent), places, address, server }
    }

    pub fn work(&self) -> PathBuf {
        self.places.path().join("work")
    }

    pub fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(name)).ok()
    }

    /// What lies in the folder that it works in.
    pub fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.work()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A turn with nobody to ask and nobody who stops it.
    pub async fn simply(&self, mode: Mode, prompt: &str) -> Outcome {
        self.turn(mode, prompt, None, &Person::who_says(None), &CancellationToken::new()).await
    }

    pub async fn turn(
        &self,
        mode: Mode,
        prompt: &str,
        resume: Option<String>,
        person: &Person,
        cancel: &CancellationToken,
    ) -> Outcome {
        let mut child = self.start();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let prompt = vec![Block::Text(prompt.to_owned())];
        let (folder, limits) = (self.work(), Limits::default());
        let turn = Turn { folder, prompt, resume, before: None, mode, limits };
        let (outputs, mut heard) = mpsc::channel(8);
        let talk = async {
            let ended = run(self.agent, stdin, stdout, turn, &outputs, person, cancel).await;
            drop(outputs);
            ended
        };
        let listen = async {
            let mut told = Vec::new();
            while let Some(output) = heard.recv().await {
                told.push(output);
            }
            told
        };
        let both = async { tokio::join!(talk, listen) };
        let (ended, told) = timeout(PATIENCE, both).await.expect("the turn hangs");
        let left_by_itself = timeout(LEAVING, child.wait()).await.is_ok();
        if !left_by_itself {
            child.kill().await.unwrap();
        }
        Outcome { ended, told, left_by_itself }
    }

    /// Until the model has been asked.
    pub async fn until_asked(&self) {
        let asked = async {
            while self.requests().await.is_empty() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, asked).await.expect("the model is not asked");
    }

    /// What the model was told that it had said before.
    pub async fn histories(&self) -> Vec<String> {
        let said =
            |request: &Value| request["last_assistant_message"].as_str().unwrap_or_default().to_owned();
        self.requests().await.iter().map(said).collect()
    }

    /// Which models were asked.
    pub async fn models(&self) -> Vec<String> {
        let model = |request: &Value| request["model"].as_str().unwrap_or_default().to_owned();
        self.requests().await.iter().map(model).collect()
    }

    async fn requests(&self) -> Vec<Value> {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let request = format!("GET /scripted/requests HTTP/1.0\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let log: Value = serde_json::from_str(body).unwrap();
        log["requests"].as_array().unwrap().clone()
    }

    fn start(&self) -> Child {
        let place = |name: &str| self.places.path().join(name);
        let endpoint =
            Endpoint { base_url: format!("http://{}", self.address), key: None, model: "small".into() };
        let launch = self.agent.launch(&self.installed, &Source::Server(endpoint), None).unwrap();
        for file in &launch.files {
            write(&place("home").join(file.path), &file.text);
        }
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).current_dir(self.work()).env_clear().envs(launch.environment);
        command.env("HOME", place("home")).env("TMPDIR", place("tmp")).env("PATH", self.node.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.process_group(0).kill_on_drop(true).spawn().unwrap()
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Where `cargo xtask` keeps what it installs.
fn tools() -> PathBuf {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let tools = folder("BOOCODE_TOOLS_DIR")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("boocode")))
        .or_else(|| Some(folder("HOME")?.join(".cache/boocode")));
    tools.expect("BOOCODE_TOOLS_DIR or HOME")
}
