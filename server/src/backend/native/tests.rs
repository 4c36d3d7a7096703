use domain::{completion::Overflow, persona::Sampling};
use reqwest::Url;
use serde_json::json;
use tokio::net::TcpListener;

use super::*;
use crate::backend::{Content, Flavour, ImageUrl, Limits, Message, Part as MessagePart, Role, http_client};
use crate::secret::Secret;

mod model_server;
use model_server::{ModelServer, Part, Reply};

const FINISH: &str = "data: {\"id\":\"a\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const LAST: &str = "data: {\"id\":\"a\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2},\"timings\":{\"predicted_n\":2,\"predicted_per_second\":40.5}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn text(text: &str) -> String {
    format!("data: {}\n\n", json!({"id": "a", "choices": [{"delta": {"content": text}}]}))
}

fn banner(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"delta": {"reasoning_content": text}}]}))
}

fn say(parts: &[&str]) -> Vec<Part> {
    parts.iter().map(|part| Part::Say((*part).to_owned())).collect()
}

fn request(base_url: &Url) -> Request {
    Request {
        base_url: base_url.clone(),
        api_key: None,
        model: "m".to_owned(),
        messages: vec![Message::new(Role::User, "hi")],
        max_tokens: None,
        limit_name: LimitName::default(),
        sampling: Sampling::default(),
        tools: Vec::new(),
        schema: None,
        flavour: Flavour::Plain,
        limits: Limits {
            poll: Duration::from_millis(5),
            wait: Duration::from_millis(5),
            ..Limits::default()
        },
    }
}

/// Runs against the server and tells in words what was heard.
async fn heard(request: &Request) -> (String, Result<Measured, Error>) {
    let (sender, mut receiver) = mpsc::channel(4);
    let cancel = CancellationToken::new();
    let listen = async {
        let mut told = Vec::new();
        while let Some(output) = receiver.recv().await {
            told.push(match output {
                Output::Text(text) => format!("text {text}"),
                Output::Reasoning(text) => format!("reasoning {text}"),
                Output::Tool(update) => format!("tool {}", update.id),
                Output::Plan(_) => "plan".to_owned(),
                Output::Usage(usage) => format!("usage {}", usage.tokens()),
                Output::Phase(Phase::Waiting { seconds }) => format!("waiting {seconds}"),
                Output::Phase(phase) => format!("{phase:?}").to_lowercase(),
            });
        }
        told.join(", ")
    };
    let speak = async {
        let result = run(&http_client().unwrap(), request, &sender, &cancel).await;
        drop(sender);
        result
    };
    let (told, reply) = tokio::join!(listen, speak);
    (told, reply.map(|reply| reply.measured))
}

async fn check(replies: impl IntoIterator<Item = Reply>, expected: &str) -> Measured {
    let server = ModelServer::start(replies).await;
    let (told, result) = heard(&request(&server.base_url)).await;
    assert_eq!(told, expected);
    result.unwrap()
}

async fn check_fails(replies: impl IntoIterator<Item = Reply>, expected: &str, error: Error) {
    let server = ModelServer::start(replies).await;
    let (told, result) = heard(&request(&server.base_url)).await;
    assert_eq!((told.as_str(), result), (expected, Err(error)));
}

fn broken(fault: Fault, answering: bool) -> Error {
    Error::Broken { fault, answering }
}

#[tokio::test]
async fn an_answer_is_streamed_and_measured() {
    let role = "data: {\"id\":\"a\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n";
    let parts = say(&[role, &text("Hel"), &text("lo"), FINISH, LAST, DONE]);
    let measured = check([Reply::Stream(parts)], "starting, generating, text Hel, text lo").await;
    assert_eq!(measured.usage.unwrap().completion_tokens, Some(2));
    assert_eq!(measured.timings.unwrap().predicted_per_second, 40.5);
    assert!(measured.first_token_ms.unwrap() <= measured.duration_ms);
    assert_eq!(measured.load_ms, None);
}

#[tokio::test]
async fn an_answer_that_reaches_its_limit_is_known_to_be_cut() {
    let cut = "data: {\"id\":\"a\",\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
    let server = ModelServer::start((0..2).map(|_| Reply::Stream(say(&[&text("So"), cut, DONE])))).await;
    let free = request(&server.base_url);
    let limited = Request { max_tokens: Some(64), ..free.clone() };
    for (request, tokens_max) in [(free, None), (limited, Some(64))] {
        let measured = heard(&request).await.1.unwrap();
        assert_eq!((measured.cut_short, measured.tokens_max), (true, tokens_max));
    }
}

