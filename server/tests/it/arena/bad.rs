//! What cannot be is refused with the reason, and leaves nothing behind.

use std::fs;

use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Field, launch, over};
use crate::harness::{Server, World};

async fn refused(server: &Server, battle: Value, expected: &str) {
    let (status, answer) = server.script("/api/battles", Some(battle)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    let words = answer["error"].as_str().unwrap();
    assert!(words.contains(expected), "{words:?} does not say {expected:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_launch_that_cannot_be_makes_nothing() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let all = ["a", "b", "c", "d", "e", "f", "g"].map(|name| format!("native@{name}"));
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    for (contestants, expected) in [
        (&["native@small"][..], "at least 2 contestants"),
        (&[], "at least 2 contestants"),
        (&all, "at most 6 contestants, these are 7"),
        (&["native@small", "native@small"], "in the battle twice"),
        (&["native@small", "native@nothing"], "Contestant B: The model local/nothing is not offered"),
        (&["nobody@small", "native@small"], "Contestant A: There is no agent called nobody"),
    ] {
        refused(&server, field.coding("Do it", contestants), expected).await;
    }
    let pair = ["native@small", "native@large"];
    refused(&server, field.coding(" ", &pair), "Write something first").await;
    refused(&server, field.coding(&"x".repeat(1 << 20), &pair), "too long").await;
    refused(
        &server,
        field.qa("Why?", &["Nobody@small", "@small"]),
        "Contestant A: There is no persona Nobody",
    )
    .await;
    let mut battle = field.coding("Do it", &pair);
    battle["judge"] = json!("local/nothing");
    refused(&server, battle, "The model local/nothing is not offered").await;
    let mut battle = field.coding("Do it", &pair);
    battle["limit_s"] = json!(1);
    refused(&server, battle, "between 10 seconds").await;
    assert_eq!(server.script("/api/battles", None).await.1, json!([]));
    let kept: Vec<_> = fs::read_dir(world.folder.path().join("one/snapshots")).unwrap().collect();
    assert!(kept.is_empty(), "{kept:?}");
    assert!(!field.project.join("Arena").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_without_a_commit_or_without_a_folder_is_said() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let empty = world.repository("empty");
    server.call("add_project", &[("path", empty.to_string_lossy().into_owned())]).await;
    let session = server.snapshot(None).await.state.workspace.sessions.last().unwrap().id;
    let pair = ["native@small", "native@large"];
    let mut battle = field.coding("Do it", &pair);
    battle["session"] = json!(session);
    refused(&server, battle, "no commit").await;
    fs::remove_dir_all(&field.project).unwrap();
    refused(&server, field.coding("Do it", &pair), "no folder at").await;
    // Nobody needs it to answer, but its personas and the results lie there.
    refused(&server, field.qa("Why?", &["@small", "@large"]), "no folder at").await;
    assert_eq!(server.script("/api/battles", None).await.1, json!([]));
}

/// A form is told which of its fields is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_names_the_field() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let check = async |name: &str, value: &str, at: &str| {
        let mut fields = vec![
            ("draft[id]", Uuid::now_v7().to_string()),
            ("draft[session]", field.session.to_string()),
            ("draft[kind]", "qa".to_owned()),
            ("draft[prompt]", "Why?".to_owned()),
            ("draft[contestants][0][model]", "local/small".to_owned()),
            ("draft[contestants][1][model]", "local/large".to_owned()),
        ];
        match fields.iter_mut().find(|(other, _)| *other == name) {
            Some(known) => known.1 = value.to_owned(),
            None => fields.push((name, value.to_owned())),
        }
        let words = server.refusal("launch_battle", &fields).await;
        let told: Value = serde_json::from_str(&words).unwrap();
        assert_eq!((&told["error"], &told["detail"]["field"]), (&json!("at_field"), &json!(at)), "{told}");
    };
    check("draft[prompt]", "  ", "prompt").await;
    check("draft[contestants][1][model]", "local/nothing", "B").await;
    check("draft[contestants][0][identity]", "Nobody", "A").await;
    check("draft[contestants][1][model]", "local/small", "contestants").await;
    check("draft[limit_s]", "1", "limit").await;
    check("draft[tokens_max]", "0", "tokens").await;
    check("draft[judge]", "local/nothing", "judge").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_twice_launches_once() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let mut battle = field.qa("[[say So.]]", &["@small", "@large"]);
    battle["id"] = json!(Uuid::now_v7());
    let (one, other) = (launch(&server, battle.clone()).await, launch(&server, battle).await);
    assert_eq!(one, other);
    over(&server, &one).await;
    assert_eq!(server.script("/api/battles", None).await.1.as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_winner_of_another_battle_and_an_analysis_too_early_are_refused() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let slow = launch(&server, field.qa("[[rate 5]][[count 400]]", &["@small", "@large"])).await;
    let quick = launch(&server, field.qa("[[say So.]]", &["@small", "@large"])).await;
    let (status, answer) = server.script(&format!("/api/battles/{slow}/analyze"), Some(json!({}))).await;
    assert_eq!(
        (status, answer["error"].as_str()),
        (StatusCode::UNPROCESSABLE_ENTITY, Some("The battle is still running. Analyse it when it is over."),)
    );
    server.script(&format!("/api/battles/{slow}/stop"), Some(json!({}))).await;
    let foreign = super::contestant(&over(&server, &slow).await, 0);
    over(&server, &quick).await;
    let path = format!("/api/battles/{quick}/winner");
    let (status, answer) = server.script(&path, Some(json!({"contestant": foreign}))).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("contestant of this battle"));
    let nobody = server.script(&format!("/api/battles/{}", Uuid::now_v7()), None).await.0;
    assert_eq!(nobody, StatusCode::NOT_FOUND);
}
