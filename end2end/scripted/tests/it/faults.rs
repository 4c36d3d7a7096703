//! Every fault of the real servers, at will.

use scripted::{Flavour, MULTIBYTE, Script};
use serde_json::json;

use crate::client::{chat, chat_body, get, pieces, post, quick, request, send, server};

#[tokio::test]
async fn a_truncated_answer_ends_cleanly_without_a_marker() {
    let reply = chat(&server(quick()), "[[count 50]][[truncate after 5]]").await;
    assert_eq!((reply.status.as_u16(), reply.text().as_str()), (200, "1 2 3 4 5 "));
    assert!(!reply.is_finished() && !reply.body.contains("[DONE]"));
    // An answer that is shorter than the cut loses its markers all the same.
    let reply = chat(&server(quick()), "[[count 2]][[truncate after 50]]").await;
    assert!(reply.text() == "1 2 " && !reply.is_finished());
}

#[tokio::test]
async fn refusals_have_their_status() {
    let cases = [
        (json!({"model": "nobody", "messages": []}), 404, "not found"),
        (chat_body("[[die]]"), 500, "exited prematurely"),
        (chat_body("[[overflow]]"), 400, "exceed_context_size_error"),
        (chat_body("[[status 503]]"), 503, "503"),
        (chat_body("[[tokens lots]]"), 400, "not a whole number"),
    ];
    for (body, status, text) in cases {
        let reply = post(&server(quick()), "/v1/chat/completions", body.clone()).await;
        assert_eq!(reply.status, status, "{body}");
        assert!(reply.body.contains(text), "{body}: {}", reply.body);
    }
    let bad = axum::http::Request::post("/v1/chat/completions").body("{oops".into()).expect("a request");
    assert_eq!(send(&server(quick()), bad).await.status, 404);
}

#[tokio::test]
async fn too_long_a_prompt_overflows_by_itself() {
    let router = server(Script { context_tokens: 50, ..quick() });
    assert_eq!(chat(&router, "short").await.status, 200);
    assert_eq!(chat(&router, &"long ".repeat(100)).await.json()["error"]["n_ctx"], 50);
}

