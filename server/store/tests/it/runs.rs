//! Runs on real tables: launched once, carried out step by step, fenced, and the same from the log as from the rows.

use domain::{
    Rejected,
    backend::Backend,
    catalogue::ModelRef,
    feed::{Fold as _, StreamId},
    flow::{
        Band, FlowId, Plan, Report, Request, Signals, StepId, answer::ANSWER_BYTES_MAX, report::Head,
        rounds::Tally,
    },
    history::{Filter, Kind, State},
    id::{Attempt, RunId},
    layout::{Content, Origin, Target},
    output::{Measured, Outcome, Phase},
    page::{OpenSession, Page, Wanted},
    run::{Launch, Shown, Status, Terms},
    slot,
    task::{Task, Work},
    workspace::Workspace,
};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use sqlx::PgPool;
use store::{Error, commit, feed, history, runs, slots, snapshot, streams, workspace};
use uuid::Uuid;

use super::scene::{HERE, Scene, stream_of, within_limit};

const FIRST: Target = Target::Tab { pane: None };
const LAUNCHER: Origin = Origin { is_maker: true, target: FIRST };

async fn run(scene: &Scene, flow: FlowId, band: Band, focus: &str) -> Shown {
    let project = workspace::project_of_session(&scene.db, scene.session).await.unwrap().id;
    let request = Request::new(flow, band, false, "", focus, true).unwrap();
    Shown::new(Launch {
        id: RunId(Uuid::now_v7()),
        session: scene.session,
        project,
        plan: Plan::new(request, &Signals::default()),
        terms: Terms {
            backend: Backend::native(),
            model: ModelRef { server: "cloud".into(), model: "m".into() },
            paid: true,
            host: "here".into(),
            base: "abc".into(),
            signals: Signals::default(),
            since: None,
            template: None,
            has_web: false,
            recorded: None,
        },
        at_ms: scene.now(),
    })
}

async fn start(scene: &Scene, shown: &Shown) {
    slots::provide(&scene.db, &[(slot::STEPS.into(), 2)]).await.unwrap();
    commit::start_run(&scene.db, shown.clone(), scene.now(), LAUNCHER).await.unwrap();
}

async fn claim(scene: &Scene) -> Option<Task> {
    scene.claim_at(Uuid::now_v7(), &["cloud", slot::STEPS]).await
}

fn done() -> Outcome {
    Outcome::Done { measured: Measured { duration_ms: 7, ..Measured::default() } }
}

fn report() -> Report {
    let head = Head { summary: "So it is.".into(), ..Head::default() };
    Report { flow: FlowId::Research, band: Band::Small, head, sections: Vec::new() }
}

