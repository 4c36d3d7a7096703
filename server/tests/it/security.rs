//! Who gets in, over real TCP. The control of each test is the same request without the attack.

use reqwest::{Method, StatusCode, header};
use tokio::time::timeout;

use crate::harness::{PATIENCE, Server, World};

async fn status(server: &Server, method: Method, path: &str, headers: &[(&str, &str)]) -> StatusCode {
    let mut request = server.client.request(method, format!("{}{path}", server.url));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap().status()
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_stay_out() {
    let world = World::new().await;
    let server = world.server("one").await;
    let cookie = ("cookie", server.cookie.as_str());
    let own = ("origin", server.url.as_str());
    let evil = ("origin", "https://evil.example");
    let form = ("content-type", "application/x-www-form-urlencoded");

    // A process on this machine without the cookie, and the control with it.
    for path in ["/api/feed?after=0&watch=", "/api/page_snapshot"] {
        let method = if path.contains("feed") { Method::GET } else { Method::POST };
        assert_eq!(status(&server, method, path, &[own, form]).await, StatusCode::UNAUTHORIZED, "{path}");
    }
    assert_eq!(status(&server, Method::GET, "/metrics", &[own]).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(&server, Method::GET, "/metrics", &[own, cookie]).await, StatusCode::OK);
    let browser = ("accept", "text/html");
    assert_eq!(status(&server, Method::GET, "/", &[browser]).await, StatusCode::SEE_OTHER);
    assert_eq!(status(&server, Method::GET, "/", &[cookie]).await, StatusCode::OK);

    // A page on another site that brings the cookie.
    for path in ["/", "/api/feed?after=0&watch="] {
        assert_eq!(
            status(&server, Method::GET, path, &[cookie, evil]).await,
            StatusCode::FORBIDDEN,
            "{path}"
        );
    }
    let post = [cookie, form, ("accept", "application/json")];
    let with = |origin| [post.as_slice(), &[origin]].concat();
    assert_eq!(status(&server, Method::POST, "/api/page_snapshot", &with(evil)).await, StatusCode::FORBIDDEN);
    assert_eq!(status(&server, Method::POST, "/api/page_snapshot", &post).await, StatusCode::FORBIDDEN);
    assert_eq!(status(&server, Method::POST, "/api/page_snapshot", &with(own)).await, StatusCode::OK);

    // DNS rebinding: the right port under a foreign name.
    let port = server.url.rsplit(':').next().unwrap();
    let rebound = format!("evil.example:{port}");
    let refused = status(&server, Method::GET, "/", &[cookie, ("host", &rebound)]).await;
    assert!(refused.is_client_error(), "{refused}");
    assert_eq!(
        status(&server, Method::GET, "/", &[cookie, ("x-forwarded-host", &rebound)]).await,
        StatusCode::OK
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_link_works_once() {
    let world = World::new().await;
    let server = world.server("one").await;
    let link = std::process::Command::new(env!("CARGO_BIN_EXE_boocode"))
        .args(["link", "--data-dir"])
        .arg(world.folder.path().join("one"))
        .env("DATABASE_URL", &world.database_url)
        .output()
        .unwrap();
    let link = String::from_utf8(link.stdout).unwrap().trim().to_owned();
    assert!(link.starts_with(&server.url), "{link}");
    assert_eq!(server.client.get(&link).send().await.unwrap().status(), StatusCode::SEE_OTHER);
    assert_eq!(server.client.get(&link).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test(flavor = "multi_thread")]
async fn logging_out_closes_live_connections() {
    let world = World::new().await;
    let server = world.server("one").await;
    let mut feed = server.get("/api/feed?after=0&watch=").send().await.unwrap();
    assert!(feed.chunk().await.unwrap().is_some(), "the control: it is live");
    let out = server
        .client
        .post(format!("{}/logout", server.url))
        .header(header::COOKIE, &server.cookie)
        .header(header::ORIGIN, &server.url)
        .send()
        .await
        .unwrap();
    assert!(out.status().is_redirection());
    let ended = timeout(PATIENCE, async { while let Ok(Some(_)) = feed.chunk().await {} });
    ended.await.expect("the connection stays open after its session is gone");
    let again = server.get("/api/feed?after=0&watch=").send().await.unwrap();
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_carry_a_policy_with_the_nonce_of_their_scripts() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    server.ask(chat, "[[markdown]]").await;
    server.watch(chat).await.until_settled(&server).await;
    // With what a model said, and with bars and plots.
    for path in
        ["/".to_owned(), format!("/chat/{chat}"), "/settings/models".into(), "/settings/worktrees".into()]
    {
        check_policy(&server, &path).await;
    }
}

async fn check_policy(server: &Server, path: &str) {
    let page = server.get(path).send().await.unwrap();
    assert_eq!(page.status(), StatusCode::OK, "{path}");
    let policy = page.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
    let nonce = policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe-inline"), "{path}");
    let html = page.text().await.unwrap();
    let tags = html.split("<script").skip(1).map(|rest| rest.split('>').next().unwrap());
    // A block of data is never run.
    let scripts: Vec<_> = tags.filter(|tag| !tag.contains("type=\"application/json\"")).collect();
    assert!(!scripts.is_empty(), "{path}");
    for tag in scripts {
        assert!(tag.contains(&nonce), "{path}: a script without the nonce: {tag}");
    }
    assert!(!html.contains(" style="), "{path}: styles come from the style sheet alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_in_the_address_is_believed_only_from_a_page_of_ours() {
    let world = World::new().await;
    let server = world.server("one").await;
    let refused = server
        .post_as(&server.cookie, "text/html", "add_project", &[("path", "planted-words".to_owned())])
        .header(header::REFERER, format!("{}/", server.url))
        .send()
        .await
        .unwrap();
    let back = refused.headers()[header::LOCATION].to_str().unwrap().to_owned();
    let path = back.strip_prefix(&server.url).unwrap_or(&back);
    assert!(path.contains("__err="), "{path}");
    for (site, is_said) in
        [("same-origin", true), ("cross-site", false), ("same-site", false), ("none", false)]
    {
        let page = server
            .get(path)
            .header("sec-fetch-site", site)
            .header("sec-fetch-mode", "navigate")
            .header("sec-fetch-dest", "document")
            .send()
            .await
            .unwrap();
        assert_eq!(page.status(), StatusCode::OK, "{site}");
        assert_eq!(page.text().await.unwrap().contains("planted-words"), is_said, "{site}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_tokens_is_slowed_down() {
    let world = World::new().await;
    let server = world.server("one").await;
    let mut refused = false;
    for n in 0..200 {
        let guess = format!("/login?token={:0>43}", n);
        let status = status(&server, Method::GET, &guess, &[]).await;
        if status == StatusCode::TOO_MANY_REQUESTS {
            refused = true;
            break;
        }
        assert_eq!(status, StatusCode::UNAUTHORIZED);
    }
    assert!(refused, "two hundred wrong guesses in a row went through");
    // Whoever is in already is not disturbed.
    assert_eq!(server.get("/").send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_folder_it_was_started_in_are_not_served() {
    let world = World::new().await;
    let server = world.server("one").await;
    // The tests run in the package's folder, and so does the server.
    assert!(std::path::Path::new("Cargo.toml").exists(), "the control: there is something to find");
    for path in ["/Cargo.toml", "/src/main.rs", "/../Cargo.toml", "/%2e%2e/Cargo.toml"] {
        let answer = server.get(path).header("accept", "text/html").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        let text = answer.text().await.unwrap();
        assert!(!text.contains("[package]") && text.contains("There is nothing here"), "{path}: {text}");
    }
}

/// Each server is asked to say the other's password too: that one it does not know, which is the control.
#[tokio::test(flavor = "multi_thread")]
async fn the_databases_passwords_are_blotted_out_of_answers() {
    let mut world = World::new().await;
    let mut url: reqwest::Url = world.database_url.parse().unwrap();
    // Where the test's Postgres asks for none, any will do.
    if url.password().is_none() {
        url.set_password(Some("correct%40horse-battery-staple-and-so-on")).unwrap();
        world.database_url = url.to_string();
    }
    let written = url.password().unwrap().to_owned();
    let spoken = written.replace("%40", "@");
    let given = world.server("one").await;
    let own = world.server_with_own_postgres("two").await;
    let embedded = std::fs::read_to_string(world.folder.path().join("two/postgres.secret")).unwrap();
    let embedded = embedded.trim();

    let check = async |server: &Server, secret: &str, hidden: bool| {
        let chat = server.new_chat(&world).await;
        let mut page = server.watch(chat).await;
        server.ask(chat, &format!("[[say it is {secret}, so there]]")).await;
        page.until_settled(server).await;
        let shown = if hidden { "[redacted]" } else { secret };
        assert_eq!(page.answer(), format!("it is {shown}, so there"));
        let reloaded = server.watch(chat).await;
        assert_eq!(reloaded.answer(), page.answer(), "what is kept is what was shown");
    };
    for secret in [&written, &spoken] {
        check(&given, secret, true).await;
        check(&own, secret, false).await;
    }
    check(&own, embedded, true).await;
    check(&given, embedded, false).await;
    own.stop().await;
}