/// As OpenAI's reasoning models say it.
#[tokio::test]
async fn a_limit_goes_by_the_name_that_the_server_knows() {
    let refusal = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#;
    let refused = || Reply::Status(400, &[], refusal);
    let server = ModelServer::start([refused(), Reply::Stream(say(&[&text("So"), FINISH, DONE]))]).await;
    let limited = |server: &ModelServer| Request { max_tokens: Some(64), ..request(&server.base_url) };
    let (told, result) = heard(&limited(&server)).await;
    assert_eq!((told.as_str(), result.is_ok()), ("starting, generating, text So", true));
    let named =
        |body: &serde_json::Value| (body["max_tokens"].clone(), body["max_completion_tokens"].clone());
    let named: Vec<_> = server.asked().iter().map(|(_, body)| named(body)).collect();
    assert_eq!(named, [(json!(64), json!(null)), (json!(null), json!(64))]);

    let server = ModelServer::start([refused(), refused()]).await;
    assert!(heard(&limited(&server)).await.1.is_err(), "it is not asked a third time");
}

#[tokio::test]
async fn the_request_says_what_was_asked() {
    let server = ModelServer::start([Reply::Stream(say(&[DONE]))]).await;
    let mut request = request(&server.base_url);
    request.api_key = Some(Secret::new("sk-12345"));
    request.max_tokens = Some(64);
    request.sampling = Sampling { temperature: Some(0.7), top_k: Some(40), ..Sampling::default() };
    heard(&request).await.1.unwrap();
    let (headers, body) = server.asked().remove(0);
    assert_eq!(headers["authorization"], "Bearer sk-12345");
    let expected = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true,
        "stream_options": {"include_usage": true}, "max_tokens": 64, "temperature": 0.7, "top_k": 40,
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn a_clean_end_without_a_marker_is_a_failure() {
    let cut = Reply::Stream(say(&[&text("Hel")]));
    check_fails([cut], "starting, generating, text Hel", broken(Fault::Truncated, true)).await;
    check_fails([Reply::Stream(vec![])], "starting", broken(Fault::Truncated, false)).await;
}

#[tokio::test]
async fn an_answer_that_a_filter_ended_is_no_whole_answer() {
    let finish = FINISH.replace("\"stop\"", "\"content_filter\"");
    let server = ModelServer::start([Reply::Stream(say(&[&text("so far"), &finish, DONE]))]).await;
    let (told, result) = heard(&request(&server.base_url)).await;
    assert_eq!(told, "starting, generating, text so far");
    assert!(matches!(result, Err(Error::Filtered { .. })), "{result:?}");
}

#[tokio::test]
async fn a_broken_connection_is_told_apart() {
    let server =
        ModelServer::start([Reply::Stream([say(&[&text("Hel")]), vec![Part::Break]].concat())]).await;
    let (told, result) = heard(&request(&server.base_url)).await;
    assert!(told.starts_with("starting"), "{told}");
    assert!(matches!(result, Err(Error::Disconnected { .. })), "{result:?}");
    let finished = Reply::Stream([say(&[&text("Hel"), FINISH]), vec![Part::Break]].concat());
    let server = ModelServer::start([finished]).await;
    let (_, result) = heard(&request(&server.base_url)).await;
    // The break may overtake what was sent before it; what was read whole is never called broken.
    assert!(matches!(result, Ok(_) | Err(Error::Disconnected { .. })), "{result:?}");
}

#[tokio::test]
async fn silence_before_the_headers_is_shown_as_loading() {
    let late = Reply::AfterLooks(3, say(&[&text("a"), FINISH]));
    let server = ModelServer::start([late]).await;
    let request = Request { flavour: Flavour::LlamaSwap, ..request(&server.base_url) };
    let (told, result) = heard(&request).await;
    assert_eq!(told, "starting, loading, starting, generating, text a");
    assert!(result.unwrap().load_ms.is_some());
}

#[tokio::test]
async fn a_server_that_says_it_is_loading_is_asked_again() {
    const LOADING: &str = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
    let replies = [
        Reply::Status(503, &[], LOADING),
        Reply::Status(503, &[], LOADING),
        Reply::Stream(say(&[&text("a"), FINISH])),
    ];
    let server = ModelServer::start(replies).await;
    let (told, result) = heard(&request(&server.base_url)).await;
    assert_eq!(told, "starting, loading, starting, generating, text a");
    assert!(result.unwrap().load_ms.is_some());
}

#[tokio::test]
async fn the_loading_banner_is_neither_text_nor_first_token() {
    let lines = ["━━━━━\n", "llama-swap loading model: m\n", ".", "\nDone! (1.00s)\n", "━━━━━\n", " \n"];
    let lines: Vec<String> = lines.map(banner).into();
    let mut parts: Vec<Part> = lines.into_iter().map(Part::Say).collect();
    let only_banner = parts.clone();
    parts.extend(say(&[&text("a"), FINISH]));
    let measured = check([Reply::Stream(parts)], "starting, loading, generating, text a").await;
    assert!(measured.load_ms.is_some());
    let measured = check([Reply::Stream([only_banner, say(&[DONE])].concat())], "starting, loading").await;
    assert_eq!(measured.first_token_ms, None);
}

#[tokio::test]
async fn a_crash_while_the_banner_is_shown() {
    let opening = banner("━━━━━\nllama-swap loading model: m\n");
    let crash = "{\"error\":{\"message\":\"exited\",\"code\":500}}\n";
    let error = broken(Fault::Server { message: "exited".to_owned() }, false);
    check_fails([Reply::Stream(say(&[&opening, crash]))], "starting, loading", error).await;
}

#[tokio::test]
async fn too_many_requests_waits_as_told_and_no_longer_than_the_cap() {
    let replies = [
        Reply::Status(429, &[("retry-after", "0")], ""),
        Reply::Status(429, &[("retry-after", "3600")], ""),
        Reply::Status(429, &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], ""),
        Reply::Stream(say(&[&text("a"), FINISH])),
    ];
    let told = "starting, waiting 0, starting, waiting 1, starting, waiting 0, starting, generating, text a";
    let measured = check(replies, told).await;
    // The second wait is as long as the cap, and none of the model's time.
    assert!(measured.first_token_ms.unwrap() + 5 <= measured.duration_ms, "{measured:?}");
}

