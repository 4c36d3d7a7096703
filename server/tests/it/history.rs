//! The history over the wire: what was said is found, and nobody else sees it.

use reqwest::{StatusCode, header};
use sqlx::{Connection as _, PgConnection};

use crate::harness::{Server, World, eventually};

impl Server {
    /// The text of the page for a query, without what only a script would read.
    async fn history(&self, query: &str) -> String {
        let answer = self.get(&format!("/history{query}")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{query}");
        answer.text().await.unwrap().replace("<!>", "").replace("<!---->", "")
    }

    /// How many entries there are for a query.
    async fn entries(&self, query: &str) -> usize {
        self.history(query).await.matches("class=\"entry\"").count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_found_and_what_was_not_is_not() {
    let world = World::new().await;
    let server = world.server("one").await;
    assert!(server.history("").await.contains("Nothing has happened yet"));
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "Why is src/engine.rs slow? [[count 5]]").await;
    page.until_settled(&server).await;
    server.call("rename", &[("of", format!("chat.{chat}")), ("name", "Gründe".into())]).await;

    let link = format!("href=\"/chat/{chat}\"");
    for (word, found) in [
        ("eng", "src/<mark>engine</mark>.rs"),
        ("3", "1 2 <mark>3</mark> 4 5"),
        ("gründe", "<mark>Gründe</mark>"),
    ] {
        let html = server.history(&format!("?q={word}")).await;
        assert!(html.contains(found) && html.contains(&link), "{word}: {html}");
    }
    assert_eq!(server.entries("?q=why+3+gründe").await, 1, "each word somewhere in the chat");
    for unsaid in ["unsaid", "why+unsaid", "ngine"] {
        let html = server.history(&format!("?q={unsaid}")).await;
        assert!(html.contains("Nothing matches") && !html.contains("class=\"entry\""), "{unsaid}: {html}");
    }
    assert_eq!(server.entries("?q=why&state=done").await, 1);
    assert_eq!(server.entries("?q=why&state=failed").await, 0);
    assert_eq!(server.entries("?kind=session").await, 1);
    assert_eq!(server.entries("?from=2099-01-01").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_values_are_said_and_blank_ones_leave_the_address() {
    let world = World::new().await;
    let server = world.server("one").await;
    server.new_chat(&world).await;
    let html = server.history("?state=asleep&before=x&from=%00&q=%27%3B--&project=%FF").await;
    assert!(html.contains("“asleep” is not a state"), "{html}");
    assert!(html.contains("class=\"entry\""), "what is not understood is left out: {html}");
    assert_eq!(server.entries("?q=zzq%00%27+%26+%21zzb%3A*+%5C").await, 0);
    let longest = format!("?q={}", "word+".repeat(2_000));
    assert!(server.history(&longest).await.contains("too long to search for"));

    let sent = server.get("/history?q=why&kind=&project=&from=").send().await.unwrap();
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    assert_eq!(sent.headers()[header::LOCATION], "/history?q=why");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_is_read_in_pieces() {
    let world = World::new().await;
    let server = world.server("one").await;
    server.new_chat(&world).await;
    let session = server.snapshot(None).await.state.workspace.sessions[0].id;
    for _ in 0..34 {
        server.call("add_chat", &[("session", session.to_string())]).await;
    }
    let first = server.history("?kind=chat").await;
    assert_eq!(first.matches("class=\"entry\"").count(), 30);
    let older =
        first.split("href=\"/history?kind=chat&amp;before=").nth(1).unwrap().split('"').next().unwrap();
    let rest = server.history(&format!("?kind=chat&before={older}")).await;
    assert_eq!(rest.matches("class=\"entry\"").count(), 5);
    assert!(
        rest.contains("href=\"/history?kind=chat\" rel=\"first\"") && !rest.contains("rel=\"next\""),
        "{rest}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_see_no_history() {
    let world = World::new().await;
    let server = world.server("one").await;
    let url = format!("{}/history?q=why", server.url);
    let stranger = server.client.get(&url).header(header::ACCEPT, "text/html").send().await.unwrap();
    assert_eq!(stranger.status(), StatusCode::SEE_OTHER);
    let login = stranger.headers()[header::LOCATION].to_str().unwrap().to_owned();
    assert!(login.starts_with("/login?next="), "{login}");
    let evil = server.get("/history").header(header::ORIGIN, "https://evil.example").send().await.unwrap();
    assert_eq!(evil.status(), StatusCode::FORBIDDEN);

    // The control is the same request by somebody known, and its page brings nothing but one script of its own.
    let page = server.get("/history").send().await.unwrap();
    assert_eq!(page.status(), StatusCode::OK);
    let policy = page.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
    let nonce = policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).unwrap().to_owned();
    let html = page.text().await.unwrap();
    assert_eq!(html.matches("<script").count(), 1, "{html}");
    assert!(html.contains(&format!("<script nonce=\"{nonce}\"")) && !html.contains(" style="), "{html}");
}

/// Said before there was an index, or through a server that knew of none.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_before_is_found_after_the_next_start() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "Who? [[say somebody]]").await;
    page.until_settled(&server).await;
    server.stop().await;
    let mut database = PgConnection::connect(&world.database_url).await.unwrap();
    sqlx::query("delete from search_entries").execute(&mut database).await.unwrap();

    let server = world.server("one").await;
    eventually("it is found", async || (server.entries("?q=somebody+who").await == 1).then_some(())).await;
}
