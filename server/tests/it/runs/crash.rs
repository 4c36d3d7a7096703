//! A run outlives its server, and ends when it is told to.

use domain::flow::Role;
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
    assert_eq!(attempts(steps.iter()), 6, "what was lost was tried again, and nothing else");
    // Nobody was asked more often than it was tried.
    let log = world.model_log().await;
    let questions =
        log["requests"].as_array().unwrap().iter().map(|it| it["last_user_message"].as_str().unwrap());
    let questions: Vec<&str> = questions.collect();
    let mut asked = 0;
    for role in Role::ALL {
        let opening = role.instructions().unwrap().prompt;
        let times = questions.iter().filter(|words| words.starts_with(&opening)).count();
        let of_role: Vec<_> = steps.iter().filter(|step| step["role"] == role.name()).collect();
        let tried = attempts(of_role.iter().copied());
        assert!((of_role.len()..=tried).contains(&times), "{role}: {times} times in {tried} attempts");
        asked += times;
    }
    assert!(asked >= 4, "four work on it, and each was asked");
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
    let server = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &server).await;
    // One of two angles, by the letters of what it finds.
    let id = launch(&server, shop.ask("research", &format!("{FAULT}[[fail A]]"))).await;
    let run = over(&server, &id).await;
    assert_eq!(run["status"], "done", "{run:#}");
    let failed = |run: &Value| -> Vec<String> {
        let failed = steps(run).into_iter().filter(|(_, status)| *status == "failed");
        failed.map(|(id, _)| id.to_owned()).collect()
    };
    assert_eq!(failed(&run), ["options"]);
    let (told, _) = report(&server, &id).await;
    let missing = told["head"]["missing"].as_array().unwrap();
    assert!(missing.len() == 1 && missing[0]["why"].as_str().unwrap().contains("failed"), "{missing:?}");
    assert_eq!(told["head"]["confidence"], "high", "the gate answered");
    // Only the gate.
    let id = launch(&server, shop.ask("research", &format!("{FAULT}[[fail V]]"))).await;
    let run = over(&server, &id).await;
    assert_eq!((run["status"].as_str(), failed(&run)), (Some("failed"), vec!["gate".to_owned()]), "{run:#}");
    assert!(run["error"].as_str().unwrap().starts_with("Gate failed: "), "{run:#}");
    let (_, markdown) = report(&server, &id).await;
    assert!(markdown.contains("Nobody tried to refute") && markdown.contains("src/cart.rs:3"), "{markdown}");
    // Nobody at all: then there is nothing to attack.
    let id = launch(&server, shop.ask("research", "[[fail A]][[fail CE]][[fail SWA]]")).await;
    let run = over(&server, &id).await;
    assert_eq!(run["error"], "Gate was skipped: nobody answered", "{run:#}");
    server.stop().await;
}

fn attempts<'a>(steps: impl Iterator<Item = &'a Value>) -> usize {
    steps.map(|step| step["attempts"].as_u64().unwrap() as usize).sum()
}
