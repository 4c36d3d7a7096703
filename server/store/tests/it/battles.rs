//! Battles on real tables: launched once, run lane by lane, fenced, and the same from the log as from the rows.

mod read;

use domain::{
    Rejected,
    backend::Backend,
    battle::{
        Battle, Checked, Entry, Fresh, Identity, Input, Judge, Kind, LIMIT_S, Launch, Roster, Status, Terms,
    },
    catalogue::{Lane, ModelRef},
    feed::{Fold as _, StreamId},
    id::{BattleId, ContestantId, ProjectId, WorktreeId},
    layout::{Content, Origin, Target},
    output::{Measured, Outcome, Phase},
    page::{OpenSession, Page, Wanted},
    slot,
    task::{Task, Work},
    workspace::Workspace,
    worktree::{Changed, Changes, State, Worktree},
};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use sqlx::PgPool;
use store::{
    Error, battles, commit, feed, instances,
    results::{self, Made},
    slots, snapshot, streams, workspace, worktrees,
};
use uuid::Uuid;

use super::scene::{HERE, Scene, stream_of};

const FIRST: Target = Target::Tab { pane: None };
const LAUNCHER: Origin = Origin { is_maker: true, target: FIRST };

fn fresh() -> Fresh {
    Fresh::new(Uuid::now_v7())
}

fn model(lane: Lane, name: &str) -> ModelRef {
    ModelRef { server: lane.word().into(), model: name.into() }
}

/// `L1 C2`: a local contestant and a cloud one.
async fn battle(scene: &Scene, roster: &str, terms: impl FnOnce(&mut Terms)) -> Battle {
    let project = workspace::project_of_session(&scene.db, scene.session).await.unwrap().id;
    new(scene, project, roster, terms)
}

fn new(scene: &Scene, project: ProjectId, roster: &str, change: impl FnOnce(&mut Terms)) -> Battle {
    let entry = |(place, word): (usize, &str)| {
        let lane = if word.starts_with('L') { Lane::Local } else { Lane::Cloud };
        let identity = Identity::Backend(Backend(format!("agent{place}")));
        Entry { identity, model: model(lane, word), variant: String::new(), lane }
    };
    let entries: Vec<_> = roster.split_whitespace().enumerate().map(entry).collect();
    let mut terms = Terms {
        limit_s: LIMIT_S,
        tokens_max: None,
        carry: false,
        check: None,
        setup: None,
        judge: None,
        host: "here".into(),
        machines: Default::default(),
    };
    change(&mut terms);
    let ids = entries.iter().map(|_| ContestantId(Uuid::now_v7())).collect();
    let launch = Launch {
        id: BattleId(Uuid::now_v7()),
        session: scene.session,
        project,
        kind: Kind::Coding,
        prompt: "Mend it".into(),
        terms,
        roster: Roster::new(Kind::Coding, entries).unwrap(),
        ids,
        at_ms: scene.now(),
    };
    Battle::new(launch).unwrap()
}

async fn start(scene: &Scene, battle: &Battle) {
    slots::provide(&scene.db, &[(slot::MACHINE.into(), 1)]).await.unwrap();
    commit::start_battle(&scene.db, battle.clone(), &[], scene.now(), LAUNCHER).await.unwrap();
}

async fn claim(scene: &Scene) -> Option<Task> {
    scene.claim_at(Uuid::now_v7(), &["local", "cloud", slot::MACHINE]).await
}

fn done() -> Outcome {
    Outcome::Done { measured: Measured { duration_ms: 7, ..Measured::default() } }
}

