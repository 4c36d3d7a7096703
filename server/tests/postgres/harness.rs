//! A data directory, a server process to kill, and eyes on what is left of it.

use rustix::process::{Pid, Signal};
use server::data_dir::DataDir;
use server::os::{self, Account};
use server::postgres::{Binaries, Embedded};
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

pub const URL: &str = "http://127.0.0.1:1";
const LIMIT: Duration = Duration::from_secs(120);
const DATA_DIR: &str = "BOOCODE_TEST_DATA_DIR";

/// Nothing here takes a fraction of this, but a hang must end.
pub fn bounded(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, test).await.expect("the test hangs") });
}

pub fn until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LIMIT, "it never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn open(path: &Path) -> DataDir {
    DataDir::open(path).unwrap()
}

/// The account that Postgres gets when we are root.
pub fn run_as() -> Option<Account> {
    os::is_root().then(|| os::unprivileged_accounts().unwrap().remove(0))
}

/// A command under the account that Postgres runs as, so that Postgres may signal it.
pub fn as_postgres(program: &str) -> Command {
    let mut command = Command::new(program);
    if let Some(account) = run_as() {
        command.uid(account.uid).gid(account.gid);
    }
    wall::die_with_parent(&mut command, Signal::KILL);
    command
}

pub fn kill(pid: u32, signal: Signal) {
    rustix::process::kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// A zombie does not.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub fn owner_of(pid: u32) -> u32 {
    Path::new("/proc").join(pid.to_string()).metadata().unwrap().uid()
}

