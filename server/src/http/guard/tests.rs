use std::net::SocketAddr;

use axum::{body::Body, extract::ConnectInfo, routing::any};
use tower::ServiceExt as _;

use super::*;
use crate::auth::{BrowserSession, TOKEN_LIFETIME, memory::MemoryStore};

const HOST: &str = "host: 127.0.0.1:3400";
const ORIGIN: &str = "origin: http://127.0.0.1:3400";
const PAGE: &str = "accept: text/html,*/*;q=0.8";

struct Fixture {
    gate: Arc<Gate>,
    cookie: String,
}

async fn fixture() -> Fixture {
    logged_in_at(OffsetDateTime::now_utc()).await
}

async fn logged_in_at(now: OffsetDateTime) -> Fixture {
    let gate = Arc::new(Gate {
        site: Site::new(([127, 0, 0, 1], 3400).into(), Some(&"https://code.example.org".parse().unwrap()))
            .unwrap(),
        auth: Auth::new(Arc::new(MemoryStore::default())),
    });
    let token = gate.auth.issue_token(now, TOKEN_LIFETIME, None).await.unwrap();
    let (_, secret) = gate.auth.log_in(token.expose(), [127, 0, 0, 1].into(), "test", now).await.unwrap();
    Fixture { gate, cookie: format!("cookie: other=1; boocode_3400={}", secret.expose()) }
}

/// Answers 200 to everything, so that any other status is the guard's.
fn open_router() -> Router {
    Router::new().fallback(any(|| async { "reached" }))
}

async fn send(router: Router, request: &str, headers: &[&str]) -> Response {
    let (method, uri) = request.split_once(' ').unwrap();
    let builder = headers.iter().fold(Request::builder().method(method).uri(uri), |builder, line| {
        let (name, value) = line.split_once(": ").unwrap();
        builder.header(name, value)
    });
    router.oneshot(builder.body(Body::empty()).unwrap()).await.unwrap()
}

/// Sends the request of a logged-in browser. A refusal counts only if the same request does reach the handler
/// when the guard is away.
async fn check(request: &str, headers: &[&str], status: u16) {
    let fixture = fixture().await;
    let mut headers = headers.to_vec();
    headers.push(&fixture.cookie);
    let control = send(open_router(), request, &headers).await;
    assert_eq!(control.status(), 200, "control: {request} {headers:?}");
    let guarded = send(protect(open_router(), fixture.gate.clone()), request, &headers).await;
    assert_eq!(guarded.status(), status, "{request} {headers:?}");
    assert!(guarded.headers().contains_key(header::CONTENT_SECURITY_POLICY), "{request}");
}

#[tokio::test]
async fn known_hosts_are_answered() {
    for host in ["127.0.0.1:3400", "localhost:3400", "[::1]:3400", "code.example.org"] {
        check("GET /", &[&format!("host: {host}")], 200).await;
    }
    check("GET http://localhost:3400/", &[], 200).await;
}

#[tokio::test]
async fn dns_rebinding_is_refused_on_every_path_and_method() {
    for request in
        ["GET /", "GET /login", "GET /healthz", "GET /pkg/a.js", "GET /api/feed", "HEAD /", "OPTIONS /"]
    {
        check(request, &["host: evil.org:3400"], 403).await;
        check(request, &["host: evil.org"], 403).await;
    }
    check("POST /api/ask", &["host: evil.org:3400", ORIGIN], 403).await;
    check("GET /", &[], 403).await;
    check("GET /", &[HOST, "host: evil.org"], 403).await;
    check("GET http://evil.org/", &[HOST], 403).await;
    check("GET http://localhost:3400/", &["host: evil.org"], 403).await;
}

#[tokio::test]
async fn no_header_skips_a_check() {
    for header in [
        "x-forwarded-host: 127.0.0.1:3400",
        "forwarded: host=127.0.0.1:3400",
        "x-forwarded-for: 127.0.0.1",
        "x-real-ip: 127.0.0.1",
        "x-http-method-override: GET",
        "x-original-url: /login",
    ] {
        check("GET /", &["host: evil.org", header], 403).await;
        check("POST /api/ask", &[HOST, header], 403).await;
        check("GET /", &[HOST, "origin: https://evil.org", header], 403).await;
    }
}

