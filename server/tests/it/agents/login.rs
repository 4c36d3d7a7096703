//! Agents on their own logins: only where a person allowed it, with the file where it lies, and with nobody to talk
//! to but their provider.

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use acp::{Limits, Mode, Source};
use domain::{
    backend::Offer,
    catalogue::{Catalogue, Flavour, Lane},
};
use serde::Deserialize;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use wall::Access;

use super::reading::{Scene, shared};
use crate::{
    coder::{coder, task},
    harness::{Server, World, eventually},
};

#[derive(Deserialize)]
struct Models {
    catalogue: Catalogue,
}

async fn catalogue(server: &Server) -> Catalogue {
    let refresh = [("refresh", "true".to_owned())];
    server.call("catalogue", &refresh).await.json::<Models>().await.unwrap().catalogue
}

async fn claude(server: &Server) -> Offer {
    let offers: Vec<Offer> = server.call("backends", &[]).await.json().await.unwrap();
    offers.into_iter().find(|offer| offer.backend.0 == "claude").unwrap()
}

fn used(is_used: bool) -> [(&'static str, String); 2] {
    [("backend", "claude".to_owned()), ("is_used", is_used.to_string())]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_used_only_when_a_person_allowed_it() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (_, chat) = coder(&world, &server).await;
    let login = || async { claude(&server).await.login.unwrap() };

    // Nobody is logged in.
    assert!(!login().await.is_there);
    let refused = server.refusal("use_login", &used(true)).await;
    assert!(refused.contains("There is no ~/.claude/.credentials.json"), "{refused}");
    let wrong = [("backend", "goose".to_owned()), ("is_used", "true".to_owned())];
    assert!(server.refusal("use_login", &wrong).await.contains("goose has no login of its own"));

    // Somebody is, and did not allow it.
    fs::create_dir(world.folder.path().join(".claude")).unwrap();
    fs::write(world.folder.path().join(".claude/.credentials.json"), "{}").unwrap();
    assert!(login().await.is_there && !login().await.is_used);
    assert!(catalogue(&server).await.server("claude-login").is_none());
    let mut fields = task(chat, "hello", "claude");
    fields[3].1 = "claude-login/default".to_owned();
    let refused = server.refusal("ask", &fields).await;
    assert!(refused.contains("claude-login is no longer configured"), "{refused}");

    server.call("use_login", &used(true)).await;
    assert!(login().await.is_used);
    let listed = || async { catalogue(&server).await.server("claude-login").cloned() };
    let account = eventually("it is listed", listed).await;
    assert_eq!((account.flavour, account.lane), (Flavour::Account, Lane::Cloud));
    let models: Vec<_> = account.models.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(models, ["default", "opus", "sonnet", "haiku"]);
    // It answers its own agent alone.
    fields[4].1 = "native".to_owned();
    let refused = server.refusal("ask", &fields).await;
    assert!(refused.contains("claude-login is the login of another agent"), "{refused}");
    let plain = server.new_chat(&world).await;
    let question = [
        ("chat", plain.to_string()),
        ("message", uuid::Uuid::now_v7().to_string()),
        ("text", "hello".to_owned()),
        ("model", "claude-login/default".to_owned()),
    ];
    let refused = server.refusal("ask", &question).await;
    assert!(refused.contains("claude-login is the login of an agent"), "{refused}");

    server.call("use_login", &used(false)).await;
    let gone = || async { catalogue(&server).await.server("claude-login").is_none().then_some(()) };
    eventually("it is listed no more", gone).await;
}

/// Says no to every tunnel, and notes where it was to lead.
async fn proxy() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let noted = Arc::clone(&noted);
            tokio::spawn(async move {
                let mut head = vec![0; 4096];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let line =
                    String::from_utf8_lossy(&head[..read]).lines().next().unwrap_or_default().to_owned();
                noted.lock().unwrap().push(line);
                let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
            });
        }
    });
    (port, asked)
}

/// A login that looks like one and is worth nothing.
fn login(name: &str) -> String {
    const FAR: u64 = 4_102_444_800_000;
    // A token of which only the middle is looked at: valid for long, for some account.
    let token = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDAsImVtYWlsIjoiYUBiLmMiLCJodHRwczovL2FwaS5vcGVuYWkuY29tL\
                 2F1dGgiOnsiY2hhdGdwdF9wbGFuX3R5cGUiOiJwbHVzIiwiY2hhdGdwdF9hY2NvdW50X2lkIjoiYWNjIn19.c2ln";
    let value = match name {
        "claude" => json!({"claudeAiOauth": {
            "accessToken": "sk-ant-oat01-worthless", "refreshToken": "sk-ant-ort01-worthless", "expiresAt": FAR,
            "scopes": ["user:inference", "user:profile"], "subscriptionType": "pro",
        }}),
        "codex" => json!({
            "OPENAI_API_KEY": null, "last_refresh": "2100-01-01T00:00:00Z",
            "tokens": {"id_token": token, "access_token": token, "refresh_token": "r", "account_id": "acc"},
        }),
        _ => json!({
            "access_token": "worthless", "refresh_token": "worthless", "token_type": "Bearer",
            "expiry_date": FAR, "scope": "x",
        }),
    };
    value.to_string()
}

/// It finds its login and goes to its provider, and there only. The control has everything but the login.
pub async fn works_on_its_own_login(name: &str) {
    let limits =
        Limits { start: Duration::from_secs(30), silence: Duration::from_secs(30), ..Limits::default() };
    let mut led_to = Vec::new();
    for has_login in [true, false] {
        let scene = Scene::new(name).await;
        let account = scene.agent.account.as_ref().unwrap();
        let (port, asked) = proxy().await;
        let tree = scene.place("project");
        let mut wall = scene.wall(Access::Write { tree, objects: Vec::new() }, port);
        let file = scene.place("login");
        fs::write(&file, login(name)).unwrap();
        if has_login {
            wall.shared.push(shared(&scene, &file, account.login));
        }
        let source = Source::Account { proxy: format!("http://127.0.0.1:{port}"), model: None };
        let (ended, told) = scene.run("hello", Mode::Edit, wall, source, limits).await;
        assert!(ended.is_err(), "nobody answers: {ended:?} {told:?}");
        let asked = asked.lock().unwrap().clone();
        let is_known =
            |line: &String| account.hosts.iter().any(|host| *line == format!("CONNECT {host}:443 HTTP/1.1"));
        let unknown: Vec<_> = asked.iter().filter(|line| !is_known(line)).collect();
        led_to.push((asked.len(), unknown.into_iter().cloned().collect::<Vec<_>>(), ended));
        // Whatever the agent made of it, it is where it was, and nowhere else.
        let copy = fs::read_to_string(scene.place("home").join(account.login)).unwrap_or_default();
        assert!(!copy.contains("worthless") && !copy.contains("tokens"), "{copy}");
        assert!(file.exists());
    }
    let [(with, unknown, _), (without, _, _)] = led_to.as_slice() else { panic!("{led_to:?}") };
    assert!(*with > 0 && without < with, "{led_to:?}");
    assert_eq!(unknown, &Vec::<String>::new(), "{led_to:?}");
}
