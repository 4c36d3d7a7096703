mod allowed;

use std::sync::Mutex;

use axum::{extract::Request, http::HeaderValue};
use domain::catalogue::{Flavour, Lane};
use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

use super::*;
use crate::{coder::health::FAILURES_MAX, secret::Secret};

const KEY: &str = "sk-of-the-provider";

/// A model server that notes what it is asked, and answers as it is told.
struct Upstream {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

#[derive(Clone, Debug)]
struct Seen {
    path: String,
    headers: HeaderMap,
    body: Value,
}

async fn upstream(answer: (StatusCode, &'static str, &'static str)) -> Upstream {
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let routes = Router::new().fallback(move |request: Request| async move {
        let path = request.uri().path_and_query().unwrap().to_string();
        let headers = request.headers().clone();
        let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        guard(&noted).push(Seen { path, headers, body });
        let (status, kind, text) = answer;
        (status, [("content-type", kind)], text)
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, routes).into_future());
    Upstream { url, seen }
}

fn endpoint(base: &str) -> Endpoint {
    Endpoint {
        base_url: base.to_owned(),
        api_url: format!("{base}/v1"),
        api_key: Some(Secret::new(KEY)),
        slot_key: String::new(),
        lane: Lane::Local,
        parallel: 1,
        flavour: Flavour::OpenAi,
    }
}

/// Where nobody is told what an answer cost.
fn nobody() -> mpsc::Sender<Output> {
    mpsc::channel(1).0
}

fn client() -> Client {
    backend::http_client().unwrap()
}

async fn relay() -> Relay {
    Relay::start(client(), CancellationToken::new()).await.unwrap()
}

/// What an agent gets.
async fn ask(passage: &Passage, path: &str, body: &str) -> (StatusCode, String) {
    let base = passage.base_url();
    let url = format!("{}{path}", base.strip_suffix("/v1").unwrap());
    let asked = client()
        .post(url)
        .header("authorization", "Bearer none")
        .header("x-api-key", "none")
        .header("x-goog-api-key", "none")
        .header("anthropic-version", "2023-06-01")
        .header("x-other", "no")
        .body(body.to_owned());
    let answer = asked.send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

#[tokio::test]
async fn every_protocol_asks_the_chosen_model_with_the_key_in_its_own_header() {
    let upstream = upstream((StatusCode::OK, "application/json", "{}")).await;
    let passage = relay().await.open(endpoint(&upstream.url), "org/chosen:8b", None, &nobody());
    for (asked, expected, header, value) in [
        ("/v1/chat/completions", "/v1/chat/completions", "authorization", "Bearer sk-of-the-provider"),
        ("/v1/messages?beta=true", "/v1/messages?beta=true", "x-api-key", KEY),
        ("/v1/messages/count_tokens", "/v1/messages/count_tokens", "x-api-key", KEY),
        ("/v1/responses", "/v1/responses", "authorization", "Bearer sk-of-the-provider"),
        (
            "/v1beta/models/other:3b:streamGenerateContent?alt=sse",
            "/v1beta/models/org%2Fchosen%3A8b:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            KEY,
        ),
        (
            "/v1beta/models/models/other:generateContent",
            "/v1beta/models/org%2Fchosen%3A8b:generateContent",
            "x-goog-api-key",
            KEY,
        ),
    ] {
        guard(&upstream.seen).clear();
        let (status, _) = ask(&passage, asked, r#"{"model":"another","n":1}"#).await;
        assert_eq!(status, StatusCode::OK, "{asked}");
        let seen = guard(&upstream.seen).clone();
        let [Seen { path, headers, body }] = seen.as_slice() else { panic!("{asked}: {seen:?}") };
        assert_eq!(path, expected);
        assert_eq!(headers.get(header), Some(&HeaderValue::from_static(value)), "{asked}: {headers:?}");
        // Nothing else that the agent says of itself goes on, its own keys least of all.
        let keys = ["authorization", "x-api-key", "x-goog-api-key", "x-other"];
        let passed: Vec<_> = keys.into_iter().filter(|name| headers.contains_key(*name)).collect();
        assert_eq!(passed, [header], "{asked}");
        assert_eq!(headers.get("anthropic-version"), Some(&HeaderValue::from_static("2023-06-01")));
        if !asked.contains("v1beta") {
            assert_eq!(body, &json!({"model": "org/chosen:8b", "n": 1}), "{asked}");
        }
    }
}

#[tokio::test]
async fn googles_chat_completions_lie_below_its_own_api() {
    let upstream = upstream((StatusCode::OK, "application/json", "{}")).await;
    let relay = relay().await;
    for base in ["", "/v1beta", "/v1beta/openai"] {
        guard(&upstream.seen).clear();
        let passage = relay.open(endpoint(&format!("{}{base}", upstream.url)), "pro", None, &nobody());
        ask(&passage, "/v1beta/models/x:generateContent", "{}").await;
        assert_eq!(guard(&upstream.seen)[0].path, "/v1beta/models/pro:generateContent", "{base}");
    }
}

#[tokio::test]
async fn a_door_opens_with_its_word_and_for_what_it_is_made_for() {
    let upstream = upstream((StatusCode::OK, "application/json", "{}")).await;
    let relay = relay().await;
    let passage = relay.open(endpoint(&upstream.url), "chosen", None, &nobody());
    for (path, body, expected) in [
        ("/v1/chat/completions", "{}", StatusCode::OK),
        ("/v1/chat/completions", "no json", StatusCode::BAD_REQUEST),
        ("/v1beta/models/x:deleteEverything", "{}", StatusCode::NOT_FOUND),
        ("/v1/files", "{}", StatusCode::NOT_FOUND),
    ] {
        assert_eq!(ask(&passage, path, body).await.0, expected, "{path} {body}");
    }
    assert_eq!(guard(&upstream.seen).len(), 1);
    let (port, word) = (passage.port(), passage.word.clone());
    drop(passage);
    for word in [word.as_str(), "guessed"] {
        let url = format!("http://127.0.0.1:{port}/{word}/v1/chat/completions");
        assert_eq!(client().post(url).body("{}").send().await.unwrap().status(), StatusCode::NOT_FOUND);
    }
}

/// Asks until it is given up, but no more often than this.
async fn storm(passage: &Passage) -> u32 {
    for count in 1..=3 * FAILURES_MAX {
        ask(passage, "/v1/messages", "{}").await;
        if passage.given_up().now_or_never().is_some() {
            return count;
        }
    }
    0
}

#[tokio::test]
async fn a_server_that_fails_again_and_again_is_given_up() {
    const STREAM: &str = "text/event-stream";
    for (status, kind, text, words) in [
        (StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "it died", Some("answered with 500")),
        (StatusCode::OK, STREAM, "event: content_block_delta\n\n", Some("answer broke off.")),
        (StatusCode::OK, STREAM, "event: message_stop\n\n", None),
        (StatusCode::OK, "application/json", "{}", None),
        // These say what is wrong with the question, or to come back later.
        (StatusCode::BAD_REQUEST, "text/plain", "too long", None),
        (StatusCode::TOO_MANY_REQUESTS, "text/plain", "later", None),
        (StatusCode::SERVICE_UNAVAILABLE, "text/plain", "loading", None),
    ] {
        let upstream = upstream((status, kind, text)).await;
        let passage = relay().await.open(endpoint(&upstream.url), "chosen", None, &nobody());
        let expected = if words.is_some() { FAILURES_MAX } else { 0 };
        assert_eq!(storm(&passage).await, expected, "{status} {text}");
        // Whoever is put off has no answer either, and that is not the model's doing.
        let is_put_off = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(passage.trouble().is_some(), words.is_some() || is_put_off, "{status} {text}");
        if let Some(words) = words {
            let said = passage.given_up().await;
            assert!(said.contains(words) && said.contains("5 times in a row"), "{said}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_before_anything_is_started() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let relay = relay().await;
    let passage = relay.open(endpoint(&format!("http://{gone}")), "chosen", None, &nobody());
    assert!(matches!(passage.check().await, Err(backend::Error::Unreachable { .. })));
    assert_eq!(storm(&passage).await, FAILURES_MAX);
    assert!(passage.given_up().await.contains("does not answer"));
    // One that answers, whatever it says, is there.
    let upstream = upstream((StatusCode::UNAUTHORIZED, "text/plain", "no")).await;
    assert_eq!(relay.open(endpoint(&upstream.url), "chosen", None, &nobody()).check().await, Ok(()));
}

#[tokio::test]
async fn what_answers_cost_is_told_as_they_end_and_added_up() {
    let answer = "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\
                  \"completion_tokens\":2},\"timings\":{\"predicted_n\":2,\"predicted_ms\":4.0}}\n\ndata: [DONE]\n\n";
    let upstream = upstream((StatusCode::OK, "text/event-stream", answer)).await;
    let (outputs, mut told) = mpsc::channel(8);
    let passage = relay().await.open(endpoint(&upstream.url), "chosen", None, &outputs);
    for _ in 0..2 {
        assert_eq!(ask(&passage, "/v1/chat/completions", "{}").await.1, answer);
        let Some(Output::Usage(usage)) = told.recv().await else { panic!("nothing is told") };
        assert_eq!(usage.tokens(), 11);
    }
    // It counts, and costs nothing.
    ask(&passage, "/v1/messages/count_tokens", "{}").await;
    let measured = passage.measured();
    assert_eq!(measured.usage.map(|usage| usage.tokens()), Some(22));
    assert_eq!(measured.timings.map(|timings| timings.predicted_n), Some(4));
    // Whoever holds the door open does not keep the task from ending.
    drop(outputs);
    assert!(told.recv().await.is_none());
    ask(&passage, "/v1/chat/completions", "{}").await;
}

/// An agent may say that it is done, and be measured, before its connection to the model server has ended.
#[tokio::test]
async fn what_an_answer_cost_is_counted_before_the_agent_has_its_last_event() {
    const PIECES: [&str; 3] = [
        "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n",
        "data: [DONE]\n\n",
    ];
    let endless = Router::new().fallback(|| async {
        let pieces = stream::iter(PIECES.map(Ok::<_, std::io::Error>)).chain(stream::pending());
        ([("content-type", "text/event-stream")], axum::body::Body::from_stream(pieces))
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, endless).into_future());
    let (outputs, mut told) = mpsc::channel(8);
    let passage = relay().await.open(endpoint(&url), "chosen", None, &outputs);
    passage.health.failed("It broke.");
    let asked = client().post(format!("{}/chat/completions", passage.base_url())).body("{}").send();
    let mut answer = asked.await.unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(b"[DONE]\n\n") {
        heard.extend_from_slice(&answer.chunk().await.unwrap().unwrap());
    }
    assert_eq!(passage.measured().usage.map(|usage| usage.tokens()), Some(11));
    assert_eq!(passage.trouble(), None, "it has answered well since");
    let Some(Output::Usage(usage)) = told.recv().await else { panic!("nothing is told") };
    assert_eq!(usage.tokens(), 11);
    drop((answer, outputs));
    assert!(told.recv().await.is_none(), "it is counted once");
}

/// What an agent's model server does before it answers is its model's loading, whichever way it tells of that.
#[tokio::test]
async fn a_server_that_loads_its_model_is_seen_at_it() {
    let answered = || {
        let words = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
        ([("content-type", "text/event-stream")], words).into_response()
    };
    // llama.cpp refuses until it is ready; llama-swap keeps silent, and tells who asks.
    let refusals = Arc::new(Mutex::new(1));
    let refusing = Router::new().fallback(move || async move {
        let mut left = guard(&refusals);
        if *left == 0 {
            return answered();
        }
        *left -= 1;
        let error = json!({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}});
        (StatusCode::SERVICE_UNAVAILABLE, axum::Json(error)).into_response()
    });
    let looked = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&looked);
    let silent = Router::new()
        .route(
            "/running",
            get(move || async move {
                told.notify_one();
                axum::Json(json!({"running": [{"model": "m", "state": "starting"}]}))
            }),
        )
        // By the second look the first one has been heard.
        .fallback(move || async move {
            looked.notified().await;
            looked.notified().await;
            answered()
        });
    for (routes, flavour, asked) in [(refusing, Flavour::OpenAi, 2), (silent, Flavour::LlamaSwap, 1)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(axum::serve(listener, routes).into_future());
        let passage = relay().await.open(Endpoint { flavour, ..endpoint(&url) }, "chosen", None, &nobody());
        assert_eq!(passage.measured().load_ms, None);
        let began = std::time::Instant::now();
        for _ in 0..asked {
            ask(&passage, "/v1/chat/completions", "{}").await;
        }
        let measured = passage.measured();
        let took_ms = began.elapsed().as_millis() as u64;
        let (Some(load_ms), Some(first_token_ms)) = (measured.load_ms, measured.first_token_ms) else {
            panic!("{flavour:?}: {measured:?}")
        };
        // Half of the time of a silent one is seen to be loading, and what is counted there is not counted again.
        if flavour == Flavour::LlamaSwap {
            let both = load_ms + first_token_ms;
            assert!(load_ms > 0 && both <= took_ms, "{load_ms} + {first_token_ms} in {took_ms}");
        }
    }
}

/// The head of a question, whose body does not come: all that is sent back is said without it.
async fn first_line(passage: &Passage, word: &str, length: usize) -> String {
    let mut asking = TcpStream::connect(("127.0.0.1", passage.port())).await.unwrap();
    let head =
        format!("POST /{word}/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
    asking.write_all(head.as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(asking).read_line(&mut line).await.unwrap();
    line
}

#[tokio::test]
async fn nothing_is_read_of_who_does_not_know_the_word_or_says_too_much() {
    let passage = relay().await.open(endpoint("http://127.0.0.1:1"), "m", None, &nobody());
    let said = first_line(&passage, "nobody", REQUEST_BYTES_MAX).await;
    assert!(said.starts_with("HTTP/1.1 404"), "{said}");
    let said = first_line(&passage, &passage.word, REQUEST_BYTES_MAX + 1).await;
    assert!(said.starts_with("HTTP/1.1 413"), "{said}");
}

#[tokio::test]
async fn only_so_many_questions_of_a_task_are_held_at_once() {
    let upstream = upstream((StatusCode::OK, "application/json", "{}")).await;
    let relay = relay().await;
    let [full, other] = [(); 2].map(|()| relay.open(endpoint(&upstream.url), "m", None, &nobody()));
    let door = relay.door(&full.word).unwrap();
    let held = door.places.acquire_many(QUESTIONS_MAX as u32).await.unwrap();
    let mut waiting = pin!(ask(&full, "/v1/chat/completions", "{}"));
    let (status, _) = tokio::select! {
        biased;
        _ = &mut waiting => panic!("there was no place for it"),
        answer = ask(&other, "/v1/chat/completions", "{}") => answer,
    };
    assert_eq!(status, StatusCode::OK, "another task has places of its own");
    drop(held);
    assert_eq!(waiting.await.0, StatusCode::OK);
}
