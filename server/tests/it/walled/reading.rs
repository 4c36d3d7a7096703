//! Agents that may only read: the wall alone keeps them from changing anything, whatever mode they are in.

use std::{fs, path::Path, process::Stdio};

use acp::{Agent, Block, Mode, Permits, Turn, install::node::Node};
use domain::{
    id::TaskId,
    tool::{Ask, Permit},
};
use futures::future::{BoxFuture, FutureExt as _};
use scripted::calls::write;
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    process::Command,
    sync::mpsc,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wall::{Access, Grace, Marker, Process, Program, Wall};

use super::{Aims, attacks, script, snapshot, tried};
use crate::{
    coder::git,
    harness::{PATIENCE, World, door::passed_on, tools_dir},
};

/// Whatever it asks is allowed.
struct Yes;

impl Permits for Yes {
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Option<Permit>> {
        let allowed = [Permit::Once, Permit::Always].into_iter().find(|permit| ask.options.contains(permit));
        async move { allowed }.boxed()
    }
}

/// An agent with its own home, in front of a project.
struct Reader {
    agent: &'static Agent,
    place: TempDir,
    world: World,
}

impl Reader {
    async fn new(agent: &str) -> Self {
        let place = tempfile::Builder::new().prefix("boocode-test-").tempdir().unwrap();
        for folder in ["project", "sibling", "data", "home", "tmp"] {
            fs::create_dir(place.path().join(folder)).unwrap();
        }
        let project = place.path().join("project");
        git(&project, &["init", "-q"]);
        fs::write(project.join("main.rs"), "fn main() {}\n").unwrap();
        git(&project, &["add", "."]);
        git(&project, &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "first"]);
        for file in ["sibling/secret", "data/note"] {
            fs::write(place.path().join(file), super::SECRET).unwrap();
        }
        Self { agent: crate::agents::known(agent), place, world: World::new().await }
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.place.path().canonicalize().unwrap().join(name)
    }

    fn attacks(&self) -> Vec<(&'static str, String)> {
        attacks(&Aims { project: &self.at("project"), sibling: &self.at("sibling"), data: &self.at("data") })
    }

    /// Lets it try all of it, and tells what was tried.
    async fn tries(&self, is_walled: bool) -> String {
        let ran = self.at("tmp/ran.txt");
        let by_tool = write(self.agent.name, &self.at("project/tool"), "by its tool");
        let shells = script(self.agent.name, &self.attacks(), &ran.to_string_lossy());
        let prompt = vec![Block::Text(format!("{by_tool}{shells}[[say tried]]"))];
        let turn = Turn {
            folder: self.at("project"),
            prompt,
            before: None,
            resume: None,
            // Its own way of only reading is not what is tried here.
            mode: Mode::Edit,
            limits: acp::Limits::default(),
        };
        let program = self.program().await;
        if is_walled {
            let mut process = self.walled(program).await;
            let (stdin, stdout) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
            self.talk(stdin, stdout, turn, is_walled).await;
            process.end(Grace::default()).await.unwrap();
        } else {
            let mut command = Command::new(&program.program);
            command.args(&program.args).env_clear().envs(program.env).current_dir(&program.folder);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.process_group(0).kill_on_drop(true).spawn().unwrap();
            let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            self.talk(stdin, stdout, turn, is_walled).await;
            child.kill().await.unwrap();
        }
        fs::read_to_string(ran).unwrap_or_default()
    }

    async fn talk(
        &self,
        stdin: impl AsyncWrite + Send + Unpin + 'static,
        stdout: impl AsyncRead + Send + Unpin + 'static,
        turn: Turn,
        is_walled: bool,
    ) {
        let (outputs, mut told) = mpsc::channel(64);
        let listener = tokio::spawn(async move {
            let mut all = Vec::new();
            while let Some(output) = told.recv().await {
                all.push(output);
            }
            all
        });
        let cancel = CancellationToken::new();
        let talked = acp::run(self.agent, stdin, stdout, turn, &outputs, &Yes, &cancel);
        let ended = timeout(2 * PATIENCE, talked).await.expect("the turn hangs");
        drop(outputs);
        let told = listener.await.unwrap();
        assert!(ended.is_ok(), "{ended:?} {told:?}");
        let is_read = format!("{told:?}").contains(super::SECRET);
        assert_eq!(is_read, !is_walled, "what must not be read is read by the control alone: {told:?}");
    }

    async fn program(&self) -> Program {
        let tools = tools_dir();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let node = Node::find(&path, &tools).await.unwrap();
        let base_url = self.world.model_url.clone();
        let source = acp::Source::Server(acp::Endpoint { base_url, key: None, model: "small".into() });
        let launch = self.agent.launch(&self.installed(), &source, None).unwrap();
        for file in &launch.files {
            let path = self.at("home").join(file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.text).unwrap();
        }
        let mut env: Vec<_> =
            launch.environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        env.extend([
            ("PATH".into(), node.path()),
            ("HOME".into(), self.at("home").into_os_string()),
            ("TMPDIR".into(), self.at("tmp").into_os_string()),
        ]);
        let args = launch.arguments.into_iter().map(Into::into).collect();
        Program { program: launch.program.into_os_string(), args, env, folder: self.at("project") }
    }

    fn installed(&self) -> std::path::PathBuf {
        acp::install::folder(&tools_dir().join("agents"), self.agent).canonicalize().unwrap()
    }

    async fn walled(&self, program: Program) -> Process {
        let port = self.world.model_url.rsplit(':').next().unwrap().parse().unwrap();
        let wall = Wall {
            access: Access::Read { project: self.at("project") },
            home: self.at("home"),
            tmp: self.at("tmp"),
            programs: vec![self.installed()],
            shared: Vec::new(),
            hidden: vec![self.at("data")],
            door: Some(port),
            own_port: None,
        };
        let helper = Path::new(env!("CARGO_BIN_EXE_boocode")).canonicalize().unwrap();
        let marker = Marker::new("test".to_owned(), TaskId(Uuid::now_v7()), 1);
        let level = wall::level(&helper).await;
        let mut process = Process::spawn(&helper, &level, &wall, program, &marker).await.unwrap();
        passed_on(&mut process, port);
        process
    }
}

async fn changes_nothing(agent: &str) {
    let reader = Reader::new(agent).await;
    let before = ["project", "sibling", "data"].map(|name| snapshot(&reader.at(name)));
    assert_eq!(reader.tries(true).await, tried(&reader.attacks()), "each was tried");
    let after = ["project", "sibling", "data"].map(|name| snapshot(&reader.at(name)));
    assert!(after == before, "the wall holds");

    // The control: the same agent with the same words and no wall leaves a trace of each.
    let free = Reader::new(agent).await;
    assert_eq!(free.tries(false).await, tried(&free.attacks()));
    for trace in ["redirected", "copied", "python", "grandchild", "tool"] {
        assert!(free.at("project").join(trace).exists(), "the control: {trace}");
    }
    assert!(git(&free.at("project"), &["log", "--oneline", "evil"]).contains("evil"));
    assert!(free.at("sibling/stolen").exists() && free.at("data/left").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn qwen_changes_nothing_where_it_may_only_read() {
    changes_nothing("qwen").await;
}

#[cfg(target_arch = "x86_64")]
#[tokio::test(flavor = "multi_thread")]
async fn goose_changes_nothing_where_it_may_only_read() {
    changes_nothing("goose").await;
}
