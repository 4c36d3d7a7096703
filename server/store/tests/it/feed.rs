//! The log of events: numbered in commit order without gaps, kept for a while, and told about.

use std::sync::Arc;

use domain::{
    Rejected,
    chat::Input,
    feed::{Envelope, Seq},
};
use sqlx::PgPool;
use store::{
    commit,
    feed::{self, EVENTS_KEPT, Listener, Wake},
    streams, workspace,
};
use uuid::Uuid;

use super::scene::{Scene, all_at_once, ask, rejected, turn, within_limit};

const WRITERS: usize = 16;
const COMMITS: usize = 12;

#[sqlx::test(migrations = "../../migrations")]
async fn a_reader_misses_nothing_of_what_many_commit(pool: PgPool) {
    let scene = Arc::new(Scene::wide(pool).await);
    let start = feed::head(&scene.db).await.unwrap();
    // A chat, three events of its first turn, and one event for each other commit.
    let last = start + (WRITERS * (1 + 4 + COMMITS)) as Seq;
    let reader = tokio::spawn(read_until(Arc::clone(&scene), start, last));
    let writer = |nth: usize| {
        let scene = Arc::clone(&scene);
        async move {
            let chat = scene.chat().await;
            let mut committed = vec![commit::chat(&scene.db, chat, ask(turn(), "local", 0)).await.unwrap()];
            for round in 0..COMMITS {
                // What is refused takes no number.
                let refused = commit::chat(&scene.db, chat, Input::Rename { title: " ".into() }).await;
                assert_eq!(rejected(refused), Rejected::Empty);
                let title = format!("Chat {nth}, title {round}");
                committed.push(commit::chat(&scene.db, chat, Input::Rename { title }).await.unwrap());
            }
            committed
        }
    };
    let committed = all_at_once((0..WRITERS).map(writer)).await;
    let seen = within_limit(reader).await.unwrap();
    let numbers: Vec<Seq> = seen.iter().map(|envelope| envelope.seq).collect();
    assert_eq!(numbers, (start + 1..=last).collect::<Vec<_>>());
    assert_eq!(feed::head(&scene.db).await.unwrap(), last);
    for commit in committed.iter().flatten() {
        let end = (commit.seq - start) as usize;
        let events: Vec<_> = seen[end - commit.events.len()..end].iter().map(|seen| &seen.event).collect();
        assert_eq!(events, commit.events.iter().collect::<Vec<_>>(), "up to {}", commit.seq);
    }
}

async fn read_until(scene: Arc<Scene>, mut after: Seq, last: Seq) -> Vec<Envelope> {
    let mut seen = Vec::new();
    while after < last {
        let events = feed::read_after(&scene.db, after, 7).await.unwrap().expect("nothing is trimmed");
        after = events.last().map_or(after, |envelope| envelope.seq);
        seen.extend(events);
    }
    seen
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_trimmed_or_still_to_come_cannot_be_read(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    sqlx::query(
        "insert into events (seq, event)
         select feed_head.seq + nth, jsonb_build_object('chat_titled', jsonb_build_object(
             'chat', $1::uuid, 'title', 'Title ' || nth, 'by', 'person'))
         from feed_head, generate_series(1, $2) nth",
    )
    .bind(chat.0)
    .bind(EVENTS_KEPT)
    .execute(&scene.pool)
    .await
    .unwrap();
    sqlx::query("update feed_head set seq = seq + $1").bind(EVENTS_KEPT).execute(&scene.pool).await.unwrap();
    let head = feed::head(&scene.db).await.unwrap();
    let first_kept = head - EVENTS_KEPT + 1;
    // The first number that can be read after `seq`, if it can.
    let check = async |seq: Seq, expected: Option<Option<Seq>>| {
        let events = feed::read_after(&scene.db, seq, 3).await.unwrap();
        assert_eq!(events.map(|events| events.first().map(|first| first.seq)), expected, "after {seq}");
    };
    check(0, Some(Some(1))).await;
    assert_eq!(feed::trim(&scene.db).await.unwrap(), (first_kept - 1) as u64);
    assert_eq!(feed::trim(&scene.db).await.unwrap(), 0);
    check(0, None).await;
    check(first_kept - 2, None).await;
    check(first_kept - 1, Some(Some(first_kept))).await;
    check(head - 1, Some(Some(head))).await;
    check(head, Some(None)).await;
    check(head + 1, None).await;
    check(Seq::MAX, None).await;
    check(-1, None).await;

    scene.chat().await;
    check(head, Some(Some(head + 1))).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_listener_is_woken_by_every_commit_and_piece_of_output(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = scene.chat().await;
    let mut listener = Listener::open(&scene.db).await.unwrap();
    let mut next = async || within_limit(listener.next()).await.unwrap();

    scene.ask(chat, "local").await;
    assert_eq!(next().await, Wake::Events);
    let stream = super::scene::stream_of(&scene.claim(Uuid::nil()).await.unwrap());
    assert_eq!(next().await, Wake::Events);
    // What is refused wakes nobody, or the output would not come next.
    rejected(commit::chat(&scene.db, chat, Input::Rename { title: "".into() }).await);
    rejected(workspace::add_project(&scene.db, "Again", "/project").await);
    assert!(!streams::append(&scene.db, stream, 5, "nowhere").await.unwrap());
    assert!(streams::append(&scene.db, stream, 0, "text").await.unwrap());
    assert_eq!(next().await, Wake::Stream(stream));

    let cut = "select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and query ilike 'listen%'";
    assert!(sqlx::query_scalar::<_, bool>(cut).fetch_one(&scene.pool).await.unwrap());
    assert_eq!(next().await, Wake::Reconnected);
    scene.chat().await;
    assert_eq!(next().await, Wake::Events);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_closed_listener_leaves_no_connection(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let left = async || {
        let query = "select count(*) from pg_stat_activity
                     where datname = current_database() and query ~* '^(un)?listen'";
        sqlx::query_scalar::<_, i64>(query).fetch_one(&scene.pool).await.unwrap()
    };
    let listener = Listener::open(&scene.db).await.unwrap();
    assert_eq!(left().await, 1);
    within_limit(listener.close()).await;
    // Our side has hung up; the process on the other side needs a moment to notice.
    within_limit(async {
        while left().await > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
}