pub async fn next_pid(postgres: &Embedded, last: u32) -> u32 {
    loop {
        match postgres.pid() {
            Some(pid) if pid != last => return pid,
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// How many turns a task that never rests gets while somebody logs in on the same thread.
pub async fn turns_of_others(options: PgConnectOptions) -> u64 {
    let turns = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&turns);
    let restless = tokio::spawn(std::future::poll_fn::<(), _>(move |context| {
        // So short a pause that only the turns count, on a fast machine and on a slow one.
        std::thread::sleep(Duration::from_micros(20));
        counted.fetch_add(1, Ordering::Relaxed);
        context.waker().wake_by_ref();
        Poll::Pending
    }));
    tokio::spawn(async move { options.connect().await.unwrap() }).await.unwrap();
    restless.abort();
    turns.load(Ordering::Relaxed)
}

/// Commits the next number.
pub async fn write_row(postgres: &Embedded) -> i64 {
    let mut connection = postgres.connect_options().connect().await.unwrap();
    sqlx::query("create table if not exists kept (id bigint primary key)")
        .execute(&mut connection)
        .await
        .unwrap();
    next_row(&mut connection).await
}

async fn next_row(connection: &mut sqlx::PgConnection) -> i64 {
    let insert = "insert into kept select coalesce(max(id), 0) + 1 from kept returning id";
    sqlx::query_scalar(insert).fetch_one(connection).await.unwrap()
}

pub async fn rows(postgres: &Embedded) -> Vec<i64> {
    let mut connection = postgres.connect_options().connect().await.unwrap();
    sqlx::query_scalar("select id from kept order by id").fetch_all(&mut connection).await.unwrap()
}

/// Every row that was reported committed is there, and at most what was on its way besides.
pub async fn kept(postgres: &Embedded, committed: i64) {
    let found = rows(postgres).await;
    let last = found.len() as i64;
    assert_eq!(found, (1..=last).collect::<Vec<_>>());
    assert!(last >= committed, "{committed} were committed, {last} are there");
}

/// A temporary place that Postgres's account can enter.
pub struct Scratch {
    place: tempfile::TempDir,
    /// Keeps the template while any test may want it, and not longer.
    _template: Option<Arc<Scratch>>,
}

impl Scratch {
    pub fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        std::fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
        Self { place, _template: None }
    }

    /// As after a first start and a stop. Making a cluster takes seconds, copying one does not.
    pub async fn with_cluster() -> Self {
        static TEMPLATE: tokio::sync::Mutex<Weak<Scratch>> = tokio::sync::Mutex::const_new(Weak::new());
        let mut shared = TEMPLATE.lock().await;
        let template = match shared.upgrade() {
            Some(template) => template,
            None => {
                let made = Arc::new(Self::new());
                Embedded::start(&open(&made.data()), None).await.unwrap().stop().await.unwrap();
                *shared = Arc::downgrade(&made);
                made
            }
        };
        drop(shared);
        let mut scratch = Self::new();
        let copied =
            Command::new("cp").arg("-a").arg(template.data()).arg(scratch.place.path()).status().unwrap();
        assert!(copied.success());
        scratch._template = Some(template);
        scratch
    }

    /// With a data directory that belongs to `nobody` where we are root, and to us otherwise.
    pub fn for_normal_user() -> Self {
        let scratch = Self::new();
        std::fs::create_dir(scratch.data()).unwrap();
        if os::is_root() {
            chown(scratch.data(), Some(nobody().uid), Some(nobody().gid)).unwrap();
        }
        scratch
    }

    pub fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    /// Clusters in the making.
    pub fn drafts(&self) -> Vec<PathBuf> {
        let entries = self.data().join("postgres").read_dir().into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().contains("/cluster.new-"))
            .collect()
    }

    /// How many processes work in this cluster.
    pub fn processes(&self) -> usize {
        let cluster = self.data().join("postgres/cluster");
        let all = Path::new("/proc").read_dir().unwrap().flatten();
        all.filter(|entry| entry.path().join("cwd").read_link().is_ok_and(|cwd| cwd == cluster)).count()
    }

    /// Lock files as a killed Postgres leaves them, for some process.
    pub fn lock_cluster(&self, pid: &str) {
        let home = self.data().join("postgres");
        let rest = if pid.is_empty() { String::new() } else { format!("\n{}\n1\n5432\n", home.display()) };
        for lock in ["cluster/postmaster.pid", "run/.s.PGSQL.5432.lock"] {
            std::fs::write(home.join(lock), format!("{pid}{rest}")).unwrap();
            if let Some(account) = run_as() {
                chown(home.join(lock), Some(account.uid), Some(account.gid)).unwrap();
            }
        }
    }

    /// Whether Postgres by itself does not get past the lock files.
    pub fn raw_start_is_refused(&self) -> bool {
        let home = self.data().join("postgres");
        let program = Binaries::find(None, None).unwrap().postgres();
        let mut command = as_postgres(program.to_str().unwrap());
        command.current_dir("/").arg("-D").arg(home.join("cluster")).arg("-k").arg(home.join("run"));
        command.args(["-c", "listen_addresses="]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let began = Instant::now();
        loop {
            match child.try_wait().unwrap() {
                Some(status) => return !status.success(),
                None if began.elapsed() > Duration::from_secs(10) => break,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        false
    }
}

/// This test binary again, as a process that opens the data directory, starts Postgres and commits rows.
pub struct Server {
    child: Child,
    said: Receiver<String>,
}

impl Server {
    pub fn start(scratch: &Scratch) -> Self {
        Self::spawn(Command::new(std::env::current_exe().unwrap()), scratch)
    }

    pub fn start_as_normal_user(scratch: &Scratch) -> Self {
        // The build directory may be closed to `nobody`; the scratch is not.
        let binary = scratch.place.path().join("server");
        let built = std::env::current_exe().unwrap();
        if !binary.exists() && std::fs::hard_link(&built, &binary).is_err() {
            let copied = Command::new("cp").arg(&built).arg(&binary).status().unwrap();
            assert!(copied.success());
        }
        let mut command = Command::new(binary);
        if os::is_root() {
            command.uid(nobody().uid).gid(nobody().gid);
        }
        Self::spawn(command, scratch)
    }

    fn spawn(mut command: Command, scratch: &Scratch) -> Self {
        command.args(["--exact", "server_process", "--nocapture"]).env(DATA_DIR, scratch.data());
        wall::die_with_parent(&mut command, Signal::KILL);
        let mut child = command.current_dir("/").stdout(Stdio::piped()).spawn().unwrap();
        let (sender, said) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, said }
    }

    /// The postmaster's number, once it is up.
    pub fn ready(&mut self) -> u32 {
        self.next("ready ").parse().unwrap()
    }

    /// Waits for the row of this number to be committed.
    pub fn rows(&mut self, wanted: i64) -> i64 {
        loop {
            let row: i64 = self.next("row ").parse().unwrap();
            if row >= wanted {
                return row;
            }
        }
    }

    pub fn error(&mut self) -> String {
        self.next("error ")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.child.id(), signal);
    }

    /// As `kill -9` does it.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn next(&mut self, word: &str) -> String {
        loop {
            let line = self.said.recv_timeout(LIMIT).expect("the server says no more");
            match (line.strip_prefix(word), line.strip_prefix("error ")) {
                (Some(rest), _) => return rest.to_owned(),
                (None, Some(error)) => panic!("{error}"),
                (None, None) => {}
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The life of [`Server`]'s process: it says what it has done, one line each, until it is killed.
pub fn serve_if_asked() {
    let Some(path) = std::env::var_os(DATA_DIR) else {
        return;
    };
    let say = |line: String| {
        let mut stdout = std::io::stdout().lock();
        // The test runner may have left a line open.
        write!(stdout, "\n{line}\n").and_then(|()| stdout.flush()).unwrap();
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = match DataDir::open(Path::new(&path)) {
            Ok(dir) => dir,
            Err(error) => return say(format!("error {error}")),
        };
        dir.announce(URL).unwrap();
        let postgres = match Embedded::start(&dir, None).await {
            Ok(postgres) => postgres,
            Err(error) => return say(format!("error {error}")),
        };
        say(format!("ready {}", postgres.pid().unwrap()));
        write_row(&postgres).await;
        let mut connection = postgres.connect_options().connect().await.unwrap();
        loop {
            say(format!("row {}", next_row(&mut connection).await));
        }
    });
}

fn nobody() -> Account {
    os::unprivileged_accounts().unwrap().into_iter().find(|account| account.name == "nobody").unwrap()
}
