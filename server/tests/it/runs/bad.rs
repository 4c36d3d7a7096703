//! What cannot be is refused with the reason, and leaves nothing behind.

use std::{fs, time::Duration};

use reqwest::{StatusCode, header};
use scripted::Script;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Shop, commit, launch, over, said, server};
use crate::harness::{Server, World, eventually};

async fn refused(server: &Server, run: Value, expected: &str) {
    let (status, answer) = server.script("/api/runs", Some(run)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    let words = answer["error"].as_str().unwrap();
    assert!(words.contains(expected), "{words:?} does not say {expected:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_launch_that_cannot_be_makes_nothing() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &server).await;
    let with = |name: &str, value: Value| {
        let mut run = shop.ask("code-review", "");
        run[name] = value;
        run
    };
    refused(&server, shop.ask("dance", ""), "There is no flow \"dance\".").await;
    refused(&server, with("band", json!("huge")), "There is no band \"huge\"").await;
    refused(&server, shop.ask("research", " "), "Research needs a focus.").await;
    refused(&server, shop.ask("runbook", ""), "Runbook needs a trigger.").await;
    refused(&server, shop.ask("research", &"x".repeat(70_000)), "too long").await;
    refused(&server, with("target", json!("../other")), "is not a path in the project's folder").await;
    refused(&server, with("target", json!("src/none.rs")), "There is no src/none.rs in the project.").await;
    refused(&server, with("backend", json!("nobody")), "There is no agent called nobody.").await;
    // What it lacks depends on whether it is installed here.
    let (_, answer) = server.script("/api/runs", Some(with("backend", json!("gemini")))).await;
    let words = answer["error"].as_str().unwrap().to_owned();
    let missing = "Gemini CLI cannot work now: not installed.";
    let deaf = "Gemini CLI needs a server that speaks Gemini's generateContent; local does not.";
    assert!(words.starts_with(missing) || words.starts_with(deaf), "{words}");
    refused(&server, with("model", json!("local/nothing")), "There is no model called local/nothing.").await;
    let nothing = "works on a change, and nothing is changed here.";
    refused(&server, shop.ask("update-pr-description", ""), nothing).await;
    assert_eq!(server.script("/api/runs", None).await.1, json!([]));
    let kept: Vec<_> = fs::read_dir(world.folder.path().join("one/recorded")).unwrap().collect();
    assert!(kept.is_empty(), "{kept:?}");
    let nobody = server.script(&format!("/api/runs/{}", Uuid::now_v7()), None).await.0;
    assert_eq!(nobody, StatusCode::NOT_FOUND);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_without_a_commit_is_said() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/analyst").await;
    let empty = world.repository("empty");
    server.call("add_project", &[("path", empty.to_string_lossy().into_owned())]).await;
    let session = server.snapshot(None).await.state.workspace.sessions.last().unwrap().id;
    let run = json!({"session": session, "flow": "code-review"});
    refused(&server, run.clone(), "no commit").await;
    fs::write(empty.join("a.txt"), "a\n").unwrap();
    commit(&empty, "first");
    launch(&server, run).await;
    server.stop().await;
}

/// Before the first step, and never with something else.
#[tokio::test(flavor = "multi_thread")]
async fn without_its_backend_or_with_too_small_a_context_nothing_begins() {
    let world = World::with(Script { context_tokens: 16_384, ..Script::default() }).await;
    let tools = world.folder.path().join("no-tools");
    fs::create_dir(&tools).unwrap();
    let server = world.server_with_tools("one", &tools).await;
    let shop = Shop::new(&world, &server).await;
    refused(&server, shop.ask("code-review", ""), "Qwen Code cannot work now: not installed.").await;
    assert_eq!(server.script("/api/runs", None).await.1, json!([]));
    let with_native = |model: &str| {
        let mut run = shop.ask("code-review", "[[say {}]]");
        (run["backend"], run["model"]) = (json!("native"), json!(model));
        run
    };
    // The control: a backend that is there, with enough context.
    let id = launch(&server, with_native("local/small")).await;
    over(&server, &id).await;
    server.stop().await;
    let server = super::server(&world, "one", "qwen", "local/small").await;
    refused(&server, shop.ask("code-review", ""), "Context too small").await;
    server.stop().await;
}

/// A long file fills a small model. It answers from what it has, and the run goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_read_more_than_it_takes_is_asked_for_its_answer() {
    let world = World::with(Script { context_tokens: 8_192, ..Script::default() }).await;
    let server = super::server(&world, "one", "native", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    super::write(
        &shop.project,
        "src/long.rs",
        &"// One of many lines that are all the same.\n".repeat(2_000),
    );
    let read = |path: &str| format!("[[tool read {}]][[say {{}}]]", json!({"path": path}));
    let told = "It has read as much as its model takes.";
    let id = launch(&server, shop.ask("issue-triage", &read("src/long.rs"))).await;
    let run = over(&server, &id).await;
    assert_eq!(run["status"], "done", "{run:#}");
    let triager = said(&server, &id, "triager").await;
    assert!(triager.contains("One of many lines") && triager.contains(told), "{triager}");
    // The control: what fits needs no such word.
    let id = launch(&server, shop.ask("issue-triage", &read("README.md"))).await;
    over(&server, &id).await;
    assert!(!said(&server, &id, "triager").await.contains(told));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_twice_launches_once() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &server).await;
    let mut run = shop.ask("code-review", "");
    run["id"] = json!(Uuid::now_v7());
    let (one, other) = (launch(&server, run.clone()).await, launch(&server, run).await);
    assert_eq!(one, other);
    assert_eq!(server.script("/api/runs", None).await.1.as_array().unwrap().len(), 1);
    // Under the same id something else is something else.
    let mut other = shop.ask("code-review", "Something else");
    other["id"] = json!(one);
    refused(&server, other, "Something else was launched under this id already.").await;
    server.stop().await;
}

/// Whoever is first, and whoever goes away before the answer: what the run began with stays, and nothing else does.
#[tokio::test(flavor = "multi_thread")]
async fn many_launches_under_one_id_leave_its_recording_alone() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &server).await;
    let mut run = shop.ask("code-review", super::FAULT);
    run["id"] = json!(Uuid::now_v7());
    let hasty = server.client.post(format!("{}/api/runs", server.url)).timeout(Duration::from_millis(5));
    let hasty = hasty.header(header::COOKIE, &server.cookie).header(header::ORIGIN, &server.url).json(&run);
    let (gone, one, two, three) = tokio::join!(
        hasty.send(),
        launch(&server, run.clone()),
        launch(&server, run.clone()),
        launch(&server, run.clone()),
    );
    drop(gone);
    assert!(one == two && two == three);
    launch(&server, run).await;
    assert_eq!(over(&server, &one).await["status"], "done");
    let (status, file) = server.script(&format!("/api/runs/{one}/file?path=src/cart.rs"), None).await;
    assert_eq!(status, StatusCode::OK, "{file}");
    let recorded = world.folder.path().join("one/recorded");
    let kept = || fs::read_dir(&recorded).unwrap().count();
    eventually("what the others recorded is gone", || async { (kept() == 1).then_some(()) }).await;
    server.stop().await;
}

/// As on a kernel that has no Landlock.
#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_can_wall_agents_in_nothing_begins() {
    let world = World::new().await;
    let server = world.server_without_landlock("one").await;
    let shop = Shop::new(&world, &server).await;
    for backend in ["native", "qwen"] {
        let mut run = shop.ask("code-review", "");
        (run["backend"], run["model"]) = (json!(backend), json!("local/analyst"));
        refused(&server, run, "nothing can wall it in: this kernel has no Landlock").await;
    }
    assert_eq!(server.script("/api/runs", None).await.1, json!([]));
    assert_eq!(fs::read_dir(world.folder.path().join("one/recorded")).unwrap().count(), 0);
    server.stop().await;
}
