//! How contestants come to an end that is none of their own: stopped, spent, void, and what could not be kept.

use std::fs;

use reqwest::StatusCode;
use serde_json::json;
use uuid::Uuid;

use super::{Field, contestant, diff, launch, over, post, statuses, until};
use crate::harness::{World, eventually};

/// A command that nobody else runs.
fn endless() -> String {
    format!("sleep 3{:08}", Uuid::new_v4().as_u128() % 100_000_000)
}

fn runs(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(mark)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_processes_and_keeps_what_there_is() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mark = endless();
    let prompt = format!("[[say Begun.]][[shell echo half > half.txt; {mark}]]");
    let id = launch(&server, field.coding(&prompt, &["native@small", "goose@large"])).await;
    eventually("the command runs", || async { runs(&mark).then_some(()) }).await;
    let (status, _) = server.script(&format!("/api/battles/{id}/stop"), Some(json!({}))).await;
    assert_eq!(status, StatusCode::OK);
    let battle = over(&server, &id).await;
    assert_eq!((battle["status"].as_str(), statuses(&battle)), (Some("cancelled"), vec!["cancelled"; 2]));
    assert!(!runs(&mark), "a process of a stopped contestant is still there");
    assert!(diff(&server, &id, &contestant(&battle, 0)).await.contains("+half"));
    assert_eq!(battle["contestants"][1]["error"], "The battle was stopped.");
    // What was stopped can be tried again, and nothing of before is in its way.
    let first = contestant(&battle, 0);
    let again = server.script(&format!("/api/battles/{id}/contestants/{first}/retry"), Some(json!({}))).await;
    assert_eq!(again.0, StatusCode::OK, "{}", again.1);
    until(&server, &id, "the second try", |it| it["contestants"][0]["tries"].as_array().unwrap().len() == 2)
        .await;
    let (status, _) =
        server.script(&format!("/api/battles/{id}/contestants/{first}/stop"), Some(json!({}))).await;
    assert_eq!(status, StatusCode::OK);
    over(&server, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_battle_that_has_spent_what_it_may_is_ended() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let steps: String = (0..30).map(|n| format!("[[shell echo {n}]]")).collect();
    let mut battle = field.coding(&steps, &["native@small", "native@large"]);
    battle["tokens_max"] = json!(3_000);
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(battle["status"], "cancelled", "{battle:#}");
    assert_eq!(battle["stopped"], "The battle had used all the tokens that it may.");
    let spent = battle["tokens"].as_u64().unwrap();
    assert!(spent > 3_000, "{spent}");
}

/// An agent's own program, and whatever it started, is gone with the stop, and what it had made is kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_an_external_agent_leaves_no_process_and_keeps_its_half() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mark = endless();
    let prompt = format!("[[say Begun.]][[shell echo half > half.txt; {mark}]]");
    let id = launch(&server, field.coding(&prompt, &["goose@large", "native@small"])).await;
    eventually("the command runs", || async { runs(&mark).then_some(()) }).await;
    let battle = super::get(&server, &id).await;
    assert_eq!(statuses(&battle), ["running", "queued"]);
    let first = contestant(&battle, 0);
    post(&server, format!("/api/battles/{id}/contestants/{first}/stop"), json!({})).await;
    let over_yet = |it: &serde_json::Value| it["contestants"][0]["status"] == "cancelled";
    let battle = until(&server, &id, "the agent is stopped", over_yet).await;
    assert_eq!(battle["contestants"][0]["error"], "It was stopped.");
    // It was at work for a while, and that is known.
    assert!(battle["contestants"][0]["duration_ms"].as_u64() > Some(0), "{battle:#}");
    assert!(diff(&server, &id, &first).await.contains("+half"));
    let by_marker = fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let task = battle["contestants"][0]["tries"][0].as_str().unwrap();
        String::from_utf8_lossy(&environment).contains(task)
    });
    assert!(!by_marker, "a process of the stopped agent is still there");
    // The next one has its turn, and the mark is its own by now.
    eventually("the other's command runs", || async { runs(&mark).then_some(()) }).await;
    post(&server, format!("/api/battles/{id}/stop"), json!({})).await;
    over(&server, &id).await;
    assert!(!runs(&mark));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_the_model_server_is_void_and_no_loss() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.qa("[[on large]][[status 500]]", &["@large", "@small"])).await;
    let battle = over(&server, &id).await;
    assert_eq!((battle["status"].as_str(), statuses(&battle)), (Some("completed"), vec!["void", "done"]));
    assert!(battle["contestants"][0]["error"].as_str().unwrap().contains("model"), "{battle:#}");
    assert_eq!(battle["told"], "No winner: only one has a result.");
}