/// Does what a task is for, as an engine would.
async fn carry_out(scene: &Scene, task: &Task, said: &str, tally: Option<Tally>) -> StreamId {
    let stream = stream_of(task);
    if task.coder.is_some() {
        assert!(streams::append(&scene.db, stream, 0, &format!("\u{1e}text\n{said}")).await.unwrap());
    } else {
        runs::keep_made(&scene.db, stream, tally, Some(&report())).await.unwrap();
    }
    stream
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_run_is_launched_once_and_stands_in_its_tab(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let maker = domain::layout::Input::Open { content: Content::Orchestrator, target: FIRST };
    commit::layout(&scene.db, scene.session, maker).await.unwrap();
    let it = run(&scene, FlowId::Research, Band::Small, "Which cache?").await;
    start(&scene, &it).await;
    let twice = commit::start_run(&scene.db, it.clone(), scene.now(), LAUNCHER).await;
    assert!(matches!(twice, Err(Error::Rejected(_))), "{twice:?}");
    let page = snapshot::page(&scene.db, Wanted::Run(it.id()), &[]).await.unwrap().state;
    assert_eq!(page.session.unwrap().layout.visible(), [Content::Run(it.id())]);
    let entry = page.workspace.run(it.id()).unwrap();
    assert_eq!((entry.title.as_str(), &entry.status), ("Research: Which cache?", &Status::Queued));
    scene.assert_consistent().await;
}

/// One step's news hold up no other step.
#[sqlx::test(migrations = "../../migrations")]
async fn what_happens_to_a_step_waits_for_no_other(pool: PgPool) {
    let scene = Scene::wide(pool).await;
    let it = run(&scene, FlowId::Research, Band::Small, "Which cache?").await;
    start(&scene, &it).await;
    let first = claim(&scene).await.unwrap();
    let mut other = scene.pool.begin().await.unwrap();
    sqlx::query("select from tasks where run_id = $1 and status = 'queued' for update")
        .bind(it.id().0)
        .execute(&mut *other)
        .await
        .unwrap();
    let stream = stream_of(&first);
    within_limit(async {
        let mut run = scene.pool.begin().await.unwrap();
        sqlx::query("select from flow_runs for update").execute(&mut *run).await.unwrap();
        commit::phase(&scene.db, stream, Phase::Generating, 5)
            .await
            .expect("the run itself is not concerned");
        run.rollback().await.unwrap();
        let stream = carry_out(&scene, &first, "said in the end", None).await;
        scene.report(stream, done()).await.expect("nor are steps that wait to be claimed");
    })
    .await;
    other.rollback().await.unwrap();
    assert!(claim(&scene).await.is_some(), "the control: one waits");
}

#[sqlx::test(migrations = "../../migrations")]
async fn steps_are_carried_out_and_what_they_said_is_kept(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = run(&scene, FlowId::Research, Band::Small, "Which cache?").await;
    start(&scene, &it).await;
    let first = claim(&scene).await.unwrap();
    assert_eq!((first.work, first.host.as_deref()), (Work::Step, Some("here")));
    let elsewhere = store::tasks::Reachable { server: "cloud".into(), slot_key: "cloud".into() };
    let (lease, by) = (super::scene::LEASE, Uuid::now_v7());
    let there = store::tasks::Site { host: "there", ..HERE };
    let other = store::tasks::claim(&scene.db, by, there, &[elsewhere], lease, lease, 0).await.unwrap();
    assert_eq!(other, None, "only where the folder is");
    commit::phase(&scene.db, stream_of(&first), Phase::Generating, 5).await.unwrap();
    let stream = carry_out(&scene, &first, "said in the end", None).await;
    scene.report(stream, done()).await.unwrap();
    while let Some(task) = claim(&scene).await {
        let stream = carry_out(&scene, &task, "said in the end", None).await;
        scene.report(stream, done()).await.unwrap();
        let late = runs::keep_made(&scene.db, stream, None, Some(&report())).await;
        assert!(matches!(late, Err(Error::Rejected(Rejected::Stale))), "{late:?}");
    }
    let again = scene.report(stream, done()).await;
    assert!(matches!(again, Err(Error::Rejected(Rejected::Stale))), "{again:?}");
    let shown = runs::get(&scene.db, it.id()).await.unwrap();
    assert_eq!((&shown.run.status, shown.progress()), (&Status::Done, (6, 6)));
    assert!(shown.finished_at_ms.is_some());
    let outputs = runs::outputs(&scene.db, it.id()).await.unwrap();
    let steps: Vec<_> = outputs.iter().map(|(step, said)| (step.0.as_str(), said.text.as_str())).collect();
    let said = "said in the end";
    assert_eq!(steps, [("gate", said), ("options", said), ("project", said), ("weigh", said)]);
    assert_eq!(runs::report(&scene.db, it.id()).await.unwrap(), Some(report()));
    scene.assert_consistent().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_endless_answer_is_cut_and_how_much_is_kept(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = run(&scene, FlowId::IssueTriage, Band::Small, "It breaks.").await;
    start(&scene, &it).await;
    let task = claim(&scene).await.unwrap();
    let long = format!("{}é the end", "é".repeat(ANSWER_BYTES_MAX));
    let stream = carry_out(&scene, &task, &long, None).await;
    scene.report(stream, done()).await.unwrap();
    let said = runs::outputs(&scene.db, it.id()).await.unwrap().into_values().next().unwrap();
    assert!(said.text.len() <= ANSWER_BYTES_MAX && said.text.ends_with("é the end"), "{}", said.text.len());
    assert_eq!(said.text.len() + said.left_out as usize, long.len());
    let mut longer = said.text.clone();
    longer.push_str("more");
    let refused = sqlx::query("update flow_steps set output = $1").bind(longer).execute(&scene.pool).await;
    assert!(refused.is_err(), "the table keeps it out too");
}

/// An answer at the end of a stream that is too long to be read whole, and after it a call of a tool.
#[sqlx::test(migrations = "../../migrations")]
async fn an_answer_is_found_wherever_it_stands(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let answer = r#"{"summary": "It is so."}"#;
    let kept = async |pieces: &[String]| {
        let it = run(&scene, FlowId::IssueTriage, Band::Small, "It breaks.").await;
        start(&scene, &it).await;
        let task = claim(&scene).await.unwrap();
        let (stream, mut at) = (stream_of(&task), 0);
        for piece in pieces {
            assert!(streams::append(&scene.db, stream, at, piece).await.unwrap());
            at += piece.len() as u64;
        }
        scene.report(stream, done()).await.unwrap();
        commit::cancel_run(&scene.db, it.id(), scene.now()).await.unwrap();
        let shown = runs::get(&scene.db, it.id()).await.unwrap();
        let said = runs::outputs(&scene.db, it.id()).await.unwrap().into_values().next().unwrap();
        (said, shown.tried.into_values().next().unwrap_or_default())
    };
    let call = |id: usize, kind: &str, filler: usize| {
        format!(
            "\u{1e}tool {id}\n{{\"id\":\"{id}\",\"kind\":\"{kind}\",\"output\":\"{}\"}}\n",
            "é".repeat(filler)
        )
    };
    let text = |said: &str| format!("\u{1e}text\n{said}");
    let (said, tried) = kept(&[text(answer), call(1, "edit", 1), text("Done.")]).await;
    assert_eq!((said.text, said.left_out, tried), (format!("{answer}Done."), 0, 1));
    // More than is read: the calls at the beginning are not there any more, the answer is.
    let mut long: Vec<String> = (0..9).map(|id| call(id, "read", 1 << 20)).collect();
    long.push(text(answer));
    let (said, tried) = kept(&long).await;
    assert_eq!((said.text.as_str(), said.left_out, tried), (answer, 0, 0));
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_a_run_began_with_is_freed_when_it_is_over(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let old = run(&scene, FlowId::Research, Band::Small, "One?").await;
    let mut new = run(&scene, FlowId::Research, Band::Small, "Two?").await;
    let name = Uuid::now_v7();
    new.terms.recorded = Some(name);
    start(&scene, &old).await;
    start(&scene, &new).await;
    let kept = async || runs::recordings(&scene.db, "here").await.unwrap();
    let recording = |run: &Shown, name, is_over| runs::Recording { run: run.id(), name, is_over };
    assert_eq!(kept().await, [recording(&new, name, false), recording(&old, old.id().0, false)]);
    runs::free(&scene.db, old.id()).await.unwrap();
    assert!(!runs::is_freed(&scene.db, old.id()).await.unwrap(), "it is needed still");
    commit::cancel_run(&scene.db, old.id(), scene.now()).await.unwrap();
    runs::free(&scene.db, old.id()).await.unwrap();
    assert!(runs::is_freed(&scene.db, old.id()).await.unwrap());
    assert_eq!(kept().await, [recording(&new, name, false)]);
    assert_eq!(runs::recordings(&scene.db, "elsewhere").await.unwrap(), []);
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_tables_keep_impossible_states_out(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = run(&scene, FlowId::Research, Band::Small, "why").await;
    start(&scene, &it).await;
    for sql in [
        "update flow_runs set status = 'done'",
        "update flow_runs set status = 'failed', finished_at_ms = 1",
        "update flow_runs set status = 'dancing'",
        "update flow_runs set band = 'huge'",
        "update flow_runs set focus = repeat('x', 65537)",
        "update flow_steps set status = 'running' where task_id is null",
        "update flow_steps set status = 'done'",
        "update flow_steps set status = 'skipped'",
        "update flow_steps set place = 0",
    ] {
        assert!(sqlx::query(sql).execute(&scene.pool).await.is_err(), "{sql}");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_round_is_added_by_what_was_counted(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let it = run(&scene, FlowId::GapAnalysis, Band::Small, "the plan").await;
    start(&scene, &it).await;
    let tally = Tally { new: 3, known: 10, ..Tally::default() };
    while let Some(task) = claim(&scene).await {
        let stream = carry_out(&scene, &task, "gaps", Some(tally)).await;
        scene.report(stream, done()).await.unwrap();
    }
    let shown = runs::get(&scene.db, it.id()).await.unwrap();
    let ids: Vec<_> = shown.run.steps.iter().map(|step| step.step.id.0.as_str()).collect();
    assert!(ids.contains(&"gaps@2") && ids.contains(&"fold@2"), "{ids:?}");
    let gate = shown.run.step(&StepId("gate".into())).unwrap();
    assert!(gate.step.needs.contains(&StepId("fold@2".into())), "{:?}", gate.step.needs);
    assert_eq!(shown.run.status, Status::Done);
}

#[sqlx::test(migrations = "../../migrations")]
async fn runs_stand_in_the_history_and_in_lists(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let research = run(&scene, FlowId::Research, Band::Small, "Which cache?").await;
    start(&scene, &research).await;
    let review = run(&scene, FlowId::CodeReview, Band::Large, "").await;
    start(&scene, &review).await;
    commit::cancel_run(&scene.db, review.id(), scene.now()).await.unwrap();
    let check = async |filter: Filter, expected: &[(&str, State)]| {
        let filter = Filter { kind: filter.kind.or(Some(Kind::Run)), ..filter };
        let entries = history::list(&scene.db, &filter).await.unwrap().entries;
        let found: Vec<_> =
            entries.iter().map(|entry| (entry.title.text.as_str(), entry.state.unwrap())).collect();
        assert_eq!(found, expected, "{filter:?}");
        assert!(entries.iter().all(|entry| entry.parts > 0));
    };
    let (one, other) = (("Code review", State::Stopped), ("Research: Which cache?", State::Waiting));
    check(Filter::default(), &[one, other]).await;
    check(Filter { flow: Some(FlowId::Research), ..Filter::default() }, &[other]).await;
    check(Filter { band: Some(Band::Large), ..Filter::default() }, &[one]).await;
    check(Filter { band: Some(Band::Medium), ..Filter::default() }, &[]).await;
    check(Filter { state: Some(State::Waiting), ..Filter::default() }, &[other]).await;
    check(Filter { asked: domain::search::Asked::new("cache").ok(), ..Filter::default() }, &[other]).await;
    let task = claim(&scene).await.unwrap();
    check(
        Filter { state: Some(State::Running), ..Filter::default() },
        &[("Research: Which cache?", State::Running)],
    )
    .await;
    scene.report(stream_of(&task), Outcome::Lost).await.unwrap();
    let all =
        history::list(&scene.db, &Filter { band: Some(Band::Large), ..Filter::default() }).await.unwrap();
    assert_eq!(all.entries.len(), 1, "a condition of runs asks for runs alone");
    let listed = runs::list(&scene.db, None, None, None, 10).await.unwrap();
    let listed: Vec<_> = listed.iter().map(|run| (run.id, run.status.word())).collect();
    assert_eq!(listed, [(review.id(), "cancelled"), (research.id(), "running")]);
    let older = runs::list(&scene.db, None, Some(FlowId::Research), Some(review.id()), 10).await.unwrap();
    assert_eq!(older.len(), 1);
}

/// A page made of nothing but events holds the run as the rows do, at every step of a story.
async fn folding_gives_the_rows(scene: &Scene, seed: u64) {
    let mut dice = StdRng::seed_from_u64(seed);
    let flow = FlowId::ALL[dice.random_range(0..FlowId::ALL.len())];
    let it = run(scene, flow, Band::ALL[dice.random_range(0..3)], "why is it so").await;
    start(scene, &it).await;
    let mut page = Page { workspace: Workspace::default(), session: Some(OpenSession::empty(scene.session)) };
    let mut seq = 0;
    for step in 0..150 {
        let events = feed::read_after(&scene.db, seq, 1_000).await.unwrap().unwrap();
        for envelope in &events {
            page.apply(&envelope.event);
            seq = envelope.seq;
        }
        let rows = runs::get(&scene.db, it.id()).await.unwrap();
        assert_eq!(page.run(it.id()), Some(&rows), "seed {seed}, step {step}");
        let listed = snapshot::page(&scene.db, Wanted::Start, &[]).await.unwrap().state.workspace;
        assert_eq!(page.workspace.run(it.id()), listed.run(it.id()), "seed {seed}, step {step}");
        if rows.run.is_over() {
            break;
        }
        if dice.random_bool(0.01) {
            match commit::cancel_run(&scene.db, it.id(), scene.now()).await {
                Ok(_) | Err(Error::Rejected(_)) => {}
                Err(error) => panic!("seed {seed}, step {step}: {error}"),
            }
        }
        let Some(task) = claim(scene).await else { continue };
        let tally = Some(Tally { new: dice.random_range(0..5), major: 1, known: 5, contradicted: 0 });
        let stream = carry_out(scene, &task, "words", tally).await;
        let outcome = match dice.random_range(0..10) {
            0 => Outcome::Lost,
            1 => Outcome::Failed { reason: "no".into() },
            _ => done(),
        };
        scene.report(stream, outcome).await.unwrap();
        let late = StreamId { attempt: Attempt(stream.attempt.0 + 7), ..stream };
        assert!(scene.report(late, done()).await.is_err());
    }
    let rows = runs::get(&scene.db, it.id()).await.unwrap();
    assert!(rows.run.is_over(), "seed {seed}: {}", rows.run.words());
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

stories!(run_story_1: 1, run_story_2: 2, run_story_3: 3, run_story_4: 4, run_story_5: 5, run_story_6: 6);
