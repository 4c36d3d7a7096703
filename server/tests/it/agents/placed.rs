//! The other places where an agent can stand: a step of a flow, and whoever cross-examines a battle.

use std::fs;

use reqwest::StatusCode;
use scripted::calls::{list, shell, write};
use serde_json::json;

use crate::{
    arena::{self, Field},
    harness::{Server, World},
    runs::{self, Shop},
};

/// Its model answers several at once, by every protocol.
async fn server(world: &World, agent: &str) -> Server {
    let file = world.folder.path().join("one.toml");
    let settings = format!(
        "flow_backend = \"{agent}\"\nflow_model = \"local/small\"\n[[model_server]]\nname = \"local\"\nurl = \"{}\"\n\
         lane = \"cloud\"\nparallel = 4\nspeaks = [\"messages\", \"responses\", \"gemini\"]\n",
        world.model_url
    );
    fs::write(&file, settings).unwrap();
    world.server_with("one", &["--config", file.to_str().unwrap()]).await
}

/// Each step is done, though its model tells it to write; the project stays as it is. That the same words write where
/// they may is shown by the cases that only read.
pub async fn works_in_a_flow(agent: &str) {
    let world = World::new().await;
    let server = server(&world, agent).await;
    let shop = Shop::new(&world, &server).await;
    let (before, new) = (shop.files(), shop.project.join("owned.txt"));
    let words = format!(
        "{}{}{}[[say {{\"summary\": \"I tried.\"}}]]",
        list(agent, &shop.project),
        write(agent, &new, "x\n"),
        shell(agent, &format!("echo x > {}", new.display()))
    );
    let id = runs::launch(&server, shop.ask("code-review", &words)).await;
    let run = runs::over(&server, &id).await;
    assert_eq!((run["status"].as_str(), run["backend"].as_str()), (Some("done"), Some(agent)), "{run:#}");
    assert!(runs::steps(&run).iter().all(|(_, status)| *status == "done"), "{run:#}");
    let log = world.model_log().await;
    let results = log["requests"].as_array().unwrap().iter().filter_map(|it| it["tool_results"].as_u64());
    assert!(results.max() >= Some(3), "the control: it looked, and tried to write in two ways: {log:#}");
    let after = shop.files();
    assert!(before == after, "the project was changed");
    server.stop().await;
}

pub async fn cross_examines(agent: &str) {
    let world = World::new().await;
    let server = server(&world, agent).await;
    let field = Field::new(&world, &server).await;
    let prompt = "[[on small]][[shell echo a > a]][[on large]][[shell echo b > b]]";
    let id = arena::launch(&server, field.coding(prompt, &["native@small", "native@large"])).await;
    arena::over(&server, &id).await;
    let asked =
        json!({"backend": agent, "model": "local/large", "question": "[[on large]][[say A is better]]"});
    let path = format!("/api/battles/{id}/cross-examine");
    let (status, answer) = server.script(&path, Some(asked)).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let is_over = |battle: &serde_json::Value| {
        let status = battle["cross_examinations"][0]["status"].as_str();
        !matches!(status, None | Some("queued" | "dispatched" | "running"))
    };
    let battle = arena::until(&server, &id, "it has answered", is_over).await;
    let said = &battle["cross_examinations"][0];
    assert_eq!(said["status"], "done", "{said:#}");
    assert!(said.to_string().contains("A is better"), "{said:#}");
    server.stop().await;
}
