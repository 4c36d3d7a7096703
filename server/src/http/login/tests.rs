use axum::{body::Body, http::Request};
use tower::ServiceExt as _;

use super::*;
use crate::{
    auth::{Auth, Credential, TOKEN_LIFETIME, memory::MemoryStore},
    http::guard::{Site, protect},
};

const ORIGIN: &str = "http://127.0.0.1:3400";

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn cookie(&self) -> Option<String> {
        let cookie = self.header(header::SET_COOKIE).split(';').next()?;
        (!cookie.is_empty()).then(|| cookie.to_owned())
    }
}

fn gate(public_url: Option<&str>) -> Arc<Gate> {
    let url = public_url.map(|url| url.parse().unwrap());
    let site = Site::new(([127, 0, 0, 1], 3400).into(), url.as_ref()).unwrap();
    Arc::new(Gate { site, auth: Auth::new(Arc::new(MemoryStore::default())) })
}

async fn token(gate: &Gate) -> Credential {
    gate.auth.issue_token(OffsetDateTime::now_utc(), TOKEN_LIFETIME, None).await.unwrap()
}

async fn send(gate: &Arc<Gate>, request: &str, extra: &[(&str, &str)], body: &str) -> Answer {
    let (method, path) = request.split_once(' ').unwrap();
    let mut builder = Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1:3400");
    if method == "POST" {
        builder = builder
            .header(header::ORIGIN, ORIGIN)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    }
    builder = extra.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    let home = Router::new().route("/", get(|| async { "home" }));
    let router = protect(home.merge(routes(gate.clone())), gate.clone());
    let response = router.oneshot(builder.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    Answer { status, headers, body: String::from_utf8(body.to_vec()).unwrap() }
}

#[tokio::test]
async fn a_link_logs_in_once_and_leaves_the_url() {
    let gate = gate(None);
    let link = format!("GET /login?token={}", token(&gate).await.expose());
    let first = send(&gate, &link, &[], "").await;
    assert_eq!((first.status, first.header(header::LOCATION)), (303, "/"));
    assert_eq!(first.header(header::REFERRER_POLICY), "no-referrer");
    assert_eq!(first.header(header::CACHE_CONTROL), "no-store");
    let attributes = first.header(header::SET_COOKIE);
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
        assert!(attributes.contains(attribute), "{attributes}");
    }
    assert!(!attributes.contains("Secure"));

    let second = send(&gate, &link, &[], "").await;
    assert_eq!(second.status, 401);
    assert!(second.body.contains("notice error") && second.body.contains("boocode link"));
    assert!(second.cookie().is_none());

    let cookie = first.cookie().unwrap();
    assert!(cookie.starts_with("boocode_3400="));
    assert_eq!(send(&gate, "GET /", &[("cookie", &cookie)], "").await.body, "home");
    let again = send(&gate, &link, &[("cookie", &cookie)], "").await;
    assert_eq!((again.status, again.header(header::LOCATION)), (303, "/"), "known already, so let in");
}

#[tokio::test]
async fn behind_https_the_cookie_is_secure() {
    let gate = gate(Some("https://code.example.org"));
    let link = format!("GET /login?token={}", token(&gate).await.expose());
    assert!(send(&gate, &link, &[], "").await.header(header::SET_COOKIE).contains("Secure"));
}

#[tokio::test]
async fn looking_ahead_does_not_spend_the_token() {
    for (method, header) in [
        ("HEAD", None),
        ("GET", Some(("sec-purpose", "prefetch"))),
        ("GET", Some(("sec-purpose", "prefetch;prerender"))),
        ("GET", Some(("purpose", "prefetch"))),
        ("GET", Some(("x-moz", "prefetch"))),
    ] {
        let gate = gate(None);
        let path = format!("/login?token={}", token(&gate).await.expose());
        let ahead = send(&gate, &format!("{method} {path}"), header.as_slice(), "").await;
        assert!(ahead.cookie().is_none(), "{method} {header:?}");
        assert_eq!(send(&gate, &format!("GET {path}"), &[], "").await.status, 303, "{method} {header:?}");
    }
}