#[tokio::test]
async fn nobody_comes_around_the_proxy() {
    let site =
        Site::new(([127, 0, 0, 1], 3400).into(), Some(&"https://code.example.org".parse().unwrap())).unwrap();
    let store = Arc::new(MemoryStore::default());
    let gate = Gate { site: site.behind(&["10.0.0.2".parse().unwrap()]), auth: Auth::new(store) };
    let gate = Arc::new(gate);
    for (peer, status) in [
        ("10.0.0.2:1", 200),
        ("[::ffff:10.0.0.2]:1", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:1", 200),
        ("10.0.0.3:1", 403),
        ("[2001:db8::1]:1", 403),
    ] {
        let connected = move |router: Router| {
            router.layer(from_fn(move |mut request: Request, next: Next| async move {
                request.extensions_mut().insert(ConnectInfo(peer.parse::<SocketAddr>().unwrap()));
                next.run(request).await
            }))
        };
        let headers = ["host: code.example.org", "x-forwarded-for: 127.0.0.1"];
        let control = send(connected(open_router()), "GET /login", &headers).await;
        assert_eq!(control.status(), 200, "control: {peer}");
        let guarded = connected(protect(open_router(), Arc::clone(&gate)));
        assert_eq!(send(guarded, "GET /login", &headers).await.status(), status, "{peer}");
    }
}

#[tokio::test]
async fn a_foreign_origin_is_refused_on_every_method() {
    for method in ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "MADEUP"] {
        for origin in [
            "https://evil.org",
            "null",
            "http://127.0.0.1:3401",
            "http://localhost",
            "http://127.0.0.1:3400/",
        ] {
            check(&format!("{method} /api/ask"), &[HOST, &format!("origin: {origin}")], 403).await;
        }
        check(&format!("{method} /api/ask"), &[HOST, ORIGIN], 200).await;
        check(&format!("{method} /api/ask"), &[HOST, ORIGIN, "origin: https://evil.org"], 403).await;
    }
}

#[tokio::test]
async fn what_changes_state_must_name_its_origin() {
    for method in ["POST", "PUT", "PATCH", "DELETE", "MADEUP"] {
        check(&format!("{method} /api/ask"), &[HOST], 403).await;
        check(&format!("{method} /login"), &[HOST], 403).await;
    }
    check("GET /api/feed", &[HOST, "accept: text/event-stream"], 200).await;
}

#[tokio::test]
async fn a_websocket_must_name_its_origin() {
    let upgrade = ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"];
    for (origin, status) in [(ORIGIN, 200), ("origin: https://evil.org", 403), ("x-none: 1", 403)] {
        let headers: Vec<_> = [HOST, origin].into_iter().chain(upgrade).collect();
        check("GET /api/terminal", &headers, status).await;
    }
}

#[tokio::test]
async fn a_foreign_site_may_only_link_to_a_page() {
    let (navigate, document) = ("sec-fetch-mode: navigate", "sec-fetch-dest: document");
    for site in ["sec-fetch-site: cross-site", "sec-fetch-site: same-site"] {
        check("GET /chat/1", &[HOST, site, navigate, document], 200).await;
        check("GET /login?token=x", &[HOST, site, navigate, document], 200).await;
        check("GET /api/feed", &[HOST, site, navigate, document], 403).await;
        check("GET /chat/1", &[HOST, site, navigate, "sec-fetch-dest: iframe"], 403).await;
        check("GET /chat/1", &[HOST, site, "sec-fetch-mode: no-cors", "sec-fetch-dest: image"], 403).await;
        check("GET /pkg/a.js", &[HOST, site, "sec-fetch-mode: no-cors", "sec-fetch-dest: script"], 403).await;
        check("GET /api/feed", &[HOST, site, "sec-fetch-mode: cors", "accept: text/event-stream"], 403).await;
        check("HEAD /chat/1", &[HOST, site, navigate, document], 403).await;
        check("POST /chat/1", &[HOST, ORIGIN, site, navigate, document], 403).await;
    }
    for site in ["sec-fetch-site: same-origin", "sec-fetch-site: none"] {
        check("GET /api/feed", &[HOST, site], 200).await;
    }
}

#[tokio::test]
async fn strangers_see_the_login_and_nothing_else() {
    let fixture = fixture().await;
    for (request, headers, status, location) in [
        ("GET /", &[HOST, PAGE][..], 303, "/login"),
        ("GET /chat/1?a=b&c=d", &[HOST, PAGE], 303, "/login?next=%2Fchat%2F1%3Fa%3Db%26c%3Dd"),
        ("GET //evil.org", &[HOST, PAGE], 303, "/login"),
        ("GET /chat/1", &[HOST], 401, ""),
        ("GET /api/feed", &[HOST, PAGE], 401, ""),
        ("GET /api/feed", &[HOST, "accept: text/event-stream"], 401, ""),
        ("GET /api/terminal", &[HOST, ORIGIN, "upgrade: websocket"], 401, ""),
        ("POST /api/ask", &[HOST, ORIGIN, PAGE], 401, ""),
        ("POST /logout", &[HOST, ORIGIN], 401, ""),
        ("GET /login/", &[HOST], 401, ""),
        ("GET /%6cogin", &[HOST], 401, ""),
        ("GET /pkg", &[HOST], 401, ""),
        ("GET /login/../api/feed", &[HOST], 401, ""),
        ("GET /", &[HOST, "cookie: boocode_3400=AAAA"], 401, ""),
        ("GET /login", &[HOST], 200, ""),
        ("GET /healthz", &[HOST], 200, ""),
        ("GET /pkg/boocode.js", &[HOST], 200, ""),
        ("GET /favicon.svg", &[HOST], 200, ""),
        ("GET /manifest.webmanifest", &[HOST], 200, ""),
    ] {
        let control = send(open_router(), request, headers).await;
        assert_eq!(control.status(), 200, "control: {request}");
        let answer = send(protect(open_router(), fixture.gate.clone()), request, headers).await;
        assert_eq!(answer.status(), status, "{request} {headers:?}");
        let found = answer.headers().get(header::LOCATION).map_or("", |value| value.to_str().unwrap());
        assert_eq!(found, location, "{request}");
    }
}

