//! Trying again: what was made before stays, and counts for nothing any more.

use domain::{diff::Outline, feed::StreamId};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{Field, contestant, diff, get, launch, over, post, until};
use crate::harness::{Server, World};

/// Every try makes something else.
const PROMPT: &str =
    "[[on small]][[shell date +%s%N > made.txt]][[say Made good.]][[on large]][[say A bad one.]]";

async fn retry(server: &Server, id: &str, contestant: &str) -> Value {
    post(server, format!("/api/battles/{id}/contestants/{contestant}/retry"), json!({})).await;
    until(server, id, "the retry is over", |it| {
        let tries = it["contestants"].as_array().unwrap().iter();
        let is_there =
            tries.filter(|it| it["id"] == *contestant).all(|it| it["tries"].as_array().unwrap().len() > 1);
        is_there && matches!(it["status"].as_str(), Some("completed" | "cancelled"))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_try_said_and_changed_can_be_looked_at() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.coding(PROMPT, &["native@small", "native@large"])).await;
    let battle = over(&server, &id).await;
    let small = contestant(&battle, 0);
    let first = diff(&server, &id, &small).await;
    let battle = retry(&server, &id, &small).await;
    let newest = diff(&server, &id, &small).await;
    assert_ne!(first, newest, "each try is made anew");
    let nth = |nth: &str| format!("/api/battles/{id}/diff?contestant={small}&try={nth}");
    assert_eq!(server.script(&nth("1"), None).await.1, Value::String(first));
    assert_eq!(server.script(&nth("2"), None).await.1, Value::String(newest));
    for missing in ["0", "3"] {
        assert_eq!(server.script(&nth(missing), None).await.0, StatusCode::NOT_FOUND);
    }
    let tries = battle["contestants"][0]["tries"].as_array().unwrap();
    let old = tries[0].as_str().unwrap().to_owned();
    let fields = [("battle", id.clone()), ("task", old.clone())];
    let texts: Vec<(StreamId, String)> = server.call("output_of_try", &fields).await.json().await.unwrap();
    assert!(texts.len() == 1 && texts[0].1.contains("Made good."), "{texts:?}");
    let asked = [
        ("of[Try][0]", small.clone()),
        ("of[Try][1]", old),
        ("options[is_split]", "false".into()),
        ("options[ignores_whitespace]", "false".into()),
        ("options[columns]", "0".into()),
    ];
    let outline: Outline = server.call("diff_outline", &asked).await.json().await.unwrap();
    assert_eq!(outline.files.len(), 1);
    // What is no try of it is refused.
    let foreign = [("battle", id.clone()), ("task", uuid::Uuid::now_v7().to_string())];
    assert!(server.refusal("output_of_try", &foreign).await.contains("try"));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_tried_again_and_fails_has_not_won() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle =
        field.qa("[[on small]][[say A good one.]][[on large]][[say A bad one.]]", &["@small", "@large"]);
    battle["judge"] = json!("local/judge");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    let small = contestant(&battle, 0);
    assert_eq!(battle["winner_contestant_id"].as_str(), Some(small.as_str()), "{battle:#}");
    let finished = battle["finished_at_ms"].clone();
    // Comparing again takes nothing away while it goes on, and does not begin the battle again.
    post(&server, format!("/api/battles/{id}/analyze"), json!({"model": "local/mumbling-judge"})).await;
    let battle = until(&server, &id, "a failed analysis", |it| it["analyses"][1]["state"] == "failed").await;
    assert_eq!(battle["winner_contestant_id"].as_str(), Some(small.as_str()));
    assert!(battle["told"].as_str().unwrap().contains("Analysis 2 brought no verdict"), "{battle:#}");
    assert_eq!(battle["finished_at_ms"], finished);
    world.stop_model();
    let battle = retry(&server, &id, &small).await;
    assert_eq!(battle["contestants"][0]["status"], "void", "{battle:#}");
    assert_eq!(
        (&battle["winner_contestant_id"], &battle["judged_contestant_id"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(battle["told"], "No winner: only one has a result.");
    let (_, listed) = server.script("/api/battles", None).await;
    assert_eq!(listed[0]["winner_contestant_id"], Value::Null);
    let folder: String = server.call("write_results", &[("battle", id.clone())]).await.json().await.unwrap();
    let manifest = std::fs::read(format!("{folder}/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["winner"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coder_that_goes_on_already_is_led_to() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.coding(PROMPT, &["native@small", "native@large"])).await;
    let small = contestant(&over(&server, &id).await, 0);
    let go_on = async || -> String {
        server.call("go_on_with", &[("contestant", small.clone())]).await.json().await.unwrap()
    };
    let count = async || server.snapshot(None).await.state.workspace.chats.len();
    let first = go_on().await;
    let chats = count().await;
    assert_eq!((go_on().await, count().await), (first, chats));
    assert_eq!(get(&server, &id).await["status"], "completed");
}
