//! Many at once on the same chat: they wait for each other, and never forever.

use std::sync::{Arc, atomic::AtomicUsize};

use sqlx::PgPool;

use super::{
    replay::Replay,
    scene::{Scene, all_at_once},
    story::Story,
};

const WRITERS: u64 = 8;
const STEPS: usize = 50;

/// Half of the writers act on what they saw a while ago.
#[sqlx::test(migrations = "../../migrations")]
async fn many_writers_of_one_chat_get_done(pool: PgPool) {
    let scene = Arc::new(Scene::wide(pool).await);
    let chat = scene.chat().await;
    let changes = Arc::new(AtomicUsize::new(0));
    let writer = |seed| {
        let (scene, changes) = (Arc::clone(&scene), Arc::clone(&changes));
        async move {
            let mut story = Story::new(&scene, seed, &changes);
            let mut seen = scene.load(chat).await;
            for step in 0..STEPS {
                if seed % 2 == 0 || step % 5 == 0 {
                    seen = scene.load(chat).await;
                }
                story.step(&seen).await;
            }
        }
    };
    all_at_once((0..WRITERS).map(writer)).await;
    let changes = changes.load(std::sync::atomic::Ordering::Relaxed);
    assert!(changes > 100, "only {changes} steps changed anything");
    scene.assert_consistent().await;
    let mut replay = Replay::new(chat);
    scene.events().await.iter().for_each(|event| replay.tell(event));
    replay.assert_equals_rows(&scene, "at the end").await;
}
