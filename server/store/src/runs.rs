//! Runs as rows.

mod made;
mod recordings;

use std::collections::BTreeMap;

use domain::{
    Rejected,
    flow::{Band, FlowId, Request, Step, StepId, request::Target},
    id::{Attempt, ProjectId, RunId, SessionId, TaskId},
    run::{Change, Run, RunStep, Shown, Status, StepStatus, call},
    task::{self, Task},
    workspace::RunEntry,
};
use sqlx::{PgConnection, Postgres, Transaction};
use uuid::Uuid;

pub use made::{keep_made, outputs, report};
pub(crate) use made::{keep_output, tally};
pub use recordings::{Recording, free, is_freed, recordings};

use crate::{
    Db, Error, Result,
    chats::{from_word, word},
    tasks::{self, TaskRow},
};

/// Locks the run and a task of it. What is decided about the end of one step changes no other that has begun or waits to
/// be claimed, so those can be claimed meanwhile.
pub(crate) async fn lock_for(tx: &mut Transaction<'_, Postgres>, id: RunId, task: TaskId) -> Result<Shown> {
    lock(tx, id).await?;
    tasks::lock(tx, task).await?;
    load(tx, id).await
}

/// Locks the run and whatever of its tasks is not over, so that what is decided on stays as it was read.
pub(crate) async fn lock_all(tx: &mut Transaction<'_, Postgres>, id: RunId) -> Result<Shown> {
    lock(tx, id).await?;
    sqlx::query!(
        "select 1 as one from tasks where run_id = $1 and status <> 'settled' order by id for update",
        id.0
    )
    .fetch_all(&mut **tx)
    .await?;
    load(tx, id).await
}

async fn lock(tx: &mut Transaction<'_, Postgres>, id: RunId) -> Result<()> {
    sqlx::query!("select 1 as one from flow_runs where id = $1 for update", id.0)
        .fetch_optional(&mut **tx)
        .await?
        .ok_or_else(|| Rejected::missing("run"))?;
    Ok(())
}

pub async fn get(db: &Db, id: RunId) -> Result<Shown> {
    load(&mut *db.pool.acquire().await?, id).await
}

pub(crate) async fn load(connection: &mut PgConnection, id: RunId) -> Result<Shown> {
    let row = sqlx::query!(
        "select session_id, project_id, flow, band, fast, target, focus, terms, status, cancelling, error, attempts_max,
             created_at_ms, finished_at_ms
         from flow_runs where id = $1",
        id.0
    )
    .fetch_optional(&mut *connection)
    .await?
    .ok_or_else(|| Rejected::missing("run"))?;
    let tasks = tasks_of(connection, id).await?;
    let Steps { steps, carried_by, tried } = steps(connection, id, &tasks).await?;
    let is_begun = tasks.values().any(|task| !task.attempts().is_empty());
    let status = status(&row.status, row.cancelling, is_begun, row.error)?;
    let request = Request {
        flow: from_word::<FlowId>(&row.flow)?,
        band: Band::or_small(&row.band),
        fast: row.fast,
        target: Target::new(&row.target)?,
        focus: row.focus,
    };
    Ok(Shown {
        session: SessionId(row.session_id),
        project: ProjectId(row.project_id),
        run: Run { id, request, steps, status, attempts_max: row.attempts_max as u32 },
        terms: serde_json::from_value(row.terms)?,
        created_at_ms: row.created_at_ms,
        finished_at_ms: row.finished_at_ms,
        carried_by,
        tasks,
        tried,
    })
}

/// Whether it has begun, its tasks tell: whoever claims one does not touch the run.
fn status(word: &str, cancelling: bool, is_begun: bool, error: Option<String>) -> Result<Status> {
    Ok(match word {
        "running" if is_begun || cancelling => Status::Running { cancelling },
        "running" => Status::Queued,
        "done" => Status::Done,
        "failed" => Status::Failed { reason: error.unwrap_or_default() },
        "cancelled" => Status::Cancelled,
        other => return Err(Error::Unknown(format!("a run is {other}"))),
    })
}

#[derive(Default)]
struct Steps {
    steps: Vec<RunStep>,
    carried_by: BTreeMap<StepId, TaskId>,
    tried: BTreeMap<StepId, u32>,
}

