//! A snapshot stands at its cursor, whatever is committed while it is read.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use domain::{
    feed::{Fold as _, Mirror},
    layout::Content,
    page::{SNAPSHOT_BYTES_MAX, Wanted},
};
use sqlx::PgPool;
use store::{snapshot, streams};
use uuid::Uuid;

use super::{
    scene::{Scene, all_at_once, done, stream_of, within_limit},
    story::Story,
};

#[sqlx::test(migrations = "../../migrations")]
async fn what_follows_a_snapshot_leads_from_it_to_the_end(pool: PgPool) {
    let scene = Arc::new(Scene::wide(pool).await);
    let chat = scene.chat().await;
    let over = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn({
        let (scene, over) = (Arc::clone(&scene), Arc::clone(&over));
        async move {
            let mut snapshots = Vec::new();
            while !over.load(Ordering::Relaxed) {
                snapshots.push(snapshot::page(&scene.db, Wanted::Chat(chat), &[]).await.unwrap());
            }
            snapshots
        }
    });
    let writer = |seed| {
        let scene = Arc::clone(&scene);
        async move {
            let changes = AtomicUsize::new(0);
            let mut story = Story::new(&scene, seed, &changes);
            for _ in 0..40 {
                story.step(&scene.load(chat).await).await;
            }
        }
    };
    all_at_once((0..4).map(writer)).await;
    over.store(true, Ordering::Relaxed);
    let snapshots = within_limit(reader).await.unwrap();

    let last = snapshot::page(&scene.db, Wanted::Chat(chat), &[]).await.unwrap();
    let events = scene.events().await;
    let different = snapshots.iter().map(|snapshot| snapshot.seq).collect::<std::collections::BTreeSet<_>>();
    assert!(different.len() > 5, "only {} moments were seen", different.len());
    for mut snapshot in snapshots {
        let lengths = snapshot.state.streams();
        assert_eq!(lengths.len(), snapshot.streams.len(), "each is there once, at {}", snapshot.seq);
        for (stream, len) in &lengths {
            let (_, text) = snapshot.streams.iter().find(|(id, _)| id == stream).unwrap();
            assert_eq!(len.unwrap_or(text.len() as u64), text.len() as u64, "{stream} at {}", snapshot.seq);
            let later = last.streams.iter().find(|(id, _)| id == stream);
            assert!(later.is_none_or(|(_, later)| later.starts_with(text)), "{stream} at {}", snapshot.seq);
        }
        for envelope in events.iter().filter(|envelope| envelope.seq > snapshot.seq) {
            snapshot.state.apply(&envelope.event);
        }
        assert_eq!(snapshot.state, last.state, "from {}", snapshot.seq);
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_snapshot_has_the_newest_texts_and_the_feed_brings_the_rest(pool: PgPool) {
    const TEXT: usize = 699 * 1024;
    let scene = Scene::new(pool).await;
    let (front, kept) = (scene.chat().await, scene.chat().await);
    let mut written = Vec::new();
    for chat in [front, kept, front, front, front, front, front, front, kept] {
        scene.ask(chat, "local").await;
        let stream = stream_of(&scene.claim(Uuid::now_v7()).await.unwrap());
        // Three bytes a character, so that the room ends inside one.
        assert!(streams::append(&scene.db, stream, 0, &"€".repeat(TEXT / 3)).await.unwrap());
        scene.report(stream, done()).await.unwrap();
        written.push((chat, stream));
    }
    let keep = [Content::Chat(kept)];
    let page = snapshot::page(&scene.db, Wanted::Chat(front), &keep).await.unwrap();
    let have: Vec<_> = page.streams.iter().map(|(stream, text)| (*stream, text.len())).collect();
    let of =
        |wanted| written.iter().rev().filter(move |(chat, _)| *chat == wanted).map(|(_, stream)| *stream);
    let order: Vec<_> = of(front).chain(of(kept)).collect();
    assert_eq!(have.iter().map(|(stream, _)| *stream).collect::<Vec<_>>(), order);
    let rest = (SNAPSHOT_BYTES_MAX - 5 * TEXT) / 3 * 3;
    let lengths: Vec<_> = have.iter().map(|(_, len)| *len).collect();
    assert_eq!(lengths, [TEXT, TEXT, TEXT, TEXT, TEXT, rest, 0, 0, 0]);

    let missing = Mirror::new(page).cursor().watch;
    let expected: Vec<_> = have.into_iter().filter(|(_, len)| *len < TEXT).collect();
    assert_eq!(missing.len(), expected.len());
    for (stream, len) in expected {
        assert_eq!(missing.get(&stream), Some(&(len as u64)));
    }
}
