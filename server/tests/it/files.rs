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
    for path in ["src/chat/api.rs", "src/chat.rs", "src/chats.rs", "target/chat.o", "Arena/chat.md"] {
        fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        fs::write(folder.join(path), "").unwrap();
    }
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
