//! Leases: kept by whoever renews, found when nobody does, and what a lost attempt leads to.

use std::time::Duration;

use domain::{
    Rejected,
    chat::Input,
    feed::StreamId,
    output::Outcome,
    task::{ATTEMPTS_MAX, PAID_ATTEMPTS_MAX, Status},
};
use sqlx::PgPool;
use store::{
    Db,
    commit::{self, Loss},
    instances, streams,
    tasks::{self, Expired, Running},
};
use uuid::Uuid;

use super::scene::{
    HERE, LEASE, Scene, attempt, choice, done, ended, reachable, rejected, stream_of, within_limit,
};

impl Scene {
    async fn claim_for(&self, by: Uuid, lease: Duration, limit: Duration) -> StreamId {
        let servers = reachable(&["cloud"]);
        let task = tasks::claim(&self.db, by, HERE, &servers, lease, limit, self.now()).await.unwrap();
        stream_of(&task.expect("a free place"))
    }

    async fn expired(&self) -> Vec<Expired> {
        tasks::expired(&self.db).await.unwrap()
    }

    /// As by a process that has everything at hand, whosoever it is.
    async fn renewed(&self, by: Uuid) -> Vec<Running> {
        tasks::renew(&self.db, by, &self.running().await, LEASE).await.unwrap()
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_lease_is_renewed_by_its_owner_until_the_deadline(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (own, other) = (Uuid::now_v7(), Uuid::now_v7());
    let (chat, _) = scene.ask_anew("cloud").await;
    let kept = scene.claim_for(own, LEASE, LEASE).await;
    scene.ask_anew("cloud").await;
    let foreign = scene.claim_for(other, LEASE, LEASE).await;
    scene.ask_anew("cloud").await;
    let overdue = scene.claim_for(own, Duration::ZERO, Duration::ZERO).await;

    assert_eq!(scene.renewed(own).await, [Running { stream: kept, cancelling: false }]);
    assert_eq!(scene.renewed(other).await, [Running { stream: foreign, cancelling: false }]);
    assert_eq!(scene.renewed(Uuid::now_v7()).await, []);
    assert_eq!(scene.expired().await, [Expired { stream: overdue, is_overdue: true }]);

    commit::chat(&scene.db, chat, Input::Stop).await.unwrap();
    assert_eq!(scene.renewed(own).await, [Running { stream: kept, cancelling: true }]);
    scene.report(kept, Outcome::Cancelled).await.unwrap();
    assert_eq!(scene.renewed(own).await, [], "what is over has no lease");
}

/// The answer to a claim may be lost on its way; then nobody runs the task, and nobody must keep it either.
#[sqlx::test(migrations = "../../migrations")]
async fn a_claim_that_nobody_runs_is_not_renewed(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let by = Uuid::now_v7();
    scene.ask_anew("cloud").await;
    let ghost = scene.claim_for(by, Duration::ZERO, LEASE).await;
    scene.ask_anew("cloud").await;
    let real = scene.claim_for(by, LEASE, LEASE).await;
    let kept = tasks::renew(&scene.db, by, &[real], LEASE).await.unwrap();
    assert_eq!(kept, [Running { stream: real, cancelling: false }]);
    assert_eq!(scene.expired().await, [Expired { stream: ghost, is_overdue: false }]);
}

/// A process that slept past its lease keeps its task unless somebody has taken it meanwhile.
#[sqlx::test(migrations = "../../migrations")]
async fn a_late_renewal_keeps_what_nobody_took(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (own, other) = (Uuid::now_v7(), Uuid::now_v7());
    scene.ask_anew("cloud").await;
    let stream = scene.claim_for(own, Duration::ZERO, LEASE).await;
    assert_eq!(scene.expired().await, [Expired { stream, is_overdue: false }]);
    assert_eq!(scene.renewed(own).await, [Running { stream, cancelling: false }]);
    assert_eq!(scene.expired().await, []);

    scene.report(stream, Outcome::Lost).await.unwrap();
    assert_eq!(scene.renewed(own).await, [], "it is queued");
    let again = scene.claim_for(other, LEASE, LEASE).await;
    assert_eq!(again, attempt(stream, 2));
    assert_eq!(scene.renewed(own).await, [], "it is another's");
    assert!(!streams::append(&scene.db, stream, 0, "too late").await.unwrap());
}

/// Between the look at the leases and the report of those that had run out, their owners may come back.
#[sqlx::test(migrations = "../../migrations")]
async fn what_is_renewed_meanwhile_is_not_lost(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (alive, dead) = (Uuid::now_v7(), Uuid::now_v7());
    scene.ask_anew("cloud").await;
    let renewed = scene.claim_for(alive, Duration::ZERO, LEASE).await;
    scene.ask_anew("cloud").await;
    let left = scene.claim_for(dead, Duration::ZERO, LEASE).await;
    let seen: Vec<_> = scene.expired().await.into_iter().map(|expired| expired.stream).collect();
    assert_eq!(seen, [renewed, left]);
    assert_eq!(scene.renewed(alive).await.len(), 1);
    let mut reported = commit::report_lost(&scene.db, seen, Loss::Expired, scene.now()).await;
    reported.sort_by_key(|(stream, _)| *stream);
    let (kept, lost) = (reported.remove(0), reported.remove(0));
    assert_eq!((kept.0, rejected(kept.1)), (renewed, Rejected::Stale));
    assert_eq!((lost.0, lost.1.is_ok()), (left, true), "the control: nobody renewed this one");
    assert_eq!(scene.running().await, [renewed]);
    // Of one that is known to be gone, the lease says nothing.
    let gone = commit::report_lost(&scene.db, vec![renewed], Loss::Gone, scene.now()).await;
    assert!(gone[0].1.is_ok(), "{gone:?}");
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_lost_attempt_is_repeated_within_the_bound(pool: PgPool) {
    let scene = Scene::new(pool).await;
    for (server, attempts_max) in [("local", ATTEMPTS_MAX), ("cloud", PAID_ATTEMPTS_MAX)] {
        let (chat, first) = scene.start(server).await;
        let mut lost = Vec::new();
        for number in 1..=attempts_max {
            let stream = attempt(first, number);
            if number > 1 {
                let claimed = scene.claim(Uuid::nil()).await.unwrap();
                assert_eq!(stream_of(&claimed), stream);
            }
            // Each leaves one byte more than the one before.
            let text = "x".repeat(number as usize);
            assert!(streams::append(&scene.db, stream, 0, &text).await.unwrap());
            scene.report(stream, Outcome::Lost).await.unwrap();
            lost.push((stream.attempt, u64::from(number)));
        }
        let (last, stream_len) = lost.pop().unwrap();
        let task = scene.task(chat, first.task).await;
        assert_eq!(task.lost, lost, "{server}");
        assert_eq!(
            task.status,
            Status::Settled { attempt: Some(last), outcome: Outcome::Lost, stream_len },
            "{server}"
        );
        scene.assert_consistent().await;
    }
}

/// How much survived is what the table holds, whatever the attempt is said to have written.
#[sqlx::test(migrations = "../../migrations")]
async fn a_report_settles_with_the_length_that_is_stored(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (chat, stream) = scene.start("local").await;
    assert!(streams::append(&scene.db, stream, 0, "grün").await.unwrap());
    scene.report(stream, done()).await.unwrap();
    let settled = Status::Settled { attempt: Some(stream.attempt), outcome: done(), stream_len: 5 };
    assert_eq!(scene.task(chat, stream.task).await.status, settled);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_successor_learns_what_its_predecessor_left(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let register = async |id, place| {
        let mut left = instances::register(&scene.db, id, place, "here").await.unwrap();
        left.sort();
        left
    };
    let (here, elsewhere) = (Uuid::now_v7(), Uuid::now_v7());
    assert_eq!(register(here, "/here").await, []);
    assert_eq!(register(elsewhere, "/elsewhere").await, []);
    let mut left = Vec::new();
    for by in [here, here, elsewhere, here] {
        scene.ask_anew("cloud").await;
        left.push(scene.claim_for(by, LEASE, LEASE).await);
    }
    scene.ask_anew("cloud").await;
    scene.report(left[3], done()).await.unwrap();

    let pairs = |streams: &[StreamId]| streams.iter().map(|of| (of.task, of.attempt)).collect::<Vec<_>>();
    assert_eq!(register(Uuid::now_v7(), "/new").await, []);
    assert_eq!(register(Uuid::now_v7(), "/here").await, pairs(&left[..2]));
    assert_eq!(register(Uuid::now_v7(), "/here").await, [], "its predecessor ran nothing");
    assert_eq!(register(Uuid::now_v7(), "/elsewhere").await, pairs(&left[2..3]));
}

/// A renewal locks several tasks, and so does a change to their chat. Were one to take them in the order of
/// their leases and the other in that of their rows, each would end up waiting for the other.
#[sqlx::test(migrations = "../../migrations")]
async fn a_renewal_and_a_change_of_the_same_tasks_do_not_block_each_other(pool: PgPool) {
    // The plans that a table of a real size has.
    let options = (*pool.connect_options()).clone();
    let options = options.options([("enable_seqscan", "off"), ("enable_bitmapscan", "off")]);
    let mut scene = Scene::new(pool.clone()).await;
    scene.db = Db::attach(options).await.unwrap();
    let by = Uuid::now_v7();
    let (chat, _) = scene.ask_anew("cloud").await;
    let first = scene.claim_for(by, LEASE, LEASE).await;
    let report = commit::Ended { title: Some(choice("cloud")), ..ended(first, done(), 0) };
    commit::report(&scene.db, report).await.unwrap();
    let title = scene.claim_for(by, LEASE, LEASE).await;
    scene.ask(chat, "cloud").await;
    let turn = scene.claim_for(by, Duration::ZERO, LEASE).await;

    let both = [title, turn];
    for (held, lease_first) in [(title, turn), (turn, title), (title, title), (turn, turn)] {
        sqlx::query("update tasks set lease_until = now() + case when id = $1 then '1s' else '1h' end::interval where status = 'running'")
            .bind(lease_first.task.0)
            .execute(&pool)
            .await
            .unwrap();
        let mut holder = pool.begin().await.unwrap();
        sqlx::query("select from tasks where id = $1 for update")
            .bind(held.task.0)
            .execute(&mut *holder)
            .await
            .unwrap();
        let release = async {
            until_waiting(&pool, 2).await;
            holder.commit().await.unwrap();
        };
        let change = async {
            until_waiting(&pool, 1).await;
            commit::chat(&scene.db, chat, Input::Stop).await
        };
        let (renewed, changed, ()) =
            within_limit(async { tokio::join!(tasks::renew(&scene.db, by, &both, LEASE), change, release) })
                .await;
        assert_eq!(renewed.unwrap().len(), 2);
        changed.unwrap();
    }
}

pub async fn until_waiting(pool: &PgPool, count: i64) {
    let waiting = "select count(*) from pg_stat_activity
                   where datname = current_database() and wait_event_type = 'Lock'";
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(pool).await.unwrap() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
