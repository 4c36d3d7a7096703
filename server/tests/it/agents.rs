//! Real agents at work in Coders, on the scripted model. `cargo xtask test` runs Qwen Code and Goose, and with
//! `--agents` all six; the names of these tests are the table that it prints.

mod configured;
mod installing;
mod login;
mod placed;
mod reading;
mod trouble;

use std::{fs, path::PathBuf, time::Duration};

use domain::{
    backend::Offer,
    id::ChatId,
    output::{Outcome, Phase},
    task::Status,
    tool,
};
use scripted::calls::{asking_shell, shell, write};

use crate::{
    arena::{self, Field},
    coder::{calls, changes, coder, marked, paths, task, work_of},
    harness::{Server, Watcher, World, eventually},
};

pub fn known(name: &str) -> &'static acp::Agent {
    acp::agents::ALL.into_iter().find(|agent| agent.name == name).unwrap()
}

/// Where the agents of this Coder work, which is known once one has.
pub fn tree(world: &World, page: &Watcher) -> PathBuf {
    let id = page.chat().worktree.as_ref().unwrap().id;
    world.folder.path().canonicalize().unwrap().join("one/worktrees").join(id.to_string()).join("tree")
}

pub async fn until_asked(server: &Server, page: &mut Watcher) -> tool::Ask {
    let asked = |page: &Watcher| match (!page.chat().branch().is_empty()).then(|| page.last_status()) {
        Some(Status::Running { phase: Phase::Asking(ask), .. }) => Some(ask.clone()),
        _ => None,
    };
    page.until(server, "a question", |page| asked(page).is_some()).await;
    asked(page).unwrap()
}

pub async fn answer(server: &Server, page: &Watcher, ask: &tool::Ask, permit: &str) {
    let fields = [
        ("chat", page.chat.to_string()),
        ("task", page.last_task().id.to_string()),
        ("attempt", "1".to_owned()),
        ("number", ask.number.to_string()),
        ("permit", permit.to_owned()),
    ];
    server.call("answer_ask", &fields).await;
}

pub async fn settled(server: &Server, page: &mut Watcher, count: usize) {
    page.until(server, "the turn's end", |page| {
        page.chat().messages.len() == count && matches!(page.last_status(), Status::Settled { .. })
    })
    .await;
}

pub fn asking(chat: ChatId, text: &str, agent: &str) -> Vec<(&'static str, String)> {
    let mut fields = task(chat, text, agent).to_vec();
    fields.push(("coder[asks]", "true".to_owned()));
    fields
}

/// No process of the last task is left.
async fn nothing_left(page: &Watcher) {
    let last = page.last_task().id.to_string();
    eventually("nothing is left", || async { marked(&last).is_empty().then_some(()) }).await;
}

/// A server on which this agent is ready, and a Coder.
async fn ready(agent: &str) -> (World, Server, PathBuf, ChatId) {
    let world = World::new().await;
    let server = world.server_that_speaks_all("one").await;
    let offers: Vec<Offer> = server.call("backends", &[]).await.json().await.unwrap();
    let ready = offers.iter().find(|offer| offer.backend.0 == agent).unwrap();
    assert!(ready.is_ready(), "cargo xtask test installs it: {ready:?}");
    let (project, chat) = coder(&world, &server).await;
    (world, server, project, chat)
}

/// It changes files and runs commands, in its worktree and nowhere else, and leaves no child behind.
async fn writes(agent: &str) {
    let (world, server, project, chat) = ready(agent).await;
    let mut page = server.watch(chat).await;
    work_of(&server, &mut page, "[[say first words]]", agent).await;
    assert_eq!(page.answer().trim(), "first words", "{:?}", page.last_status());
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Done { .. }, .. }));
    let tree = tree(&world, &page);
    if agent == "gemini" {
        // It names its files by the minute, and forgets a session that is loaded in the minute of its making.
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    // Some run commands in a terminal, whose end would reach the child before it has a session of its own.
    let commands = format!(
        "echo x > {}/escaped; nohup setsid sleep 300 >/dev/null 2>&1 & echo $! > child.txt; sleep 1; \
         echo over > done.txt",
        project.display()
    );
    let ask = format!(
        "{}{}{}[[say second words]]",
        write(agent, &tree.join("hello.txt"), "hello\n"),
        shell(agent, &commands),
        shell(agent, "read child < child.txt; kill -0 $child && echo yes > alive.txt")
    );
    work_of(&server, &mut page, &ask, agent).await;
    assert!(page.answer().contains("second words"), "{:?} {}", page.last_status(), page.last_stream());
    assert!(!page.answer().contains("began anew"), "it goes on from its session: {}", page.answer());
    let titles: Vec<_> = calls(&page).into_iter().map(|call| call.title).collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
    let made = ["A alive.txt", "A child.txt", "A done.txt", "A hello.txt"];
    assert_eq!(
        paths(&changes(&server, chat).await),
        made,
        "the control: its child lives on after the command: {}",
        page.last_stream()
    );
    assert_eq!(fs::read_to_string(tree.join("hello.txt")).unwrap(), "hello\n");
    assert!(!project.join("escaped").exists(), "the wall holds");
    nothing_left(&page).await;
}