#[sqlx::test(migrations = "../../migrations")]
async fn lanes_run_side_by_side_and_a_local_one_at_a_time(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = battle(&scene, "L1 L2 C1 C2", |_| {}).await;
    start(&scene, &it).await;
    let mut running = Vec::new();
    while let Some(task) = claim(&scene).await {
        running.push(task);
    }
    let names: Vec<_> = running.iter().map(|task| task.model.model.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(!names.contains(&"L2"));
    for task in &running {
        let phase = commit::phase(&scene.db, stream_of(task), Phase::Generating, 5).await;
        phase.unwrap();
    }
    let statuses: Vec<String> = sqlx::query_scalar("select status from contestants order by place")
        .fetch_all(&scene.pool)
        .await
        .unwrap();
    assert_eq!(statuses, ["running", "queued", "running", "running"]);
    let first = running.iter().find(|task| task.model.model == "L1").unwrap();
    scene.report(stream_of(first), done()).await.unwrap();
    assert_eq!(claim(&scene).await.unwrap().model.model, "L2");
    // A report that comes twice changes nothing.
    let again = scene.report(stream_of(first), done()).await;
    assert!(matches!(again, Err(Error::Rejected(Rejected::Stale))), "{again:?}");
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_battle_is_launched_once_and_stands_in_its_tab(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let arena = domain::layout::Input::Open { content: Content::Arena, target: FIRST };
    commit::layout(&scene.db, scene.session, arena).await.unwrap();
    let it = battle(&scene, "L1 C1", |_| {}).await;
    start(&scene, &it).await;
    let twice = commit::start_battle(&scene.db, it.clone(), &[], scene.now(), LAUNCHER).await;
    assert!(matches!(twice, Err(Error::Rejected(_))), "{twice:?}");
    let page = snapshot::page(&scene.db, Wanted::Battle(it.id), &[]).await.unwrap().state;
    assert_eq!(page.session.unwrap().layout.visible(), [Content::Battle(it.id)]);
    assert_eq!(page.workspace.battle(it.id).unwrap().title, "Mend it");
}

/// A container has another name each time.
#[sqlx::test(migrations = "../../migrations")]
async fn a_battle_follows_its_machine_to_another_name(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let register = async |place, machine| {
        instances::register(&scene.db, Uuid::now_v7(), place, machine).await.unwrap();
    };
    register("/one", "old").await;
    register("/two", "old").await;
    let machines = [("local".into(), "old".into()), ("other".into(), "elsewhere".into())];
    let it = battle(&scene, "L1 L2", |terms| terms.machines = machines.into()).await;
    start(&scene, &it).await;
    register("/one", HERE.machine).await;
    assert!(claim(&scene).await.is_none(), "there is still somebody on the old one");
    register("/two", HERE.machine).await;
    assert!(claim(&scene).await.is_some());
    let terms = battles::get(&scene.db, it.id).await.unwrap().terms;
    let expected = [("local".into(), HERE.machine.into()), ("other".into(), "elsewhere".into())];
    assert_eq!(terms.machines, expected.into());
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_table_keeps_a_pair_out_of_a_battle_twice(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut it = battle(&scene, "L1 C1", |_| {}).await;
    let (identity, model) = (it.contestants[0].identity.clone(), it.contestants[0].model.clone());
    (it.contestants[1].identity, it.contestants[1].model) = (identity, model);
    let started = commit::start_battle(&scene.db, it.clone(), &[], scene.now(), LAUNCHER).await;
    assert!(matches!(started, Err(Error::Rejected(Rejected::Invalid(_)))), "{started:?}");
    // Nothing half-made is left.
    assert!(battles::get(&scene.db, it.id).await.is_err());
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_an_attempt_made_comes_with_its_report_and_an_old_one_cannot_add(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = battle(&scene, "L1 C1", |terms| terms.check = Some("make".into())).await;
    start(&scene, &it).await;
    let file = Changed {
        path: "a".into(),
        moved_from: None,
        status: domain::worktree::Status::Added,
        added: 1,
        deleted: 0,
        is_binary: false,
    };
    let changes = Changes { files: vec![file], added: 1, ..Changes::default() };
    let made = Made { changes: Some(changes.clone()), ..Made::default() };
    while let Some(task) = claim(&scene).await {
        let stream = stream_of(&task);
        match task.work {
            Work::Contestant => results::keep(&scene.db, stream, &made, Some(b"+a\n")).await.unwrap(),
            Work::Check => {
                let checked = Some(Checked::new(Some(0), 3, "fine"));
                results::keep(&scene.db, stream, &Made { checked, ..Made::default() }, None).await.unwrap();
            }
            other => panic!("{other:?}"),
        }
        scene.report(stream, done()).await.unwrap();
        let late = results::keep(&scene.db, stream, &Made::default(), None).await;
        assert!(matches!(late, Err(Error::Rejected(Rejected::Stale))), "{late:?}");
        assert_eq!(
            results::patch(&scene.db, stream).await.unwrap().as_deref(),
            (task.work == Work::Contestant).then_some(&b"+a\n"[..])
        );
    }
    let it = battles::get(&scene.db, it.id).await.unwrap();
    assert_eq!(it.course.status, Status::Completed);
    assert!(it.contestants.iter().all(|it| it.changes.as_ref() == Some(&changes)));
    assert!(it.contestants.iter().all(|it| it.check.checked().is_some_and(Checked::passed)));
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn tokens_are_counted_and_the_cap_ends_it(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = battle(&scene, "C1 C2", |terms| terms.tokens_max = Some(100)).await;
    start(&scene, &it).await;
    let (one, other) = (claim(&scene).await.unwrap(), claim(&scene).await.unwrap());
    commit::used(&scene.db, stream_of(&one), 60, 5).await.unwrap();
    commit::used(&scene.db, stream_of(&other), 60, 5).await.unwrap();
    for task in [&one, &other] {
        scene.report(stream_of(task), Outcome::Cancelled).await.unwrap();
    }
    let it = battles::get(&scene.db, it.id).await.unwrap();
    assert_eq!((it.course.status, it.spent()), (Status::Cancelled, 120));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_coder_goes_on_in_a_contestants_worktree(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = battle(&scene, "C1 C2", |_| {}).await;
    start(&scene, &it).await;
    let stream = stream_of(&claim(&scene).await.unwrap());
    let id = WorktreeId(Uuid::now_v7());
    let made = Worktree { id, host: "here".into(), base: "abc".into(), carried: false, state: State::Ready };
    for _ in 0..2 {
        worktrees::made_for_battle(&scene.db, stream, &made).await.expect("whoever got no answer asks again");
    }
    assert_eq!(worktrees::of_attempt(&scene.db, stream).await.unwrap(), Some(made.clone()));
    assert_eq!(worktrees::of_battle(&scene.db, it.id).await.unwrap(), std::slice::from_ref(&made));
    let go_on = || worktrees::go_on(&scene.db, scene.session, id, "A: Mend it".into(), FIRST);
    let coder = go_on().await.unwrap();
    let chat = scene.load(coder).await;
    assert_eq!((chat.worktree, chat.title.as_str()), (Some(made), "A: Mend it"));
    // Whoever asks again is led to it, also when it was closed; nothing is made.
    let tabs = async || {
        let page = snapshot::page(&scene.db, Wanted::Chat(coder), &[]).await.unwrap().state;
        let layout = page.session.unwrap().layout;
        (
            page.workspace.chats.len(),
            layout.panes().iter().flat_map(|pane| pane.tabs.clone()).collect::<Vec<_>>(),
        )
    };
    let before = tabs().await;
    assert_eq!((go_on().await.unwrap(), tabs().await), (coder, before.clone()));
    let tab = before.1.iter().find(|tab| tab.content == Content::Chat(coder)).unwrap().number;
    let close = domain::layout::Input::CloseTab { tab };
    commit::layout(&scene.db, scene.session, close).await.unwrap();
    assert_eq!(go_on().await.unwrap(), coder);
    assert_eq!(tabs().await.0, before.0);
    // It is the Coder's now, and no longer goes with the battle's.
    assert!(worktrees::of_battle(&scene.db, it.id).await.unwrap().is_empty());
    let stale = StreamId { attempt: domain::id::Attempt(9), ..stream };
    let late = Worktree {
        id: WorktreeId(Uuid::now_v7()),
        ..worktrees::get(&scene.db, coder).await.unwrap().unwrap()
    };
    assert!(worktrees::made_for_battle(&scene.db, stale, &late).await.is_err());
}

/// What a contestant's task is doing stands in its row, whatever is counted meanwhile.
#[sqlx::test(migrations = "../../migrations")]
async fn a_row_tells_what_is_done_while_tokens_are_counted(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = battle(&scene, "C1 C2", |_| {}).await;
    start(&scene, &it).await;
    let task = claim(&scene).await.unwrap();
    let status = async || -> String {
        let query = sqlx::query_scalar("select status from contestants where task_id = $1").bind(task.id.0);
        query.fetch_one(&scene.pool).await.unwrap()
    };
    commit::used(&scene.db, stream_of(&task), 5, 5).await.unwrap();
    assert_eq!(status().await, "dispatched");
    commit::phase(&scene.db, stream_of(&task), Phase::Generating, 5).await.unwrap();
    commit::used(&scene.db, stream_of(&task), 5, 5).await.unwrap();
    assert_eq!(status().await, "running");
    scene.report(stream_of(&task), Outcome::Lost).await.unwrap();
    assert_eq!(status().await, "queued");
    let task = claim(&scene).await.unwrap();
    scene.report(stream_of(&task), Outcome::Failed { reason: "no".into() }).await.unwrap();
    let it = battles::get(&scene.db, it.id).await.unwrap();
    let failed = it.contestants.iter().find(|it| it.tries.last() == Some(&task.id)).unwrap().id;
    commit::battle(&scene.db, it.id, Input::Retry { contestant: failed, fresh: fresh(), at_ms: 9 })
        .await
        .unwrap();
    let query =
        sqlx::query_scalar::<_, String>("select status from contestants where id = $1").bind(failed.0);
    assert_eq!(query.fetch_one(&scene.pool).await.unwrap(), "queued");
}

/// A server that is killed right after something happened finds at its next start what it did not write.
#[sqlx::test(migrations = "../../migrations")]
async fn what_a_folder_does_not_tell_yet_is_found_again(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = battle(&scene, "C1 C2", |_| {}).await;
    start(&scene, &it).await;
    let unwritten = async || battles::unwritten(&scene.db, "here").await.unwrap();
    let write = async || {
        let (read, revision) = battles::with_revision(&scene.db, it.id).await.unwrap();
        let folders: Vec<_> = read.contestants.iter().map(|it| (it.id, "agent".to_owned())).collect();
        battles::set_written(&scene.db, it.id, "/p/Arena/b", revision, &folders).await.unwrap();
    };
    assert_eq!(unwritten().await, [it.id]);
    write().await;
    assert!(unwritten().await.is_empty());
    let tasks = [claim(&scene).await.unwrap(), claim(&scene).await.unwrap()];
    assert!(unwritten().await.is_empty(), "what is being done is not told there");
    // Read before the end and written after it: the end is not told.
    let (_, early) = battles::with_revision(&scene.db, it.id).await.unwrap();
    for task in &tasks {
        assert!(streams::append(&scene.db, stream_of(task), 0, "so").await.unwrap());
        scene.report(stream_of(task), done()).await.unwrap();
    }
    battles::set_written(&scene.db, it.id, "/p/Arena/b", early, &[]).await.unwrap();
    assert_eq!(unwritten().await, [it.id]);
    write().await;
    assert!(unwritten().await.is_empty() && battles::unwritten(&scene.db, "there").await.unwrap().is_empty());
    let winner = Some(it.contestants[0].id);
    commit::battle(&scene.db, it.id, Input::SetWinner { winner }).await.unwrap();
    assert_eq!(unwritten().await, [it.id]);
    let paths: Vec<Option<String>> =
        sqlx::query_scalar("select result_path from contestants").fetch_all(&scene.pool).await.unwrap();
    assert_eq!(paths, [Some("agent".to_owned()), Some("agent".to_owned())]);
}

/// A page made of nothing but events holds the battle as the rows do, at every step of a story.
async fn folding_gives_the_rows(scene: &Scene, seed: u64) {
    let mut dice = StdRng::seed_from_u64(seed);
    let judge = Judge { model: model(Lane::Local, "judge"), paid: false };
    let it = battle(scene, "L1 C1 L2", |terms| {
        terms.judge = Some(judge.clone());
        terms.check = Some("make".into());
    })
    .await;
    start(scene, &it).await;
    let mut page = Page { workspace: Workspace::default(), session: Some(OpenSession::empty(scene.session)) };
    let mut seq = 0;
    for step in 0..120 {
        let events = feed::read_after(&scene.db, seq, 1_000).await.unwrap().unwrap();
        for envelope in &events {
            page.apply(&envelope.event);
            seq = envelope.seq;
        }
        let rows = battles::get(&scene.db, it.id).await.unwrap();
        assert_eq!(page.battle(it.id), Some(&rows), "seed {seed}, step {step}");
        let contestant = rows.contestants[dice.random_range(0..3)].id;
        let (fresh, at_ms) = (fresh(), scene.now());
        let input = match dice.random_range(0..14) {
            0 => Input::Retry { contestant, fresh, at_ms },
            1 => Input::StopContestant { contestant, fresh, at_ms },
            2 => Input::Analyse { judge: judge.clone(), fresh, at_ms },
            3 => Input::SetWinner { winner: Some(contestant) },
            4 if dice.random_bool(0.2) => Input::Stop { fresh, at_ms },
            _ => {
                let Some(task) = claim(scene).await else { continue };
                let stream = stream_of(&task);
                let said = match task.work {
                    Work::Judgement => "{\"better\": \"neither\", \"reason\": \"so\"}".to_owned(),
                    // Some of them say the same, and some nothing.
                    _ => "words ".repeat(dice.random_range(0..4)),
                };
                let said = format!("\u{1e}text\n{said}");
                assert!(streams::append(&scene.db, stream, 0, &said).await.unwrap());
                let outcome = match dice.random_range(0..8) {
                    0 => Outcome::Lost,
                    1 => Outcome::Failed { reason: "no".into() },
                    _ => done(),
                };
                if task.work == Work::Check {
                    let checked = Some(Checked::new(Some(0), 1, "fine"));
                    let made = Made { checked, ..Made::default() };
                    results::keep(&scene.db, stream, &made, None).await.unwrap();
                }
                scene.report(stream, outcome).await.unwrap();
                continue;
            }
        };
        match commit::battle(&scene.db, it.id, input).await {
            Ok(_) | Err(Error::Rejected(_)) => {}
            Err(error) => panic!("seed {seed}, step {step}: {error}"),
        }
    }
    scene.assert_consistent().await;
}

macro_rules! stories {
    ($($name:ident: $seed:literal),+) => {$(
        #[sqlx::test(migrations = "../../migrations")]
        async fn $name(pool: PgPool) {
            folding_gives_the_rows(&Scene::new(pool).await, $seed).await;
        }
    )+};
}

stories!(battle_story_1: 1, battle_story_2: 2, battle_story_3: 3, battle_story_4: 4);