#[tokio::test]
async fn a_cookie_of_another_port_or_a_made_up_one_is_no_login() {
    let fixture = fixture().await;
    let other_port = fixture.cookie.replace("3400", "3401");
    let made_up = format!("cookie: boocode_3400={}", Credential::generate().expose());
    for (cookie, status) in [(&other_port, 401), (&made_up, 401), (&fixture.cookie, 200)] {
        let answer = send(protect(open_router(), fixture.gate.clone()), "GET /", &[HOST, cookie]).await;
        assert_eq!(answer.status(), status);
    }
}

#[tokio::test]
async fn handlers_know_the_session_and_old_ones_get_their_cookie_again() {
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    for (age_days, status, renewed) in [(0, 200, false), (29, 200, true), (31, 401, false)] {
        let fixture = logged_in_at(OffsetDateTime::now_utc() - age_days * day).await;
        let named = any(|session: axum::Extension<BrowserSession>| async move { session.0.label });
        let router = protect(Router::new().fallback(named), fixture.gate);
        let answer = send(router, "GET /", &[HOST, &fixture.cookie]).await;
        assert_eq!(answer.status(), status, "{age_days}");
        assert_eq!(answer.headers().contains_key(header::SET_COOKIE), renewed, "{age_days}");
    }
}

#[tokio::test]
async fn only_an_answer_about_the_session_keeps_its_cookie_from_being_renewed() {
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    for (set, expected) in [
        ("boocode_theme=dark", vec!["boocode_theme", "boocode_3400"]),
        ("boocode_3400=; Max-Age=0", vec!["boocode_3400"]),
    ] {
        let fixture = logged_in_at(OffsetDateTime::now_utc() - 29 * day).await;
        let router = Router::new().fallback(any(move || async move { [(header::SET_COOKIE, set)] }));
        let answer = send(protect(router, fixture.gate), "GET /", &[HOST, &fixture.cookie]).await;
        let names: Vec<_> = answer
            .headers()
            .get_all(header::SET_COOKIE)
            .iter()
            .map(|set| set.to_str().unwrap().split('=').next().unwrap())
            .collect();
        assert_eq!(names, expected, "{set}");
    }
}

#[tokio::test]
async fn without_its_store_the_guard_stays_shut() {
    let gate = Gate {
        site: Site::new(([127, 0, 0, 1], 3400).into(), None).unwrap(),
        auth: Auth::new(Arc::new(MemoryStore::broken())),
    };
    let cookie = format!("cookie: boocode_3400={}", Credential::generate().expose());
    let answer = send(protect(open_router(), Arc::new(gate)), "GET /", &[HOST, &cookie]).await;
    assert_eq!(answer.status(), 503);
    assert!(answer.headers().contains_key(header::RETRY_AFTER));
}

#[test]
fn only_our_own_paths_are_led_back_to() {
    for (next, leads_to) in [
        ("/", "/"),
        ("/chat/1?q=x", "/chat/1?q=x"),
        ("/chat/1?__path=/api/ask&__err=x", "/chat/1"),
        ("/?%5F%5Ferr=x", "/"),
        ("/chat/1?a=b#c", "/chat/1?a=b#c"),
        ("", "/"),
        ("chat", "/"),
        ("//evil.org", "/"),
        ("/\\evil.org", "/"),
        ("/\t/evil.org", "/"),
        ("https://evil.org", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nset-cookie: x", "/"),
        ("/é", "/"),
        ("/login?token=x", "/"),
        ("/logout", "/"),
    ] {
        assert_eq!(local_path(next), leads_to, "{next:?}");
    }
    assert_eq!(local_path(&format!("/{}", "a".repeat(NEXT_BYTES_MAX))), "/");
}
