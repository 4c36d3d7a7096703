//! Those who compare and examine are stopped by a person, and give their place back.

use reqwest::StatusCode;
use serde_json::json;

use super::{Field, launch, over, post, until};
use crate::harness::{World, eventually};

/// The judge, which reads the prompt with the task, does not come to an end.
const PROMPT: &str = "[[on small]][[say A good one.]][[on echo]][[say A bad one.]][[on large]][[hang]]";

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_is_stopped_and_another_one_begins() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle = field.qa(PROMPT, &["@small", "@echo"]);
    battle["judge"] = json!("local/large");
    let id = launch(&server, battle).await;
    until(&server, &id, "it is being compared", |it| it["status"] == "analysing").await;
    eventually("the judge is asked", || async {
        (!super::asked_of(&world, "large").await.is_empty()).then_some(())
    })
    .await;
    server.call("stop_analysis", &[("battle", id.clone())]).await;
    let battle = over(&server, &id).await;
    assert_eq!(
        (&battle["status"], &battle["analyses"][0]["state"]),
        (&json!("completed"), &json!("stopped"))
    );
    assert!(server.refusal("stop_analysis", &[("battle", id.clone())]).await.contains("idle"));
    // The one place at the model server is free again, and what was stopped stays as it is.
    post(&server, format!("/api/battles/{id}/analyze"), json!({"model": "local/judge"})).await;
    let battle = until(&server, &id, "a verdict", |it| it["analyses"][1]["state"] == "done").await;
    assert_eq!(battle["analyses"][0]["state"], "stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cross_examination_is_stopped_and_another_one_answers() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.qa("[[say So.]]", &["@small", "@echo"])).await;
    over(&server, &id).await;
    let path = format!("/api/battles/{id}/cross-examine");
    for question in ["[[on large]][[say Hm]][[hang after 1]]", "[[on small]][[say B is better.]]"] {
        let model = if question.contains("large") { "local/large" } else { "local/small" };
        let (status, answer) =
            server.script(&path, Some(json!({"model": model, "question": question}))).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    let first = |it: &serde_json::Value| it["cross_examinations"][0]["status"].clone();
    let battle = until(&server, &id, "the first one is at work", |it| first(it) == "running").await;
    assert_eq!(battle["cross_examinations"][1]["status"], "queued", "{battle:#}");
    let task = battle["cross_examinations"][0]["task"].as_str().unwrap().to_owned();
    server.call("stop_examination", &[("battle", id.clone()), ("task", task)]).await;
    let battle = until(&server, &id, "the second one has answered", |it| {
        it["cross_examinations"][1]["status"] == "done"
    })
    .await;
    assert_eq!((first(&battle), &battle["status"]), (json!("cancelled"), &json!("completed")), "{battle:#}");
}
