//! Agents that are only to read: behind the wall of a reading task, told by their model to write all the same.

use std::{
    fs,
    path::{Path, PathBuf},
};

use acp::{
    Agent, Block, Endpoint, Limits, Mode, Need, Permits, Source, Turn,
    install::{self, node::Node},
};
use domain::{
    output::Output,
    tool::{Ask, Permit, Status},
};
use futures::future::{BoxFuture, FutureExt as _};
use scripted::{
    Script,
    calls::{list, shell, write},
};
use tokio::{net::TcpListener, sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;
use wall::{Access, Grace, Marker, Process, Program, Shared, Wall};

use crate::harness::{PATIENCE, door::passed_on, tools_dir};

pub async fn only_reads_when_told_to_edit(name: &str) {
    check(name, |agent, project| write(agent, &project.join("new.txt"), "x\n")).await;
}

pub async fn only_reads_when_told_to_run(name: &str) {
    check(name, |agent, project| shell(agent, &format!("echo x > {}", project.join("new.txt").display())))
        .await;
}

/// In its own mode for it, and in the one in which it edits, where the wall alone is in the way. The control is the same
/// script where the task may write.
async fn check(name: &str, writes: impl Fn(&str, &Path) -> String) {
    let scene = Scene::new(name).await;
    let new = scene.project().join("new.txt");
    let script = format!("{}{}[[say done]]", list(name, &scene.project()), writes(name, &scene.project()));
    for mode in [Mode::ReadOnly, Mode::Edit] {
        let told = scene.turn(&script, mode, scene.reading()).await;
        assert!(!new.exists(), "{mode:?}: {told:?}");
        assert_eq!(first_call(&told), Some(Status::Done), "{mode:?}: it can look around: {told:?}");
    }
    let told = scene.turn(&script, Mode::Edit, scene.writing()).await;
    assert!(new.exists(), "the control: {told:?}");
}

/// What became of the first thing that it called for.
fn first_call(told: &[Output]) -> Option<Status> {
    let updates =
        || told.iter().filter_map(|output| if let Output::Tool(it) = output { Some(it) } else { None });
    let first = updates().next()?;
    updates().filter(|update| update.id == first.id).filter_map(|update| update.status).next_back()
}

/// An agent, a project, and a model server.
pub struct Scene {
    pub agent: &'static Agent,
    folder: tempfile::TempDir,
    installed: PathBuf,
    node: Node,
    port: u16,
}

impl Scene {
    pub async fn new(name: &str) -> Self {
        let agent = super::known(name);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(scripted::serve(listener, Script { tokens_per_second: 0.0, ..Script::default() }));
        let folder = tempfile::Builder::new().prefix("boocode-test-").tempdir().unwrap();
        for place in ["project", "home", "tmp"] {
            fs::create_dir(folder.path().join(place)).unwrap();
        }
        fs::write(folder.path().join("project/main.rs"), "fn main() {}\n").unwrap();
        let tools = tools_dir();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let node = Node::find(&path, &tools).await.expect("node with npm");
        let installed = install::folder(&tools.join("agents"), agent).canonicalize().unwrap();
        Self { agent, folder, installed, node, port }
    }

    pub fn place(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn project(&self) -> PathBuf {
        self.place("project")
    }

    fn reading(&self) -> Wall {
        self.wall(Access::Read { project: self.project() }, self.port)
    }

    fn writing(&self) -> Wall {
        self.wall(Access::Write { tree: self.project(), objects: Vec::new() }, self.port)
    }

    pub fn wall(&self, access: Access, port: u16) -> Wall {
        Wall {
            access,
            home: self.place("home"),
            tmp: self.place("tmp"),
            programs: vec![self.installed.clone(), self.node.bin.canonicalize().unwrap()],
            shared: Vec::new(),
            hidden: Vec::new(),
            door: Some(port),
            own_port: None,
        }
    }

    async fn turn(&self, script: &str, mode: Mode, wall: Wall) -> Vec<Output> {
        let base_url = format!("http://127.0.0.1:{}", self.port);
        let source = Source::Server(Endpoint { base_url, key: None, model: "small".into() });
        let (ended, told) = self.run(script, mode, wall, source, Limits::default()).await;
        assert!(ended.is_ok(), "{ended:?} {told:?}");
        told
    }

    pub async fn run(
        &self,
        script: &str,
        mode: Mode,
        mut wall: Wall,
        source: Source,
        limits: Limits,
    ) -> (Result<acp::Ended, acp::Error>, Vec<Output>) {
        let own_port = match self.agent.needs(Need::Port) {
            true => Some(TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()),
            false => None,
        };
        wall.own_port = own_port;
        let launch = self.agent.launch(&self.installed, &source, own_port).unwrap();
        for file in &launch.files {
            let path = self.place("home").join(file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.text).unwrap();
        }
        let mut env: Vec<_> =
            launch.environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        env.push(("HOME".into(), self.place("home").into_os_string()));
        env.push(("TMPDIR".into(), self.place("tmp").into_os_string()));
        env.push(("PATH".into(), self.node.path()));
        let arguments = launch.arguments.into_iter().map(Into::into).collect();
        let folder = self.project();
        let program = Program {
            program: launch.program.into_os_string(),
            args: arguments,
            env,
            folder: folder.clone(),
        };
        let helper = Path::new(env!("CARGO_BIN_EXE_boocode"));
        let marker = Marker::new(format!("test-{}", uuid::Uuid::now_v7()), "reading", 1);
        let level = wall::level(helper).await;
        let mut process = Process::spawn(helper, &level, &wall, program, &marker).await.unwrap();
        passed_on(&mut process, wall.door.unwrap());
        let (stdin, stdout) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let prompt = vec![Block::Text(script.to_owned())];
        let turn = Turn { folder, prompt, resume: None, before: None, mode, limits };
        let (outputs, mut heard) = mpsc::channel(8);
        let (nobody, cancel) = (Yes, CancellationToken::new());
        let talk = async {
            let ended = acp::run(self.agent, stdin, stdout, turn, &outputs, &nobody, &cancel).await;
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
        let (ended, told) = timeout(2 * PATIENCE, both).await.expect("the turn hangs");
        assert_eq!(process.end(Grace::default()).await.unwrap().strays, 0);
        (ended, told)
    }
}

/// Whatever is asked is allowed: only the wall is in the way, and the mode.
struct Yes;

impl Permits for Yes {
    fn ask(&self, _: Ask) -> BoxFuture<'_, Option<Permit>> {
        async { Some(Permit::Once) }.boxed()
    }
}

/// A file of the person's at its place in the agent's home.
pub fn shared(scene: &Scene, file: &Path, place: &str) -> Shared {
    let place = scene.place("home").join(place);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, "").unwrap();
    Shared { file: file.to_owned(), place }
}
