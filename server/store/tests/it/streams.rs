//! The output of attempts, by offset.

use domain::feed::StreamId;
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use sqlx::PgPool;
use store::streams::{self, Extent};

use super::scene::{Scene, all_at_once, done};

/// One to four bytes a character, and a byte that Postgres takes in no text.
const TEXT: &str = "plain, grün, 日本語, 👩‍💻\nand \0 too; żółć €5 🎉";

/// What a window into `text` shows: the characters that are whole in it, from its start on.
fn window(text: &str, offset: usize, max: usize) -> &str {
    let end = offset.saturating_add(max).min(text.len());
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(offset..end).unwrap_or_default()
}

async fn assert_reads_as(scene: &Scene, stream: StreamId, text: &str, case: &str) {
    for offset in (0..text.len() + 2).chain([5_000]) {
        for max in [0, 1, 3, 4, 7, 20, text.len(), 5_000] {
            let read = streams::read(&scene.db, stream, offset as u64, max as u64).await.unwrap();
            assert_eq!(read, window(text, offset, max), "{case}: {max} bytes from {offset}");
        }
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn any_window_reads_the_same_before_and_after_folding(pool: PgPool) {
    let scene = Scene::new(pool).await;
    for seed in 0..3 {
        let case = format!("seed {seed}");
        let mut dice = StdRng::seed_from_u64(seed);
        let (_, stream) = scene.start("local").await;
        let mut pieces = Vec::new();
        for character in TEXT.chars() {
            if pieces.is_empty() || dice.random_ratio(1, 3) {
                pieces.push(String::new());
            }
            pieces.last_mut().unwrap().push(character);
        }
        let mut len = 0;
        for piece in &pieces {
            assert!(streams::append(&scene.db, stream, len, piece).await.unwrap(), "{case}");
            len += piece.len() as u64;
            let extent = streams::extent(&scene.db, stream).await.unwrap();
            assert_eq!(extent, Some(Extent { len, ended: false }), "{case}");
        }
        assert_reads_as(&scene, stream, TEXT, &format!("{case}, {} pieces", pieces.len())).await;

        streams::fold(&scene.db, stream).await.unwrap();
        assert_eq!(chunks(&scene, stream).await, pieces.len() as i64, "what grows is not folded");
        scene.report(stream, done()).await.unwrap();
        assert_eq!(streams::extent(&scene.db, stream).await.unwrap(), Some(Extent { len, ended: true }));
        assert_eq!(streams::unfolded(&scene.db).await.unwrap(), [stream], "{case}");
        streams::fold(&scene.db, stream).await.unwrap();
        assert_eq!(chunks(&scene, stream).await, 0, "{case}");
        assert_eq!(streams::unfolded(&scene.db).await.unwrap(), [], "{case}");
        assert_reads_as(&scene, stream, TEXT, &format!("{case}, folded")).await;

        let folded = scene.dump().await;
        streams::fold(&scene.db, stream).await.unwrap();
        assert_eq!(scene.dump().await, folded, "{case}: folding again changes nothing");
    }
}

/// A page may ask for any offset.
#[sqlx::test(migrations = "../../migrations")]
async fn beyond_the_end_there_is_nothing(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (_, stream) = scene.start("local").await;
    let places = [7, i32::MAX as u64, 1 << 31, 1 << 40, i64::MAX as u64, u64::MAX];
    for case in ["empty", "growing", "ended", "folded"] {
        match case {
            "growing" => assert!(streams::append(&scene.db, stream, 0, "output").await.unwrap()),
            "ended" => drop(scene.report(stream, done()).await.unwrap()),
            "folded" => streams::fold(&scene.db, stream).await.unwrap(),
            _ => {}
        }
        let whole = if case == "empty" { "" } else { "output" };
        for place in places {
            assert_eq!(streams::read(&scene.db, stream, place, 10).await.unwrap(), "", "{case} {place}");
            assert_eq!(streams::read(&scene.db, stream, 0, place).await.unwrap(), whole, "{case} {place}");
            assert_eq!(streams::read(&scene.db, stream, place, place).await.unwrap(), "", "{case} {place}");
        }
    }
    let unknown = StreamId { attempt: domain::id::Attempt(9), ..stream };
    assert_eq!(streams::read(&scene.db, unknown, 0, 10).await.unwrap(), "");
    assert_eq!(streams::extent(&scene.db, unknown).await.unwrap(), None);
}

#[sqlx::test(migrations = "../../migrations")]
async fn output_is_taken_only_where_the_stream_stands(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (_, stream) = scene.start("local").await;
    assert!(streams::append(&scene.db, stream, 0, "abc").await.unwrap());
    let before = scene.dump().await;
    for start in [0, 2, 4, u64::MAX] {
        assert!(!streams::append(&scene.db, stream, start, "x").await.unwrap(), "at {start}");
    }
    assert_eq!(scene.dump().await, before);
    assert!(streams::append(&scene.db, stream, 3, "d").await.unwrap());

    scene.report(stream, done()).await.unwrap();
    let before = scene.dump().await;
    assert!(!streams::append(&scene.db, stream, 4, "x").await.unwrap(), "it has ended");
    assert_eq!(scene.dump().await, before);
}

/// Whoever got no answer does not know whether it was taken.
#[sqlx::test(migrations = "../../migrations")]
async fn what_is_written_again_is_there_once(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (_, stream) = scene.start("local").await;
    let append = async |start, text| streams::append(&scene.db, stream, start, text).await.unwrap();
    for _ in 0..2 {
        assert!(append(0, "abc").await);
    }
    assert!(append(3, "def").await);
    assert!(append(0, "abc").await, "also when there is more behind it");
    assert!(!append(0, "abx").await, "another text is another writer's");
    assert!(!append(0, "ab").await);
    assert_eq!(streams::read(&scene.db, stream, 0, 10).await.unwrap(), "abcdef");
    scene.report(stream, done()).await.unwrap();
    assert!(!append(3, "def").await, "it has ended");
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_empty_piece_keeps_its_place_free(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (_, stream) = scene.start("local").await;
    assert!(streams::append(&scene.db, stream, 0, "").await.unwrap());
    assert!(streams::append(&scene.db, stream, 0, "").await.unwrap());
    assert!(streams::append(&scene.db, stream, 0, "abc").await.unwrap());
    assert_eq!(streams::read(&scene.db, stream, 0, 10).await.unwrap(), "abc");
    scene.report(stream, done()).await.unwrap();
    assert!(!streams::append(&scene.db, stream, 3, "").await.unwrap(), "it has ended");
}

/// Of several that write at the same place, one does.
#[sqlx::test(migrations = "../../migrations")]
async fn a_place_is_written_once(pool: PgPool) {
    let scene = Scene::wide(pool).await;
    let (_, stream) = scene.start("local").await;
    for round in 0..5u64 {
        let write = |nth| {
            let db = scene.db.clone();
            async move { streams::append(&db, stream, round, &format!("{nth}")).await.unwrap() }
        };
        let written = all_at_once((0..8).map(write)).await;
        assert_eq!(written.iter().filter(|done| **done).count(), 1, "round {round}: {written:?}");
    }
    scene.assert_consistent().await;
}

/// A reader sees the whole text at every moment of a fold.
#[sqlx::test(migrations = "../../migrations")]
async fn folding_is_invisible(pool: PgPool) {
    let scene = Scene::wide(pool).await;
    for _ in 0..5 {
        let (_, stream) = scene.start("local").await;
        for nth in 0..20 {
            assert!(streams::append(&scene.db, stream, nth * 4, "text").await.unwrap());
        }
        scene.report(stream, done()).await.unwrap();
        let act = |nth| {
            let db = scene.db.clone();
            async move {
                if nth % 4 == 0 {
                    streams::fold(&db, stream).await.unwrap();
                }
                streams::read(&db, stream, 0, 1_000).await.unwrap()
            }
        };
        for read in all_at_once((0..12).map(act)).await {
            assert_eq!(read, "text".repeat(20));
        }
    }
    scene.assert_consistent().await;
}

async fn chunks(scene: &Scene, stream: StreamId) -> i64 {
    sqlx::query_scalar("select count(*) from stream_chunks where task_id = $1")
        .bind(stream.task.0)
        .fetch_one(&scene.pool)
        .await
        .unwrap()
}
