//! Battles on the real server: real git, a scripted model, real agents.

mod analysis;
mod bad;
mod checks;
mod crash;
mod docs;
mod ends;
mod export;
mod lanes;
mod left_out;
mod long;
mod results;
mod secrets;
mod stops;
mod tries;

use std::{fs, path::PathBuf};

use domain::id::SessionId;
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    coder::git,
    harness::{Server, World, eventually},
};

/// A project with a commit, and a session in it.
pub struct Field {
    pub project: PathBuf,
    pub session: SessionId,
}

impl Field {
    pub async fn new(world: &World, server: &Server) -> Self {
        let project = world.repository(&Uuid::now_v7().to_string());
        fs::write(project.join("main.txt"), "one\n").unwrap();
        git(&project, &["add", "."]);
        git(&project, &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "first"]);
        server.call("add_project", &[("path", project.to_string_lossy().into_owned())]).await;
        let workspace = server.snapshot(None).await.state.workspace;
        let session = workspace.sessions.last().unwrap();
        Self { project, session: session.id }
    }

    /// A battle of these, each `backend@model`, on the scripted server.
    pub fn coding(&self, prompt: &str, contestants: &[&str]) -> Value {
        let line = |word: &&str| {
            let (identity, model) = word.split_once('@').unwrap();
            json!({"identity": identity, "model": format!("local/{model}")})
        };
        json!({
            "session": self.session,
            "type": "coding",
            "prompt": prompt,
            "contestants": contestants.iter().map(line).collect::<Vec<_>>(),
            "judge": "none",
        })
    }

    pub fn qa(&self, prompt: &str, contestants: &[&str]) -> Value {
        let mut battle = self.coding(prompt, contestants);
        battle["type"] = json!("qa");
        battle
    }
}

pub async fn launch(server: &Server, battle: Value) -> String {
    let (status, launched) = server.script("/api/battles", Some(battle)).await;
    assert_eq!(status, StatusCode::CREATED, "{launched}");
    launched["id"].as_str().unwrap().to_owned()
}

pub async fn get(server: &Server, id: &str) -> Value {
    server.script(&format!("/api/battles/{id}"), None).await.1
}

pub async fn until(server: &Server, id: &str, what: &str, done: impl Fn(&Value) -> bool) -> Value {
    let look = || async {
        let battle = get(server, id).await;
        done(&battle).then_some(battle)
    };
    eventually(what, look).await
}

pub async fn over(server: &Server, id: &str) -> Value {
    until(server, id, "the battle is over", |battle| {
        matches!(battle["status"].as_str(), Some("completed" | "cancelled"))
    })
    .await
}

pub fn statuses(battle: &Value) -> Vec<&str> {
    battle["contestants"].as_array().unwrap().iter().map(|it| it["status"].as_str().unwrap()).collect()
}

pub fn contestant(battle: &Value, place: usize) -> String {
    battle["contestants"][place]["id"].as_str().unwrap().to_owned()
}

pub async fn post(server: &Server, path: String, body: Value) -> Value {
    let (status, answer) = server.script(&path, Some(body)).await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
}

/// What the model server was asked of this model.
pub async fn asked_of(world: &World, model: &str) -> Vec<String> {
    let log = world.model_log().await;
    let requests = log["requests"].as_array().unwrap().iter().filter(|it| it["model"] == model);
    requests.map(|it| it["last_user_message"].as_str().unwrap().to_owned()).collect()
}

pub async fn diff(server: &Server, id: &str, contestant: &str) -> String {
    let path = format!("/api/battles/{id}/diff?contestant={contestant}");
    let (status, patch) = server.script(&path, None).await;
    assert_eq!(status, StatusCode::OK, "{patch}");
    patch.as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn three_agents_change_code_each_in_its_own_worktree() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let prompt = "[[on small]][[shell echo good >> main.txt]][[say It is good.]]\
                  [[on large]][[shell echo new > new.txt]][[say Done.]]";
    let mut battle = field.coding(prompt, &["native@small", "qwen@large", "goose@large"]);
    battle["check"] = json!("grep -q good main.txt");
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    assert_eq!(
        (battle["status"].as_str(), statuses(&battle)),
        (Some("completed"), vec!["done"; 3]),
        "{battle:#}"
    );
    assert!(diff(&server, &id, &contestant(&battle, 0)).await.contains("+good"));
    for place in [1, 2] {
        assert!(diff(&server, &id, &contestant(&battle, place)).await.contains("+++ b/new.txt"));
        assert_eq!(battle["contestants"][place]["files_changed"], 1);
    }
    // The check fails on the base, so only who mends it is told apart.
    let checks: Vec<_> =
        (0..3).map(|place| battle["contestants"][place]["check"].as_str().unwrap()).collect();
    let fails = "check fails, it failed before too";
    assert_eq!(checks, ["check passes, it failed before", fails, fails]);
    assert!(battle["contestants"].as_array().unwrap().iter().all(|it| it["duration_ms"].as_u64() > Some(0)));
    // Nothing of it is in the project but the results, which git does not see.
    assert_eq!(git(&field.project, &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(field.project.join("main.txt")).unwrap(), "one\n");

    let events = server.script(&format!("/api/battles/{id}/events"), None).await.1;
    let names: Vec<_> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["event"].as_object().unwrap().keys().next().unwrap().clone())
        .collect();
    assert_eq!(names[0], "battle_started");
    assert!(
        names.iter().any(|name| name == "contestant_updated")
            && names.iter().any(|name| name == "battle_updated")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn personas_answer_and_a_model_as_it_is_too() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id =
        launch(&server, field.qa("[[say Because.]]", &["Debugger@small", "Architect@small", "@large"])).await;
    let battle = over(&server, &id).await;
    assert_eq!(statuses(&battle), ["done"; 3], "{battle:#}");
    // A local server does one thing at a time, in the order of the roster.
    let log = world.model_log().await;
    let models: Vec<_> =
        log["requests"].as_array().unwrap().iter().map(|it| it["model"].as_str().unwrap()).collect();
    assert_eq!(
        (models, log["concurrent"]["max"].as_u64()),
        (vec!["small", "small", "large"], Some(1)),
        "{log:#}"
    );
    // The server's own timings, and what is not known is not there.
    let first = &battle["contestants"][0]["benchmark"];
    assert!(
        first["tokens_per_sec"].as_f64() > Some(0.0) && first["prompt_tokens"].as_u64() > Some(0),
        "{first}"
    );
    assert_eq!(first["load_ms"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_begins_with_what_there_was_at_the_start() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    fs::write(field.project.join("draft.txt"), "uncommitted\n").unwrap();
    let prompt = "[[shell cat draft.txt > seen.txt; cat main.txt >> seen.txt]]";
    let mut battle = field.coding(&format!("{prompt}[[loading 700]]"), &["native@small", "native@large"]);
    battle["carry"] = json!(true);
    let id = launch(&server, battle).await;
    // While the first is at work the project goes on.
    fs::write(field.project.join("main.txt"), "changed\n").unwrap();
    fs::remove_file(field.project.join("draft.txt")).unwrap();
    git(&field.project, &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "later"]);
    let battle = over(&server, &id).await;
    assert_eq!(statuses(&battle), ["done"; 2], "{battle:#}");
    for place in [0, 1] {
        let patch = diff(&server, &id, &contestant(&battle, place)).await;
        assert!(patch.contains("+uncommitted\n+one\n") && !patch.contains("draft.txt"), "{patch}");
    }
}
