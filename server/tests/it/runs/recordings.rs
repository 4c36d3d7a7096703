//! What projects held when runs began: looked at again, and given back.

use std::fs;

use domain::{diff::Outline, flow::brief::DIFF_BYTES_MAX};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{FAULT, Shop, commit, launch, over, report, server, until};
use crate::{
    coder::git,
    harness::{Server, World},
};

async fn recordings(server: &Server) -> Value {
    let shown: Value =
        server.call("show_settings", &[("section", "worktrees".to_owned())]).await.json().await.unwrap();
    shown["worktrees"]["recordings"].clone()
}

/// The report outlives it, and says so where somebody follows a citation.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_began_with_is_counted_and_can_be_deleted() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &server).await;
    let id = launch(&server, shop.ask("code-review", FAULT)).await;
    over(&server, &id).await;
    // One that goes on needs what it began with.
    let mut long = shop.ask("investigate", "[[rate 5]][[count 4000]]");
    long["model"] = json!("local/small");
    let next = launch(&server, long).await;
    until(&server, &next, "it works", |run| run["status"] == "running").await;
    let counted = recordings(&server).await;
    assert!(counted["count"] == 1 && counted["bytes"].as_u64() > Some(0), "{counted}");
    let folders = || fs::read_dir(world.folder.path().join("one/recorded")).unwrap().count();
    assert_eq!(folders(), 2);
    server.call("free_recordings", &[]).await;
    assert_eq!(folders(), 1);
    let (status, file) = server.script(&format!("/api/runs/{next}/file?path=src/cart.rs"), None).await;
    assert_eq!(status, StatusCode::OK, "{file}");
    server.script(&format!("/api/runs/{next}/cancel"), Some(json!({}))).await;
    over(&server, &next).await;
    server.call("free_recordings", &[]).await;
    assert_eq!(recordings(&server).await, json!({"count": 0, "bytes": 0}));
    assert_eq!(folders(), 0);
    assert_eq!(git(&shop.project, &["for-each-ref", "refs/boocode"]), "");
    let (status, gone) = server.script(&format!("/api/runs/{id}/file?path=src/cart.rs"), None).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let words = "What the project held when the run began was deleted to free room. The report stays.";
    assert_eq!(gone["error"], words);
    assert!(report(&server, &id).await.1.contains("src/cart.rs:3"));
    server.stop().await;
}

/// As it was when the run began, and only what lies in its target.
#[tokio::test(flavor = "multi_thread")]
async fn the_change_that_a_run_looks_at_can_be_looked_at_too() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/analyst").await;
    let shop = Shop::new(&world, &server).await;
    super::write(&shop.project, "src/lib.rs", "mod cart;\npub mod till;\n");
    super::write(&shop.project, "README.md", "# Another shop\n");
    let mut run = shop.ask("update-pr-description", FAULT);
    run["target"] = json!("src");
    let id = launch(&server, run).await;
    // Whatever happens then.
    commit(&shop.project, "third");
    over(&server, &id).await;
    let (status, change) = server.script(&format!("/api/runs/{id}/change"), None).await;
    let change = change.as_str().unwrap();
    assert!(
        status.is_success() && change.contains("+pub mod till;") && !change.contains("Another"),
        "{change}"
    );
    // As a diff view asks for it.
    let fields = [
        ("of[Run]", id.clone()),
        ("options[is_split]", "false".into()),
        ("options[ignores_whitespace]", "false".into()),
        ("options[columns]", "0".into()),
    ];
    let outline: Outline = server.call("diff_outline", &fields).await.json().await.unwrap();
    let paths: Vec<_> = outline.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["src/lib.rs"]);
    // The gate was shown it too.
    let log = world.model_log().await;
    let asked = log["requests"].as_array().unwrap().iter();
    let asked = asked.filter_map(|it| it["last_user_message"].as_str());
    let gate = asked
        .filter(|prompt| prompt.contains("Attack them"))
        .filter(|prompt| prompt.contains("+pub mod till;"));
    assert!(gate.count() > 0, "{log:#}");
    // A flow about a change has none where nothing in its target is changed.
    git(&shop.project, &["checkout", "-q", "."]);
    super::write(&shop.project, "README.md", "# A third shop\n");
    let mut other = shop.ask("update-pr-description", "");
    other["target"] = json!("src");
    let (status, no) = server.script("/api/runs", Some(other)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{no}");
    let plain = launch(&server, shop.ask("project-discovery", FAULT)).await;
    assert_eq!(server.script(&format!("/api/runs/{plain}/change"), None).await.0, StatusCode::NOT_FOUND);
    until(&server, &plain, "it works", |run| run["status"] != "queued").await;
    server.stop().await;
}

/// A prompt holds the beginning of a long one; whoever wants to apply it needs all.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_longer_than_a_prompt_comes_whole() {
    let world = World::new().await;
    let server = server(&world, "one", "native", "local/small").await;
    let shop = Shop::new(&world, &server).await;
    let long = "// One of many lines that are all the same.\n".repeat(8_000);
    super::write(&shop.project, "src/lib.rs", &format!("mod cart;\n{long}// The last.\n"));
    let id = launch(&server, shop.ask("update-pr-description", "[[rate 5]][[count 4000]]")).await;
    let (status, change) = server.script(&format!("/api/runs/{id}/change"), None).await;
    let change = change.as_str().unwrap();
    assert!(status.is_success() && change.len() > DIFF_BYTES_MAX, "{}", change.len());
    assert!(change.ends_with("+// The last.\n"));
    server.script(&format!("/api/runs/{id}/cancel"), Some(json!({}))).await;
    server.stop().await;
}
