//! The project's own check, behind its wall.

use std::{fs, process::Command};

use serde_json::json;

use super::{Field, launch, over};
use crate::harness::World;

/// It is a command of the project, and what it runs was written by a model.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_reaches_nothing_but_its_own_tree() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let secret = world.folder.path().join("secret");
    fs::write(&secret, "nobody's business").unwrap();
    let port = world.model_url.rsplit(':').next().unwrap();
    let [written, project, secret] =
        [world.folder.path().join("written"), field.project.join("main.txt"), secret]
            .map(|path| path.display().to_string());
    let command = format!(
        "cat {secret}; cat {project}; echo x > {written}; echo y >> {project}; \
         (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected; cat main.txt"
    );
    let command = format!("bash -c '{command}'");
    let mut battle = field.coding("[[shell echo two >> main.txt]]", &["native@small", "native@small"]);
    battle["contestants"][1]["variant"] = json!("again");
    battle["check"] = json!(command);
    let id = launch(&server, battle).await;
    let battle = over(&server, &id).await;
    let tail = battle["base_check"]["tail"].as_str().unwrap();
    // In its tree it reads what is to be checked. What it was refused comes by a pipe of its own, before it or after.
    let reads_it = tail.lines().any(|line| line == "one");
    assert_eq!((battle["base_check"]["code"].as_i64(), reads_it), (Some(0), true), "{tail}");
    assert!(!tail.contains("nobody's business") && !tail.contains("connected"), "{tail}");
    assert!(!fs::exists(&written).unwrap());
    assert_eq!(fs::read_to_string(&project).unwrap(), "one\n");
    // The control: without a wall it does all of that.
    let done = Command::new("sh").args(["-c", &command]).current_dir(&field.project).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains("nobody's business") && said.contains("connected"), "{said}");
    assert!(fs::exists(&written).unwrap());
    assert_eq!(fs::read_to_string(&project).unwrap(), "one\ny\n");
}
