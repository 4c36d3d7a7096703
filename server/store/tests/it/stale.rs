//! Whoever reports for an attempt that is over changes nothing at all.

use domain::{
    Rejected,
    feed::StreamId,
    id::{Attempt, TaskId},
    output::{Outcome, Phase},
    task::Status,
};
use sqlx::PgPool;
use store::{commit, streams};
use uuid::Uuid;

use super::scene::{Scene, attempt, choice, done, ended, rejected, stream_of};

impl Scene {
    /// Tries everything that a process could still say of `stream`.
    async fn assert_stale(&self, stream: StreamId, case: &str) {
        let before = self.dump().await;
        let failed = Outcome::Failed { reason: "no".into() };
        for outcome in [done(), failed, Outcome::Lost, Outcome::Cancelled] {
            let report = commit::Ended {
                said: Some("A title".into()),
                title: Some(choice("local")),
                ..ended(stream, outcome.clone(), self.now())
            };
            let refusal = rejected(commit::report(&self.db, report).await);
            assert_eq!(refusal, Rejected::Stale, "{case}: {outcome:?}");
        }
        let phase = commit::phase(&self.db, stream, Phase::Loading, 5).await;
        assert_eq!(rejected(phase), Rejected::Stale, "{case}: phase");
        for start in [0, 5] {
            assert!(!streams::append(&self.db, stream, start, "late").await.unwrap(), "{case}: output");
        }
        assert_eq!(self.dump().await, before, "{case}");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_attempt_that_is_over_cannot_change_anything(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (chat, first) = scene.start("local").await;
    assert!(streams::append(&scene.db, first, 0, "first").await.unwrap());
    scene.assert_stale(attempt(first, 2), "an attempt that is still to come").await;
    scene.assert_stale(attempt(first, 0), "no attempt").await;
    scene.assert_stale(StreamId { task: TaskId(Uuid::now_v7()), attempt: Attempt(1) }, "no task").await;

    scene.report(first, Outcome::Lost).await.unwrap();
    scene.assert_stale(first, "it is queued again").await;

    let second = stream_of(&scene.claim(Uuid::nil()).await.unwrap());
    scene.assert_stale(first, "a second attempt runs").await;
    assert!(streams::append(&scene.db, second, 0, "second").await.unwrap());
    scene.assert_stale(first, "a second attempt has output").await;

    // The control: the attempt that runs may do all of it.
    commit::phase(&scene.db, second, Phase::Loading, 5).await.unwrap();
    assert!(streams::append(&scene.db, second, 6, "!").await.unwrap());
    scene.report(second, done()).await.unwrap();
    let settled = Status::Settled { attempt: Some(Attempt(2)), outcome: done(), stream_len: 7 };
    assert_eq!(scene.task(chat, first.task).await.status, settled);

    scene.assert_stale(first, "the second attempt is done").await;
    scene.assert_stale(second, "it was reported before").await;
    streams::fold(&scene.db, second).await.unwrap();
    scene.assert_stale(second, "its output is folded").await;
}