#[tokio::test]
async fn a_pasted_link_or_token_logs_in() {
    for wrap in ["{}", "  {} ", "http://127.0.0.1:3400/login?token={}", "http://x/login?token={}&next=/a"] {
        let gate = gate(None);
        let pasted = wrap.replace("{}", token(&gate).await.expose());
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", &pasted)
            .append_pair("next", "/chat?a=1")
            .finish();
        let answer = send(&gate, "POST /login", &[], &form).await;
        assert_eq!((answer.status, answer.header(header::LOCATION)), (303, "/chat?a=1"), "{wrap}");
    }
}

#[tokio::test]
async fn bad_input_gets_the_page_and_keeps_the_way_back() {
    let big = format!("token={}", "x".repeat(FORM_BYTES_MAX));
    for (request, body, status) in [
        ("GET /login?token=short", "", 401),
        ("GET /login?token=%ff%00", "", 401),
        ("GET /login?token=a&token=b&next=/chat", "", 200),
        ("POST /login", "token=%F0&next=/chat", 401),
        ("POST /login", "", 401),
        ("POST /login", &big, 413),
    ] {
        let answer = send(&gate(None), request, &[], body).await;
        assert_eq!(answer.status, status, "{request} {body:.40}");
        assert!(answer.body.contains("<form"), "{request} {body:.40}");
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store");
    }
    let kept = send(&gate(None), "GET /login?token=short&next=/chat", &[], "").await;
    assert!(kept.body.contains(r#"name="next" value="/chat""#));
}

#[tokio::test]
async fn a_login_leads_nowhere_else() {
    for next in ["https://evil.org", "//evil.org", "/\\evil.org", "/login?next=/login", "/%0d\nX: y"] {
        let gate = gate(None);
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token(&gate).await.expose())
            .append_pair("next", next)
            .finish();
        assert_eq!(send(&gate, "POST /login", &[], &form).await.header(header::LOCATION), "/", "{next}");
    }
}

#[tokio::test]
async fn guessing_ends_in_429() {
    let gate = gate(None);
    let mut last = send(&gate, "GET /login?token=guess", &[], "").await;
    for n in 0..50 {
        // A forged forwarding header must not buy a new bucket.
        let forwarded = format!("10.0.0.{n}");
        last = send(&gate, "POST /login", &[("x-forwarded-for", &forwarded)], "token=guess").await;
    }
    assert_eq!(last.status, 429);
    assert!(last.header(header::RETRY_AFTER).parse::<u64>().unwrap() >= 1);
    assert!(last.body.contains("Too many failed logins"));
}

#[tokio::test]
async fn behind_a_proxy_a_guesser_locks_out_nobody_else() {
    for (is_trusted, next_client) in [(true, 401), (false, 429)] {
        let url = "https://code.example.org".parse().unwrap();
        let proxies: &[IpAddr] = if is_trusted { &[IpAddr::V4(Ipv4Addr::UNSPECIFIED)] } else { &[] };
        let site = Site::new(([127, 0, 0, 1], 3400).into(), Some(&url)).unwrap().behind(proxies);
        let gate = Arc::new(Gate { site, auth: Auth::new(Arc::new(MemoryStore::default())) });
        let guess = async |client: &str| {
            send(&gate, "POST /login", &[("x-forwarded-for", client)], "token=guess").await.status
        };
        let mut last = 0;
        for _ in 0..10 {
            last = guess("203.0.113.7").await;
        }
        assert_eq!(last, 429, "whoever guesses is stopped");
        assert_eq!(guess("203.0.113.8").await, next_client, "trusted: {is_trusted}");
    }
}

#[tokio::test]
async fn logging_out_ends_the_session_and_its_connections() {
    let gate = gate(None);
    let link = format!("GET /login?token={}", token(&gate).await.expose());
    let cookie = send(&gate, &link, &[], "").await.cookie().unwrap();
    let session = gate.auth.sessions(OffsetDateTime::now_utc()).await.unwrap().remove(0);
    let live = gate.auth.hold(&session, OffsetDateTime::now_utc()).await.unwrap().unwrap();

    assert_eq!(send(&gate, "GET /logout", &[("cookie", &cookie)], "").await.status, 405);
    assert!(!live.is_revoked());
    let out = send(&gate, "POST /logout", &[("cookie", &cookie)], "").await;
    assert_eq!((out.status, out.header(header::LOCATION)), (303, "/login"));
    assert!(out.header(header::SET_COOKIE).contains("Max-Age=0"));
    assert!(live.is_revoked());
    assert_eq!(send(&gate, "GET /", &[("cookie", &cookie)], "").await.status, 401);
}
