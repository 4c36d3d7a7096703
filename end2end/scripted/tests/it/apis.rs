//! The four APIs say the same thing, each in its own words, streamed and whole.

use serde_json::{Value, json};

use crate::client::{Reply, chat, chat_body, get, post, quick, server};

const PROMPT: &str =
    r#"[[reasoning let me see]][[say hello world]][[tool ls {"path":"a long enough path"}]]"#;

fn gather(reply: &Reply, pointers: [&str; 3]) -> [String; 3] {
    pointers.map(|pointer| reply.joined(pointer))
}

fn check_stream(reply: &Reply, pointers: [&str; 3]) {
    let [thought, text, arguments] = gather(reply, pointers);
    assert_eq!((thought.as_str(), text.as_str()), ("let me see", "hello world"), "{}", reply.body);
    assert_eq!(arguments, r#"{"path":"a long enough path"}"#);
}

#[tokio::test]
async fn chat_completions_stream() {
    let reply = chat(&server(quick()), PROMPT).await;
    let delta = "/choices/0/delta";
    check_stream(
        &reply,
        [
            &format!("{delta}/reasoning_content"),
            &format!("{delta}/content"),
            &format!("{delta}/tool_calls/0/function/arguments"),
        ],
    );
    let events = reply.events();
    assert_eq!(events[0]["choices"][0]["delta"], json!({"role": "assistant", "content": null}));
    assert_eq!(reply.joined("/choices/0/finish_reason"), "tool_calls");
    let last = events.last().expect("events");
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["timings"]["predicted_n"], last["usage"]["completion_tokens"]);
    assert!(reply.body.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn timings_sit_on_the_finish_chunk_when_usage_is_not_asked_for() {
    let mut body = chat_body("[[say hi]][[rate 500]]");
    body["stream_options"] = Value::Null;
    let reply = post(&server(quick()), "/v1/chat/completions", body).await;
    let events = reply.events();
    let last = events.last().expect("events");
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!(last["timings"]["predicted_per_second"], 500.0);
    assert_eq!(last.get("usage"), None);
}

#[tokio::test]
async fn messages_stream() {
    let body = json!({
        "model": "small", "stream": true, "max_tokens": 1000,
        "messages": [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}],
    });
    let reply = post(&server(quick()), "/v1/messages", body).await;
    check_stream(&reply, ["/delta/thinking", "/delta/text", "/delta/partial_json"]);
    let starts: Vec<Value> =
        reply.events().into_iter().filter(|e| e["type"] == "content_block_start").collect();
    assert_eq!(starts.iter().map(|s| s["index"].as_u64()).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    assert_eq!(reply.joined("/delta/stop_reason"), "tool_use");
    assert!(reply.body.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
}

#[tokio::test]
async fn responses_stream() {
    let body = json!({
        "model": "small", "stream": true,
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]}],
    });
    let reply = post(&server(quick()), "/v1/responses", body).await;
    let events = reply.events();
    let of = |kind: &str| -> String {
        let deltas = events.iter().filter(|event| event["type"] == kind);
        deltas.filter_map(|event| event["delta"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(of("response.reasoning_summary_text.delta"), "let me see");
    assert_eq!(of("response.output_text.delta"), "hello world");
    assert_eq!(of("response.function_call_arguments.delta"), r#"{"path":"a long enough path"}"#);
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let last = events.last().expect("events");
    assert_eq!(last["type"], "response.completed");
    let kinds: Vec<&str> = last["response"]["output"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|i| i["type"].as_str())
        .collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call"]);
}

#[tokio::test]
async fn gemini_streams() {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]});
    let router = server(quick());
    let reply = post(&router, "/v1beta/models/small:streamGenerateContent?alt=sse", body.clone()).await;
    let part = "/candidates/0/content/parts/0";
    assert_eq!(reply.joined(&format!("{part}/text")), "let me seehello world");
    assert_eq!(reply.joined(&format!("{part}/functionCall/args/path")), "a long enough path");
    assert_eq!(reply.joined("/candidates/0/finishReason"), "STOP");
    let counted = post(&router, "/v1beta/models/small:countTokens", body).await.json();
    assert!(counted["totalTokens"].as_u64() > Some(0));
}

#[tokio::test]
async fn whole_answers_say_the_same() {
    let router = server(quick());
    let user = json!([{"role": "user", "content": PROMPT}]);
    let contents = json!([{"role": "user", "parts": [{"text": PROMPT}]}]);
    let cases = [
        ("/v1/chat/completions", json!({"model": "small", "messages": user}), "/choices/0/message/content"),
        ("/v1/messages", json!({"model": "small", "max_tokens": 99, "messages": user}), "/content/1/text"),
        ("/v1/responses", json!({"model": "small", "input": PROMPT}), "/output/1/content/0/text"),
        (
            "/v1beta/models/small:generateContent",
            json!({"contents": contents}),
            "/candidates/0/content/parts/1/text",
        ),
    ];
    for (path, body, pointer) in cases {
        let whole = post(&router, path, body).await.json();
        assert_eq!(whole.pointer(pointer), Some(&json!("hello world")), "{path}: {whole}");
        assert!(whole.to_string().contains("a long enough path"), "{path}: {whole}");
    }
}

#[tokio::test]
async fn a_tool_result_brings_the_next_step() {
    let router = server(quick());
    let script = "[[tool ls]][[say after the tool]]";
    let chat = json!({"model": "small", "messages": [
        {"role": "user", "content": script},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function"}]},
        {"role": "tool", "tool_call_id": "c", "content": "file"},
    ]});
    let messages = json!({"model": "small", "max_tokens": 99, "messages": [
        {"role": "user", "content": script},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ls", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}, {"type": "text", "text": "note"}]},
    ]});
    let responses = json!({"model": "small", "input": [
        {"role": "user", "content": script},
        {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "file"},
    ]});
    let gemini = json!({"contents": [
        {"role": "user", "parts": [{"text": script}]},
        {"role": "model", "parts": [{"functionCall": {"name": "ls"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ls"}}]},
    ]});
    let cases = [
        ("/v1/chat/completions", chat),
        ("/v1/messages", messages),
        ("/v1/responses", responses),
        ("/v1beta/models/small:generateContent", gemini),
    ];
    for (path, body) in cases {
        let reply = post(&router, path, body).await;
        assert!(reply.body.contains("after the tool"), "{path}: {}", reply.body);
    }
}

#[tokio::test]
async fn answers_are_bounded_shaped_and_repeatable() {
    let router = server(quick());
    let mut body = chat_body("[[count 50]]");
    body["max_tokens"] = json!(3);
    let reply = post(&router, "/v1/chat/completions", body).await;
    assert_eq!(
        (reply.text().as_str(), reply.joined("/choices/0/finish_reason").as_str()),
        ("1 2 3 ", "length")
    );

    let mut body = chat_body("judge this");
    let schema =
        json!({"type": "object", "required": ["winner"], "properties": {"winner": {"enum": ["A", "B"]}}});
    body["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}});
    assert_eq!(post(&router, "/v1/chat/completions", body).await.text(), r#"{"winner":"A"}"#);

    let first = chat(&server(quick()), "tell me").await;
    assert_eq!(first.body, chat(&server(quick()), "tell me").await.body);
    assert!(first.text().split(' ').count() == 40, "{}", first.text());
}

#[tokio::test]
async fn each_flavour_tells_what_it_is() {
    use scripted::{Flavour, Script};
    let cases = [
        (Flavour::LlamaSwap, "/v1/models", "llama-swap"),
        (Flavour::LlamaSwap, "/running", r#"{"running":[]}"#),
        (Flavour::LlamaSwap, "/health", "OK"),
        (Flavour::LlamaCpp, "/props", "total_slots"),
        (Flavour::LlamaCpp, "/health", r#"{"status":"ok"}"#),
        (Flavour::Ollama, "/api/tags", r#""name":"small""#),
        (Flavour::Ollama, "/", "Ollama is running"),
        (Flavour::Cloud, "/v1/models", r#""id":"small""#),
    ];
    for (flavour, path, expected) in cases {
        let reply = get(&server(Script { flavour, ..quick() }), path).await;
        assert!(
            reply.status.is_success() && reply.body.contains(expected),
            "{flavour:?} {path}: {}",
            reply.body
        );
    }
    let foreign =
        [(Flavour::LlamaSwap, "/props"), (Flavour::Cloud, "/running"), (Flavour::LlamaCpp, "/api/tags")];
    for (flavour, path) in foreign {
        assert_eq!(get(&server(Script { flavour, ..quick() }), path).await.status, 404, "{flavour:?} {path}");
    }
}
