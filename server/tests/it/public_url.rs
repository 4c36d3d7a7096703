//! Behind a proxy that ends TLS: exactly the public address is answered to, and only the proxy is believed.

use reqwest::{Method, RequestBuilder, StatusCode, header};

use crate::harness::{Server, World};

const PUBLIC: &str = "https://code.example.org";
const HOST: &str = "code.example.org";

impl Server {
    /// A request as the proxy passes it on: to our own port, under the public name.
    fn through_proxy(&self, method: Method, path: &str, host: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url)).header(header::HOST, host)
    }
}

async fn behind_proxy(world: &World) -> Server {
    world.server_behind("one", PUBLIC, "127.0.0.1").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_host_and_origin_are_taken_and_no_others() {
    let world = World::new().await;
    let server = behind_proxy(&world).await;
    let status = async |host: &str, origin: Option<&str>| {
        let mut request = server
            .through_proxy(Method::POST, "/api/show_settings", host)
            .header(header::COOKIE, &server.cookie)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body("section=browsers");
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        request.send().await.unwrap().status()
    };
    assert_eq!(status(HOST, Some(PUBLIC)).await, StatusCode::OK, "the control");
    assert_eq!(status("code.example.org:443", Some(PUBLIC)).await, StatusCode::OK);
    for host in ["example.org", "code.example.org.evil.org", "code.example.org:4400", "evil.org"] {
        assert_eq!(status(host, Some(PUBLIC)).await, StatusCode::FORBIDDEN, "{host}");
    }
    for origin in ["http://code.example.org", "https://code.example.org:8443", "https://evil.org", "null"] {
        assert_eq!(status(HOST, Some(origin)).await, StatusCode::FORBIDDEN, "{origin}");
    }
    assert_eq!(status(HOST, None).await, StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn forwarding_headers_open_nothing() {
    let world = World::new().await;
    let server = behind_proxy(&world).await;
    for (name, value) in [
        ("x-forwarded-host", HOST),
        ("forwarded", "host=code.example.org;proto=https"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-proto", "https"),
    ] {
        let ask = |host: &'static str| {
            let request = server.through_proxy(Method::GET, "/", host).header(header::COOKIE, &server.cookie);
            request.header(name, value).send()
        };
        assert_eq!(ask(HOST).await.unwrap().status(), StatusCode::OK, "the control: {name}");
        assert_eq!(ask("evil.org").await.unwrap().status(), StatusCode::FORBIDDEN, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cookie_travels_over_tls_only() {
    let world = World::new().await;
    let cookie = behind_proxy(&world).await.set_cookie;
    assert!(cookie.contains("; Secure") && cookie.contains("; HttpOnly"), "{cookie}");
    let plain = world.server("two").await.set_cookie;
    assert!(!plain.contains("Secure"), "the control: {plain}");
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_are_counted_for_the_client_that_the_proxy_names() {
    let world = World::new().await;
    let server = behind_proxy(&world).await;
    let guess = async |client: &str| {
        let path = format!("/login?token={}", "A".repeat(43));
        let request = server.through_proxy(Method::GET, &path, HOST).header("x-forwarded-for", client);
        request.send().await.unwrap().status()
    };
    let mut last = StatusCode::OK;
    for _ in 0..12 {
        last = guess("203.0.113.7").await;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(guess("203.0.113.8").await, StatusCode::UNAUTHORIZED, "another client is not locked out");
    // What a client writes itself stands before what the proxy adds, and buys nothing.
    assert_eq!(guess("198.51.100.1, 203.0.113.7").await, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_trusted_proxy_forwarding_headers_count_for_nothing() {
    let world = World::new().await;
    let server = world.server("one").await;
    let guess = async |n: usize| {
        let url = format!("{}/login?token={}", server.url, "A".repeat(43));
        let request = server.client.get(url).header("x-forwarded-for", format!("203.0.113.{n}"));
        request.send().await.unwrap().status()
    };
    let mut last = StatusCode::OK;
    for n in 0..12 {
        last = guess(n).await;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS, "a made-up client does not buy another guess");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_installs_the_app_needs_no_login() {
    let world = World::new().await;
    let server = world.server("one").await;
    let get = async |path: &str| server.client.get(format!("{}{path}", server.url)).send().await.unwrap();
    for (path, content_type) in [
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/favicon.svg", "image/svg+xml"),
        ("/pkg/icons/icon-192.png", "image/png"),
        ("/pkg/icons/maskable-512.png", "image/png"),
        ("/pkg/icons/apple-touch-icon.png", "image/png"),
    ] {
        let answer = get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()[header::CONTENT_TYPE], content_type, "{path}");
    }
    assert_eq!(get("/settings").await.status(), StatusCode::UNAUTHORIZED, "the control");
    let page = server.get("/").send().await.unwrap();
    let policy = page.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("manifest-src 'self'"), "{policy}");
    assert!(page.text().await.unwrap().contains(r#"rel="manifest" href="/manifest.webmanifest""#));
}
