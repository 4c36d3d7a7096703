//! What has to work behind the wall all the same.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use wall::{Error, Level, Process, Refused, Shared, Wall};

use crate::fixture::{FULL, Scene, full, helper, is_full, levels, marker, output, reduced};

const EVERYBODY: [(&str, &str); 12] = [
    ("own folder", "echo yes > $OWN/new && cat $OWN/new"),
    ("home", "echo yes > ~/new && cat ~/new"),
    ("temporary files", "cat < $(mktemp) && echo yes"),
    ("here document", "cat <<< yes"),
    ("substitution", "cat <(echo yes)"),
    ("null device", "echo no > /dev/null && echo yes"),
    ("random device", "head -c 1 /dev/urandom | wc -c | grep -q 1 && echo yes"),
    ("own process", "grep -q bash /proc/$$/cmdline && echo yes"),
    ("terminal", r#"script -qec "echo yes" /dev/null | tr -d '\r'"#),
    ("own script", "printf '#!/bin/sh\necho yes' > $OWN/x; chmod +x $OWN/x; $OWN/x"),
    ("granted program", "$BIN/agent"),
    (
        "granted port",
        "perl -MSocket -e 'socket S, PF_INET, SOCK_STREAM, 0;
            connect S, sockaddr_in $ENV{ALLOWED}, INADDR_LOOPBACK; print q(yes) if <S> =~ /hello/'",
    ),
];

async fn check(wall: fn(&Scene) -> Wall, name: &str, script: &str) {
    for level in levels().await {
        let scene = Scene::new();
        let agent = scene.path("bin/agent");
        fs::write(&agent, "#!/bin/sh\necho yes").unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        let wall = wall(&scene);
        let (said, complained) = output(&level, &wall, scene.program(&wall, script)).await;
        assert_eq!(said.trim(), "yes", "{name} at {level}: {complained}");
    }
}

#[tokio::test]
async fn what_every_program_does_works() {
    for (name, script) in EVERYBODY {
        check(Scene::writing, name, script).await;
        check(Scene::reading, name, script).await;
    }
    check(Scene::reading, "the project", "[ -r $PROJECT/file ] && cat $PROJECT/file > ~/copy && echo yes")
        .await;
}

/// As OpenCode does, from one process to another.
#[tokio::test]
async fn a_program_talks_to_itself_by_its_own_port() {
    let script = "perl -MSocket -e 'my $at = sockaddr_in $ENV{OWN_PORT}, INADDR_LOOPBACK;
        socket S, PF_INET, SOCK_STREAM, 0; setsockopt S, SOL_SOCKET, SO_REUSEADDR, 1;
        bind S, $at or die; listen S, 1; unless (fork) { socket C, PF_INET, SOCK_STREAM, 0; connect C, $at;
        syswrite C, qq(yes\n); exit } accept C, S; print scalar <C>'";
    for level in levels().await {
        let scene = Scene::new();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let wall = Wall { own_port: Some(port), ..scene.writing() };
        let mut program = scene.program(&wall, script);
        program.env.push(("OWN_PORT".into(), port.to_string().into()));
        let (said, complained) = output(&level, &wall, program).await;
        assert_eq!(said, "yes\n", "{level}: {complained}");
    }
}

#[tokio::test]
async fn git_works_on_borrowed_objects() {
    for level in levels().await {
        let scene = Scene::new();
        let git = |folder: &str, args: &[&str]| {
            let path = scene.path(folder);
            let mut command = Command::new("git");
            command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
            let output = command.args(args).current_dir(path).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
            assert!(output.as_ref().unwrap().status.success(), "{args:?}: {output:?}");
        };
        fs::remove_dir_all(scene.path("project/.git")).unwrap();
        git("project", &["init", "-q"]);
        git("project", &["add", "."]);
        git("project", &["commit", "-qm", "base"]);
        let project = scene.path("project");
        fs::remove_dir_all(scene.path("data/trees/own")).unwrap();
        git("data", &["clone", "-q", "--shared", project.to_str().unwrap(), "trees/own"]);
        let wall = scene.writing();
        let script =
            "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
            echo more >> file && git status --short && git add . && git commit -qm more && git stash list &&
            git log --format=%s && git diff --stat HEAD~1 | tail -1";
        let (said, complained) = output(&level, &wall, scene.program(&wall, script)).await;
        let expected = " M file\nmore\nbase\n 1 file changed, 1 insertion(+), 1 deletion(-)\n";
        assert_eq!(said, expected, "{level}: {complained}");
    }
}

#[tokio::test]
async fn only_real_paths_are_granted() {
    let scene = Scene::new();
    symlink(scene.path("data/trees/own"), scene.path("data/link")).unwrap();
    for name in
        ["data/link", "data/missing", "data/trees/own/../own", "data/home/", "data/./home", "project/file"]
    {
        let mut wall = scene.writing();
        if name == "project/file" {
            wall.hidden.push(scene.path(name));
        } else {
            wall.home = scene.path(name);
        }
        let program = scene.program(&wall, "true");
        let spawned = Process::spawn(&helper(), &FULL, &wall, program, &marker()).await;
        assert!(matches!(spawned, Err(Error::NotReal { .. })), "{name}: {spawned:?}");
    }
}

#[tokio::test]
async fn nothing_acts_on_the_helper() {
    let scene = Scene::new();
    let wall = scene.writing();
    let mut program = scene.program(&wall, "true");
    program.env.push(("LD_PRELOAD".into(), wall.home.join("evil.so").into_os_string()));
    let spawned = Process::spawn(&helper(), &FULL, &wall, program, &marker()).await;
    assert!(matches!(&spawned, Err(Error::Environment(name)) if name == "LD_PRELOAD"), "{spawned:?}");
}

#[tokio::test]
async fn without_a_wall_nothing_runs() {
    let none = Level::None { reason: "left out by the test".to_owned() };
    let scene = Scene::new();
    let run = async |wall: Wall| {
        let program = scene.program(&wall, "echo yes > $OWN/new");
        Process::spawn(&helper(), &none, &wall, program, &marker()).await
    };
    let refused = run(scene.writing()).await;
    assert!(matches!(refused, Err(Error::Refused(Refused::NotHeld { .. }))), "{refused:?}");
    let refused = run(scene.reading()).await;
    assert!(matches!(refused, Err(Error::Refused(Refused::NotReadOnly { .. }))), "{refused:?}");
}

#[tokio::test]
async fn what_lies_in_a_granted_folder_can_be_hidden() {
    let Some(full) = full().await else { return };
    let scene = Scene::new();
    let mut wall = scene.reading();
    fs::create_dir(scene.path("project/data")).unwrap();
    fs::write(scene.path("project/data/file"), "hidden").unwrap();
    wall.hidden.push(scene.path("project/data"));
    let program = scene.program(&wall, "ls $PROJECT $PROJECT/data");
    let (said, complained) = output(&full, &wall, program.clone()).await;
    let project = scene.path("project");
    let expected = format!("{0}:\ndata\nfile\n\n{0}/data:\n", project.display());
    assert_eq!(said, expected, "{complained}");
    let spawned = Process::spawn(&helper(), &reduced(), &wall, program, &marker()).await;
    assert!(matches!(spawned, Err(Error::Refused(Refused::NotSeparable { .. }))), "{spawned:?}");
}

/// Or all other tests could be left out.
#[tokio::test]
async fn the_level_is_what_the_machine_allows() {
    let mut namespaces = Command::new("unshare");
    namespaces.args([
        "--user",
        "--map-current-user",
        "--mount",
        "--pid",
        "--net",
        "--fork",
        "--mount-proc",
        "true",
    ]);
    let allowed = namespaces.status().unwrap().success();
    let level = wall::level(&helper()).await;
    assert_eq!(is_full(&level), allowed, "{level}");
}

/// As an agent's login: read and renewed where it lies. Each way to write is one that programs have.
#[tokio::test]
async fn a_file_is_shared_in_place() {
    let Some(full) = full().await else { return };
    let scene = Scene::new();
    let (file, place) = (scene.path("person"), scene.path("data/home/login"));
    fs::write(&file, "old\n").unwrap();
    fs::write(&place, "").unwrap();
    let script = "cat ~/login; echo new > ~/login; echo more >> ~/login
        echo copy > ~/aside; mv -T ~/aside ~/login 2>/dev/null || cp ~/aside ~/login; ls -A $(dirname $DATA)";
    let mut wall = scene.writing();
    // The control: without the grant its own empty file is all that it has.
    let program = scene.program(&wall, "cat ~/login $(dirname $DATA)/person; echo end");
    let (said, complained) = output(&full, &wall, program).await;
    assert_eq!(said, "end\n", "{complained}");
    wall.shared.push(Shared { file: file.clone(), place: place.clone() });
    let (said, complained) = output(&full, &wall, scene.program(&wall, script)).await;
    assert!(said.starts_with("old\n") && !said.contains("person"), "{said} {complained}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "copy\n", "{complained}");
    assert_eq!(fs::read_to_string(&place).unwrap(), "", "nothing of it is copied");

    let program = scene.program(&wall, "true");
    let spawned = Process::spawn(&helper(), &reduced(), &wall, program, &marker()).await;
    assert!(matches!(spawned, Err(Error::Refused(Refused::NotShared { .. }))), "{spawned:?}");
}

#[tokio::test]
async fn only_real_files_are_shared() {
    let scene = Scene::new();
    fs::write(scene.path("person"), "old").unwrap();
    symlink(scene.path("person"), scene.path("data/home/link")).unwrap();
    for (file, place) in [
        ("person", "data/home/link"),
        ("person", "data/home/missing"),
        ("person", "data/home"),
        ("data/home/link", "data/home/own"),
        ("project", "data/home/own"),
    ] {
        let mut wall = scene.writing();
        wall.shared.push(Shared { file: scene.path(file), place: scene.path(place) });
        let program = scene.program(&wall, "true");
        let spawned = Process::spawn(&helper(), &FULL, &wall, program, &marker()).await;
        assert!(matches!(spawned, Err(Error::NotReal { .. })), "{file} at {place}: {spawned:?}");
    }
}
