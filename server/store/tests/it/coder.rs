//! Coders: work that belongs to a host, agents that ask, and worktrees.

use domain::{
    Rejected,
    backend::Backend,
    chat::{Choice, Coder, Input, Kind},
    feed::StreamId,
    id::{ChatId, WorktreeId},
    output::{Outcome, Phase},
    tool::{self, Ask, Permit},
    workspace::Activity,
    worktree::{State, Worktree},
};
use sqlx::PgPool;
use store::{
    commit, slots, snapshot,
    tasks::{self, Site},
    workspace,
    worktrees::{self, AgentSession},
};
use uuid::Uuid;

use super::scene::{HERE, LEASE, Scene, ask, reachable, rejected, stream_of, turn};

async fn coder(scene: &Scene) -> ChatId {
    workspace::add_chat(&scene.db, scene.session, Kind::Coder).await.unwrap().id
}

/// Asks an agent on `host`.
async fn work(scene: &Scene, chat: ChatId, host: &str) {
    let Input::Ask { turn, text, choice, enclosed, at_ms } = ask(turn(), "local", scene.now()) else {
        unreachable!()
    };
    let coder = Coder { backend: Backend::native(), host: host.into(), carry: false, asks: true };
    let choice = Choice { coder: Some(coder), ..choice };
    commit::chat(&scene.db, chat, Input::Ask { turn, text, choice, enclosed, at_ms }).await.unwrap();
}

async fn claim_on(scene: &Scene, host: &str) -> Option<StreamId> {
    let at = reachable(&["local"]);
    let claimed =
        tasks::claim(&scene.db, Uuid::now_v7(), Site { host, ..HERE }, &at, LEASE, LEASE, scene.now()).await;
    claimed.unwrap().map(|task| stream_of(&task))
}

fn question(number: u32) -> Phase {
    let options = vec![Permit::Once, Permit::Reject];
    let (title, detail) = ("rm x".to_owned(), String::new());
    Phase::Asking(Ask { number, title, kind: tool::Kind::Execute, detail, options })
}

fn worktree() -> Worktree {
    let id = WorktreeId(Uuid::now_v7());
    Worktree { id, host: "here".into(), base: "abc".into(), carried: false, state: State::Ready }
}