#[tokio::test]
async fn too_many_requests_too_often_is_told() {
    let busy = || Reply::Status(429, &[("retry-after", "0")], r#"{"error":"over the limit"}"#);
    let error = Error::Refused(Refusal::Busy { message: "over the limit".to_owned() });
    let told = "starting, waiting 0, starting, waiting 0, starting, waiting 0, starting";
    check_fails([busy(), busy(), busy(), busy()], told, error).await;
}

#[tokio::test]
async fn refusals_are_told() {
    let message = || "m".to_owned();
    let overflow = Overflow { prompt: Some(9), context: Some(8) };
    for (status, body, refusal) in [
        (404, "m", Refusal::UnknownModel { message: message() }),
        (500, r#"{"error":"m"}"#, Refusal::Died { message: message() }),
        (401, r#"{"error":{"message":"m","code":"401"}}"#, Refusal::Key { message: message() }),
        (502, "m", Refusal::Unavailable { status: 502, message: message() }),
        (307, "m", Refusal::Other { status: 307, message: message() }),
        (
            400,
            r#"{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}"#,
            Refusal::ContextOverflow(overflow),
        ),
    ] {
        let reply = Reply::Status(status, &[("location", "/v1/chat/completions")], body);
        check_fails([reply], "starting", Error::Refused(refusal)).await;
    }
}

#[tokio::test]
async fn a_model_that_refuses_old_images_is_asked_without_them() {
    const REFUSED: Reply = Reply::Status(500, &[], r#"{"error":"image input is not supported"}"#);
    let image = || {
        let url = "data:image/png;base64,UE5H".to_owned();
        let parts = [
            MessagePart::Text { text: "Look\n\n[Image: a.png]".to_owned() },
            MessagePart::ImageUrl { image_url: ImageUrl { url } },
        ];
        Message::with(Role::User, Content::Parts(parts.to_vec()))
    };
    let server = ModelServer::start([REFUSED, Reply::Stream(say(&[&text("yes"), DONE])), REFUSED]).await;
    let mut request = request(&server.base_url);
    request.messages.splice(..0, [image(), Message::new(Role::Assistant, "I cannot.")]);
    let (told, result) = heard(&request).await;
    assert_eq!((told.as_str(), result.is_ok()), ("starting, generating, text yes", true));
    let (_, body) = server.asked().remove(1);
    let expected = json!([
        {"role": "user", "content": "Look\n\n[Image: a.png]\n\n[Here was a picture, which this model cannot see.]"},
        {"role": "assistant", "content": "I cannot."},
        {"role": "user", "content": "hi"},
    ]);
    assert_eq!(body["messages"], expected);

    // The question itself is never changed.
    request.messages.push(image());
    let message = "image input is not supported".to_owned();
    assert_eq!(heard(&request).await.1, Err(Error::Refused(Refusal::NoImages { message })));
}

#[tokio::test]
async fn a_model_that_refuses_a_temperature_is_asked_without() {
    const REFUSED: Reply = Reply::Status(
        400,
        &[],
        r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.2"}}"#,
    );
    let server = ModelServer::start([REFUSED, Reply::Stream(say(&[&text("yes"), DONE])), REFUSED]).await;
    let mut request = request(&server.base_url);
    request.sampling = Sampling { temperature: Some(0.2), ..Sampling::default() };
    let (told, result) = heard(&request).await;
    assert_eq!((told.as_str(), result.is_ok()), ("starting, generating, text yes", true));
    let asked = server.asked();
    assert_eq!((&asked[0].1["temperature"], &asked[1].1["temperature"]), (&json!(0.2), &json!(null)));

    // What nobody gave is not taken back, so it is asked once.
    request.sampling = Sampling::default();
    assert!(matches!(heard(&request).await.1, Err(Error::Refused(Refusal::Other { status: 400, .. }))));
}

#[tokio::test]
async fn a_server_that_is_down_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (_, result) = heard(&request(&Url::parse(&origin).unwrap())).await;
    assert_eq!(result, Err(Error::Unreachable { server: origin }));
}

/// Control: without a key to hide, the server's words come through whole.
#[tokio::test]
async fn a_key_is_in_no_error() {
    const QUOTED: &str = r#"{"error":{"message":"no such key sk-12345"}}"#;
    for key in [Some(Secret::new("sk-12345")), None] {
        let stream = format!("data: {QUOTED}\n\n");
        let replies = [
            Reply::Status(401, &[], QUOTED),
            Reply::Stream(say(&[&stream])),
            Reply::Stream(say(&["data: sk-12345\n\n"])),
        ];
        let server = ModelServer::start(replies).await;
        let request = Request { api_key: key.clone(), ..request(&server.base_url) };
        for _ in 0..3 {
            let error = heard(&request).await.1.unwrap_err();
            assert_eq!(format!("{error} {error:?}").contains("12345"), key.is_none(), "{error}");
        }
    }
    let server = ModelServer::start([]).await;
    let request = Request { api_key: Some(Secret::new("sk\n12345")), ..request(&server.base_url) };
    assert_eq!(heard(&request).await.1, Err(Error::UnusableKey));
}

#[tokio::test]
async fn silence_has_a_limit() {
    let hanging = |parts: &[&str]| Reply::Stream([say(parts), vec![Part::Hang]].concat());
    let short = Duration::from_millis(50);
    let server = ModelServer::start([hanging(&[&text("a")]), hanging(&[])]).await;
    let origin = server.base_url.origin().ascii_serialization();
    let mut request = request(&server.base_url);
    request.limits.idle = short;
    let (told, result) = heard(&request).await;
    assert_eq!(told, "starting, generating, text a");
    assert_eq!(result, Err(Error::Silent { server: origin.clone(), seconds: 0 }));
    request.limits.start = short;
    assert_eq!(heard(&request).await.1, Err(Error::Slow { server: origin, seconds: 0 }));
}

#[tokio::test]
async fn cancelling_drops_the_connection() {
    let server = ModelServer::start([Reply::Stream([say(&[&text("a")]), vec![Part::Hang]].concat())]).await;
    let request = request(&server.base_url);
    let (sender, mut receiver) = mpsc::channel(8);
    let cancel = CancellationToken::new();
    let stop = async {
        while receiver.recv().await != Some(Output::Text("a".to_owned())) {}
        cancel.cancel();
    };
    let client = http_client().unwrap();
    let (result, ()) = tokio::join!(run(&client, &request, &sender, &cancel), stop);
    assert_eq!(result, Err(Error::Cancelled));
    server.let_go().await;
}

/// The server would flood for ever.
#[tokio::test]
async fn a_reader_that_is_gone_ends_the_request() {
    let server = ModelServer::start([Reply::Stream(vec![Part::Flood])]).await;
    let request = request(&server.base_url);
    let (sender, mut receiver) = mpsc::channel(4);
    let cancel = CancellationToken::new();
    let read_little = async {
        for _ in 0..100 {
            receiver.recv().await.unwrap();
        }
        drop(receiver);
    };
    let client = http_client().unwrap();
    let (result, ()) = tokio::join!(run(&client, &request, &sender, &cancel), read_little);
    assert_eq!(result, Err(Error::Cancelled));
    server.let_go().await;
}

#[tokio::test]
async fn control_characters_of_our_own_become_visible() {
    let parts = say(&[&text("a\u{1e}b\0c\n"), FINISH]);
    check([Reply::Stream(parts)], "starting, generating, text a␞b␀c\n").await;
}
