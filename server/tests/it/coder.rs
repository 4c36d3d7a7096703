//! Agents at work: in a worktree of their own, behind their wall, until a person applies what they did.

mod kept;
mod native;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use domain::{
    id::{ChatId, MessageId},
    output::Outcome,
    task::Status,
    tool,
    transcript::{Kind, Transcript},
    worktree::{self, Changes},
};
use uuid::Uuid;

use crate::harness::{Server, Watcher, World, eventually};

/// A project with a commit, and a Coder in it.
pub async fn coder(world: &World, server: &Server) -> (PathBuf, ChatId) {
    let project = world.repository(&Uuid::now_v7().to_string());
    fs::write(project.join("main.rs"), "fn main() {}\n").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "first"]);
    (project.clone(), coder_of(server, &project).await)
}

pub async fn coder_of(server: &Server, project: &Path) -> ChatId {
    server.call("add_project", &[("path", project.to_string_lossy().into_owned())]).await;
    one_more(server).await
}

/// In the session that was opened last.
pub async fn one_more(server: &Server) -> ChatId {
    let workspace = server.snapshot(None).await.state.workspace;
    let session = workspace.sessions.last().unwrap().id;
    let fields = [
        ("session", session.to_string()),
        ("kind", "coder".to_owned()),
        ("target", r#"{"tab":{"pane":null}}"#.to_owned()),
    ];
    let address: String = server.call("open_new", &fields).await.json().await.unwrap();
    address.strip_prefix("/chat/").unwrap().parse().unwrap()
}

pub fn git(folder: &Path, args: &[&str]) -> String {
    let done = Command::new("git").arg("-C").arg(folder).args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

pub fn task(chat: ChatId, text: &str, backend: &str) -> [(&'static str, String); 5] {
    [
        ("chat", chat.to_string()),
        ("message", MessageId(Uuid::now_v7()).to_string()),
        ("text", text.to_owned()),
        ("model", "local/small".to_owned()),
        ("coder[backend]", backend.to_owned()),
    ]
}

async fn work(server: &Server, page: &mut Watcher, text: &str) {
    work_of(server, page, text, "native").await;
}

pub async fn work_of(server: &Server, page: &mut Watcher, text: &str, backend: &str) {
    let before = page.chat().messages.len();
    server.call("ask", &task(page.chat, text, backend)).await;
    page.until(server, "the turn's end", |page| {
        page.chat().messages.len() == before + 2 && matches!(page.last_status(), Status::Settled { .. })
    })
    .await;
}

pub async fn changes(server: &Server, chat: ChatId) -> Changes {
    let seen: Option<Changes> =
        server.call("changes", &[("chat", chat.to_string())]).await.json().await.unwrap();
    seen.unwrap()
}

pub fn paths(changes: &Changes) -> Vec<String> {
    changes.files.iter().map(|file| format!("{} {}", file.status.letter(), file.path)).collect()
}

/// Why the last turn came to nothing, through no fault of the model's.
pub fn void(page: &Watcher) -> String {
    let Status::Settled { outcome: Outcome::Void { reason }, .. } = page.last_status() else {
        panic!("{:?}", page.last_status())
    };
    reason.clone()
}

/// The calls of the last turn, as a page shows them.
pub fn calls(page: &Watcher) -> Vec<tool::Call> {
    let segments = Transcript::read(&page.last_stream()).segments;
    let tools = segments.iter().filter(|segment| segment.kind == Kind::Tool);
    tools.map(|segment| tool::Call::read(&segment.text)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_changes_its_worktree_and_the_project_only_when_it_is_applied() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    work(
        &server,
        &mut page,
        r#"[[tool edit {"path":"main.rs","old":"{}","new":"{ run() }"}]][[tool write {"path":"src/new.txt","content":"new\n"}]][[tool run {"command":"cat main.rs"}]][[say all done]]"#,
    )
    .await;
    let shown = calls(&page);
    let titles: Vec<_> = shown.iter().map(|call| call.title.as_str()).collect();
    assert_eq!(titles, ["Edit main.rs", "Write src/new.txt", "Run cat main.rs"], "{:?}", page.last_status());
    assert!(shown.iter().all(|call| call.status == tool::Status::Done), "{shown:?}");
    assert_eq!(shown[2].output, "fn main() { run() }\n");
    assert_eq!(page.answer().trim(), "all done");
    assert_eq!(paths(&changes(&server, chat).await), ["M main.rs", "A src/new.txt"]);
    assert_eq!(fs::read_to_string(project.join("main.rs")).unwrap(), "fn main() {}\n");

    // What was said and done is there for the next turn.
    work(&server, &mut page, r#"[[tool read {"path":"main.rs"}]][[say seen]]"#).await;
    assert_eq!(calls(&page)[0].output, "    1  fn main() { run() }\n");

    let branch = [("chat", chat.to_string()), ("branch", "try/one".to_owned())];
    let how: String = server.call("apply_changes", &branch).await.json().await.unwrap();
    assert!(how.contains("on try/one"), "{how}");
    assert_eq!(git(&project, &["show", "try/one:src/new.txt"]), "new\n");
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
    let refused = server.refusal("apply_changes", &branch).await;
    assert!(refused.contains("There is a branch try/one already"), "{refused}");

    // What a person changed meanwhile is not overwritten.
    fs::write(project.join("main.rs"), "fn main() { other() }\n").unwrap();
    let files = [("chat", chat.to_string())];
    let refused = server.refusal("apply_changes", &files).await;
    assert!(refused.contains("main.rs"), "{refused}");
    assert_eq!(fs::read_to_string(project.join("main.rs")).unwrap(), "fn main() { other() }\n");
    assert!(!project.join("src/new.txt").exists(), "all or nothing");
    git(&project, &["checkout", "-q", "main.rs"]);
    let how: String = server.call("apply_changes", &files).await.json().await.unwrap();
    assert_eq!(how, "Applied to 2 files.");
    assert_eq!(fs::read_to_string(project.join("main.rs")).unwrap(), "fn main() { run() }\n");

    // After feedback what it changed once more comes too, and what it took back goes.
    work(
        &server,
        &mut page,
        r#"[[tool edit {"path":"main.rs","old":"run()","new":"again()"}]][[tool run {"command":"rm src/new.txt"}]][[say ok]]"#,
    )
    .await;
    let how: String = server.call("apply_changes", &files).await.json().await.unwrap();
    assert_eq!(how, "Applied to 2 files.");
    assert_eq!(fs::read_to_string(project.join("main.rs")).unwrap(), "fn main() { again() }\n");
    assert!(!project.join("src").exists());
    work(&server, &mut page, r#"[[tool edit {"path":"main.rs","old":"{ again() }","new":"{}"}]][[say ok]]"#)
        .await;
    let seen = changes(&server, chat).await;
    assert!(seen.files.is_empty() && seen.is_applied, "there is something to take back: {seen:?}");
    server.call("apply_changes", &files).await;
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
    assert!(!changes(&server, chat).await.is_applied);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_stays_behind_its_wall() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    let secret = world.folder.path().join("one/identity");
    assert!(!fs::read_to_string(&secret).unwrap().is_empty(), "the control: it is there to be read");
    let escape = format!(
        "echo x > {0}/escaped; cp main.rs {0}/copied; cat {1}; ls {2}; echo over",
        project.display(),
        secret.display(),
        world.folder.path().join("one").display()
    );
    // The control: outside the wall each of them works.
    let outside = Command::new("sh").arg("-c").arg(&escape).current_dir(&project).output().unwrap();
    assert!(project.join("escaped").exists() && project.join("copied").exists() && outside.status.success());
    fs::remove_file(project.join("escaped")).unwrap();
    fs::remove_file(project.join("copied")).unwrap();

    let mut page = server.watch(chat).await;
    let call = serde_json::json!({ "command": escape });
    work(&server, &mut page, &format!("[[tool run {call}]][[say tried]]")).await;
    let output = calls(&page)[0].output.clone();
    assert!(output.contains("over"), "{output}");
    assert!(!project.join("escaped").exists() && !project.join("copied").exists(), "{output}");
    assert!(!output.contains(fs::read_to_string(&secret).unwrap().trim()), "{output}");
    assert!(!output.contains("identity\n") && !output.contains("worktrees"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_server_left_running_is_ended_and_the_turn_is_done_again() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    let ask = r#"[[tool write {"path":"kept.txt","content":"kept"}]][[tool run {"command":"sleep 3 && echo woke"}]][[say done]]"#;
    server.call("ask", &task(chat, ask, "native")).await;
    page.until(&server, "the command", |page| {
        !page.chat().branch().is_empty() && page.last_stream().contains("sleep 3")
    })
    .await;
    let marker = page.last_task().id.to_string();
    assert!(!marked(&marker).is_empty(), "the control: its processes are there");
    server.kill().await;
    let server = world.server("one").await;
    let mut page = server.watch(chat).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "done", "{:?}", page.last_status());
    assert_eq!(page.last_task().lost.len(), 1);
    assert_eq!(paths(&changes(&server, chat).await), ["A kept.txt"]);
    eventually("nothing is left", || async { marked(&marker).is_empty().then_some(()) }).await;
}

/// The processes of a task.
pub fn marked(task: &str) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_marked = |path: &PathBuf| {
        fs::read(path.join("environ")).is_ok_and(|environment| {
            String::from_utf8_lossy(&environment)
                .split('\0')
                .any(|it| it.contains("BOOCODE_TASK=") && it.contains(task))
        })
    };
    processes.filter(is_marked).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_command_that_runs() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    server.call("ask", &task(chat, r#"[[tool run {"command":"sleep 300"}]][[say never]]"#, "native")).await;
    page.until(&server, "the command", |page| {
        !page.chat().branch().is_empty() && page.last_stream().contains("sleep 300")
    })
    .await;
    server.call("stop", &[("chat", chat.to_string())]).await;
    page.until_settled(&server).await;
    let Status::Settled { outcome, .. } = page.last_status() else { panic!() };
    assert_eq!(*outcome, Outcome::Cancelled);
    let marker = page.last_task().id.to_string();
    eventually("nothing is left", || async { marked(&marker).is_empty().then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_errs_is_told_and_one_that_repeats_itself_is_stopped() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    work(&server, &mut page, r#"[[tool fly {}]][[tool read {"file":"x"}]][[say sorry]]"#).await;
    let shown = calls(&page);
    assert!(shown[0].output.starts_with("There is no tool \"fly\" here."), "{shown:?}");
    assert!(shown[1].output.starts_with("The arguments of read are wrong"), "{shown:?}");
    assert!(shown.iter().all(|call| call.status == tool::Status::Failed));
    assert_eq!(page.answer().trim(), "sorry");

    let list = r#"[[tool list {}]]"#;
    work(&server, &mut page, &format!("{list}{list}{list}{list}[[say never]]")).await;
    let answer = page.answer();
    assert!(answer.contains("It made the same call several times in a row"), "{answer}");
    assert_eq!(calls(&page).len(), 2, "the third is not made");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_that_has_no_commit_is_said_and_a_later_try_works() {
    let world = World::new().await;
    let server = world.server("one").await;
    let project = world.repository("bare");
    let chat = coder_of(&server, &project).await;
    let mut page = server.watch(chat).await;
    work(&server, &mut page, "[[say hello]]").await;
    assert!(void(&page).contains("no commit yet"), "{}", void(&page));
    git(
        &project,
        &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"],
    );
    work(&server, &mut page, "[[say hello]]").await;
    assert_eq!(page.answer().trim(), "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_goes_to_the_trash_and_comes_back() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    work(&server, &mut page, r#"[[tool write {"path":"a","content":"a"}]][[say ok]]"#).await;
    let of = [("chat", chat.to_string())];
    server.call("discard_changes", &of).await;
    page.until(&server, "the trash", |page| {
        page.chat().worktree.as_ref().is_some_and(|it| it.state == worktree::State::Discarded)
    })
    .await;
    let refused = server.refusal("ask", &task(chat, "[[say more]]", "native")).await;
    assert!(refused.contains("in the trash"), "{refused}");
    server.call("restore_changes", &of).await;
    assert_eq!(paths(&changes(&server, chat).await), ["A a"]);
    work(&server, &mut page, "[[say more]]").await;
    assert_eq!(page.answer().trim(), "more");
}

#[tokio::test(flavor = "multi_thread")]
async fn uncommitted_work_comes_along_when_it_is_asked_for() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    fs::write(project.join("draft.txt"), "mine\n").unwrap();
    let mut page = server.watch(chat).await;
    let mut fields = task(chat, r#"[[tool read {"path":"draft.txt"}]][[say read]]"#, "native").to_vec();
    fields.push(("coder[carry]", "true".to_owned()));
    server.call("ask", &fields).await;
    page.until(&server, "the turn's end", |page| {
        !page.chat().branch().is_empty() && matches!(page.last_status(), Status::Settled { .. })
    })
    .await;
    assert_eq!(calls(&page)[0].output, "    1  mine\n", "{:?}", page.last_status());
    assert!(changes(&server, chat).await.files.is_empty(), "what was there before is no change");
}
