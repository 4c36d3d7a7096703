//! Real agents at work in Coders: Qwen Code and Goose, on the scripted model.

use std::{fs, path::Path};

use domain::{
    backend::Offer,
    id::ChatId,
    output::{Outcome, Phase},
    task::Status,
    tool,
};
use serde_json::json;

use crate::{
    coder::{calls, changes, coder, marked, paths, task, work_of},
    harness::{Server, Watcher, World, eventually},
};

/// A call of the agent's own tool that writes a file.
fn write(agent: &str, tree: &Path, content: &str) -> String {
    match agent {
        "qwen" => {
            let path = tree.join("hello.txt");
            format!("[[tool write_file {}]]", json!({"file_path": path, "content": content}))
        }
        _ => format!("[[tool write {}]]", json!({"path": "hello.txt", "content": content})),
    }
}

pub fn shell(agent: &str, command: &str) -> String {
    match agent {
        "qwen" => {
            format!("[[tool run_shell_command {}]]", json!({"command": command, "is_background": false}))
        }
        _ => format!("[[tool shell {}]]", json!({"command": command})),
    }
}

/// Where the agents of this Coder work, which is known once one has.
pub fn tree(world: &World, page: &Watcher) -> std::path::PathBuf {
    let id = page.chat().worktree.as_ref().unwrap().id;
    world.folder.path().canonicalize().unwrap().join("one/worktrees").join(id.to_string()).join("tree")
}

async fn until_asked(server: &Server, page: &mut Watcher) -> tool::Ask {
    let asked = |page: &Watcher| match (!page.chat().branch().is_empty()).then(|| page.last_status()) {
        Some(Status::Running { phase: Phase::Asking(ask), .. }) => Some(ask.clone()),
        _ => None,
    };
    page.until(server, "a question", |page| asked(page).is_some()).await;
    asked(page).unwrap()
}

async fn answer(server: &Server, page: &Watcher, ask: &tool::Ask, permit: &str) {
    let fields = [
        ("chat", page.chat.to_string()),
        ("task", page.last_task().id.to_string()),
        ("attempt", "1".to_owned()),
        ("number", ask.number.to_string()),
        ("permit", permit.to_owned()),
    ];
    server.call("answer_ask", &fields).await;
}

async fn settled(server: &Server, page: &mut Watcher, count: usize) {
    page.until(server, "the turn's end", |page| {
        page.chat().messages.len() == count && matches!(page.last_status(), Status::Settled { .. })
    })
    .await;
}

fn asking(chat: ChatId, text: &str, agent: &str) -> Vec<(&'static str, String)> {
    let mut fields = task(chat, text, agent).to_vec();
    fields.push(("coder[asks]", "true".to_owned()));
    fields
}

/// One story for each agent: it works, goes on from its session in another process, asks and is refused.
async fn story(agent: &str) {
    let world = World::new().await;
    let server = world.server("one").await;
    let offers: Vec<Offer> = server.call("backends", &[]).await.json().await.unwrap();
    let ready = offers.iter().find(|offer| offer.backend.0 == agent).unwrap();
    assert!(ready.is_ready(), "cargo xtask test installs it: {ready:?}");
    let (project, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;

    work_of(&server, &mut page, "[[say first words]]", agent).await;
    assert_eq!(page.answer().trim(), "first words", "{:?}", page.last_status());
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Done { .. }, .. }));
    let tree = tree(&world, &page);
    let escape = shell(agent, &format!("echo x > {}/escaped; echo over > done.txt", project.display()));
    let ask = format!("{}{escape}[[say second words]]", write(agent, &tree, "hello\n"));
    work_of(&server, &mut page, &ask, agent).await;
    assert!(page.answer().contains("second words"), "{:?} {}", page.last_status(), page.last_stream());
    assert!(!page.answer().contains("began anew"), "it goes on from its session: {}", page.answer());
    let titles: Vec<_> = calls(&page).into_iter().map(|call| call.title).collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
    assert_eq!(paths(&changes(&server, chat).await), ["A done.txt", "A hello.txt"]);
    assert!(!project.join("escaped").exists(), "the wall holds");

    // It asks, and does what it is told.
    server
        .call(
            "ask",
            &asking(chat, &format!("{}[[say third words]]", shell(agent, "echo y > asked.txt")), agent),
        )
        .await;
    let ask = until_asked(&server, &mut page).await;
    answer(&server, &page, &ask, "once").await;
    settled(&server, &mut page, 6).await;
    assert!(tree.join("asked.txt").exists(), "{:?} {}", page.last_status(), page.last_stream());
    server
        .call(
            "ask",
            &asking(chat, &format!("{}[[say fourth words]]", shell(agent, "echo n > refused.txt")), agent),
        )
        .await;
    let ask = until_asked(&server, &mut page).await;
    answer(&server, &page, &ask, "reject").await;
    settled(&server, &mut page, 8).await;
    assert!(!tree.join("refused.txt").exists());

    let last = page.last_task().id.to_string();
    eventually("nothing is left", || async { marked(&last).is_empty().then_some(()) }).await;
    assert_eq!(fs::read_to_string(tree.join("hello.txt")).unwrap(), "hello\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn qwen_works_asks_and_goes_on() {
    story("qwen").await;
}

#[cfg(target_arch = "x86_64")]
#[tokio::test(flavor = "multi_thread")]
async fn goose_works_asks_and_goes_on() {
    story("goose").await;
}

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
