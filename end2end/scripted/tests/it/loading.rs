//! How models are loaded, swapped and told about.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use futures::StreamExt;
use scripted::{Flavour, Script};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::client::{chat, chat_body, get, post, quick, server};

fn ask(model: &str, prompt: &str) -> Value {
    let mut body = chat_body(prompt);
    body["model"] = json!(model);
    body
}

fn spawn(router: &Router, model: &str, prompt: &str) -> tokio::task::JoinHandle<String> {
    let (router, body) = (router.clone(), ask(model, prompt));
    tokio::spawn(async move { post(&router, "/v1/chat/completions", body).await.text() })
}

async fn states(router: &Router) -> String {
    let running = get(router, "/running").await.json();
    let list = running["running"].as_array().expect("a list").iter();
    let spell =
        |entry: &Value| format!("{} {}", entry["model"].as_str().unwrap(), entry["state"].as_str().unwrap());
    list.map(spell).collect::<Vec<_>>().join(", ")
}

/// Paused time makes every state reachable without a race.
async fn at(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[tokio::test(start_paused = true)]
async fn loading_is_silence_and_running_tells() {
    let router = server(Script { load: Duration::from_secs(60), ..quick() });
    let answer = spawn(&router, "small", "[[say hi]]");
    at(1).await;
    assert_eq!(states(&router).await, "small starting");
    assert!(!answer.is_finished());
    assert_eq!(answer.await.expect("an answer"), "hi");
    assert_eq!(states(&router).await, "small ready");
    get(&router, "/unload").await;
    at(1).await;
    assert_eq!(states(&router).await, "");
}

#[tokio::test(start_paused = true)]
async fn the_loaded_model_overtakes_and_a_swap_waits() {
    let script = Script { load: Duration::from_secs(10), unload: Duration::from_secs(5), ..quick() };
    let router = server(script);
    let first = spawn(&router, "small", "[[count 100]][[rate 1]]");
    at(11_000).await;
    let other = spawn(&router, "large", "[[say other]]");
    at(1_000).await;
    // It came later and is answered at once, while the other still waits for the first.
    assert_eq!(spawn(&router, "small", "[[say overtaken]]").await.expect("an answer"), "overtaken");
    assert!(!other.is_finished() && !first.is_finished());
    assert!(first.await.expect("an answer").ends_with("100 "));
    at(1).await;
    assert_eq!(states(&router).await, "small stopping");
    at(5_000).await;
    assert_eq!(states(&router).await, "large starting");
    assert_eq!(other.await.expect("an answer"), "other");
}

#[tokio::test(start_paused = true)]
async fn a_directive_shows_a_load() {
    let router = server(quick());
    let answer = spawn(&router, "small", "[[loading 1500]][[say late]]");
    at(1_400).await;
    assert_eq!(states(&router).await, "small starting");
    assert!(!answer.is_finished());
    assert_eq!(answer.await.expect("an answer"), "late");
    assert_eq!(states(&router).await, "small ready");
}

#[tokio::test(start_paused = true)]
async fn a_bare_server_says_503_while_it_loads() {
    let script = Script { flavour: Flavour::LlamaCpp, load: Duration::from_secs(5), ..quick() };
    let router = server(script);
    assert_eq!(get(&router, "/health").await.status, 503);
    assert_eq!(chat(&router, "hi").await.json()["error"]["type"], "unavailable_error");
    at(5_000).await;
    assert_eq!(get(&router, "/health").await.status, 200);
    let prompt = "[[loading 1000]][[say up]]";
    assert_eq!(chat(&router, prompt).await.status, 503);
    assert_eq!(get(&router, "/health").await.status, 503);
    at(1_000).await;
    assert_eq!(chat(&router, prompt).await.text(), "up");
}

#[tokio::test(start_paused = true)]
async fn a_told_load_is_fake_reasoning() {
    let script = Script { load: Duration::from_secs(1), send_loading_state: true, ..quick() };
    let router = server(script);
    let reply = chat(&router, "[[say hi]]").await;
    assert!(reply.body.contains("llama-swap loading model: small"));
    assert_eq!(reply.text(), "hi");
    let again = chat(&router, "[[say again]]").await;
    assert!(!again.body.contains("llama-swap"), "a loaded model needs no banner");
}

#[tokio::test(start_paused = true)]
async fn over_the_limit_is_429() {
    let router = server(Script { concurrency_limit: 1, ..quick() });
    let first = spawn(&router, "small", "[[count 5]][[rate 1]]");
    at(1).await;
    let second = chat(&router, "hi").await;
    assert_eq!((second.status.as_u16(), second.headers["retry-after"].to_str().ok()), (429, Some("1")));
    first.await.expect("an answer");
    assert_eq!(chat(&router, "hi").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn events_follow_the_states() {
    let router = server(Script { load: Duration::from_secs(1), ..quick() });
    let request = Request::get("/api/events").body(Body::empty()).expect("a request");
    let response = router.clone().oneshot(request).await.expect("infallible");
    let mut events = response.into_body().into_data_stream();
    let answer = spawn(&router, "small", "[[say hi]]");
    let mut seen = Vec::new();
    while seen.last().map(String::as_str) != Some("ready") {
        let event = events.next().await.expect("an event").expect("a piece");
        let event = String::from_utf8(event.to_vec()).expect("UTF-8");
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
        let envelope: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(envelope["type"], "modelStatus");
        let list: Value = serde_json::from_str(envelope["data"].as_str().expect("a string")).expect("JSON");
        let small =
            list.as_array().expect("a list").iter().find(|model| model["id"] == "small").expect("small");
        seen.push(small["state"].as_str().expect("a state").to_owned());
    }
    seen.dedup();
    assert_eq!(seen, ["stopped", "starting", "ready"]);
    answer.await.expect("an answer");
}
