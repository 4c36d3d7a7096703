//! A machine in miniature: a project, a data directory with two worktrees, and a server with a secret.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStdout;
use tokio::time::timeout;
use wall::{Access, Grace, LandlockAbi, Level, Marker, Process, Program, Wall};

/// What an attacker is after: it is in no file, variable or answer that the task may read.
pub const SECRET: &str = "the-secret-of-the-server";
/// What an attack says whose success shows in no file.
pub const GOT_IT: &str = "got-it";
/// What is heard behind the door.
const GREETING: &str = "hello";
/// Another address, at which there is the same port.
pub const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
pub const LIMIT: Duration = Duration::from_secs(30);
pub const FULL: Level = Level::Full { landlock: LandlockAbi(6) };

pub struct Scene {
    pub folder: TempDir,
    pub ports: Ports,
    server: Child,
}

/// Each answers whoever comes with the secret; `allowed` with a greeting, and elsewhere with the secret.
pub struct Ports {
    pub allowed: u16,
    pub tcp: u16,
    pub udp: u16,
    pub abstract_name: String,
}

impl Scene {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in [
            "project/.git/objects",
            "data/trees/own",
            "data/trees/sibling",
            "data/home",
            "data/tmp",
            "run",
            "bin",
        ] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["project/file", "data/trees/sibling/file", "data/file"] {
            fs::write(root.join(name), SECRET).unwrap();
        }
        fs::write(root.join("data/trees/own/own"), "mine").unwrap();
        fs::write(root.join("data/home/own"), "mine").unwrap();
        let mut server = Command::new("sh");
        server.args(["-c", "read line", SECRET]).env("KEY", SECRET).stdin(Stdio::piped());
        let ports = Ports::new(&root.join("run/socket"));
        Self { folder, ports, server: server.spawn().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn writing(&self) -> Wall {
        let objects = vec![self.path("project/.git/objects")];
        self.wall(Access::Write { tree: self.path("data/trees/own"), objects })
    }

    pub fn reading(&self) -> Wall {
        self.wall(Access::Read { project: self.path("project") })
    }

    fn wall(&self, access: Access) -> Wall {
        Wall {
            access,
            home: self.path("data/home"),
            tmp: self.path("data/tmp"),
            programs: vec![self.path("bin")],
            shared: vec![],
            hidden: vec![self.path("data"), self.path("run")],
            door: Some(self.ports.allowed),
            own_port: None,
        }
    }

    /// `OWN` is where the task may write.
    pub fn program(&self, wall: &Wall, script: &str) -> Program {
        let own = match &wall.access {
            Access::Write { tree, .. } => tree.clone(),
            Access::Read { .. } => wall.home.clone(),
        };
        let text = |value: &dyn ToString| value.to_string().into();
        let path = |name: &str| self.path(name).into_os_string();
        let env = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", wall.home.clone().into_os_string()),
            ("TMPDIR", wall.tmp.clone().into_os_string()),
            ("OWN", own.clone().into_os_string()),
            ("PROJECT", path("project")),
            ("SIBLING", path("data/trees/sibling")),
            ("DATA", path("data")),
            ("BIN", path("bin")),
            ("SOCKET", path("run/socket")),
            ("SERVER", text(&self.server.id())),
            ("ALLOWED", text(&self.ports.allowed)),
            ("ELSEWHERE", text(&ELSEWHERE)),
            ("TCP", text(&self.ports.tcp)),
            ("UDP", text(&self.ports.udp)),
            ("ABSTRACT", text(&self.ports.abstract_name)),
        ];
        Program {
            program: "bash".into(),
            args: vec!["-c".into(), script.into()],
            env: env.map(|(name, value)| (name.into(), value)).to_vec(),
            folder: own,
        }
    }

