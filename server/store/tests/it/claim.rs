//! Who gets which task when.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use domain::{
    chat::{Choice, Input},
    feed::StreamId,
    id::TaskId,
    output::Outcome,
    task::{Status, Work},
};
use sqlx::PgPool;
use store::{
    commit, slots,
    tasks::{self, Reachable, Site},
};
use uuid::Uuid;

use super::scene::{
    HERE, LEASE, Scene, all_at_once, ask, choice, done, ended, model, reachable, stream_of, turn,
    within_limit,
};

const TASKS: usize = 50;

#[sqlx::test(migrations = "../../migrations")]
async fn each_task_runs_once_and_no_server_has_more_than_its_places(pool: PgPool) {
    let scene = Arc::new(Scene::wide(pool).await);
    let mut asked = HashSet::new();
    for nth in 0..TASKS {
        asked.insert(scene.ask_anew(if nth % 2 == 0 { "local" } else { "cloud" }).await.1);
    }
    let claimed = Arc::new(Mutex::new(Vec::new()));
    let claimer = |_| {
        let (scene, claimed) = (Arc::clone(&scene), Arc::clone(&claimed));
        async move {
            let by = Uuid::now_v7();
            while claimed.lock().unwrap().len() < TASKS {
                let Some(task) = scene.claim(by).await else {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    continue;
                };
                assert_within_limits(&scene).await;
                claimed.lock().unwrap().push(task.id);
                scene.report(stream_of(&task), done()).await.unwrap();
            }
        }
    };
    all_at_once((0..20).map(claimer)).await;
    let claimed = claimed.lock().unwrap().clone();
    assert_eq!(claimed.len(), TASKS, "a task was claimed twice");
    assert_eq!(claimed.iter().copied().collect::<HashSet<TaskId>>(), asked);
    scene.assert_consistent().await;
}

