//! The feed over the wire: whatever is cut, the page ends equal to the server.

use domain::{
    feed::{Cursor, Frame, StreamId, Truncate},
    transcript::Transcript,
};
use reqwest::{StatusCode, header};
use serde_json::Value;

use crate::{
    arena::{Field, launch, over},
    chat::numbers,
    harness::{Server, World, eventually},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_cut_again_and_again_loses_and_doubles_nothing() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[rate 600]][[count 600]]").await;
    for bytes in (100..2_000).step_by(100) {
        page.until_said(&server, bytes).await;
        page.cut();
    }
    page.until_settled(&server).await;
    assert_eq!(page.answer(), numbers(600));
    assert_eq!(page.mirror.state, server.watch(chat).await.mirror.state);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_watched_streams_are_sent() {
    let world = World::new().await;
    let server = world.server("one").await;
    let (watched, other) = (server.new_chat(&world).await, server.new_chat(&world).await);
    let mut page = server.watch(watched).await;
    server.ask(watched, "[[count 20]]").await;
    server.ask(other, "[[count 20]]").await;
    page.until_settled(&server).await;
    let own: Vec<StreamId> = page.mirror.streams.keys().copied().collect();
    let foreign =
        page.seen.iter().filter(|frame| matches!(frame, Frame::Delta(delta) if !own.contains(&delta.stream)));
    assert_eq!(foreign.count(), 0);
    assert!(page.seen.iter().any(|frame| matches!(frame, Frame::Delta(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_cannot_be_resumed_starts_over() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    // As after a database that was put back: the page has seen events that the server does not know.
    page.mirror.seq += 1_000;
    server.ask(chat, "[[say hello]]").await;
    page.until(&server, "the question", |page| !page.questions().is_empty()).await;
    page.until_settled(&server).await;
    assert!(page.seen.contains(&Frame::Reset));
    assert_eq!(page.answer().trim(), "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_beat_tells_a_live_connection_from_a_dead_one() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    page.until(&server, "three beats", |page| {
        page.seen.iter().filter(|frame| **frame == Frame::Beat).count() >= 3
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_cursors_are_refused_in_words() {
    let world = World::new().await;
    let server = world.server("one").await;
    for query in ["after=x", "after=1&watch=nonsense", "after=1&watch=a.1:2"] {
        let answer = server.get(&format!("/api/feed?{query}")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{query}");
        assert!(!answer.text().await.unwrap().is_empty());
    }
    let many = (0..65).map(|n| format!("{}.1:0", uuid::Uuid::from_u128(n))).collect::<Vec<_>>().join(",");
    assert!(Cursor::parse(0, &many).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_on_can_be_measured() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let value = async |line: &str| metric(&server, line).await;
    assert_eq!(value("boocode_claims_total").await, 0);
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[count 500]]").await;
    page.until_said(&server, 100).await;
    assert_eq!(value(r#"boocode_tasks{status="running"}"#).await, 1);
    assert_eq!(value("boocode_streams").await, 1);
    assert!(value("boocode_stream_bytes").await >= 100);
    assert_eq!(value("boocode_feed_connections").await, 1);
    assert!(value("boocode_database_connections").await >= 1);
    page.until_settled(&server).await;
    // The turn, and the title after it.
    assert_eq!(value("boocode_claims_total").await, 2);
    assert_eq!(value(r#"boocode_reports_total{outcome="done"}"#).await, 2);
    assert_eq!(value(r#"boocode_tasks{status="running"}"#).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_news_that_is_given_up_leaves_nothing_behind() {
    let world = World::new().await;
    let server = world.server("one").await;
    let field = Field::new(&world, &server).await;
    let id = launch(&server, field.qa("[[say So.]]", &["@small", "@large"])).await;
    over(&server, &id).await;
    let waiting = {
        let (client, cookie) = (server.client.clone(), server.cookie.clone());
        let events = format!("{}/api/battles/{id}/events", server.url);
        tokio::spawn(async move {
            let mut after = 0;
            loop {
                let asked = client.get(format!("{events}?after={after}")).header(header::COOKIE, &cookie);
                let news: Value = asked.send().await.unwrap().json().await.unwrap();
                after = news["after"].as_i64().unwrap();
            }
        })
    };
    let listeners = async |count| {
        let there = || async { (metric(&server, "boocode_feed_connections").await == count).then_some(()) };
        eventually(&format!("{count} listen"), there).await;
    };
    listeners(1).await;
    waiting.abort();
    listeners(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_beyond_the_end_of_a_stream_is_cut_back() {
    let world = World::new().await;
    let server = world.server("one").await;
    let chat = server.new_chat(&world).await;
    let mut page = server.watch(chat).await;
    server.ask(chat, "[[say hello]]").await;
    page.until_settled(&server).await;
    let (task, whole) = (page.last_task().id, page.last_stream());
    let stream = StreamId { task, attempt: page.last_task().attempts()[0].0 };
    // It has heard of the end already, so no event says it again.
    page.mirror.streams.get_mut(&stream).unwrap().text.push_str("12345");
    page.cut();
    let cut = Frame::Truncate(Truncate { stream, len: whole.len() as u64 });
    page.until(&server, "the page is told where the stream ends", |page| page.seen.contains(&cut)).await;
    assert_eq!(page.last_stream(), whole);
    assert_eq!(Transcript::read(&whole).text().trim(), "hello");
    assert!(page.mirror.streams[&stream].retracted, "and shows that it took something back");
}

async fn metric(server: &Server, line: &str) -> u64 {
    let text = server.get("/metrics").send().await.unwrap().text().await.unwrap();
    let found =
        text.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' ')?.parse::<u64>().ok());
    found.unwrap_or_else(|| panic!("no {line} in {text}"))
}
