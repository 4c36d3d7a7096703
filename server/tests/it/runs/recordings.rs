//! What projects held when runs began: looked at again, and given back.

use std::fs;

use domain::diff::Outline;
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
    let next = launch(&server, shop.ask("research", &format!("[[look]] Which? {FAULT}"))).await;
    let counted = recordings(&server).await;
    assert!(counted["count"].as_u64() <= Some(2) && counted["bytes"].as_u64() > Some(0), "{counted}");
    server.call("free_recordings", &[]).await;
    let run = over(&server, &next).await;
    assert_eq!(run["status"], "done", "{run:#}");
    server.call("free_recordings", &[]).await;
    assert_eq!(recordings(&server).await, json!({"count": 0, "bytes": 0}));
    assert_eq!(fs::read_dir(world.folder.path().join("one/recorded")).unwrap().count(), 0);
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
