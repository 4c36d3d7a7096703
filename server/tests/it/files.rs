//! Finding a project's files by a few letters.

use std::fs;

use reqwest::{StatusCode, header};
use serde_json::{Value, json};

use crate::harness::{Server, World};

async fn find(server: &Server, project: &str, typed: &str) -> Value {
    let fields = [("project", project.to_owned()), ("query", typed.to_owned()), ("limit", "2".to_owned())];
    server.call("find_files", &fields).await.json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_found_by_a_few_letters() {
    let world = World::new().await;
    let server = world.server("one").await;
    let folder = world.repository("shop");
    let old = "Arena/2026-07-30-qa-aabbccdd";
    let chats = ["src/chat/api.rs", "src/chat.rs", "src/chats.rs", "target/chat.o"].map(str::to_owned);
    for path in chats.into_iter().chain(["manifest.json", "chat.md"].map(|name| format!("{old}/{name}"))) {
        fs::create_dir_all(folder.join(&path).parent().unwrap()).unwrap();
        fs::write(folder.join(&path), "").unwrap();
    }
    // What a battle left is known by what it says of itself.
    let manifest = json!({"id": "00000000-0000-4000-8000-0000aabbccdd", "battle_type": "qa"});
    fs::write(folder.join(old).join("manifest.json"), manifest.to_string()).unwrap();
    fs::write(folder.join(".gitignore"), "target/\n").unwrap();
    server.call("add_project", &[("path", folder.to_string_lossy().into_owned())]).await;
    let project = server.snapshot(None).await.state.workspace.projects[0].id.to_string();

    let found = find(&server, &project, "chat").await;
    let expected = json!({
        "files": [
            {"path": "src/chat.rs", "positions": [4, 5, 6, 7]},
            {"path": "src/chats.rs", "positions": [4, 5, 6, 7]},
        ],
        "total": 3,
        "is_cut": false,
    });
    assert_eq!(found, expected);
    assert_eq!(find(&server, &project, "nothing like it").await["total"], 0);
    assert_eq!(find(&server, &project, "").await["total"], 4);
    // The control: a project may have a folder of its own that is called so.
    let stage = world.repository("stage");
    fs::create_dir(stage.join("Arena")).unwrap();
    fs::write(stage.join("Arena/chat.md"), "").unwrap();
    server.call("add_project", &[("path", stage.to_string_lossy().into_owned())]).await;
    let projects = server.snapshot(None).await.state.workspace.projects;
    let own = projects.iter().map(|it| it.id.to_string()).find(|id| *id != project).unwrap();
    assert_eq!(find(&server, &own, "Arena/chat").await["files"][0]["path"], "Arena/chat.md");

    let nowhere = [("project", uuid::Uuid::nil().to_string()), ("limit", "2".to_owned())];
    assert!(server.refusal("find_files", &nowhere).await.contains("missing"));

    // Names of files are as private as everything else; the control is the same request with the cookie.
    let fields = [("project", project), ("limit", "2".to_owned())];
    let request = || server.post("find_files", &fields);
    assert_eq!(request().send().await.unwrap().status(), StatusCode::OK);
    let mut stranger = request().build().unwrap();
    stranger.headers_mut().remove(header::COOKIE);
    assert_eq!(server.client.execute(stranger).await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let mut foreign = request().build().unwrap();
    foreign.headers_mut().insert(header::ORIGIN, "https://evil.example".parse().unwrap());
    assert_eq!(server.client.execute(foreign).await.unwrap().status(), StatusCode::FORBIDDEN);
}
