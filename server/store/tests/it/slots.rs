//! How many places a model server has.

use sqlx::PgPool;
use store::{Db, slots, tasks};
use uuid::Uuid;

use super::{
    leases::until_waiting,
    scene::{Scene, done, stream_of, within_limit},
};

#[sqlx::test(migrations = "../../migrations")]
async fn places_follow_the_limit_but_none_is_taken_from_what_runs(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let provide = async |count| slots::provide(&scene.db, &[("cloud".into(), count)]).await.unwrap();
    for _ in 0..5 {
        scene.ask_anew("cloud").await;
    }
    let mut running = Vec::new();
    for _ in 0..3 {
        running.push(scene.claim(Uuid::nil()).await.unwrap());
    }
    provide(1).await;
    assert_eq!(places(&scene.pool, "cloud").await, 3, "those in use stay");
    scene.assert_consistent().await;
    assert_eq!(scene.claim(Uuid::nil()).await, None);

    for task in &running {
        scene.report(stream_of(task), done()).await.unwrap();
    }
    provide(1).await;
    assert_eq!(places(&scene.pool, "cloud").await, 1);
    provide(4).await;
    provide(4).await;
    assert_eq!(places(&scene.pool, "cloud").await, 4);
    assert_eq!(places(&scene.pool, "local").await, 1, "another server's places are its own");
}

#[sqlx::test(migrations = "../../migrations")]
async fn tasks_and_places_are_counted(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let tasks = async || tasks::count(&scene.db).await.unwrap();
    let status = |queued, running, settled| {
        [("queued", queued), ("running", running), ("settled", settled)].map(|(word, n)| (word.to_owned(), n))
    };
    let usage = |key: &str, places, used| slots::Usage { key: key.into(), places, used };
    assert_eq!(tasks().await, status(0, 0, 0));
    assert_eq!(slots::usage(&scene.db).await.unwrap(), [usage("cloud", 4, 0), usage("local", 1, 0)]);

    for _ in 0..3 {
        scene.ask_anew("cloud").await;
    }
    let first = scene.claim(Uuid::nil()).await.unwrap();
    scene.claim(Uuid::nil()).await.unwrap();
    assert_eq!(tasks().await, status(1, 2, 0));
    assert_eq!(slots::usage(&scene.db).await.unwrap(), [usage("cloud", 4, 2), usage("local", 1, 0)]);
    scene.report(stream_of(&first), done()).await.unwrap();
    assert_eq!(tasks().await, status(1, 1, 1));
}

/// Two servers that start at once list the same model servers, each in its own order.
#[sqlx::test(migrations = "../../migrations")]
async fn two_servers_provide_the_same_places_in_any_order(pool: PgPool) {
    let db = Db::from(pool.clone());
    // Growing inserts, shrinking deletes; each in the opposite order of the other.
    for count in [3, 1, 3, 1] {
        let forwards: Vec<(String, u32)> = (0..300).map(|n| (format!("server {n:03}"), count)).collect();
        let backwards: Vec<(String, u32)> = forwards.iter().rev().cloned().collect();
        let (one, other) = within_limit(async {
            tokio::join!(slots::provide(&db, &forwards), slots::provide(&db, &backwards))
        })
        .await;
        one.unwrap();
        other.unwrap();
        let all: i64 = sqlx::query_scalar("select count(*) from slots").fetch_one(&pool).await.unwrap();
        assert_eq!(all, 300 * i64::from(count));
    }
}

/// An agent that asked a person comes back for its place in the moment in which it is declared lost.
#[sqlx::test(migrations = "../../migrations")]
async fn an_attempt_that_ends_meanwhile_takes_no_place(pool: PgPool) {
    let scene = Scene::wide(pool).await;
    let (_, stream) = scene.start("local").await;
    sqlx::query("update slots set task_id = null").execute(&scene.pool).await.unwrap();
    // It is lost as far as its row, and its places are free; the rest of that commit is still to come.
    let mut lost = scene.pool.begin().await.unwrap();
    let requeue = "update tasks set status = 'queued', claimed_by = null, lease_until = null where id = $1";
    sqlx::query(requeue).bind(stream.task.0).execute(&mut *lost).await.unwrap();
    let commit = async {
        until_waiting(&scene.pool, 1).await;
        lost.commit().await.unwrap();
    };
    let (taken, ()) =
        within_limit(async { tokio::join!(slots::regain(&scene.db, stream, "local"), commit) }).await;
    assert!(!taken.unwrap());
    assert_eq!(slots::usage(&scene.db).await.unwrap()[1].used, 0);
}

/// Whoever got no answer does not know that it has its place.
#[sqlx::test(migrations = "../../migrations")]
async fn a_place_is_regained_once(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (_, stream) = scene.start("cloud").await;
    for _ in 0..2 {
        assert!(slots::regain(&scene.db, stream, "cloud").await.unwrap());
    }
    assert_eq!(slots::usage(&scene.db).await.unwrap()[0].used, 1);
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_place_is_not_kept_for_what_does_not_run(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (_, running) = scene.start("cloud").await;
    let (_, waiting) = scene.ask_anew("local").await;
    sqlx::query("update slots set task_id = $1 where slot_key = 'local'")
        .bind(waiting.0)
        .execute(&scene.pool)
        .await
        .unwrap();
    assert_eq!(scene.claim(Uuid::nil()).await, None, "its only place is taken");
    slots::provide(&scene.db, &[("cloud".into(), 4)]).await.unwrap();
    assert_eq!(scene.claim(Uuid::nil()).await.map(|task| task.id), Some(waiting));
    slots::provide(&scene.db, &[]).await.unwrap();
    assert_eq!(scene.running().await.len(), 2);
    assert!(scene.running().await.contains(&running));
    scene.assert_consistent().await;
}

async fn places(pool: &PgPool, key: &str) -> i64 {
    sqlx::query_scalar("select count(*) from slots where slot_key = $1")
        .bind(key)
        .fetch_one(pool)
        .await
        .unwrap()
}
