//! A run outlives its server, and ends when it is told to.

use std::collections::BTreeSet;

use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{FAULT, Shop, get, launch, over, report, said, server, steps, until};
use crate::harness::{World, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn after_kill_9_no_step_is_lost_and_none_is_done_twice() {
    let world = World::new().await;
    let one = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &one).await;
    let id = launch(&one, shop.ask("code-review", FAULT)).await;
    // In the middle of the second one's answer.
    until(&one, &id, "the second one works", |run| {
        run["steps"][0]["status"] == "done" && run["steps"][1]["status"] == "running"
    })
    .await;
    one.kill().await;
    let two = server(&world, "one", "native", "local/analyst").await;
    let run = over(&two, &id).await;
    assert_eq!(run["status"], "done", "{run:#}");
    assert!(steps(&run).iter().all(|(_, status)| *status == "done"), "{run:#}");
    let steps = run["steps"].as_array().unwrap();
    let tasks: BTreeSet<_> =
        steps.iter().map(|step| step["stream"].as_str().unwrap().split('.').next().unwrap()).collect();
    assert_eq!(tasks.len(), steps.len(), "each step has one task: what was lost was tried again within it");
    assert_eq!(steps.iter().map(|step| step["attempts"].as_u64().unwrap()).sum::<u64>(), 6);
    report(&two, &id).await;
    // What it was recorded in stays, and what no run owns is gone at the next start.
    let recorded = world.folder.path().join("one/recorded");
    let stray = Uuid::now_v7().to_string();
    git::Snapshot::take(&recorded.join(&stray), &stray, &shop.project, true, &git::Limits::default())
        .unwrap();
    two.stop().await;
    let three = server(&world, "one", "native", "local/analyst").await;
    let left: Vec<_> = std::fs::read_dir(&recorded).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(left.len() == 1 && !recorded.join(&stray).exists(), "{left:?}");
    let (status, file) = three.script(&format!("/api/runs/{id}/file?path=src/cart.rs"), None).await;
    assert_eq!(status, StatusCode::OK, "{file}");
    three.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_ends_and_starts_nothing_more() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    let id = launch(&server, shop.ask("investigate", "[[rate 5]][[count 4000]]")).await;
    // Another waits for the same place, and says so.
    let next = launch(&server, shop.ask("investigate", "[[say {}]]")).await;
    assert_eq!(get(&server, &next).await["status"], "queued");
    let is_running = |step: &&Value| step["work"] == "agent" && step["status"] == "running";
    let first = |run: &Value| run["steps"].as_array().unwrap().iter().find(is_running).cloned();
    let run = until(&server, &id, "somebody works", |run| first(run).is_some()).await;
    let step = first(&run).unwrap()["id"].as_str().unwrap().to_owned();
    eventually("it says something", || async { said(&server, &id, &step).await.contains('3').then_some(()) })
        .await;
    let answer = async |step: &str| server.script(&format!("/api/runs/{id}/steps/{step}"), None).await;
    assert_eq!(answer(&step).await.0, StatusCode::NOT_FOUND, "it has not answered yet");
    let (status, _) = server.script(&format!("/api/runs/{id}/cancel"), Some(json!({}))).await;
    assert_eq!(status, StatusCode::OK);
    let run = over(&server, &id).await;
    assert_eq!(run["status"], "cancelled", "{run:#}");
    assert!(steps(&run).iter().all(|(_, status)| *status == "cancelled"), "{run:#}");
    // What it said until then can be read, and of whoever never began there is nothing.
    let (status, text) = answer(&step).await;
    let text = text.as_str().unwrap();
    assert!(status.is_success() && text.contains('3') && !text.contains('\u{1e}'), "{text}");
    assert_eq!(answer("gate").await.0, StatusCode::NOT_FOUND);
    let (status, answer) = server.script(&format!("/api/runs/{id}/cancel"), Some(json!({}))).await;
    assert_eq!((status, answer["error"].as_str()), (StatusCode::CONFLICT, Some("Nothing is running here.")));
    let (status, _) = server.script(&format!("/api/runs/{id}/report"), None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(over(&server, &next).await["status"], "done");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_angle_is_missing_and_a_failed_gate_fails_the_run() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    // The analyst without a project has no tools, so it fails at its first step; the others after a look.
    let id = launch(&server, shop.ask("research", "[[status 400]]")).await;
    let run = over(&server, &id).await;
    assert_eq!(run["status"], "failed", "{run:#}");
    assert_eq!(run["error"], "Gate was skipped: nobody answered");
    let (_, markdown) = report(&server, &id).await;
    assert!(markdown.contains("Nobody tried to refute"), "{markdown}");
    server.stop().await;
}
