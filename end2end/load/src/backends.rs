//! What BooCode adds to an agent's own work: a task of ten seconds in a Coder, against the same agent driven bare.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use acp::{Agent, Block, Mode, Permits, Turn, agents, install, install::node::Node};
use anyhow::{Context as _, Result, bail};
use domain::{
    id::{ChatId, MessageId},
    task::{Status, Work},
    tool::{Ask, Permit},
};
use futures::future::{BoxFuture, FutureExt as _};
use serde_json::json;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    Goal, Programs,
    boocode::{Browser, Home, ModelServer},
    part::Part,
    watcher::Watcher,
};

const ROUNDS: usize = 5;
const FILES: usize = 500;
const OVERHEAD_MAX: f64 = 1.05;
const TURN_LIMIT: Duration = Duration::from_secs(120);

pub async fn measure(programs: &Programs, tools: &Path) -> Result<Vec<Goal>> {
    let model = Part::start(&["model"]).await?;
    let server = ModelServer { name: "local", url: model.url.clone(), parallel: 1 };
    let mut home = Home::new(programs, &[server])?;
    home.set_agents(tools);
    let outcome = measure_at(&home, tools, &model.url).await;
    home.explain(outcome)
}

async fn measure_at(home: &Home, tools: &Path, model: &str) -> Result<Vec<Goal>> {
    let project = home.folder().join("project");
    make(&project)?;
    let (server, browser) = home.start().await?;
    browser.call("add_project", &[("path", project.to_string_lossy().into_owned())]).await?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let node = Node::find(&path, tools).await.context("node with npm")?;
    let here = agents::ALL.into_iter().filter(|agent| ["goose", "qwen"].contains(&agent.name));
    let mut goals = Vec::new();
    for agent in here.filter(|agent| install::runs_here(agent)) {
        let (mut bare, mut ours) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // By turns, so that a busy moment of the machine hits both.
            let place = home.folder().join(format!("bare-{}-{round}", agent.name));
            bare.push(alone(agent, &place, &project, tools, &node, model).await?);
            ours.push(in_coder(&browser, agent).await?);
        }
        let (bare, ours) = (median(&mut bare), median(&mut ours));
        let ratio = ours.as_secs_f64() / bare.as_secs_f64();
        println!(
            "{:<10} bare {:.2} s, in a Coder {:.2} s: {ratio:.3} ×; medians of {ROUNDS}",
            agent.title,
            bare.as_secs_f64(),
            ours.as_secs_f64()
        );
        let text = format!("{}: at most {OVERHEAD_MAX} × the agent driven bare", agent.title);
        goals.push(Goal { text, reached: ratio <= OVERHEAD_MAX });
    }
    server.stop().await?;
    if goals.is_empty() {
        bail!("no agent runs on this processor");
    }
    Ok(goals)
}

/// About ten seconds, most of them the model's: three commands and four hundred words at fifty a second.
fn script(agent: &Agent) -> String {
    let command = |n: usize| {
        let line = format!("echo {n} > made-{n}.txt");
        match agent.name {
            "qwen" => {
                format!("[[tool run_shell_command {}]]", json!({"command": line, "is_background": false}))
            }
            _ => format!("[[tool shell {}]]", json!({"command": line})),
        }
    };
    format!("[[rate 50]]{}{}{}[[tokens 400]]", command(1), command(2), command(3))
}

/// Whatever it asks is allowed, as in a Coder that does not ask.
struct Yes;

impl Permits for Yes {
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Option<Permit>> {
        let allowed = [Permit::Once, Permit::Always].into_iter().find(|permit| ask.options.contains(permit));
        async move { allowed }.boxed()
    }
}

