//! What a program behind the wall tries, each time next to the same without a wall, where it succeeds.

use std::fs::File;
use std::io::{Read, Seek};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::ChildStdout;
use tokio::time::timeout;
use wall::{Grace, VARIABLE, Wall};

use crate::fixture::{GOT_IT, LIMIT, SECRET, Scene, bare_output, is_full, levels, output, ready, spawn};

/// Where the attack has to fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Always,
    /// Only namespaces stop it.
    AtFull,
}
use Holds::{Always, AtFull};

const WRITES: [(&str, Holds, &str); 25] = [
    ("redirect", Always, "echo x > $PROJECT/file"),
    ("append", Always, "echo x >> $PROJECT/file"),
    ("new file", Always, "echo x > $PROJECT/new"),
    ("new folder", Always, "mkdir $PROJECT/new"),
    ("cp", Always, "cp $OWN/own $PROJECT/file"),
    ("mv in", Always, "mv $OWN/own $PROJECT/new"),
    ("mv out", Always, "mv $PROJECT/file $OWN/taken"),
    ("rm", Always, "rm -f $PROJECT/file"),
    ("truncate", Always, "truncate -s 0 $PROJECT/file"),
    ("perl", Always, r#"perl -e 'open F, ">", "$ENV{PROJECT}/file" and close F'"#),
    ("grandchild", Always, r#"sh -c 'sh -c "echo x > $PROJECT/file"'"#),
    ("daemon", Always, "setsid -w sh -c 'echo x > $PROJECT/file'"),
    ("hard link", Always, "ln $PROJECT/file $OWN/hard && echo x > $OWN/hard"),
    ("symbolic link", Always, "ln -s $PROJECT/file $OWN/soft; echo x > $OWN/soft"),
    ("linked folder", Always, "ln -s $PROJECT $OWN/soft; echo x > $OWN/soft/new"),
    ("through proc", Always, "echo x > /proc/$SERVER/root$PROJECT/file"),
    ("sibling", Always, "cp $OWN/own $SIBLING/new"),
    ("data directory", Always, "echo x > $DATA/new"),
    ("programs", Always, "echo x > $BIN/new"),
    ("git", Always, "git init -q $PROJECT/new"),
    (
        "git elsewhere",
        Always,
        "cd $OWN; git init -q r; cd r; echo x > file; git add file; git --work-tree=$PROJECT checkout-index -f file",
    ),
    ("git's output", Always, "git diff --no-index --output=$PROJECT/file /dev/null $OWN/own"),
    ("chmod", AtFull, "chmod 777 $PROJECT/file"),
    ("times", AtFull, "touch -c -d @1 $PROJECT/file"),
    ("signal", Always, "kill -KILL $SERVER && echo got-it"),
];

const READS: [(&str, Holds, &str); 10] = [
    ("sibling", Always, "cat $SIBLING/file"),
    ("data directory", Always, "cat $DATA/file"),
    ("linked", Always, "ln -s $DATA/file $OWN/soft; cat $OWN/soft"),
    ("hard link", Always, "ln $DATA/file $OWN/hard; cat $OWN/hard"),
    ("grandchild", Always, r#"sh -c 'sh -c "cat $DATA/file"'"#),
    ("git", Always, "git diff --no-index /dev/null $DATA/file"),
    (MOUNT, Always, "unshare -rm sh -c 'mount --bind $DATA $OWN && cat $OWN/file'"),
    ("server's environment", Always, "tr '\\0' '\\n' < /proc/$SERVER/environ | grep KEY"),
    ("server's root", Always, "cat /proc/$SERVER/root$DATA/file"),
    ("server's arguments", AtFull, "tr '\\0' '\\n' < /proc/$SERVER/cmdline"),
];

const CONNECTS: [(&str, Holds, &str); 8] = [
    (
        "tcp",
        Always,
        "socket S, PF_INET, SOCK_STREAM, 0; connect S, sockaddr_in $ENV{TCP}, INADDR_LOOPBACK; print <S>",
    ),
    (
        "tcp at the same port of another address",
        AtFull,
        "socket S, PF_INET, SOCK_STREAM, 0; connect S, sockaddr_in $ENV{ALLOWED}, inet_aton $ENV{ELSEWHERE};
         print <S>",
    ),
    (
        "fast open",
        Always,
        "socket S, PF_INET, SOCK_STREAM, 0;
         send S, q(x), 0x20000000, sockaddr_in $ENV{TCP}, INADDR_LOOPBACK; print scalar <S>",
    ),
    (
        MULTIPATH,
        Always,
        "socket S, PF_INET, SOCK_STREAM, 262; connect S, sockaddr_in $ENV{TCP}, INADDR_LOOPBACK; print <S>",
    ),
    (
        "udp",
        Always,
        "socket S, PF_INET, SOCK_DGRAM, 0; send S, q(x), 0, sockaddr_in $ENV{UDP}, INADDR_LOOPBACK and
         recv S, $_, 99, 0; print",
    ),
    (
        "abstract socket",
        Always,
        "socket S, PF_UNIX, SOCK_STREAM, 0; connect S, pack q(Sa*), AF_UNIX, qq(\\0$ENV{ABSTRACT}); print <S>",
    ),
    (
        "unix socket",
        AtFull,
        "socket S, PF_UNIX, SOCK_STREAM, 0; connect S, sockaddr_un $ENV{SOCKET}; print <S>",
    ),
    (IO_URING, Always, "print q(got-it) if syscall(425, 1, qq(\\0) x 120) > 0"),
];

/// Some kernels are built or configured without these.
const MULTIPATH: &str = "multipath";
const IO_URING: &str = "io_uring";
const MOUNT: &str = "mount";

async fn check(kind: &str, name: &str, holds: Holds, script: &str, wall: fn(&Scene) -> Wall) {
    let succeeds = |scene: &mut Scene, said: &str| {
        said.contains(SECRET) || said.contains(GOT_IT) || !scene.is_untouched()
    };
    let mut scene = Scene::new();
    let said = bare_output(&scene.program(&wall(&scene), script));
    let effective = succeeds(&mut scene, &said);
    if !effective && [MULTIPATH, IO_URING, MOUNT].contains(&name) {
        return eprintln!("left out: this kernel does not allow {name} to anybody");
    }
    assert!(effective, "{kind}, {name}: does nothing even without the wall: {said}");
    for level in levels().await.into_iter().filter(|level| holds == Always || is_full(level)) {
        let mut scene = Scene::new();
        let wall = wall(&scene);
        let (said, complained) = output(&level, &wall, scene.program(&wall, script)).await;
        assert!(!succeeds(&mut scene, &said), "{kind}, {name}: succeeds at {level}: {said}");
        assert!(!complained.contains("boocode wall"), "{kind}, {name}: {complained}");
    }
}

#[tokio::test]
async fn a_writing_task_changes_nothing_else() {
    for (name, holds, script) in WRITES {
        check("writing", name, holds, script, Scene::writing).await;
    }
}

#[tokio::test]
async fn a_reading_task_changes_nothing() {
    for (name, holds, script) in WRITES {
        check("reading", name, holds, script, Scene::reading).await;
    }
}

#[tokio::test]
async fn python_changes_nothing_either() {
    let Ok(python) = Command::new("/usr/bin/python3").arg("--version").output() else {
        return eprintln!("left out: there is no /usr/bin/python3");
    };
    assert!(python.status.success());
    let script = r#"/usr/bin/python3 -c 'import os; open(os.environ["PROJECT"] + "/file", "w")'"#;
    check("writing", "python", Always, script, Scene::writing).await;
    check("reading", "python", Always, script, Scene::reading).await;
}

#[tokio::test]
async fn nothing_secret_is_read() {
    for (name, holds, script) in READS {
        check("writing", name, holds, script, Scene::writing).await;
        check("reading", name, holds, script, Scene::reading).await;
    }
    check("writing", "project", Always, "cat $PROJECT/file", Scene::writing).await;
}

#[tokio::test]
async fn only_what_is_granted_is_connected_to() {
    for (name, holds, script) in CONNECTS {
        let script = format!("perl -MSocket -e '{}'", script.replace('\n', " "));
        check("writing", name, holds, &script, Scene::writing).await;
    }
}

/// Landlock hears of it only when a port is asked for by number. Another program outside may have the same number by
/// chance, so what listens has to answer.
#[tokio::test]
async fn nobody_outside_reaches_what_listens_inside() {
    let script = "perl -MSocket -e 'socket S, PF_INET, SOCK_STREAM, 0; listen S, 1; $| = 1;
        print qq(ready\n), (sockaddr_in getsockname S)[0], qq(\n); accept C, S; syswrite C, qq(got-it); sleep 1000'";
    let reaches = async |mut said: BufReader<ChildStdout>| {
        let mut line = String::new();
        timeout(LIMIT, said.read_line(&mut line)).await.unwrap().unwrap();
        let port: u16 = line.trim().parse().unwrap();
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let mut answer = [0; GOT_IT.len()];
        stream.read_exact(&mut answer).is_ok() && answer == *GOT_IT.as_bytes()
    };
    for level in levels().await {
        let scene = Scene::new();
        let wall = scene.writing();
        let mut process = spawn(&level, &wall, scene.program(&wall, script)).await;
        let stdout = ready(&mut process).await;
        // At the reduced level it is reached, and said to be.
        let is_told = level.leaks().iter().any(|leak| leak.contains("listen on a TCP port"));
        assert_eq!((reaches(stdout).await, is_told), (!is_full(&level), !is_full(&level)), "{level}");
        process.end(Grace::default()).await.unwrap();
    }
}

#[tokio::test]
async fn nobody_is_in_the_network_of_a_full_wall() {
    for level in levels().await.into_iter().filter(is_full) {
        let scene = Scene::new();
        let wall = scene.writing();
        let script = "tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/tcp | cut -d' ' -f5";
        let (said, complained) = output(&level, &wall, scene.program(&wall, script)).await;
        let door = format!("{:08X}:{:04X}", u32::from_ne_bytes([127, 0, 0, 1]), scene.ports.allowed);
        assert_eq!(said.split_whitespace().collect::<Vec<_>>(), ["lo", door.as_str()], "{complained}");
    }
}

/// What a kernel that does not know the other form says, it says before it looks at the filter.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn no_call_is_made_under_its_other_number() {
    let (getpid, not_permitted) = (libc::SYS_getpid | 0x4000_0000, libc::EPERM.to_string());
    let script = format!("perl -e 'syscall {getpid}; print $!+0'");
    let scene = Scene::new();
    assert_ne!(bare_output(&scene.program(&scene.writing(), &script)), not_permitted);
    for level in levels().await {
        let wall = scene.writing();
        let (said, complained) = output(&level, &wall, scene.program(&wall, &script)).await;
        assert_eq!(said, not_permitted, "{level}: {complained}");
    }
}

#[tokio::test]
async fn nothing_is_inherited_of_the_environment() {
    // Whoever starts the tests has set this.
    let ours = std::env::var("HOME").unwrap();
    let scene = Scene::new();
    let wall = scene.writing();
    let mut program = scene.program(&wall, "");
    program.program = "/usr/bin/env".into();
    program.args.clear();
    program.env.retain(|(name, _)| name != "HOME");
    let inherited = Command::new(&program.program).env("KEY", SECRET).output().unwrap().stdout;
    let inherited = String::from_utf8(inherited).unwrap();
    assert!(inherited.contains(&format!("HOME={ours}\n")), "the control: {inherited}");
    let mut given: Vec<_> = program.env.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    given.push(VARIABLE);
    given.sort_unstable();
    for level in levels().await {
        let (said, complained) = output(&level, &wall, program.clone()).await;
        let mut names: Vec<_> = said.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        names.sort_unstable();
        assert_eq!(names, given, "{level}: {complained}");
    }
}

/// A hole in a file costs nothing, so that the control does not either.
#[tokio::test]
async fn no_file_grows_without_end() {
    let script = "truncate -s 17G $OWN/huge && rm $OWN/huge && echo got-it";
    check("writing", "one huge file", Always, script, Scene::writing).await;
    for level in levels().await {
        let scene = Scene::new();
        let wall = scene.writing();
        let limits = "ulimit -c; ulimit -f; ulimit -u";
        let (said, complained) = output(&level, &wall, scene.program(&wall, limits)).await;
        let said: Vec<_> = said.lines().collect();
        assert_eq!(said[..2], ["0", "16777216"], "{complained}");
        let is_bounded = said[2].parse().is_ok_and(|count: u64| count <= 8192);
        assert!(is_bounded || !is_full(&level), "{said:?}");
    }
}

#[tokio::test]
async fn an_inherited_descriptor_is_closed() {
    let mut scene = Scene::new();
    let mut file = File::open(scene.path("data/file")).unwrap();
    fcntl_setfd(&file, FdFlags::empty()).unwrap();
    let script = format!("cat <&{}", file.as_raw_fd());
    assert_eq!(bare_output(&scene.program(&scene.writing(), &script)), SECRET);
    for level in levels().await {
        // Whoever reads through a shared descriptor moves it for all.
        file.rewind().unwrap();
        let wall = scene.writing();
        let (said, complained) = output(&level, &wall, scene.program(&wall, &script)).await;
        assert_eq!(said, "", "{complained}");
    }
    assert!(scene.is_untouched());
}

#[tokio::test]
async fn one_task_does_not_reach_another() {
    for level in levels().await {
        let scene = Scene::new();
        let wall = scene.writing();
        let mut program = scene.program(&wall, "echo ready; exec cat");
        program.env.push(("KEY".into(), SECRET.into()));
        let mut victim = spawn(&level, &wall, program).await;
        let _stdout = ready(&mut victim).await;
        let keeper = victim.id().unwrap();
        let script = format!("cat /proc/{}/environ; kill -KILL {keeper} && echo got-it", youngest(keeper));
        let (said, complained) = output(&level, &wall, scene.program(&wall, &script)).await;
        assert!(!said.contains(SECRET) && !said.contains(GOT_IT), "{level}: {complained}");
        let said = bare_output(&scene.program(&wall, &script));
        assert!(said.contains(SECRET) && said.contains(GOT_IT), "does nothing even without the wall");
        victim.end(Grace::default()).await.unwrap();
    }
}

/// The program itself, at the end of a line of only children.
fn youngest(keeper: u32) -> u32 {
    let child = |pid: u32| -> Option<u32> {
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        children.split_ascii_whitespace().next()?.parse().ok()
    };
    std::iter::successors(Some(keeper), |pid| child(*pid)).last().unwrap()
}

#[tokio::test]
async fn the_system_is_not_changed() {
    let path = format!("/etc/boocode-{}", crate::fixture::unique());
    let script = format!("echo x > {path}");
    let scene = Scene::new();
    // The control is root's alone; everybody else is kept out by the system itself.
    if rustix::process::geteuid().is_root() {
        bare_output(&scene.program(&scene.writing(), &script));
        std::fs::remove_file(&path).unwrap();
    }
    for level in levels().await {
        let wall = scene.writing();
        output(&level, &wall, scene.program(&wall, &script)).await;
        assert!(std::fs::metadata(&path).is_err());
    }
}
