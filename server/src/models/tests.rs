mod added;

use std::path::PathBuf;

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
    routing::get,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::*;
use crate::{config::ServeArgs, test_program::write_program};

fn client() -> Client {
    // Several tests of one process race to install the same provider; all but the first are told so.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().unwrap()
}

fn config(toml: &str) -> Config {
    let env = |name: &str| match name {
        "HOME" => Some("/home/ada".into()),
        "GOOD_KEY" => Some("good".into()),
        "BAD_KEY" => Some("bad".into()),
        _ => None,
    };
    let file = Some(("/etc/boocode.toml".into(), format!("{toml}\n")));
    Config::load(ServeArgs { no_model: true, ..ServeArgs::default() }, env, file).unwrap()
}

/// A server on a port of its own that answers each path with the given status and JSON, until it is dropped.
struct Fake {
    url: String,
    _stop: tokio_util::sync::DropGuard,
}

async fn fake(answers: &[(&'static str, u16, Value)]) -> Fake {
    fake_on("127.0.0.1:0", answers).await
}

async fn fake_on(address: &str, answers: &[(&'static str, u16, Value)]) -> Fake {
    let mut router = Router::new();
    for (path, status, body) in answers.iter().cloned() {
        router = router
            .route(path, get(move || async move { (StatusCode::from_u16(status).unwrap(), Json(body)) }));
    }
    serve(address, router).await
}

async fn serve(address: &str, router: Router) -> Fake {
    let listener = TcpListener::bind(address).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let cancel = CancellationToken::new();
    let stop = cancel.clone().drop_guard();
    tokio::spawn(cancel.run_until_cancelled_owned(async move { axum::serve(listener, router).await }));
    Fake { url, _stop: stop }
}

fn openai_list(ids: &[&str]) -> Value {
    json!({ "object": "list", "data": ids.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>() })
}

/// `name flavour state: models`, a line for each server.
fn shown(catalogue: &Catalogue) -> String {
    let lines = catalogue.servers.iter().map(|server| {
        let models: Vec<_> = server.models.iter().map(|model| model.shown()).collect();
        let state = match &server.state {
            ServerState::Starting => "starting".to_owned(),
            ServerState::Reachable => "reachable".to_owned(),
            ServerState::Unreachable { reason } => format!("unreachable ({reason})"),
        };
        format!("{} {:?} {:?} {state}: {}", server.name, server.flavour, server.lane, models.join(" "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

async fn look(toml: &str, places: &[&str]) -> (Models, tokio_util::sync::DropGuard) {
    let cancel = CancellationToken::new();
    let places = places.iter().map(|place| Address::parse(place).unwrap()).collect();
    let models = Models::start_at(&config(toml), places, client(), cancel.clone());
    models.set_added(Added::default());
    models.refresh_now().await;
    (models, cancel.drop_guard())
}

#[tokio::test]
async fn servers_are_found_by_what_they_answer() {
    async fn check(answers: &[(&'static str, u16, Value)], expected: &str) {
        let server = fake(answers).await;
        let (models, _cancel) = look("", &[&server.url]).await;
        assert_eq!(shown(&models.catalogue()), expected, "{answers:?}");
    }
    let running = ("/running", 200, json!({ "running": [] }));
    let props = ("/props", 200, json!({ "default_generation_settings": {} }));
    let healthy = ("/health", 200, json!({ "status": "ok" }));
    let loading = ("/health", 503, json!({ "error": { "message": "Loading model", "code": 503 } }));
    let listed = ("/v1/models", 200, openai_list(&["qwen", "phi"]));
    let by_path = ("/v1/models", 200, openai_list(&["/models/qwen3-4b.gguf"]));
    let named = ("/v1/models", 200, json!({ "data": [{ "id": "q", "name": "Qwen" }, { "no": "id" }] }));
    let tags = ("/api/tags", 200, json!({ "models": [{ "name": "llama3:latest" }] }));

    check(&[running.clone(), listed.clone()], "llama-swap LlamaSwap Local reachable: qwen phi").await;
    check(&[running, named], "llama-swap LlamaSwap Local reachable: Qwen").await;
    check(&[props, by_path], "llama.cpp LlamaCpp Local reachable: qwen3-4b").await;
    check(&[healthy.clone(), listed.clone()], "llama.cpp LlamaCpp Local reachable: qwen phi").await;
    check(&[loading], "llama.cpp LlamaCpp Local starting: ").await;
    check(&[tags, listed.clone()], "ollama Ollama Local reachable: llama3:latest").await;
    // Any other program on the port is left alone.
    check(&[], "").await;
    check(&[healthy], "").await;
    check(&[listed], "").await;
    check(&[("/running", 200, json!("yes")), ("/api/tags", 200, json!([]))], "").await;
}

#[tokio::test]
async fn an_unreachable_server_says_why() {
    let only_good = get(|headers: HeaderMap| async move {
        match headers.get("authorization").and_then(|value| value.to_str().ok()) {
            Some("Bearer good") => Json(openai_list(&["gpt"])).into_response(),
            _ => StatusCode::UNAUTHORIZED.into_response(),
        }
    });
    let keyed = serve("127.0.0.1:0", Router::new().route("/v1/models", only_good)).await;
    let silent = serve("127.0.0.1:0", Router::new().fallback(std::future::pending::<String>)).await;
    let empty = fake(&[]).await;
    let odd = fake(&[("/v1/models", 200, json!({ "hello": "world" }))]).await;
    let broken = fake(&[("/v1/models", 500, json!({ "error": "out of memory" }))]).await;
    let endless = get(|| async {
        axum::body::Body::from_stream(futures::stream::repeat_with(|| {
            Ok::<_, std::io::Error>("x".repeat(65536))
        }))
    });
    let endless = serve("127.0.0.1:0", Router::new().route("/v1/models", endless)).await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();

    let check = async |url: &str, more: &str, expected: &str| {
        let toml = format!("[[model_server]]\nname = 'it'\nurl = '{url}'\nlane = 'cloud'\n{more}");
        let (models, _cancel) = look(&toml, &[]).await;
        let shown = shown(&models.catalogue()).replace(url, "URL");
        assert_eq!(shown, format!("it OpenAi Cloud {expected}"));
    };
    check(&keyed.url, "api_key_env = 'GOOD_KEY'", "reachable: gpt").await;
    check(&keyed.url, "api_key_env = 'BAD_KEY'", "unreachable (401: the key in BAD_KEY was refused): ").await;
    check(&keyed.url, "api_key_env = 'NO_KEY'", "unreachable (NO_KEY is not set): ").await;
    check(
        &keyed.url,
        "",
        "unreachable (401: it wants a key; enter it in Settings, or name its variable in api_key_env): ",
    )
    .await;
    check(
        &empty.url,
        "",
        "unreachable (404: there is no list of models at URL/v1/models; check the url, or list them in models): ",
    )
    .await;
    check(&empty.url, "models = ['gpt']", "reachable: gpt").await;
    check(&odd.url, "", "unreachable (URL/v1/models answers, but not with a list of models): ").await;
    check(&broken.url, "", "unreachable (500 Internal Server Error: {\"error\":\"out of memory\"}): ").await;
    check(&endless.url, "", "unreachable (its answer is far too long for a list of models): ").await;
    check(&format!("http://{closed}"), "", "unreachable (connection refused — is it running?): ").await;
    check(
        &format!("http://{closed}"),
        "models = ['gpt']",
        "unreachable (connection refused — is it running?): gpt",
    )
    .await;
    check(&silent.url, "", "unreachable (no answer within 2 s): ").await;
}

#[tokio::test]
async fn a_server_that_leaves_stays_listed_and_may_return() {
    let answers = [("/running", 200, json!({ "running": [] })), ("/v1/models", 200, openai_list(&["qwen"]))];
    let server = fake(&answers).await;
    let url = server.url.clone();
    let (models, _cancel) = look("", &[&url]).await;
    let mut changed = models.changed();
    assert_eq!(shown(&models.catalogue()), "llama-swap LlamaSwap Local reachable: qwen");
    changed.mark_unchanged();
    models.refresh_now().await;
    assert!(!changed.has_changed().unwrap(), "nothing changed, so nobody is woken");

    drop(server);
    models.refresh_now().await;
    assert!(changed.has_changed().unwrap());
    let gone = shown(&models.catalogue());
    assert!(gone.starts_with("llama-swap LlamaSwap Local unreachable (") && gone.ends_with("qwen"), "{gone}");

    let _server = fake_on(url.trim_start_matches("http://"), &answers).await;
    models.refresh_now().await;
    assert_eq!(shown(&models.catalogue()), "llama-swap LlamaSwap Local reachable: qwen");
}

#[tokio::test]
async fn endpoints_and_slots() {
    let swap =
        fake(&[("/running", 200, json!({ "running": [] })), ("/v1/models", 200, openai_list(&["m"]))]).await;
    let loading = fake(&[("/health", 503, json!({ "error": { "message": "Loading model" } }))]).await;
    let toml = format!(
        "[[model_server]]\nname = 'swap'\nurl = '{}/v1'\n\
         [[model_server]]\nname = 'cloud'\nurl = 'https://nowhere.invalid/api/v1'\napi_key_env = 'GOOD_KEY'\nparallel = 3\n",
        swap.url.replace("127.0.0.1", "localhost"),
    );
    // A place that is configured already is not found a second time.
    let (models, _cancel) = look(&toml, &[&swap.url, &loading.url]).await;
    let names: Vec<_> = models.catalogue().servers.into_iter().map(|server| server.name).collect();
    assert_eq!(names, ["swap", "cloud", "llama.cpp"]);

    let swap_key = format!("{}|{}", hostname(), swap.url);
    let endpoint = models.endpoint("swap").unwrap();
    assert_eq!((endpoint.flavour, endpoint.lane), (Flavour::LlamaSwap, Lane::Local));
    assert_eq!(endpoint.slot_key, swap_key);
    let endpoint = models.endpoint("cloud").unwrap();
    assert_eq!(endpoint.base_url, "https://nowhere.invalid/api");
    assert_eq!(endpoint.api_url, "https://nowhere.invalid/api/v1");
    assert_eq!(endpoint.api_key, Some(Secret::new("good")));
    assert_eq!(models.endpoint("other"), None);
    let loading_key = format!("{}|{}", hostname(), loading.url);
    let cloud_key = "https://nowhere.invalid/api".to_owned();
    assert_eq!(models.slots(), [(swap_key, 1), (cloud_key, 3), (loading_key, 1)]);
    // What is loading waits in the queue; what is unreachable is told.
    let claimable: Vec<_> = models.claimable().into_iter().map(|at| at.server).collect();
    assert_eq!(claimable, ["swap", "cloud"]);
}

/// A program in the place of Python: a shell script that is given serve.py and does as it likes.
fn program(folder: &tempfile::TempDir, script: &str) -> PathBuf {
    let path = folder.path().join("python");
    write_program(&path, &format!("cd {}\n{script}", folder.path().display()));
    path
}

async fn small_state(models: &Models, wanted: impl Fn(&ServerState) -> bool) -> ServerState {
    let mut changed = models.changed();
    let seen = changed
        .wait_for(|listing| listing.catalogue.server("small").is_some_and(|server| wanted(&server.state)));
    let listing =
        tokio::time::timeout(Duration::from_secs(30), seen).await.expect("the state never came").unwrap();
    listing.catalogue.server("small").unwrap().state.clone()
}

fn with_small(config: Config, python: Option<PathBuf>) -> Config {
    Config { small_model: true, small_model_python: python, ..config }
}

fn is_alive(pid_file: PathBuf) -> bool {
    let pid = std::fs::read_to_string(pid_file).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // An adopted child may stay a zombie for a moment; it runs nothing.
    !stat.is_empty() && !stat.contains(") Z ")
}

#[tokio::test]
async fn the_small_model_lives_and_dies_with_us() {
    let folder = tempfile::tempdir().unwrap();
    // It outstays the end of its stdin, ignores TERM and leaves a child: the worst case of an ending.
    let stubborn = r#"trap '' TERM
        read -r key; echo "$key" > key; env > environment; echo $$ > pid
        sleep 1000 & echo $! > child
        echo '{"port": 4711}'
        while true; do sleep 1; done"#;
    let python = program(&folder, stubborn);
    let cancel = CancellationToken::new();
    let models =
        Models::start_at(&with_small(config(""), Some(python)), Vec::new(), client(), cancel.clone());
    models.set_added(Added::default());
    small_state(&models, |state| *state == ServerState::Reachable).await;

    let endpoint = models.endpoint("small").unwrap();
    assert_eq!(endpoint.api_url, "http://127.0.0.1:4711/v1");
    assert_eq!(endpoint.slot_key, format!("{}|small", hostname()));
    let key = std::fs::read_to_string(folder.path().join("key")).unwrap();
    assert_eq!(endpoint.api_key, Some(Secret::new(key.trim())));
    assert_eq!(key.trim().len(), 64);
    let environment = std::fs::read_to_string(folder.path().join("environment")).unwrap();
    // The shell sets these by itself; the control is that this process has far more.
    assert!(
        environment
            .lines()
            .all(|line| ["PWD=", "OLDPWD=", "SHLVL=", "_="].iter().any(|own| line.starts_with(own))),
        "{environment}"
    );
    assert!(std::env::vars().count() > 4);

    let files = ["pid", "child"].map(|name| folder.path().join(name));
    assert!(files.iter().cloned().all(is_alive));
    cancel.cancel();
    tokio::time::timeout(Duration::from_secs(30), models.stopped()).await.unwrap();
    assert!(!files.iter().cloned().any(is_alive));
}

#[tokio::test]
async fn a_small_model_that_dies_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let second_time_lucky = r#"read -r key
        if [ ! -e tried ]; then touch tried; echo 'no such model' >&2; exit 3; fi
        echo '{"port": 4711}'; read -r end"#;
    let config = with_small(config(""), Some(program(&folder, second_time_lucky)));
    let cancel = CancellationToken::new();
    let models = Models::start_at(&config, Vec::new(), client(), cancel.clone());
    models.set_added(Added::default());
    let down = small_state(&models, |state| matches!(state, ServerState::Unreachable { .. })).await;
    let reason = "the small model ended (exit status: 3): no such model — trying again in 1 s";
    assert_eq!(down, ServerState::Unreachable { reason: reason.into() });
    small_state(&models, |state| *state == ServerState::Reachable).await;
    cancel.cancel();
    tokio::time::timeout(Duration::from_secs(30), models.stopped()).await.unwrap();
}

#[tokio::test]
async fn the_small_model_stands_in_only_when_nothing_else_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let python = program(&folder, "touch started; read -r key; echo '{\"port\": 4711}'; read -r end");
    let found = fake(&[("/api/tags", 200, json!({ "models": [] }))]).await;
    let configured = "[[model_server]]\nname = 'it'\nurl = 'http://127.0.0.1:1'";
    let check_added = async |config: Config, places: &[&str], added: Added, expected: &[&str]| {
        let cancel = CancellationToken::new();
        let _cancel = cancel.clone().drop_guard();
        let places = places.iter().map(|place| Address::parse(place).unwrap()).collect();
        let models = Models::start_at(&config, places, client(), cancel);
        models.set_added(added);
        models.refresh_now().await;
        let names: Vec<_> = models.catalogue().servers.into_iter().map(|server| server.name).collect();
        assert_eq!(names, expected);
    };
    let check = async |config: Config, places: &[&str], expected: &[&str]| {
        check_added(config, places, Added::default(), expected).await;
    };
    check(with_small(config(configured), Some(python.clone())), &[], &["it"]).await;
    check(with_small(config(""), Some(python.clone())), &[&found.url], &["ollama"]).await;
    check(config(""), &[], &[]).await;
    assert!(!folder.path().join("started").exists());
    check(with_small(config(""), Some(python.clone())), &[], &["small"]).await;
    // A server that was added by a click and does not answer takes nothing away.
    let [added] = config(configured).model_servers.try_into().unwrap();
    let added = Added { servers: vec![added], ..Added::default() };
    check_added(with_small(config(""), Some(python.clone())), &[], added, &["it", "small"]).await;
    // Allowed but not installed: the catalogue says what to do.
    check(with_small(config(""), None), &[], &["small"]).await;
}

#[tokio::test]
async fn whether_a_model_takes_images_is_told_by_its_server() {
    for (props, expected) in [
        (json!({ "default_generation_settings": {}, "modalities": { "vision": false } }), Some(false)),
        (json!({ "default_generation_settings": {}, "modalities": { "vision": true } }), Some(true)),
        (json!({ "default_generation_settings": {} }), None),
    ] {
        let server = fake(&[("/props", 200, props), ("/v1/models", 200, openai_list(&["qwen"]))]).await;
        let (models, _cancel) = look("", &[&server.url]).await;
        models.refresh_now().await;
        assert_eq!(models.catalogue().servers[0].models[0].sees, expected);
    }
}

/// Asks twice, because some servers tell it only at the second look, when it is known what they are.
#[tokio::test]
async fn what_a_model_takes_is_told_by_its_server() {
    async fn contexts(models: &Models) -> Vec<Option<u32>> {
        models.refresh_now().await;
        models.catalogue().servers[0].models.iter().map(|model| model.context).collect()
    }
    async fn scripted_server(flavour: scripted::Flavour) -> Fake {
        let script = scripted::Script {
            flavour,
            models: vec!["one".into(), "two".into()],
            context_tokens: 12_345,
            ..scripted::Script::default()
        };
        serve("127.0.0.1:0", scripted::router(script)).await
    }
    use scripted::Flavour::{Cloud, LlamaCpp, LlamaSwap, Ollama};
    let (some, none) = (Some(12_345), None);
    for (flavour, expected) in [
        (LlamaCpp, vec![some]),
        (LlamaSwap, vec![some, some]),
        (Cloud, vec![some, some]),
        (Ollama, vec![none, none]),
    ] {
        let server = scripted_server(flavour).await;
        let toml = format!("[[model_server]]\nname = 'it'\nurl = '{}'\n", server.url);
        let (models, _cancel) = look(&toml, &[]).await;
        assert_eq!(contexts(&models).await, expected, "{flavour:?}");
        if flavour != Cloud {
            let (models, _cancel) = look("", &[&server.url]).await;
            assert_eq!(contexts(&models).await, expected, "{flavour:?}, found");
        }
        if flavour == Ollama {
            // It tells of a model that is loaded; a question loads it.
            let question = json!({"model": "two", "messages": [{"role": "user", "content": "[[say hi]]"}]});
            let url = format!("{}/v1/chat/completions", server.url);
            client().post(url).json(&question).send().await.unwrap();
            assert_eq!(contexts(&models).await, vec![none, some]);
        }
    }
}
