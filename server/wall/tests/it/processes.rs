//! Whoever starts a process knows when all of it is gone.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio::process::ChildStdout;
use tokio::time::{Instant, sleep, timeout};
use wall::{Grace, Marker, NOT_STARTED, REFUSED, Step, VARIABLE, Wall, end_leftovers};

use crate::fixture::{LIMIT, Scene, full, helper, is_full, levels, marker, ready, reduced, spawn};

/// Time enough for the step that is to end it, and little for those before, which nothing listens to.
fn until(step: Step) -> Grace {
    let at = |own: Step| if step == own { LIMIT } else { Duration::from_millis(50) };
    Grace { after_stdin: at(Step::StdinClosed), after_term: at(Step::Terminated) }
}

/// A daemon that has left its session and its environment, and holds standard output open as long as it lives.
const DAEMON: &str = "setsid env -i sleep 1000 & ";

/// A script that says when it is ready, and what it takes to end it.
const STUBBORN: [(&str, &str, Step); 7] = [
    ("polite", "echo ready; cat", Step::StdinClosed),
    ("deaf to its input", "echo ready; exec sleep 1000", Step::Terminated),
    ("deaf to signals", "trap '' TERM INT HUP; echo ready; while :; do sleep 1000; done", Step::Killed),
    ("leaves a daemon", "setsid env -i sleep 1000 & echo ready; cat", Step::StdinClosed),
    (
        "leaves a deaf daemon",
        "setsid sh -c 'trap \"\" TERM; sleep 1000' & echo ready; exec sleep 1000",
        Step::Terminated,
    ),
    (
        "runs from one process to the next",
        "perl -MPOSIX -e 'while (1) { defined($p = fork) or next; exit if $p; setsid }' & echo ready; cat",
        Step::StdinClosed,
    ),
    ("floods", "echo ready; trap '' PIPE; while :; do yes; done", Step::Terminated),
];

#[tokio::test]
async fn ending_leaves_nothing() {
    for level in levels().await {
        for (name, script, expected) in STUBBORN {
            let scene = Scene::new();
            let wall = scene.writing();
            let mut process = spawn(&level, &wall, scene.program(&wall, script)).await;
            let stdout = ready(&mut process).await;
            let ending = process.end(until(expected)).await.unwrap();
            assert_eq!(ending.step, expected, "{name} at {level}");
            assert_eq!(ending.strays, 0, "{name} at {level}");
            nobody_holds(stdout).await;
        }
    }
}

#[tokio::test]
async fn a_closed_output_is_noticed_while_it_runs() {
    for level in levels().await {
        let scene = Scene::new();
        let wall = scene.writing();
        let script = "echo ready; exec sleep 1000 >&- 2>&-";
        let mut process = spawn(&level, &wall, scene.program(&wall, script)).await;
        nobody_holds(ready(&mut process).await).await;
        assert!(process.id().is_some());
        assert_eq!(process.end(until(Step::Terminated)).await.unwrap().step, Step::Terminated);
    }
}

#[tokio::test]
async fn what_a_program_leaves_ends_with_it() {
    for level in levels().await {
        let scene = Scene::new();
        let wall = scene.writing();
        let script = format!("{DAEMON} {DAEMON} echo ready; exit 7");
        let mut process = spawn(&level, &wall, scene.program(&wall, &script)).await;
        let stdout = ready(&mut process).await;
        let status = timeout(LIMIT, process.wait()).await.unwrap().unwrap();
        assert_eq!(status.code(), Some(7));
        nobody_holds(stdout).await;
        let ending = process.end(until(Step::HadExited)).await.unwrap();
        assert_eq!((ending.step, ending.strays), (Step::HadExited, 0));
    }
}

#[tokio::test]
async fn dropping_ends_everything() {
    for level in levels().await {
        let scene = Scene::new();
        let wall = scene.writing();
        let script = format!("trap '' TERM; {DAEMON} echo ready; cat");
        let mut process = spawn(&level, &wall, scene.program(&wall, &script)).await;
        let stdout = ready(&mut process).await;
        drop(process);
        nobody_holds(stdout).await;
    }
}