async fn steps(connection: &mut PgConnection, id: RunId, tasks: &BTreeMap<TaskId, Task>) -> Result<Steps> {
    let rows = sqlx::query!(
        "select plan, task_id, status, attempt, reason, tried from flow_steps where run_id = $1 order by place",
        id.0
    )
    .fetch_all(connection)
    .await?;
    let mut read = Steps::default();
    for row in rows {
        let step: Step = serde_json::from_value(row.plan)?;
        let task = row.task_id.map(TaskId);
        read.carried_by.extend(task.map(|task| (step.id.clone(), task)));
        if row.tried > 0 {
            read.tried.insert(step.id.clone(), row.tried as u32);
        }
        let task = task.and_then(|task| tasks.get(&task));
        let reason = row.reason.unwrap_or_default();
        let status = match row.status.as_str() {
            "waiting" => StepStatus::Waiting,
            "done" => StepStatus::Done { attempt: Attempt(row.attempt.unwrap_or_default() as u32) },
            "failed" => StepStatus::Failed { reason },
            "skipped" => StepStatus::Skipped { because: reason },
            "cancelled" => StepStatus::Cancelled,
            _ => under_way(task),
        };
        let lost = task.map_or(0, |task| task.lost.len() as u32);
        read.steps.push(RunStep { step, status, lost });
    }
    Ok(read)
}

/// What lies between ready and over is the task's to tell.
fn under_way(task: Option<&Task>) -> StepStatus {
    match task.map(|task| &task.status) {
        Some(task::Status::Running { attempt, cancelling, started_at_ms, .. }) => {
            StepStatus::Running { attempt: *attempt, cancelling: *cancelling, started_at_ms: *started_at_ms }
        }
        _ => StepStatus::Queued,
    }
}

async fn tasks_of(connection: &mut PgConnection, id: RunId) -> Result<BTreeMap<TaskId, Task>> {
    let rows = sqlx::query_as!(
        TaskRow,
        "select id, chat_id, battle_id, run_id, work, server, model, persona, coder, host, machine, limit_s, status, attempt,
             attempts_max, lost, phase, cancelling, outcome, settled_attempt, stream_len, queued_at_ms, started_at_ms
         from tasks where run_id = $1",
        id.0
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok((TaskId(row.id), row.into_task()?))).collect()
}

/// Older ones are found in the history.
const ENTRIES_MAX: i64 = 200;

/// The runs as the sidebar lists them.
pub(crate) async fn entries(connection: &mut PgConnection, sessions: &[Uuid]) -> Result<Vec<RunEntry>> {
    let rows = sqlx::query!(
        r#"select id as "id!", session_id as "session_id!", flow as "flow!", band as "band!",
               left(focus, 400) as "focus!", status as "status!", cancelling as "cancelling!", error,
               exists (
                   select from tasks where run_id = listed.id and (attempt > 0 or lost <> '[]')
               ) as "is_begun!"
           from (
               select * from flow_runs where status = 'running' and session_id = any($2)
               union select * from (
                   select * from flow_runs where session_id = any($2) order by id desc limit $1
               ) newest
           ) listed order by id"#,
        ENTRIES_MAX,
        sessions
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let flow = from_word::<FlowId>(&row.flow)?;
            Ok(RunEntry {
                id: RunId(row.id),
                session: SessionId(row.session_id),
                flow,
                band: Band::or_small(&row.band),
                title: call(flow, &row.focus),
                status: status(&row.status, row.cancelling, row.is_begun, row.error)?,
            })
        })
        .collect()
}