/// What was changed and cannot be read is never taken for no change.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_cannot_be_kept_is_said_and_is_no_empty_diff() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mark = endless();
    let prompt = format!("[[shell echo half > half.txt; {mark}]]");
    let id = launch(&server, field.coding(&prompt, &["native@small", "native@large"])).await;
    eventually("the command runs", || async { runs(&mark).then_some(()) }).await;
    let worktrees = world.folder.path().join("one/worktrees");
    let made = fs::read_dir(&worktrees).unwrap().next().unwrap().unwrap().path();
    fs::rename(made.join("git"), made.join("elsewhere")).unwrap();
    post(&server, format!("/api/battles/{id}/stop"), json!({})).await;
    let battle = over(&server, &id).await;
    let first = &battle["contestants"][0];
    assert_eq!((first["status"].as_str(), first["files_changed"].as_u64()), (Some("cancelled"), None));
    assert!(!first["unkept"].as_str().unwrap_or_default().is_empty(), "{battle:#}");
    let path = format!("/api/battles/{id}/diff?contestant={}", contestant(&battle, 0));
    let (status, answer) = server.script(&path, None).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer["error"].as_str().unwrap().contains("could not be kept"), "{answer}");
    let folder: String = server.call("write_results", &[("battle", id.clone())]).await.json().await.unwrap();
    let result = fs::read_to_string(format!("{folder}/native-small/result.md")).unwrap();
    assert!(result.contains("could not be kept"), "{result}");
    assert!(!fs::exists(format!("{folder}/native-small/diff.patch")).unwrap());
    // It is said of that try also when there is another one.
    let first = contestant(&battle, 0);
    post(&server, format!("/api/battles/{id}/contestants/{first}/retry"), json!({})).await;
    let (status, answer) = server.script(&format!("{path}&try=1"), None).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("could not be kept"), "{answer}");
    post(&server, format!("/api/battles/{id}/stop"), json!({})).await;
    over(&server, &id).await;
}

/// What it made until then is kept, and nothing of it goes on.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_takes_longer_than_agreed_has_failed() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mark = endless();
    let prompt = format!(
        "[[on small]][[say Begun.]][[shell echo half > half.txt; {mark}]][[on large]][[shell echo b > b]]"
    );
    let mut battle = field.coding(&prompt, &["native@small", "native@large"]);
    battle["limit_s"] = json!(10);
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(statuses(&battle), ["failed", "done"], "{battle:#}");
    assert!(!runs(&mark), "a process of one that took too long is still there");
    assert!(diff(&server, &id, &contestant(&battle, 0)).await.contains("+half"));
    assert!(battle["contestants"][0]["duration_ms"].as_u64() >= Some(5_000), "{battle:#}");
    assert_eq!(battle["told"], "No winner: only one has a result.");
}

/// A model would make something up of an empty result.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_says_nothing_has_no_result_and_who_says_the_same_is_not_compared() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let prompt = "[[on small]][[reasoning Hm.]][[tokens 0]][[on large]][[say So.]][[on echo]][[say So.]]";
    let mut battle = field.qa(prompt, &["@small", "@large", "@echo"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(statuses(&battle), ["failed", "done", "done"], "{battle:#}");
    assert_eq!(battle["contestants"][0]["error"], "It said nothing.");
    assert_eq!(battle["told"], "No winner: both made the same, so nobody was asked.");
    assert_eq!(super::asked_of(&world, "judge").await, [] as [String; 0]);

    let prompt = "[[on small]][[shell echo a > a]][[say One.]][[on large]][[shell echo a > a]][[say Two.]]";
    let mut battle = field.coding(prompt, &["native@small", "native@large"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(battle["told"], "No winner: both made the same, so nobody was asked.", "{battle:#}");
    assert_eq!(battle["analyses"][0]["verdict"]["pairs"][0]["same"], true);
}