/// From the start of its process to the end of its turn, in a copy of the project that is there already.
async fn alone(
    agent: &'static Agent,
    place: &Path,
    project: &Path,
    tools: &Path,
    node: &Node,
    model: &str,
) -> Result<Duration> {
    let folder = |name: &str| place.join(name);
    for name in ["home", "tmp"] {
        fs::create_dir_all(folder(name))?;
    }
    run(Command::new("git").args(["clone", "--quiet"]).arg(project).arg(folder("tree")))?;
    let installed = install::folder(&tools.join("agents"), agent);
    let endpoint = acp::Endpoint { base_url: model.to_owned(), key: None, model: "small".into() };
    let launch =
        agent.launch(&installed, &acp::Source::Server(endpoint), None).context("no way to start it")?;
    for file in &launch.files {
        let path = folder("home").join(file.path);
        fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        fs::write(path, &file.text)?;
    }
    let mut command = tokio::process::Command::new(&launch.program);
    command.args(&launch.arguments).env_clear().envs(launch.environment).current_dir(folder("tree"));
    command.env("HOME", folder("home")).env("TMPDIR", folder("tmp")).env("PATH", node.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
    let (stdin, stdout) =
        (child.stdin.take().context("no stdin")?, child.stdout.take().context("no stdout")?);
    let turn = Turn {
        folder: folder("tree"),
        prompt: vec![Block::Text(script(agent))],
        before: None,
        resume: None,
        mode: Mode::Edit,
        limits: acp::Limits::default(),
    };
    let (outputs, mut told) = mpsc::channel(256);
    tokio::spawn(async move { while told.recv().await.is_some() {} });
    let cancel = CancellationToken::new();
    let talked = acp::run(agent, stdin, stdout, turn, &outputs, &Yes, &cancel);
    timeout(TURN_LIMIT, talked).await.context("the agent hangs")??;
    let taken = began.elapsed();
    child.kill().await?;
    check(&folder("tree"))?;
    Ok(taken)
}

/// From the click to the end that the page is told of, in a Coder that has no worktree yet.
async fn in_coder(browser: &Browser, agent: &Agent) -> Result<Duration> {
    let chat = new_coder(browser).await?;
    let mut watcher = Watcher::new(browser, chat).await?;
    // A page is connected before anybody types.
    watcher.step(browser).await?;
    let fields = [
        ("chat", chat.to_string()),
        ("message", MessageId(Uuid::now_v7()).to_string()),
        ("text", script(agent)),
        ("model", "local/small".to_owned()),
        ("coder[backend]", agent.name.to_owned()),
    ];
    let began = Instant::now();
    browser.call("ask", &fields).await?;
    let settled = async {
        loop {
            watcher.step(browser).await?;
            let tasks = watcher.chat().into_iter().flat_map(|chat| chat.tasks.values());
            let status = tasks.filter(|task| task.work == Work::CoderTurn).map(|task| &task.status).next();
            if let Some(Status::Settled { outcome, .. }) = status {
                return Ok::<_, anyhow::Error>((
                    began.elapsed(),
                    outcome.fault().map(|(_, why)| why.to_owned()),
                ));
            }
        }
    };
    let (taken, fault) = timeout(TURN_LIMIT, settled).await.context("the turn does not end")??;
    if let Some(fault) = fault {
        bail!("{} failed: {fault}", agent.title);
    }
    // The one place at the model is free again before the next one is measured.
    let at_rest = async {
        while watcher.chat().is_some_and(|chat| !chat.tasks.values().all(|task| task.is_settled())) {
            watcher.step(browser).await?;
        }
        Ok::<_, anyhow::Error>(())
    };
    timeout(TURN_LIMIT, at_rest).await.context("the chat does not come to rest")??;
    Ok(taken)
}

async fn new_coder(browser: &Browser) -> Result<ChatId> {
    let workspace = browser.snapshot(None).await?.state.workspace;
    let session = workspace.sessions.last().context("the project has no session")?.id;
    let fields = [
        ("session", session.to_string()),
        ("kind", "coder".to_owned()),
        ("target", r#"{"tab":{"pane":null}}"#.to_owned()),
    ];
    let address: String = serde_json::from_str(&browser.call("open_new", &fields).await?)?;
    address.strip_prefix("/chat/").and_then(|id| id.parse().ok()).context("no chat was opened")
}

fn make(project: &Path) -> Result<()> {
    for n in 0..FILES {
        let file: PathBuf = project.join(format!("src/part{}/file{n}.rs", n % 20));
        fs::create_dir_all(file.parent().context("a file lies in a folder")?)?;
        fs::write(file, format!("pub fn number() -> u32 {{\n    {n}\n}}\n").repeat(20))?;
    }
    let git = || {
        let mut command = Command::new("git");
        command.arg("-C").arg(project).args(["-c", "user.name=A", "-c", "user.email=a@b"]);
        command
    };
    run(git().args(["init", "--quiet"]))?;
    run(git().args(["add", "--all"]))?;
    run(git().args(["commit", "--quiet", "--message", "first"]))
}

/// Both did the same.
fn check(tree: &Path) -> Result<()> {
    match (1..=3).find(|n| !tree.join(format!("made-{n}.txt")).exists()) {
        Some(n) => bail!("the agent did not make made-{n}.txt"),
        None => Ok(()),
    }
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