/// It asks, and does what it is told.
async fn asks(agent: &str) {
    let (world, server, _, _) = ready(agent).await;
    for (permit, name) in [("once", "allowed.txt"), ("reject", "refused.txt")] {
        let (_, chat) = coder(&world, &server).await;
        let mut page = server.watch(chat).await;
        let script = format!("{}[[say words]]", asking_shell(agent, &format!("echo x > {name}")));
        server.call("ask", &asking(chat, &script, agent)).await;
        let ask = until_asked(&server, &mut page).await;
        answer(&server, &page, &ask, permit).await;
        settled(&server, &mut page, 2).await;
        let (status, said) = (page.last_status(), page.last_stream());
        assert!(matches!(status, Status::Settled { outcome: Outcome::Done { .. }, .. }), "{status:?} {said}");
        assert_eq!(tree(&world, &page).join(name).exists(), permit == "once", "{status:?} {said}");
        nothing_left(&page).await;
    }
}

macro_rules! cases_of {
    ($($(#[$made_for:meta])? $module:ident $($more:ident)*;)*) => {
        $(
            $(#[$made_for])?
            mod $module {
                use super::{asks, writes};
                use super::{placed::*, reading::*, trouble::*};
                #[allow(unused_imports)]
                use super::login::*;
                cases_of!(@ $module
                    writes
                    asks
                    only_reads_when_told_to_edit
                    only_reads_when_told_to_run
                    stops_in_the_middle
                    stops_before_the_first_byte
                    tells_a_model_error
                    ends_with_its_model_server
                    is_cleared_up_after_a_kill
                    works_in_a_flow
                    cross_examines
                    $($more)*
                );
            }
        )*
    };
    (@ $module:ident $($name:ident)*) => {
        $(
            mod $name {
                #[tokio::test(flavor = "multi_thread")]
                async fn test() { super::$name(stringify!($module)).await; }
            }
        )*
    };
}

cases_of!(
    qwen;
    #[cfg(target_arch = "x86_64")] goose;
    claude works_on_its_own_login;
    codex works_on_its_own_login;
    #[cfg(target_arch = "x86_64")] opencode;
    gemini works_on_its_own_login;
);

#[tokio::test(flavor = "multi_thread")]
async fn our_own_agent_asks_and_gives_its_place_away_meanwhile() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    let ask = r#"[[tool write {"path":"a","content":"a"}]][[say done]]"#;
    server.call("ask", &asking(chat, ask, "native")).await;
    let question = until_asked(&server, &mut page).await;
    assert_eq!(question.title, "Write a");

    // The one place at the model server is free for others while the person thinks.
    let other = server.new_chat(&world).await;
    let mut beside = server.watch(other).await;
    server.ask(other, "[[say beside]]").await;
    beside.until_settled(&server).await;
    assert_eq!(beside.answer().trim(), "beside");

    answer(&server, &page, &question, "once").await;
    settled(&server, &mut page, 2).await;
    assert_eq!(page.answer().trim(), "done");
    assert_eq!(paths(&changes(&server, chat).await), ["A a"]);
}

/// What an agent tells is of its last call alone, so the model server's word counts, call by call.
#[cfg(target_arch = "x86_64")]
#[tokio::test(flavor = "multi_thread")]
async fn goose_is_counted_by_all_its_calls() {
    let (world, server, _, chat) = ready("goose").await;
    let mut page = server.watch(chat).await;
    let script = format!("{}{}[[say done]]", shell("goose", "echo one"), shell("goose", "echo two"));
    work_of(&server, &mut page, &script, "goose").await;
    let Status::Settled { outcome: Outcome::Done { measured }, .. } = page.last_status() else {
        panic!("{:?}", page.last_status())
    };
    let log = world.model_log().await;
    // The chat's title is asked for as soon as the turn is over, and is no call of the agent's.
    let asked = log["requests"].as_array().unwrap().iter();
    let asked = asked.filter(|it| !it["system"].as_str().unwrap().contains("short titles"));
    let tokens: Vec<_> = asked.map(|it| it["tokens"].as_u64().unwrap()).collect();
    assert!(tokens.len() >= 3, "the control: it called its model several times: {tokens:?}");
    let said = measured.usage.unwrap().completion_tokens;
    assert_eq!(said, Some(tokens.iter().sum()), "{tokens:?}");

    let field = Field::new(&world, &server).await;
    let mut battle = field.coding(&script, &["goose@small", "native@large"]);
    battle["tokens_max"] = 1.into();
    let id = arena::launch(&server, battle).await;
    let battle = arena::over(&server, &id).await;
    assert_eq!(battle["status"], "cancelled", "{battle:#}");
}
