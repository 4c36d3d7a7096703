//! BooCode's own agent: what it may call for, and what a person is asked before.

use std::fs;

use domain::{output::Outcome, task::Status, tool};
use scripted::Script;
use serde_json::json;

use super::{calls, coder, git, task, work};
use crate::{
    agents::{answer, asking, settled, until_asked},
    harness::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_s_tools_and_steps_hold_for_it() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    let personas = "## Reader\n---\ndescription: Reads\ntools: list, read\nsteps: 2\n---\nYou read.\n";
    fs::create_dir(project.join(".boocode")).unwrap();
    fs::write(project.join(".boocode/AGENTS.md"), personas).unwrap();
    let mut page = server.watch(chat).await;
    let script = r#"[[tool write {"path":"a","content":"a"}]][[tool list {}]][[tool read {"path":"main.rs"}]][[say done]]"#;
    let mut fields = task(chat, script, "native").to_vec();
    fields.push(("persona", "Reader".to_owned()));
    server.call("ask", &fields).await;
    page.until(&server, "the turn's end", |page| {
        !page.chat().branch().is_empty() && matches!(page.last_status(), Status::Settled { .. })
    })
    .await;
    let shown = calls(&page);
    assert_eq!(shown[0].output, "There is no tool \"write\" here. There are: list, read.", "{shown:?}");
    assert!(page.answer().contains("It has taken all the steps that it may take."), "{}", page.answer());
    let ended = page.last_status();
    let told = matches!(&ended, Status::Settled { outcome, .. } if is_out_of_steps(outcome));
    assert!(told, "{ended:?}");
    assert_eq!(shown.len(), 1, "the second step is the last, and is not done: {shown:?}");

    // The control: without the persona all of it is done.
    work(&server, &mut page, script).await;
    let shown = calls(&page);
    assert!(shown.len() == 3 && shown.iter().all(|call| call.status == tool::Status::Done), "{shown:?}");
}

/// A long file fills a small model, which answers from what it has.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_for_want_of_room_is_told_as_cut_off() {
    let world = World::with(Script { context_tokens: 8_192, ..Script::default() }).await;
    let server = world.server("one").await;
    let (project, chat) = coder(&world, &server).await;
    fs::write(project.join("long.rs"), "// One of many lines that are all the same.\n".repeat(2_000))
        .unwrap();
    git(&project, &["add", "."]);
    git(&project, &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "long"]);
    let mut page = server.watch(chat).await;
    for (path, is_cut) in [("main.rs", false), ("long.rs", true)] {
        work(&server, &mut page, &format!("[[tool read {}]][[say done]]", json!({ "path": path }))).await;
        let ended = page.last_status();
        let Status::Settled { outcome: Outcome::Done { measured }, .. } = &ended else { panic!("{ended:?}") };
        assert_eq!(measured.cut_short, is_cut, "{path}: {measured:?}");
    }
}

fn is_out_of_steps(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done { measured } if measured.out_of_steps && measured.cut_short)
}

/// The model server is the nearest one of this network, and would tell.
#[tokio::test(flavor = "multi_thread")]
async fn it_fetches_nothing_of_this_network_and_asks_before_it_fetches_anything() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let mut page = server.watch(chat).await;
    let fetch = |url: String| format!("[[tool web_fetch {}]][[say done]]", json!({ "url": url }));
    let near = format!("{}/v1/models", world.model_url);
    assert!(server.client.get(&near).send().await.unwrap().status().is_success(), "the control");
    work(&server, &mut page, &fetch(near.clone())).await;
    let shown = calls(&page);
    assert_eq!(shown[0].output, "127.0.0.1 is not a public address.", "{shown:?}");
    assert_eq!(shown[0].status, tool::Status::Failed);

    // What it asks for may tell others what it has read, and may not say something else than it shows.
    let count = page.chat().messages.len() + 2;
    server.call("ask", &asking(chat, &fetch(format!("{near}?\u{202e}x\0y")), "native")).await;
    let ask = until_asked(&server, &mut page).await;
    assert_eq!(ask.title, format!("Fetch {near}?‹U+202E›x‹NUL›y"));
    assert_eq!(ask.kind, tool::Kind::Fetch);
    answer(&server, &page, &ask, "reject").await;
    settled(&server, &mut page, count).await;
    assert!(calls(&page)[0].output.starts_with("The person refused this."), "{:?}", calls(&page));
}

/// Some models refuse to be told two things in a row.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_not_answered_is_followed_by_a_word_about_it() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[hang]]").await;
    page.until(&server, "the answer begins", |page| {
        !page.chat().branch().is_empty() && matches!(page.last_status(), Status::Running { .. })
    })
    .await;
    server.call("stop", &[("chat", chat.to_string())]).await;
    page.until_settled(&server).await;
    assert!(matches!(page.last_status(), Status::Settled { outcome: Outcome::Cancelled, .. }));
    server.ask(chat, "[[say yes]]").await;
    page.until(&server, "the answer", |page| page.answer().contains("yes")).await;
    let log = world.model_log().await;
    let asked = log["requests"].as_array().unwrap().iter();
    let asked =
        asked.filter(|it| it["last_user_message"].as_str().is_some_and(|it| it.contains("[[say yes]]")));
    let before: Vec<_> = asked.map(|it| it["last_assistant_message"].as_str().unwrap()).collect();
    assert_eq!(before.first(), Some(&"[I was stopped before I answered.]"), "{before:?}");
}
