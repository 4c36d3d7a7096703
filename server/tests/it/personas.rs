//! As whom a model is asked to work: the built-in personas, and a project's own.

use std::{fs, path::PathBuf};

use domain::{
    id::{ChatId, MessageId},
    output::Outcome,
    persona::Offer,
    task::Status,
};
use serde_json::Value;
use uuid::Uuid;

use crate::harness::{Server, Watcher, World};

const POET: &str = "## Poet\n---\ndescription: Rhymes\n---\nYou rhyme.\n";

fn fields(chat: ChatId, text: &str, persona: &str) -> [(&'static str, String); 5] {
    [
        ("chat", chat.to_string()),
        ("message", MessageId(Uuid::now_v7()).to_string()),
        ("text", text.to_owned()),
        ("model", "local/small".to_owned()),
        ("persona", persona.to_owned()),
    ]
}

/// Gets another answer beside the last one.
async fn retry(server: &Server, page: &Watcher, persona: &str) {
    let again = [
        ("chat", page.chat.to_string()),
        ("of", page.chat().branch().last().unwrap().id.to_string()),
        ("reply", Uuid::now_v7().to_string()),
        ("model", "local/small".to_owned()),
        ("persona", persona.to_owned()),
    ];
    server.call("retry", &again).await;
}

async fn offer(server: &Server, chat: ChatId) -> Offer {
    server.call("personas", &[("chat", chat.to_string())]).await.json().await.unwrap()
}

/// What the model was told before the question with these words.
async fn told(world: &World, words: &str) -> String {
    let log = world.model_log().await;
    let mut requests = log["requests"].as_array().unwrap().iter();
    let is_it = |request: &&Value| {
        request["last_user_message"].as_str().is_some_and(|said| said.contains(words))
            && !request["system"].as_str().is_some_and(|system| system.contains("titles"))
    };
    requests.rfind(is_it).unwrap()["system"].as_str().unwrap().trim().to_owned()
}

/// Where the project of the only chat keeps its personas.
async fn file(server: &Server) -> PathBuf {
    let project = server.snapshot(None).await.state.workspace.projects[0].path.clone();
    let folder = PathBuf::from(project).join(".boocode");
    fs::create_dir_all(&folder).unwrap();
    folder.join("AGENTS.md")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_told_its_persona_and_no_other_turn_is() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.call("ask", &fields(chat, "[[say one]]", "debugger")).await;
    page.until_settled(&server).await;
    assert_eq!(page.answer().trim(), "one");
    assert_eq!(page.last_task().persona.as_deref(), Some("Debugger"), "as it is written");
    assert!(told(&world, "say one").await.contains("find the cause of a failure"));

    server.call("ask", &fields(chat, "[[say two]]", "")).await;
    page.until_settled(&server).await;
    assert_eq!(page.last_task().persona, None);
    assert_eq!(told(&world, "say two").await, "");

    // Another answer goes by what is chosen then.
    retry(&server, &page, "Architect").await;
    page.until_settled(&server).await;
    assert!(told(&world, "say two").await.contains("decide how something is built"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_has_its_own_and_a_change_holds_at_once() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    let names = |offer: &Offer| offer.personas.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert!(!names(&offer(&server, chat).await).contains(&"Poet".to_owned()));

    let file = file(&server).await;
    fs::write(&file, format!("{POET}\n## Bare\n")).unwrap();
    let offered = offer(&server, chat).await;
    assert!(names(&offered).contains(&"Poet".to_owned()));
    assert_eq!((offered.problems.len(), offered.problems[0].line), (1, 7));
    server.call("ask", &fields(chat, "[[say rhymed]]", "Poet")).await;
    page.until_settled(&server).await;
    assert_eq!(told(&world, "say rhymed").await, "You rhyme.");

    fs::write(&file, POET.replace("You rhyme.", "You sing.")).unwrap();
    server.call("ask", &fields(chat, "[[say sung]]", "Poet")).await;
    page.until_settled(&server).await;
    assert_eq!(told(&world, "say sung").await, "You sing.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_that_is_gone_is_said_and_nothing_is_lost() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    let refused = server.refusal("ask", &fields(chat, "[[say never]]", "Poet")).await;
    assert!(refused.contains("There is no persona Poet here"), "{refused}");

    let file = file(&server).await;
    fs::write(&file, POET).unwrap();
    server.call("ask", &fields(chat, "[[hang after 3]]", "")).await;
    page.until(&server, "the first words", |page| {
        !page.chat().branch().is_empty() && !page.answer().is_empty()
    })
    .await;
    // It waits, and goes while it waits.
    server.call("ask", &fields(chat, "[[say late]]", "Poet")).await;
    page.until(&server, "a queue", |page| page.chat().queue.len() == 1).await;
    assert_eq!(page.chat().queue[0].choice.persona.as_deref(), Some("Poet"));
    fs::remove_file(&file).unwrap();
    server.call("stop", &[("chat", chat.to_string())]).await;
    page.until(&server, "the stop", |page| matches!(page.last_status(), Status::Settled { .. })).await;
    server.call("send_queued", &[("chat", chat.to_string())]).await;
    page.until(&server, "the late turn's end", |page| {
        page.chat().queue.is_empty() && matches!(page.last_status(), Status::Settled { .. })
    })
    .await;
    let Status::Settled { outcome: Outcome::Void { reason }, .. } = page.last_status() else {
        panic!("{:?}", page.last_status())
    };
    assert!(reason.contains("There is no persona Poet here"), "{reason}");
    assert_eq!(page.questions(), ["[[hang after 3]]", "[[say late]]"]);

    // The control: it is back, and so is the answer.
    fs::write(&file, POET).unwrap();
    retry(&server, &page, "Poet").await;
    page.until(&server, "an answer", |page| page.answer().trim() == "late").await;
}