#[sqlx::test(migrations = "../../migrations")]
async fn work_is_done_where_its_folder_is(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = coder(&scene).await;
    work(&scene, chat, "there").await;
    assert_eq!(claim_on(&scene, "here").await, None);
    // What needs no folder is anybody's.
    let (_, task) = scene.ask_anew("local").await;
    assert_eq!(claim_on(&scene, "here").await.map(|stream| stream.task), Some(task));
    scene.report(StreamId { task, attempt: domain::id::Attempt(1) }, Outcome::Cancelled).await.unwrap();
    assert!(claim_on(&scene, "there").await.is_some());
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_agent_that_asks_gives_its_place_away_and_takes_one_again(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = coder(&scene).await;
    work(&scene, chat, "here").await;
    let stream = claim_on(&scene, "here").await.unwrap();
    let (other, task) = scene.ask_anew("local").await;
    assert_eq!(claim_on(&scene, "here").await, None, "the control: the one place is taken");
    commit::phase(&scene.db, stream, question(1), 5).await.unwrap();
    let page = snapshot::page(&scene.db, domain::page::Wanted::Start, &[]).await.unwrap().state;
    assert_eq!(page.workspace.chat(chat).unwrap().activity(), Activity::NeedsPerson);
    let beside = claim_on(&scene, "here").await.expect("the place is free");
    assert_eq!(beside.task, task);
    assert!(!slots::regain(&scene.db, stream, "local").await.unwrap(), "somebody has it");
    // What the agent goes on saying does not answer for the person.
    commit::phase(&scene.db, stream, Phase::Generating, 5).await.unwrap();
    let answer = |permit| Input::Answer { task: stream.task, attempt: stream.attempt, number: 1, permit };
    commit::chat(&scene.db, chat, answer(Permit::Once)).await.unwrap();
    assert_eq!(rejected(commit::chat(&scene.db, chat, answer(Permit::Once)).await), Rejected::Stale);
    scene.report(beside, Outcome::Cancelled).await.unwrap();
    assert!(slots::regain(&scene.db, stream, "local").await.unwrap());
    assert!(scene.load(other).await.active_turn().is_none());
    scene.ask(other, "local").await;
    assert_eq!(claim_on(&scene, "here").await, None, "the place is taken again");
    scene.report(stream, Outcome::Cancelled).await.unwrap();
    assert!(!slots::regain(&scene.db, stream, "local").await.unwrap(), "one that is over takes none");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_worktree_is_made_once_and_only_by_the_attempt_that_runs(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let chat = coder(&scene).await;
    work(&scene, chat, "here").await;
    let lost = claim_on(&scene, "here").await.unwrap();
    scene.report(lost, Outcome::Lost).await.unwrap();
    assert_eq!(rejected(worktrees::made(&scene.db, lost, worktree()).await), Rejected::Stale);
    let stream = claim_on(&scene, "here").await.unwrap();
    let made = worktree();
    for _ in 0..2 {
        worktrees::made(&scene.db, stream, made.clone()).await.expect("whoever got no answer asks again");
    }
    assert_eq!(rejected(worktrees::made(&scene.db, stream, worktree()).await), Rejected::Stale);
    assert_eq!(scene.load(chat).await.worktree, Some(made.clone()));

    // While somebody works there, nothing becomes of it.
    let busy = rejected(worktrees::set_state(&scene.db, chat, State::Discarded).await);
    assert_eq!(busy, Rejected::Busy);
    assert_eq!(rejected(worktrees::idle(&scene.db, chat).await), Rejected::Busy);
    scene.report(stream, Outcome::Cancelled).await.unwrap();
    let idle = worktrees::idle(&scene.db, chat).await.unwrap();
    assert_eq!((idle.worktree, idle.turns), (made.clone(), 1));
    let session = |session: &str| AgentSession { session: session.to_owned(), after: Some(stream.task) };
    for (agent, kept) in [("qwen", "s1"), ("goose", "s2"), ("qwen", "s3")] {
        worktrees::keep_agent_session(&scene.db, made.id, agent, session(kept)).await.unwrap();
    }
    let kept = worktrees::agent_sessions(&scene.db, made.id).await.unwrap();
    assert_eq!(kept, [("goose", "s2"), ("qwen", "s3")].map(|(a, s)| (a.into(), session(s))).into());
    worktrees::set_state(&scene.db, chat, State::Discarded).await.unwrap();
    let listed = worktrees::list(&scene.db, "here").await.unwrap();
    assert_eq!(
        (listed.len(), listed[0].worktree.state, listed[0].project.as_str()),
        (1, State::Discarded, "Project")
    );
    assert!(worktrees::list(&scene.db, "there").await.unwrap().is_empty());
    worktrees::set_state(&scene.db, chat, State::Gone).await.unwrap();
    assert!(worktrees::list(&scene.db, "here").await.unwrap().is_empty());
    assert_eq!(kept_state(&scene, chat).await, State::Gone);
    for state in [State::Ready, State::Discarded] {
        rejected(worktrees::set_state(&scene.db, chat, state).await);
    }
    assert_eq!(kept_state(&scene, chat).await, State::Gone, "what was deleted does not come back");
}

/// Whoever claims hears of a free place at once, and one that comes back asks now and then.
#[sqlx::test(migrations = "../../migrations")]
async fn whoever_was_answered_goes_before_all_that_waits(pool: PgPool) {
    let scene = Scene::new(pool.clone()).await;
    let chat = coder(&scene).await;
    work(&scene, chat, "here").await;
    let stream = claim_on(&scene, "here").await.unwrap();
    scene.ask_anew("local").await;
    commit::phase(&scene.db, stream, question(1), 5).await.unwrap();
    let beside = claim_on(&scene, "here").await.expect("the place is free");
    let (_, waiting) = scene.ask_anew("local").await;
    scene.ask_anew("local").await;
    // One of them has waited for so long in the background that it would be due.
    let set = "update tasks set rank = 0 where id = $1";
    sqlx::query(set).bind(waiting.0).execute(&pool).await.unwrap();
    assert!(!slots::regain(&scene.db, stream, "local").await.unwrap(), "somebody has it");
    scene.report(beside, Outcome::Cancelled).await.unwrap();
    assert_eq!(claim_on(&scene, "here").await, None, "it is left to the one that comes back");
    assert!(!tasks::passed_over(&scene.db, HERE, &reachable(&["local"])).await.unwrap());
    assert!(slots::regain(&scene.db, stream, "local").await.unwrap());
    scene.report(stream, Outcome::Cancelled).await.unwrap();
    let next = claim_on(&scene, "here").await.expect("nobody wants it any more");
    // One that ends while it waits wants nothing any more.
    commit::phase(&scene.db, next, question(1), 5).await.unwrap();
    let last = claim_on(&scene, "here").await.expect("the place is free");
    assert!(!slots::regain(&scene.db, next, "local").await.unwrap());
    scene.report(next, Outcome::Lost).await.unwrap();
    scene.report(last, Outcome::Cancelled).await.unwrap();
    assert!(claim_on(&scene, "here").await.is_some());
}

/// Postgres keeps no zero character.
#[sqlx::test(migrations = "../../migrations")]
async fn a_question_with_a_zero_in_it_is_asked_and_gives_the_person_time(pool: PgPool) {
    let scene = Scene::new(pool.clone()).await;
    let chat = coder(&scene).await;
    work(&scene, chat, "here").await;
    let stream = claim_on(&scene, "here").await.unwrap();
    let deadline = async || {
        let left = "select extract(epoch from deadline_at - now())::float8 from tasks where id = $1";
        sqlx::query_scalar::<_, f64>(left).bind(stream.task.0).fetch_one(&pool).await.unwrap()
    };
    let before = deadline().await;
    let Phase::Asking(ask) = question(1) else { unreachable!() };
    let ask = Ask { title: "rm \0x".into(), detail: "\0".into(), ..ask };
    commit::phase(&scene.db, stream, Phase::Asking(ask), 5).await.unwrap();
    let task = scene.load(chat).await.tasks[&stream.task].clone();
    let domain::task::Status::Running { phase: Phase::Asking(asked), .. } = task.status else {
        panic!("{task:?}")
    };
    assert_eq!((asked.title.as_str(), asked.detail.as_str()), ("rm \u{fffd}x", "\u{fffd}"));
    let more = deadline().await - before;
    assert!(more > f64::from(tool::ANSWER_SECONDS_MAX) - 60.0, "{more}");
}

async fn kept_state(scene: &Scene, chat: ChatId) -> State {
    worktrees::get(&scene.db, chat).await.unwrap().unwrap().state
}