/// The rows of a run in which nobody has begun.
pub(crate) async fn insert(connection: &mut PgConnection, shown: &Shown) -> Result<()> {
    let Run { id, request, attempts_max, .. } = &shown.run;
    sqlx::query!(
        "insert into flow_runs
             (id, session_id, project_id, flow, band, fast, target, focus, terms, status, attempts_max, created_at_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running', $10, $11)",
        id.0,
        shown.session.0,
        shown.project.0,
        word(&request.flow)?,
        request.band.name(),
        request.fast,
        request.target.path(),
        request.focus,
        serde_json::to_value(&shown.terms)?,
        *attempts_max as i32,
        shown.created_at_ms
    )
    .execute(&mut *connection)
    .await
    .map_err(|error| {
        Error::on_constraint(error, "flow_runs_pkey", Rejected::Invalid("It was launched already.".into()))
    })?;
    for (place, step) in shown.run.steps.iter().enumerate() {
        insert_step(connection, *id, place, &step.step).await?;
    }
    Ok(())
}

async fn insert_step(connection: &mut PgConnection, id: RunId, place: usize, step: &Step) -> Result<()> {
    sqlx::query!(
        "insert into flow_steps (run_id, place, step, plan, status) values ($1, $2, $3, $4, 'waiting')",
        id.0,
        place as i32,
        step.id.0,
        serde_json::to_value(step)?
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What happened to a step. One that is ready has its task from now on.
pub(crate) async fn record_step(
    connection: &mut PgConnection,
    id: RunId,
    task: Option<TaskId>,
    change: &Change,
    tried: u32,
) -> Result<()> {
    let Some(step) = change.step() else { return Ok(()) };
    let status = match change {
        Change::StepReady { .. } => StepStatus::Queued,
        Change::StepSkipped { because, .. } => StepStatus::Skipped { because: because.clone() },
        Change::StepSettled { status, .. } => status.clone(),
        _ => return Ok(()),
    };
    let attempt = match status {
        StepStatus::Done { attempt } => Some(attempt.0 as i32),
        _ => None,
    };
    sqlx::query!(
        "update flow_steps set status = $3, attempt = $4, reason = $5, task_id = coalesce($6, task_id), tried = $7
         where run_id = $1 and step = $2",
        id.0,
        step.0,
        status.word(),
        attempt,
        status.reason(),
        task.map(|task| task.0),
        tried as i32
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// For whoever reads the table: what the step's task is doing.
pub(crate) async fn record_task(connection: &mut PgConnection, task: TaskId, status: &str) -> Result<()> {
    sqlx::query!("update flow_steps set status = $2 where task_id = $1", task.0, status)
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn record_run(
    connection: &mut PgConnection,
    id: RunId,
    change: &Change,
    at_ms: i64,
) -> Result<()> {
    match change {
        Change::RunCancelling => {
            sqlx::query!("update flow_runs set cancelling = true where id = $1", id.0)
                .execute(connection)
                .await?;
        }
        Change::RunSettled { status } => {
            sqlx::query!(
                "update flow_runs set status = $2, error = $3, finished_at_ms = $4 where id = $1",
                id.0,
                status.word(),
                status.reason(),
                at_ms
            )
            .execute(connection)
            .await?;
        }
        Change::RoundAdded { .. } => add_round(connection, id, change).await?,
        _ => {}
    }
    Ok(())
}

/// Others wait for something else by now.
async fn add_round(connection: &mut PgConnection, id: RunId, change: &Change) -> Result<()> {
    let before = load(connection, id).await?.run;
    let mut after = before.clone();
    after.apply(change);
    for (place, step) in after.steps.iter().enumerate() {
        match before.steps.get(place) {
            None => insert_step(connection, id, place, &step.step).await?,
            Some(known) if known.step != step.step => {
                sqlx::query!(
                    "update flow_steps set plan = $3 where run_id = $1 and place = $2",
                    id.0,
                    place as i32,
                    serde_json::to_value(&step.step)?
                )
                .execute(&mut *connection)
                .await?;
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A run as a list has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub id: RunId,
    pub project: ProjectId,
    pub flow: FlowId,
    pub band: Band,
    pub title: String,
    pub status: Status,
    pub created_at_ms: i64,
    pub finished_at_ms: Option<i64>,
}

/// The newest first, those before a given one.
pub async fn list(
    db: &Db,
    project: Option<ProjectId>,
    flow: Option<FlowId>,
    before: Option<RunId>,
    limit: u32,
) -> Result<Vec<Listed>> {
    let rows = sqlx::query!(
        r#"select id, project_id, flow, band, left(focus, 400) as "focus!", status, cancelling, error,
               created_at_ms, finished_at_ms,
               exists (
                   select from tasks where run_id = flow_runs.id and (attempt > 0 or lost <> '[]')
               ) as "is_begun!"
           from flow_runs
           where ($1::uuid is null or project_id = $1) and ($2::text is null or flow = $2)
             and ($3::uuid is null or id < $3)
           order by id desc limit $4"#,
        project.map(|project| project.0),
        flow.map(FlowId::name),
        before.map(|before| before.0),
        i64::from(limit)
    )
    .fetch_all(&db.pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let flow = from_word::<FlowId>(&row.flow)?;
            Ok(Listed {
                id: RunId(row.id),
                project: ProjectId(row.project_id),
                flow,
                band: Band::or_small(&row.band),
                title: call(flow, &row.focus),
                status: status(&row.status, row.cancelling, row.is_begun, row.error)?,
                created_at_ms: row.created_at_ms,
                finished_at_ms: row.finished_at_ms,
            })
        })
        .collect()
}

pub(crate) async fn session(connection: &mut PgConnection, id: RunId) -> Result<SessionId> {
    let session = sqlx::query_scalar!("select session_id from flow_runs where id = $1", id.0)
        .fetch_optional(connection)
        .await?;
    Ok(SessionId(session.ok_or_else(|| Rejected::missing("run"))?))
}