#[tokio::test]
async fn an_end_is_told_as_a_shell_tells_it() {
    for level in levels().await {
        let scene = Scene::new();
        let wall = scene.writing();
        for (script, code) in [("exit 0", 0), ("exit 3", 3), ("kill -KILL $BASHPID", 128 + 9)] {
            let mut process = spawn(&level, &wall, scene.program(&wall, script)).await;
            assert_eq!(timeout(LIMIT, process.wait()).await.unwrap().unwrap().code(), Some(code), "{script}");
        }
        let mut missing = scene.program(&wall, "");
        missing.program = "/usr/bin/no-such-agent".into();
        let mut process = spawn(&level, &wall, missing).await;
        assert_eq!(timeout(LIMIT, process.wait()).await.unwrap().unwrap().code(), Some(NOT_STARTED));
        let mut said = String::new();
        process.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
        assert!(said.starts_with("boocode wall: /usr/bin/no-such-agent could not be started"), "{said}");
    }
}

/// Behind a wall no second one can be put up, as on a machine that does not allow it.
#[tokio::test]
async fn a_wall_that_cannot_be_put_up_is_refused() {
    let Some(full) = full().await else { return };
    let scene = Scene::new();
    let wall = Wall { door: None, ..scene.writing() };
    fs::copy(helper(), scene.path("bin/helper")).unwrap();
    let mut outer = spawn(&full, &wall, scene.program(&wall, "echo ready; cat")).await;
    let stdout = ready(&mut outer).await;
    let arguments = fs::read_to_string(format!("/proc/{}/cmdline", outer.id().unwrap())).unwrap();
    let description = arguments.split('\0').nth(2).unwrap();
    let alone = description.replace(&format!("\"parent\":{}", std::process::id()), "\"parent\":null");
    assert_ne!(description, alone);
    outer.end(until(Step::StdinClosed)).await.unwrap();
    nobody_holds(stdout).await;

    let script = format!("$BIN/helper wall '{alone}' -- touch $OWN/escaped; echo ended with $?");
    for level in levels().await {
        let (said, complained) = crate::fixture::output(&level, &wall, scene.program(&wall, &script)).await;
        assert_eq!(said, format!("ended with {REFUSED}\n"), "{complained}");
        assert_eq!(complained.lines().count(), 2, "{complained}");
        assert!(complained.starts_with("boocode wall: this machine does not allow"), "{complained}");
        assert!(!scene.path("data/trees/own/escaped").exists());
    }
    for arguments in [&["wall"][..], &["wall", "{}"], &["wall", &alone, "touch"]] {
        let output = Command::new(helper()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(REFUSED), "{arguments:?}");
    }
}