    /// Whether what is not the task's own is as it was made, and the server alive.
    pub fn is_untouched(&mut self) -> bool {
        let expected = |name: &str| {
            let path = self.path(name);
            let same = |meta: fs::Metadata| meta.mode() & 0o777 != 0o777 && meta.mtime() > 1;
            fs::read_to_string(&path).is_ok_and(|text| text == SECRET) && path.metadata().is_ok_and(same)
        };
        let count = |name: &str| fs::read_dir(self.path(name)).unwrap().count();
        let files = ["project/file", "data/trees/sibling/file", "data/file"].into_iter().all(expected);
        let counts = (count("project"), count("data"), count("data/trees/sibling"), count("bin"));
        files && counts == (2, 4, 1, 0) && self.server.try_wait().unwrap().is_none()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

impl Ports {
    fn new(socket: &Path) -> Self {
        let abstract_name = format!("wall-test-{}", unique());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let unix = [UnixListener::bind(socket).unwrap(), UnixListener::bind_addr(&address).unwrap()];
        for listener in unix {
            thread::spawn(move || listener.incoming().flatten().for_each(|stream| tell(stream, SECRET)));
        }
        let listening = |address: SocketAddrV4, says| {
            let listener = TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            answer(listener, says);
            port
        };
        let allowed = listening(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0), GREETING);
        listening(SocketAddrV4::new(ELSEWHERE, allowed), SECRET);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let udp = socket.local_addr().unwrap().port();
        thread::spawn(move || {
            while let Ok((_, from)) = socket.recv_from(&mut [0; 16]) {
                let _ = socket.send_to(SECRET.as_bytes(), from);
            }
        });
        let tcp = listening(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0), SECRET);
        Self { allowed, tcp, udp, abstract_name }
    }
}

fn answer(listener: TcpListener, says: &'static str) {
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| tell(stream, says)));
}

/// Whoever has gone away again has not heard it.
fn tell(mut stream: impl Write, what: &str) {
    let _ = writeln!(stream, "{what}");
}

pub fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

pub fn helper() -> PathBuf {
    std::env::var_os("WALL_TEST_HELPER").map_or_else(|| env!("CARGO_BIN_EXE_wall").into(), PathBuf::from)
}

pub fn marker() -> Marker {
    Marker::new(format!("wall-test-{}", unique()), "task", 1)
}

/// As where user namespaces are not allowed.
pub fn reduced() -> Level {
    Level::Reduced { reason: "left out by the test".to_owned(), landlock: LandlockAbi(6) }
}

pub fn is_full(level: &Level) -> bool {
    matches!(level, Level::Full { .. })
}

/// What can be tried on this machine. That it is not less than it should be is a test of its own.
pub async fn levels() -> Vec<Level> {
    match wall::level(&helper()).await {
        level @ Level::Full { landlock: LandlockAbi(6) } => vec![level, reduced()],
        // Its namespaces keep what an older Landlock does not.
        level @ Level::Full { .. } => vec![level],
        Level::Reduced { landlock: LandlockAbi(6), .. } => vec![reduced()],
        level => {
            eprintln!("left out, for the wall of this machine is {level}");
            vec![]
        }
    }
}

/// None where this machine has no namespaces.
pub async fn full() -> Option<Level> {
    levels().await.into_iter().find(is_full)
}

pub async fn spawn(level: &Level, wall: &Wall, program: Program) -> Process {
    let mut process = Process::spawn(&helper(), level, wall, program, &marker()).await.unwrap();
    assert_eq!(process.door.is_some(), is_full(level) && wall.door.is_some());
    if let Some(door) = process.door.take() {
        door.set_nonblocking(false).unwrap();
        answer(door, GREETING);
    }
    process
}

/// Standard output, and all that went wrong for the message of a test that fails.
pub async fn output(level: &Level, wall: &Wall, program: Program) -> (String, String) {
    let mut process = spawn(level, wall, program).await;
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let (mut stdout, mut stderr) = (process.stdout.take().unwrap(), process.stderr.take().unwrap());
    process.stdin = None;
    let all = async { tokio::join!(stdout.read_to_end(&mut said), stderr.read_to_end(&mut complained)) };
    let _ = timeout(LIMIT, all).await.expect("the program ends");
    let ending = process.end(Grace::default()).await.unwrap();
    assert_eq!(ending.strays, 0);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&said), format!("{} {}", text(&complained), ending.status))
}

/// Waits for the program's first line.
pub async fn ready(process: &mut Process) -> BufReader<ChildStdout> {
    let mut stdout = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    timeout(LIMIT, stdout.read_line(&mut line)).await.expect("the program starts").unwrap();
    assert_eq!(line, "ready\n");
    stdout
}

/// The same without a wall.
pub fn bare_output(program: &Program) -> String {
    let mut command = Command::new(&program.program);
    command.args(&program.args).env_clear().envs(program.env.iter().cloned()).current_dir(&program.folder);
    String::from_utf8_lossy(&command.stdin(Stdio::null()).output().unwrap().stdout).into_owned()
}