#[tokio::test]
async fn images_are_written_down_and_a_blind_model_refuses_them() {
    let router = server(quick());
    let url = format!("data:image/png;base64,{}", "A".repeat(2_000_000));
    let with_image = |prompt: &str| {
        let mut body = chat_body("");
        body["messages"][0]["content"] =
            json!([{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": url}}]);
        body
    };
    // Its two million letters are no tokens.
    let seen = post(&router, "/v1/chat/completions", with_image("[[say seen]]")).await;
    assert_eq!((seen.status.as_u16(), seen.text().as_str()), (200, "seen"));
    let log = get(&router, "/scripted/requests").await.json();
    let shown = log["requests"][0]["images"][0].as_str().expect("an image");
    assert!(url.starts_with(shown) && shown.len() == 1000, "{shown}");
    assert_eq!(log["requests"][0]["last_user_message"], "[[say seen]]");

    let refused = post(&router, "/v1/chat/completions", with_image("[[blind]]")).await;
    assert!(
        refused.status == 500 && refused.body.contains("image input is not supported"),
        "{}",
        refused.body
    );
    assert_eq!(chat(&router, "[[blind]][[say fine]]").await.text(), "fine");
}

#[tokio::test]
async fn a_limit_passes_after_its_times() {
    let router = server(quick());
    let prompt = "[[status 429 retry-after 2 times 1]][[say fine]]";
    let first = chat(&router, prompt).await;
    assert_eq!((first.status.as_u16(), first.headers["retry-after"].to_str().ok()), (429, Some("2")));
    assert_eq!(chat(&router, prompt).await.text(), "fine");
}

#[tokio::test]
async fn error_bodies_come_in_every_shape() {
    let cases = [
        ("object", json!({"error": {"code": 500, "message": DIED, "type": "server_error"}}).to_string()),
        (
            "object-string-code",
            json!({"error": {"code": "server_error", "message": DIED, "type": "server_error"}}).to_string(),
        ),
        ("string", json!({"error": DIED, "src": "llama-swap"}).to_string()),
        ("plain", format!("llama-swap: {DIED}")),
    ];
    for (shape, expected) in cases {
        let reply = chat(&server(quick()), &format!("[[die]][[error-shape {shape}]]")).await;
        assert_eq!((reply.status.as_u16(), reply.body), (500, expected), "{shape}");
    }
}

const DIED: &str = "unspecific error: upstream command exited prematurely";

#[tokio::test]
async fn cloud_errors_follow_their_api() {
    let router = server(Script { flavour: Flavour::Cloud, ..quick() });
    let user = json!([{"role": "user", "content": "[[overflow]]"}]);
    let contents = json!([{"role": "user", "parts": [{"text": "[[overflow]]"}]}]);
    let cases = [
        (
            "/v1/chat/completions",
            json!({"model": "small", "messages": user}),
            "/error/code",
            "context_length_exceeded",
        ),
        ("/v1/messages", json!({"model": "small", "messages": user}), "/error/type", "invalid_request_error"),
        (
            "/v1beta/models/small:generateContent",
            json!({"contents": contents}),
            "/error/status",
            "INVALID_ARGUMENT",
        ),
    ];
    for (path, body, pointer, expected) in cases {
        let error = post(&router, path, body).await.json();
        assert_eq!(error.pointer(pointer), Some(&json!(expected)), "{path}: {error}");
    }
}

#[tokio::test]
async fn a_key_is_asked_for() {
    let router = server(Script { api_key: Some("secret".into()), ..quick() });
    let keyed = |name: &str, value: &str| {
        let mut request = request("/v1/chat/completions", chat_body("[[say in]]"));
        let name: axum::http::HeaderName = name.parse().expect("a header");
        request.headers_mut().insert(name, value.parse().expect("a value"));
        request
    };
    assert_eq!(chat(&router, "[[say in]]").await.status, 401);
    assert_eq!(send(&router, keyed("authorization", "Bearer wrong")).await.status, 401);
    assert_eq!(send(&router, keyed("authorization", "Bearer secret")).await.text(), "in");
    assert_eq!(send(&router, keyed("x-api-key", "secret")).await.text(), "in");
}

#[tokio::test]
async fn a_fake_banner_is_reasoning_before_the_first_chunk() {
    let reply = chat(&server(quick()), "[[fake-reasoning 3]][[say real]]").await;
    let banner = reply.joined("/choices/0/delta/reasoning_content");
    assert!(
        banner.starts_with("━━━━━\nllama-swap loading model: small\n") && banner.contains("Done!"),
        "{banner}"
    );
    assert_eq!(banner.matches(" ...\n").count(), 3);
    assert_eq!(reply.text(), "real");
    assert!(reply.is_finished());
}

#[tokio::test]
async fn a_crash_while_loading_leaves_a_bare_line() {
    let reply = chat(&server(quick()), "[[crash-line]]").await;
    assert_eq!(reply.status, 200);
    let bare = reply.body.lines().last().expect("a line");
    assert_eq!(bare, json!({"error": DIED, "src": "llama-swap"}).to_string());
    assert!(!reply.is_finished() && reply.text().is_empty());
}

#[tokio::test]
async fn a_cut_connection_is_no_clean_end() {
    let (pieces, clean) =
        pieces(&server(quick()), request("/v1/chat/completions", chat_body("[[count 9]][[cut after 3]]")))
            .await;
    assert!(!clean);
    let body = String::from_utf8(pieces.concat()).expect("UTF-8");
    assert!(body.contains("\"3 \"") && !body.contains("\"4 \""), "{body}");
}

#[tokio::test]
async fn split_bytes_lose_nothing() {
    let body = chat_body("[[split-utf8]]");
    let (pieces, clean) = pieces(&server(quick()), request("/v1/chat/completions", body.clone())).await;
    assert!(clean);
    assert!(pieces.iter().any(|piece| std::str::from_utf8(piece).is_err()), "no character was cut");
    let whole = post(&server(quick()), "/v1/chat/completions", body).await;
    assert_eq!(String::from_utf8(pieces.concat()).expect("UTF-8"), whole.body);
    assert_eq!(whole.text(), MULTIBYTE);
}

#[tokio::test]
async fn big_answers_are_exact() {
    let reply = chat(&server(quick()), "[[bytes 1000000]]").await;
    let text = reply.text();
    assert_eq!(text.len(), 1_000_000);
    assert!(text.ends_with(&format!("{:015}\n", 62_499)));
}
