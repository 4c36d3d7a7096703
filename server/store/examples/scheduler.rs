//! What scheduling a battle costs while the tables grow, and how long it takes to take up what a killed server left.
//! `cargo xtask bench scheduler` calls it with two empty databases.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use domain::{
    battle::{Battle, Entry, Identity, Kind, LIMIT_S, Launch, Roster, Terms},
    catalogue::{Lane, ModelRef},
    feed::StreamId,
    id::{Attempt, BattleId, ContestantId, ProjectId, SessionId},
    layout::Origin,
    output::{Measured, Outcome, Phase},
    task::Task,
};
use sqlx::{PgPool, postgres::PgConnectOptions};
use store::{
    Db,
    commit::{self, Ended, Loss},
    instances, slots,
    tasks::{self, Reachable, Site},
    workspace,
};
use uuid::Uuid;

/// The exit code of a measurement that worked and fell short of its goal.
const MISSED: u8 = 3;
const FEW: i32 = 10;
const MANY: i32 = 10_000;
const ROUNDS: usize = 200;
const GROWTH_MAX: f64 = 1.05;
const IN_FLIGHT: usize = 1_000;
const RESUME_MAX: Duration = Duration::from_secs(2);
const LEASE: Duration = Duration::from_secs(600);
const SERVER: &str = "cloud";
/// A layout of a thousand tabs would be measured too.
const BATTLES_PER_SESSION: usize = 10;

#[tokio::main]
async fn main() -> ExitCode {
    match measure().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(MISSED),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Result<bool> {
    let mut urls = std::env::args().skip(1);
    let mut few = Table::new(&urls.next().context("two databases")?, FEW).await?;
    let mut many = Table::new(&urls.next().context("two databases")?, MANY).await?;
    // In turn, so that whatever else the machine does falls on both.
    let (mut of_few, mut of_many) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_few.push(few.fight().await?);
        of_many.push(many.fight().await?);
    }
    let (few_ms, many_ms) = (median(of_few), median(of_many));
    let growth = many_ms / few_ms;
    println!("a battle among {FEW}: {few_ms:.2} ms, among {MANY}: {many_ms:.2} ms: {growth:.3} ×");
    let is_flat = told(&format!("at most {GROWTH_MAX} ×"), growth <= GROWTH_MAX);
    let took = many.resume().await?;
    println!("{IN_FLIGHT} attempts of a killed server taken up in {:.2} s", took.as_secs_f64());
    let is_quick = told(&format!("at most {} s", RESUME_MAX.as_secs()), took <= RESUME_MAX);
    Ok(is_flat && is_quick)
}

fn told(goal: &str, is_reached: bool) -> bool {
    println!("goal: {goal} — {}", if is_reached { "reached" } else { "missed" });
    is_reached
}

fn median(mut all: Vec<Duration>) -> f64 {
    all.sort();
    all[all.len() / 2].as_secs_f64() * 1_000.0
}

/// Tables with so many battles in them.
struct Table {
    db: Db,
    project: ProjectId,
    session: SessionId,
    fought: usize,
}

impl Table {
    async fn new(url: &str, battles: i32) -> Result<Self> {
        let options: PgConnectOptions = url.parse()?;
        let db = Db::open(options.clone()).await?;
        slots::provide(&db, &[(SERVER.to_owned(), IN_FLIGHT as u32)]).await?;
        let (project, session) = workspace::add_project(&db, "Project", "/project").await?;
        let mut table = Self { db, project: project.id, session: session.id, fought: 0 };
        table.fight().await?;
        multiply(&PgPool::connect_with(options).await?, battles - 1).await?;
        // The first ones prepare statements and fill caches.
        for _ in 0..20 {
            table.fight().await?;
        }
        Ok(table)
    }

    /// All that a battle takes of the database: launched, claimed, run and ended.
    async fn fight(&mut self) -> Result<Duration> {
        let battle = self.battle().await?;
        let began = Instant::now();
        self.launch(battle).await?;
        let claimed = [self.claim(Uuid::nil()).await?, self.claim(Uuid::nil()).await?];
        for task in &claimed {
            commit::phase(&self.db, stream_of(task), Phase::Generating, 1).await?;
        }
        for task in &claimed {
            let done = Outcome::Done { measured: Measured::default() };
            commit::report(&self.db, ended(stream_of(task), done)).await?;
        }
        Ok(began.elapsed())
    }