async fn assert_within_limits(scene: &Scene) {
    let running: Vec<(String, i64)> =
        sqlx::query_as("select server, count(*) from tasks where status = 'running' group by server")
            .fetch_all(&scene.pool)
            .await
            .unwrap();
    for (server, count) in running {
        assert!(count <= if server == "local" { 1 } else { 4 }, "{count} run at {server}");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_full_server_keeps_nothing_from_another(pool: PgPool) {
    let scene = Scene::new(pool).await;
    for _ in 0..6 {
        scene.ask_anew("local").await;
    }
    for _ in 0..6 {
        scene.ask_anew("cloud").await;
    }
    let by = Uuid::now_v7();
    let mut servers = Vec::new();
    while let Some(task) = scene.claim(by).await {
        servers.push(task.model.server);
    }
    assert_eq!(servers, ["local", "cloud", "cloud", "cloud", "cloud"]);
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn only_what_can_be_reached_is_claimed(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (_, task) = scene.ask_anew("local").await;
    let by = Uuid::now_v7();
    let before = scene.dump().await;
    for servers in [&[][..], &["cloud"], &["another"]] {
        assert_eq!(scene.claim_at(by, servers).await, None, "{servers:?}");
    }
    let without_place = [Reachable { server: "local".into(), slot_key: "not provided".into() }];
    let claim = tasks::claim(&scene.db, by, HERE, &without_place, LEASE, LEASE, 0).await.unwrap();
    assert_eq!(claim, None, "no place was provided");
    assert_eq!(scene.dump().await, before);
    assert_eq!(scene.claim(by).await.map(|task| task.id), Some(task));
}

#[sqlx::test(migrations = "../../migrations")]
async fn two_names_of_one_server_share_its_place(pool: PgPool) {
    let scene = Scene::new(pool).await;
    scene.ask_anew("local").await;
    scene.ask_anew("alias").await;
    let mut both = reachable(&["local"]);
    both.push(Reachable { server: "alias".into(), slot_key: "local".into() });
    let claim = || tasks::claim(&scene.db, Uuid::nil(), HERE, &both, LEASE, LEASE, 0);
    let first = claim().await.unwrap().unwrap();
    assert_eq!(claim().await.unwrap(), None);
    scene.report(stream_of(&first), done()).await.unwrap();
    assert_eq!(claim().await.unwrap().unwrap().model, model("alias"));
}

/// Each machine may have an Ollama of its own, found and called so by itself.
#[sqlx::test(migrations = "../../migrations")]
async fn a_machines_own_model_server_is_asked_there(pool: PgPool) {
    let scene = Scene::new(pool).await;
    slots::provide(&scene.db, &[("box|ollama".into(), 1), ("desk|ollama".into(), 1)]).await.unwrap();
    let claim = async |host, machine| {
        let own = [Reachable { server: "ollama".into(), slot_key: format!("{machine}|ollama") }];
        let site = Site { host, machine };
        tasks::claim(&scene.db, Uuid::now_v7(), site, &own, LEASE, LEASE, scene.now()).await.unwrap()
    };
    let chat = scene.chat().await;
    let queued = async || {
        let choice = Choice { machine: Some("desk".into()), ..choice("ollama") };
        let (turn, at_ms) = (turn(), scene.now());
        let ask = Input::Ask { turn, text: "Why?".into(), choice, enclosed: Default::default(), at_ms };
        commit::chat(&scene.db, chat, ask).await.unwrap();
        turn.task
    };
    // The second waits for the first as a message; where it was asked is kept all the same.
    for task in [queued().await, queued().await] {
        assert_eq!(claim("here", "box").await, None, "another machine's of the same name is another one");
        let claimed = claim("there", "desk").await.expect("any server of that machine");
        assert_eq!((claimed.id, claimed.machine.as_deref()), (task, Some("desk")));
        assert_eq!(scene.task(chat, task).await.machine, claimed.machine);
        scene.report(stream_of(&claimed), done()).await.unwrap();
    }
    let (_, task) = scene.ask_anew("ollama").await;
    assert_eq!(claim("here", "box").await.map(|task| task.id), Some(task), "the control: nobody's own");
}

/// As it is for a moment while a commit about a task's battle, run or chat is under way.
#[sqlx::test(migrations = "../../migrations")]
async fn a_task_whose_row_is_held_is_told_from_none(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let at = reachable(&["local", "cloud"]);
    let passed_over = || tasks::passed_over(&scene.db, HERE, &at);
    assert!(!passed_over().await.unwrap(), "nothing waits");
    let (_, task) = scene.ask_anew("local").await;
    let mut holder = scene.pool.begin().await.unwrap();
    sqlx::query("select from tasks for update").execute(&mut *holder).await.unwrap();
    assert_eq!(scene.claim(Uuid::now_v7()).await, None);
    assert!(passed_over().await.unwrap(), "it waits, and nobody else runs it");
    holder.rollback().await.unwrap();
    assert_eq!(scene.claim(Uuid::now_v7()).await.map(|task| task.id), Some(task));
    scene.ask_anew("local").await;
    assert!(!passed_over().await.unwrap(), "its place is taken");
}

const MINUTE: i64 = 60_000;

/// A title is background work: turns overtake it, however old it is, but for one title in a minute.
#[sqlx::test(migrations = "../../migrations")]
async fn turns_go_first_and_titles_do_not_starve(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let claim = async |at| {
        let servers = reachable(&["local"]);
        let claimed = tasks::claim(&scene.db, Uuid::nil(), HERE, &servers, LEASE, LEASE, at).await.unwrap();
        let claimed = claimed.expect("a task");
        scene.report(stream_of(&claimed), done()).await.unwrap();
        (claimed.work, claimed.queued_at_ms)
    };
    let ask = async |at| {
        let chat = scene.chat().await;
        commit::chat(&scene.db, chat, ask(turn(), "local", at)).await.unwrap();
    };
    for at in [1_000, 2_000, 3_000] {
        let (_, stream) = scene.start("local").await;
        let report = commit::Ended { title: Some(choice("local")), ..ended(stream, done(), at) };
        commit::report(&scene.db, report).await.unwrap();
    }
    // Long after the titles were asked for, people ask on and on.
    let now = 10 * MINUTE;
    for at in 0..6 {
        ask(now + at).await;
    }
    let (turn, title) = (Work::ChatTurn, Work::Title);
    // Nobody knows when a title had its turn last: it was not within a minute.
    assert_eq!(claim(now + 10).await, (title, 1_000));
    assert_eq!(claim(now + 20).await, (turn, now));
    assert_eq!(claim(now + MINUTE).await, (turn, now + 1));
    assert_eq!(claim(now + MINUTE + 10).await, (title, 2_000));
    assert_eq!(claim(now + MINUTE + 20).await, (turn, now + 2));
    assert_eq!(claim(now + MINUTE + 30).await, (turn, now + 3));
    assert_eq!(claim(now + MINUTE + 40).await, (turn, now + 4));
    assert_eq!(claim(now + MINUTE + 50).await, (turn, now + 5));
    assert_eq!(claim(now + MINUTE + 60).await, (title, 3_000), "nobody else waits");
    ask(now + MINUTE + 70).await;
    let (_, stream) = scene.start("cloud").await;
    let young = now + 3 * MINUTE - 1;
    let report = commit::Ended { title: Some(choice("local")), ..ended(stream, done(), young) };
    commit::report(&scene.db, report).await.unwrap();
    assert_eq!(claim(now + 3 * MINUTE).await, (turn, now + MINUTE + 70), "one that came just now waits");
    assert_eq!(claim(now + 3 * MINUTE).await, (title, young));
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_waits_is_told_how_many_go_first(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(scene.ask_anew("local").await.1);
        scene.ask_anew("cloud").await;
    }
    let queued = async |nth: usize| tasks::queued(&scene.db, asked[nth]).await.unwrap();
    let behind = |ahead| Some(tasks::Queued { server: "local".into(), ahead });
    assert_eq!((queued(0).await, queued(2).await), (behind(0), behind(2)));
    let running = scene.claim_at(Uuid::nil(), &["local"]).await.unwrap();
    assert_eq!((queued(0).await, queued(2).await), (None, behind(2)));
    scene.report(stream_of(&running), done()).await.unwrap();
    assert_eq!(queued(2).await, behind(1));
}

/// However an attempt ends, its place is free afterwards, and was held until then.
#[sqlx::test(migrations = "../../migrations")]
async fn an_attempt_holds_its_place_until_it_ends(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let failed = || Outcome::Failed { reason: "no".into() };
    let void = || Outcome::Void { reason: "down".into() };
    // What is reported, whether a stop was asked for before, and whether the task is queued afterwards.
    let ends = [
        (done(), false, false),
        (failed(), false, false),
        (void(), false, false),
        (Outcome::Lost, false, true),
        (Outcome::Lost, true, false),
        (Outcome::Cancelled, true, false),
        (done(), true, false),
    ];
    for (outcome, stopped, queued) in ends {
        let case = format!("{outcome:?}, stopped: {stopped}");
        let (chat, stream) = scene.start("local").await;
        assert_eq!(holders(&scene).await, [stream.task.0], "{case}");
        if stopped {
            commit::chat(&scene.db, chat, Input::Stop).await.unwrap();
            assert_eq!(holders(&scene).await, [stream.task.0], "{case}: it still runs");
        }
        scene.report(stream, outcome).await.unwrap();
        assert!(holders(&scene).await.is_empty(), "{case}");
        assert_eq!(scene.task(chat, stream.task).await.status == Status::Queued, queued, "{case}");
        scene.assert_consistent().await;
        if queued {
            commit::chat(&scene.db, chat, Input::Stop).await.unwrap();
        }
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_cancelled_while_it_waits_never_runs(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let (chat, task) = scene.ask_anew("local").await;
    assert!(holders(&scene).await.is_empty(), "nothing holds a place while it waits");
    commit::chat(&scene.db, chat, Input::Stop).await.unwrap();
    let cancelled = Status::Settled { attempt: None, outcome: Outcome::Cancelled, stream_len: 0 };
    assert_eq!(scene.task(chat, task).await.status, cancelled);
    assert_eq!(scene.claim(Uuid::nil()).await, None);
}

/// Whoever comes first, a task that was stopped is over or knows that it must stop.
#[sqlx::test(migrations = "../../migrations")]
async fn a_stop_and_a_claim_at_once_agree(pool: PgPool) {
    let scene = Scene::wide(pool).await;
    for round in 0..40 {
        let (chat, task) = scene.ask_anew("local").await;
        let stop = commit::chat(&scene.db, chat, Input::Stop);
        let claim = scene.claim(Uuid::nil());
        // Which one is polled first changes who wins.
        let (stopped, claimed) = within_limit(async {
            if round % 2 == 0 {
                tokio::join!(stop, claim)
            } else {
                let (claimed, stopped) = tokio::join!(claim, stop);
                (stopped, claimed)
            }
        })
        .await;
        stopped.unwrap();
        scene.assert_consistent().await;
        match (scene.task(chat, task).await.status, claimed) {
            (Status::Settled { attempt: None, outcome: Outcome::Cancelled, .. }, None) => {}
            (Status::Running { attempt, cancelling: true, .. }, Some(_)) => {
                scene.report(StreamId { task, attempt }, Outcome::Cancelled).await.unwrap();
            }
            other => panic!("round {round}: {other:?}"),
        }
    }
}

async fn holders(scene: &Scene) -> Vec<Uuid> {
    sqlx::query_scalar("select task_id from slots where task_id is not null")
        .fetch_all(&scene.pool)
        .await
        .unwrap()
}
