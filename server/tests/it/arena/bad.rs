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
        (&["native@small", "native@small"], "B is the same as A. Choose another model or agent."),
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
    let (one, other) = (launch(&server, battle.clone()).await, launch(&server, battle.clone()).await);
    assert_eq!(one, other);
    // What was edited meanwhile is not taken for what runs.
    battle["prompt"] = json!("[[say Another.]]");
    let (status, answer) = server.script("/api/battles", Some(battle)).await;
    assert_eq!(
        (status, answer["error"].as_str()),
        (StatusCode::CONFLICT, Some("It was launched already.")),
        "{answer}"
    );
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
        (StatusCode::CONFLICT, Some("The battle is still running. Analyse it when it is over."))
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

/// Whoever reads the reason out of an answer finds one in each, also where no code of ours was reached.
#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_says_why_in_the_same_form() {
    let world = World::new().await;
    let server = world.server("one").await;
    let send = |path: &str, kind: &str, body: &str| {
        let asked = server.client.post(format!("{}{path}", server.url));
        asked
            .header("cookie", &server.cookie)
            .header("origin", &server.url)
            .header("content-type", kind)
            .body(body.to_owned())
            .send()
    };
    for what in ["battles", "runs"] {
        let path = format!("/api/{what}");
        let huge = format!("\"{}\"", "x".repeat(2 << 20));
        for (kind, body, expected) in [
            ("application/json", "{", StatusCode::BAD_REQUEST),
            ("application/json", "{\"sesion\": 1}", StatusCode::UNPROCESSABLE_ENTITY),
            ("application/json", &huge, StatusCode::PAYLOAD_TOO_LARGE),
            ("text/plain", "{}", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ] {
            let answer = send(&path, kind, body).await.unwrap();
            let status = answer.status();
            let told: Value = answer.json().await.unwrap();
            let words = told["error"].as_str().unwrap_or_default();
            assert!(status == expected && !words.is_empty(), "{what} {kind}: {status} {told}");
        }
        for (path, expected) in [
            (format!("{path}/nonsense"), StatusCode::BAD_REQUEST),
            (format!("{path}?limit=many"), StatusCode::BAD_REQUEST),
            (format!("{path}/{}", Uuid::now_v7()), StatusCode::NOT_FOUND),
        ] {
            let (status, told) = server.script(&path, None).await;
            assert!(status == expected && told["error"].is_string(), "{path}: {status} {told}");
        }
        let answer = send(&format!("{path}/{}", Uuid::now_v7()), "application/json", "{}").await.unwrap();
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.headers()["allow"], "GET,HEAD");
        assert!(answer.json::<Value>().await.unwrap()["error"].is_string());
    }
}

/// A script that names no check has the one that the project names, as a form has.
#[tokio::test(flavor = "multi_thread")]
async fn the_projects_own_check_is_that_of_a_script_too() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let project = server.snapshot(None).await.state.workspace.projects.last().unwrap().id;
    server.call("save_setup", &[("project", project.to_string()), ("setup[check]", "true".into())]).await;
    for (asked, expected) in [
        (None, Some("check passes")),
        (Some("none"), None),
        (Some("false"), Some("check fails, it failed before too")),
    ] {
        let mut battle = field.coding("[[shell echo a > a]]", &["native@small", "native@small"]);
        battle["contestants"][1]["variant"] = json!("again");
        if let Some(check) = asked {
            battle["check"] = json!(check);
        }
        let battle = over(&server, &launch(&server, battle).await).await;
        assert_eq!(battle["contestants"][1]["variant"], "again");
        assert_eq!(battle["contestants"][0]["check"].as_str(), expected, "{asked:?}");
    }
}