    /// From the start of a server to when all that its predecessor ran waits to be run again.
    async fn resume(&mut self) -> Result<Duration> {
        let place = "bench";
        let predecessor = Uuid::now_v7();
        instances::register(&self.db, predecessor, place, "here").await?;
        for _ in 0..IN_FLIGHT / 2 {
            let battle = self.battle().await?;
            self.launch(battle).await?;
            for _ in 0..2 {
                let task = self.claim(predecessor).await?;
                commit::phase(&self.db, stream_of(&task), Phase::Generating, 1).await?;
            }
        }
        let began = Instant::now();
        let left = instances::register(&self.db, Uuid::now_v7(), place, "here").await?;
        ensure!(left.len() == IN_FLIGHT, "{} were in flight", left.len());
        let left = left.into_iter().map(|(task, attempt)| StreamId { task, attempt }).collect();
        for (_, reported) in commit::report_lost(&self.db, left, Loss::Gone, 1).await {
            reported?;
        }
        Ok(began.elapsed())
    }

    async fn battle(&mut self) -> Result<Battle> {
        if self.fought.is_multiple_of(BATTLES_PER_SESSION) {
            let name = format!("Project {}", self.fought);
            let (project, session) = workspace::add_project(&self.db, &name, &format!("/{name}")).await?;
            (self.project, self.session) = (project.id, session.id);
        }
        self.fought += 1;
        let entry = |model: &str| Entry {
            identity: Identity::Plain,
            model: ModelRef { server: SERVER.to_owned(), model: model.to_owned() },
            variant: String::new(),
            lane: Lane::Cloud,
        };
        let terms = Terms {
            limit_s: LIMIT_S,
            tokens_max: None,
            carry: false,
            check: None,
            setup: None,
            judge: None,
            host: "here".to_owned(),
            machines: Default::default(),
        };
        let launch = Launch {
            id: BattleId(Uuid::now_v7()),
            session: self.session,
            project: self.project,
            kind: Kind::Qa,
            prompt: "Why?".to_owned(),
            terms,
            roster: Roster::new(Kind::Qa, vec![entry("small"), entry("large")])?,
            ids: vec![ContestantId(Uuid::now_v7()), ContestantId(Uuid::now_v7())],
            at_ms: 1,
        };
        Ok(Battle::new(launch)?)
    }

    async fn launch(&self, battle: Battle) -> Result<()> {
        commit::start_battle(&self.db, battle, &[], 1, Origin::elsewhere(None)).await?;
        Ok(())
    }

    async fn claim(&self, by: Uuid) -> Result<Task> {
        let reachable = [Reachable { server: SERVER.to_owned(), slot_key: SERVER.to_owned() }];
        let here = Site { host: "here", machine: "here" };
        let claimed = tasks::claim(&self.db, by, here, &reachable, LEASE, LEASE, 2).await?;
        claimed.context("nothing waits")
    }
}

fn stream_of(task: &Task) -> StreamId {
    let attempt = task.attempts().last().map_or(Attempt(1), |last| last.0);
    StreamId { task: task.id, attempt }
}

fn ended(stream: StreamId, outcome: Outcome) -> Ended {
    let StreamId { task, attempt } = stream;
    Ended { task, attempt, outcome, said: None, title: None, at_ms: 3 }
}

/// As many more of the one that is there, under ids of their own.
async fn multiply(pool: &PgPool, copies: i32) -> Result<()> {
    for statement in [
        "insert into battles select new.* from battles old, generate_series(1, $1) n,
             jsonb_populate_record(null::battles, to_jsonb(old) || jsonb_build_object('id', md5('b' || n)::uuid)) new",
        "insert into tasks select new.* from tasks old, generate_series(1, $1) n,
             jsonb_populate_record(null::tasks, to_jsonb(old) || jsonb_build_object(
                 'id', md5(old.id::text || n)::uuid, 'battle_id', md5('b' || n)::uuid)) new",
        "insert into contestants select new.* from contestants old, generate_series(1, $1) n,
             jsonb_populate_record(null::contestants, to_jsonb(old) || jsonb_build_object(
                 'id', md5(old.id::text || n)::uuid, 'battle_id', md5('b' || n)::uuid,
                 'task_id', md5(old.task_id::text || n)::uuid,
                 'tries', jsonb_build_array(md5(old.task_id::text || n)))) new",
    ] {
        sqlx::query(statement).bind(copies).execute(pool).await?;
    }
    sqlx::query("analyze").execute(pool).await?;
    Ok(())
}