/// The parent is these tests again, and ends by `kill -9`.
#[tokio::test]
async fn a_killed_server_takes_its_tasks_along() {
    if let Some(folder) = std::env::var_os(PARENT) {
        return be_the_parent(Path::new(&folder)).await;
    }
    for level in levels().await {
        let level = if is_full(&level) { "full" } else { "reduced" };
        let scene = Scene::new();
        let fifo = scene.path("data/trees/own/fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from(0o600),
            0,
        )
        .unwrap();
        let mut parent = Command::new(std::env::current_exe().unwrap());
        parent.args(["--exact", "processes::a_killed_server_takes_its_tasks_along"]);
        parent.env(PARENT, scene.path("")).env("LEVEL", level).stdout(Stdio::null()).stderr(Stdio::null());
        let mut parent = parent.spawn().unwrap();
        let mut held = pipe::OpenOptions::new().open_receiver(&fifo).unwrap();
        let mut said = [0; 6];
        timeout(LIMIT, async {
            // Before anybody has opened the other end it looks like an end.
            while held.read(&mut said).await.unwrap() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
        .unwrap();
        assert_eq!(&said, b"ready\n");
        parent.kill().unwrap();
        parent.wait().unwrap();
        let end = timeout(LIMIT, held.read(&mut said)).await.expect("somebody still holds the pipe");
        assert_eq!(end.unwrap(), 0, "at {level}");
    }
}

const PARENT: &str = "WALL_TEST_PARENT";

async fn be_the_parent(folder: &Path) {
    let is_full = std::env::var("LEVEL").unwrap() == "full";
    let level = if is_full { full().await.unwrap() } else { reduced() };
    let tree = folder.join("data/trees/own");
    let wall = Wall {
        access: wall::Access::Write { tree: tree.clone(), objects: vec![] },
        home: folder.join("data/home"),
        tmp: folder.join("data/tmp"),
        programs: vec![],
        shared: vec![],
        hidden: vec![],
        door: None,
        own_port: None,
    };
    let script = "exec > fifo; trap '' TERM; setsid env -i sleep 1000 & echo ready; sleep 1000";
    let env = vec![(OsString::from("PATH"), OsString::from("/usr/bin:/bin"))];
    let program =
        wall::Program { program: "bash".into(), args: vec!["-c".into(), script.into()], env, folder: tree };
    let mut process = spawn(&level, &wall, program).await;
    timeout(LIMIT, process.wait()).await.expect("the test kills this process").unwrap();
}

#[tokio::test]
async fn leftovers_are_found_by_their_owner() {
    let owner = format!("wall-test-{}", crate::fixture::unique());
    // Each has a child that carries no marker.
    let start = |marker: Option<&Marker>| {
        let mut command = Command::new("/bin/bash");
        command.args(["-c", "env -i /bin/bash -c 'echo ready; sleep 1000; :'; :"]).env_clear();
        command.envs(marker.map(|marker| (VARIABLE, marker.to_string()))).stdout(Stdio::piped());
        let mut child = command.process_group(0).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 6]).unwrap();
        (child, stdout)
    };
    let ours = [start(Some(&Marker::new(&owner, "a", 1))), start(Some(&Marker::new(&owner, "b", 2)))];
    let others = [start(Some(&marker())), start(None)];
    // Its child has one of its own, the sleep.
    assert_eq!(end_leftovers(&owner).await.unwrap(), 2 * 3);
    for (mut child, mut stdout) in ours {
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert_eq!(stdout.read(&mut [0]).unwrap(), 0, "nobody holds its output any more");
    }
    assert_eq!(end_leftovers(&owner).await.unwrap(), 0);
    for (mut child, _) in others {
        assert!(child.try_wait().unwrap().is_none());
        let group = Pid::from_raw(child.id().cast_signed()).unwrap();
        kill_process_group(group, Signal::KILL).unwrap();
        child.wait().unwrap();
    }
}

/// The kernel says the end of a pipe when the last process that could write to it is gone.
async fn nobody_holds(mut stdout: BufReader<ChildStdout>) {
    let mut sink = tokio::io::sink();
    timeout(LIMIT, tokio::io::copy(&mut stdout, &mut sink))
        .await
        .expect("somebody holds the output")
        .unwrap();
}

/// The test starts itself again, so that there is somebody to be killed.
#[tokio::test]
async fn a_program_of_our_own_dies_with_us() {
    const STARTER: &str = "TEST_STARTS_A_PROGRAM";
    if std::env::var_os(STARTER).is_some() {
        let mut program = tokio::process::Command::new("sleep");
        program.arg("300");
        let child = wall::spawn_to_die_with_us(program).await.unwrap();
        println!("\nstarted {}", child.id().unwrap());
        return sleep(Duration::from_secs(60)).await;
    }
    let mut starter = tokio::process::Command::new(std::env::current_exe().unwrap());
    starter.args(["--exact", "processes::a_program_of_our_own_dies_with_us", "--nocapture"]);
    let mut starter = starter.env(STARTER, "1").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(starter.stdout.take().unwrap()).lines();
    let pid = loop {
        let line = lines.next_line().await.unwrap().expect("it tells what it started");
        if let Some(pid) = line.strip_prefix("started ") {
            break pid.to_owned();
        }
    };
    starter.kill().await.unwrap();
    // A zombie has no memory, and waits only for whoever adopted it.
    let is_alive = || {
        std::fs::read_to_string(format!("/proc/{pid}/statm")).is_ok_and(|memory| !memory.starts_with("0 "))
    };
    let until = Instant::now() + Duration::from_secs(30);
    while is_alive() {
        assert!(Instant::now() < until, "{pid} outlives whoever started it");
        sleep(Duration::from_millis(10)).await;
    }
}
