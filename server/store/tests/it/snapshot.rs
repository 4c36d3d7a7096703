//! A snapshot stands at its cursor, whatever is committed while it is read.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use domain::{feed::Fold as _, page::Wanted};
use sqlx::PgPool;
use store::snapshot;

use super::{
    scene::{Scene, all_at_once, within_limit},
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
        for ((stream, len), (_, text)) in lengths.iter().zip(&snapshot.streams) {
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
