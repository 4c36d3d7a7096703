//! Claiming tasks, and keeping what is claimed.

use std::time::Duration;

use domain::{
    Rejected,
    catalogue::ModelRef,
    feed::StreamId,
    id::{Attempt, BattleId, ChatId, RunId, TaskId},
    slot,
    task::{self, Owner, Status, Task, Work},
};
use sqlx::{Postgres, Transaction, postgres::types::PgInterval};
use uuid::Uuid;

use crate::{Db, Error, Result, chats::from_word, commit, streams};

/// Where a process is: its host has the folders of some tasks, and its machine the model servers of some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'a> {
    pub host: &'a str,
    pub machine: &'a str,
}

/// A model server that this process can reach: its name in tasks, and the key of its slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reachable {
    pub server: String,
    pub slot_key: String,
}

/// Claims the task that goes first (`domain::slot`) among those whose server has a free place. The task, its place and
/// the lease are taken in one statement: nothing holds a lease while it waits, and two claimers never get the same task
/// or the same place. What gets free where somebody wants to come back is left to that one.
pub async fn claim(
    db: &Db,
    by: Uuid,
    site: Site<'_>,
    reachable: &[Reachable],
    lease: Duration,
    limit: Duration,
    at_ms: i64,
) -> Result<Option<Task>> {
    let (servers, keys) = columns(reachable);
    let mut tx = db.pool.begin().await?;
    let row = sqlx::query_as!(
        TaskRow,
        r#"with due as (
               select tasks.id, tasks.rank, slots.slot_key, slots.n
               from tasks
               join unnest($1::text[], $2::text[]) as mine (server, slot_key) on mine.server = tasks.server
               join slots on slots.slot_key = mine.slot_key and slots.task_id is null
                   and coalesce(slots.background_at_ms, 0) <= $8
                   and not exists (select from tasks back where back.wants_slot = slots.slot_key)
               where tasks.status = 'queued' and (tasks.host is null or tasks.host = $7)
                 and (tasks.machine is null or tasks.machine = $9)
                 and tasks.rank between 0 and $8
               order by tasks.rank, tasks.id
               limit 1
               for update of tasks, slots skip locked
           ), first as (
               select tasks.id, tasks.rank, slots.slot_key, slots.n
               from tasks
               join unnest($1::text[], $2::text[]) as mine (server, slot_key) on mine.server = tasks.server
               join slots on slots.slot_key = mine.slot_key and slots.task_id is null
                   and not exists (select from tasks back where back.wants_slot = slots.slot_key)
               where tasks.status = 'queued' and (tasks.host is null or tasks.host = $7)
                 and (tasks.machine is null or tasks.machine = $9)
                 and not exists (select from due)
               order by tasks.rank, tasks.id
               limit 1
               for update of tasks, slots skip locked
           ), picked as (
               select * from due union all select * from first
           ), placed as (
               update slots
               set task_id = picked.id,
                   background_at_ms = case when picked.rank < 0 then background_at_ms else $6 end
               from picked
               where slots.slot_key = picked.slot_key and slots.n = picked.n
           )
           update tasks set status = 'running', attempt = attempt + 1, phase = '"starting"',
               claimed_by = $3, lease_until = now() + $4, deadline_at = now() + $5, started_at_ms = $6
           from picked where tasks.id = picked.id
           returning tasks.id, chat_id, battle_id, run_id, work, server, model, persona, coder, host, machine, limit_s,
               'queued' as "status!", attempt, attempts_max, lost, phase, cancelling, outcome, settled_attempt, stream_len, queued_at_ms, started_at_ms"#,
        &servers,
        &keys,
        by,
        interval(lease)?,
        interval(limit)?,
        at_ms,
        site.host,
        slot::due_since(at_ms),
        site.machine
    )
    .fetch_optional(&mut *tx)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let mut task = row.into_task()?;
    let events = task.decide(task::Input::Claim { at_ms })?;
    for event in &events {
        task.apply(event);
    }
    commit::finish(tx, events).await?;
    Ok(Some(task))
}

/// Whether a task waits that could be claimed. After a claim that found none: a commit about its battle, run or chat
/// held its row for that moment, and nobody tells when it lets go.
pub async fn passed_over(db: &Db, site: Site<'_>, reachable: &[Reachable]) -> Result<bool> {
    let (servers, keys) = columns(reachable);
    let waits = sqlx::query_scalar!(
        r#"select exists (
               select from tasks
               join unnest($1::text[], $2::text[]) as mine (server, slot_key) on mine.server = tasks.server
               join slots on slots.slot_key = mine.slot_key and slots.task_id is null
                   and not exists (select from tasks back where back.wants_slot = slots.slot_key)
               where tasks.status = 'queued' and (tasks.host is null or tasks.host = $3)
                 and (tasks.machine is null or tasks.machine = $4)
           ) as "waits!""#,
        &servers,
        &keys,
        site.host,
        site.machine
    )
    .fetch_one(&db.pool)
    .await?;
    Ok(waits)
}

/// Renews the leases of what `by` really runs, and returns what of it is still its own. Past its deadline a
/// task is not renewed: whoever runs it does not stop by itself.
pub async fn renew(db: &Db, by: Uuid, running: &[StreamId], lease: Duration) -> Result<Vec<Running>> {
    let tasks: Vec<Uuid> = running.iter().map(|stream| stream.task.0).collect();
    let attempts: Vec<i32> = running.iter().map(|stream| stream.attempt.0 as i32).collect();
    let rows = sqlx::query!(
        "with mine as (
             select tasks.id from tasks
             join unnest($3::uuid[], $4::int[]) as here (id, attempt)
                 on here.id = tasks.id and here.attempt = tasks.attempt
             where claimed_by = $1 and status = 'running' and now() < deadline_at
             order by tasks.id for update of tasks
         )
         update tasks set lease_until = now() + $2 from mine where tasks.id = mine.id
         returning tasks.id, attempt, cancelling",
        by,
        interval(lease)?,
        &tasks,
        &attempts
    )
    .fetch_all(&db.pool)
    .await?;
    let running = |id, attempt, cancelling| {
        let stream = StreamId { task: TaskId(id), attempt: Attempt(attempt as u32) };
        Running { stream, cancelling }
    };
    Ok(rows.into_iter().map(|row| running(row.id, row.attempt, row.cancelling)).collect())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    pub stream: StreamId,
    pub cancelling: bool,
}

/// Locks a task, so that what is decided on stays as it was read.
pub(crate) async fn lock(tx: &mut Transaction<'_, Postgres>, id: TaskId) -> Result<Task> {
    let row = sqlx::query_as!(
        TaskRow,
        "select id, chat_id, battle_id, run_id, work, server, model, persona, coder, host, machine, limit_s, status, attempt,
             attempts_max, lost, phase, cancelling, outcome, settled_attempt, stream_len, queued_at_ms, started_at_ms
         from tasks where id = $1 for update",
        id.0
    )
    .fetch_optional(&mut **tx)
    .await?;
    row.ok_or(Rejected::Stale)?.into_task()
}

/// An attempt whose lease has run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    pub stream: StreamId,
    /// It is past its deadline too, so that nobody renews it any more.
    pub is_overdue: bool,
}

/// What was claimed by someone who has not renewed its lease.
pub async fn expired(db: &Db) -> Result<Vec<Expired>> {
    let rows = sqlx::query!(
        r#"select id, attempt, now() >= deadline_at as "is_overdue!" from tasks
           where status = 'running' and lease_until < now() limit 100"#
    )
    .fetch_all(&db.pool)
    .await?;
    let expired = |stream, is_overdue| Expired { stream, is_overdue };
    Ok(rows.into_iter().map(|row| expired(streams::id(row.id, row.attempt), row.is_overdue)).collect())
}

/// Whether the lease of an attempt has run out by now, not when the transaction began.
pub(crate) async fn is_expired(tx: &mut Transaction<'_, Postgres>, stream: StreamId) -> Result<bool> {
    let is_expired = sqlx::query_scalar!(
        r#"select exists (
               select from tasks
               where id = $1 and attempt = $2 and status = 'running' and lease_until < clock_timestamp()
           ) as "is_expired!""#,
        stream.task.0,
        stream.attempt.0 as i32
    )
    .fetch_one(&mut **tx)
    .await?;
    Ok(is_expired)
}

/// A queued task's server, and how many tasks go before it there: those that run, and those of earlier rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    pub server: String,
    pub ahead: u32,
}

/// `None` when the task is not queued (any more).
pub async fn queued(db: &Db, task: TaskId) -> Result<Option<Queued>> {
    let row = sqlx::query!(
        r#"select this.server, (
               select count(*) from tasks other
               where other.server = this.server and other.machine is not distinct from this.machine
                 and other.id <> this.id
                 and (other.status = 'running'
                      or (other.status = 'queued' and (other.rank, other.id) < (this.rank, this.id)))
           ) as "ahead!"
           from tasks this where this.id = $1 and this.status = 'queued'"#,
        task.0
    )
    .fetch_optional(&db.pool)
    .await?;
    Ok(row.map(|row| Queued { server: row.server, ahead: row.ahead as u32 }))
}

/// How many tasks there are in each status.
pub async fn count(db: &Db) -> Result<Vec<(String, u64)>> {
    let rows = sqlx::query!(
        r#"select known.status as "status!", count(tasks.id) as "count!"
           from unnest(array['queued', 'running', 'settled']) as known (status)
           left join tasks on tasks.status = known.status
           group by known.status order by known.status"#
    )
    .fetch_all(&db.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (row.status, row.count as u64)).collect())
}

fn columns(reachable: &[Reachable]) -> (Vec<String>, Vec<String>) {
    reachable.iter().map(|at| (at.server.clone(), at.slot_key.clone())).unzip()
}

fn interval(duration: Duration) -> Result<PgInterval> {
    PgInterval::try_from(duration).map_err(|error| Error::Unknown(error.to_string()))
}

pub(crate) struct TaskRow {
    pub id: Uuid,
    pub chat_id: Option<Uuid>,
    pub battle_id: Option<Uuid>,
    pub run_id: Option<Uuid>,
    pub work: String,
    pub server: String,
    pub model: String,
    pub persona: Option<String>,
    pub coder: Option<serde_json::Value>,
    pub host: Option<String>,
    pub machine: Option<String>,
    pub limit_s: Option<i32>,
    pub status: String,
    pub attempt: i32,
    pub attempts_max: i32,
    pub lost: serde_json::Value,
    pub phase: Option<serde_json::Value>,
    pub cancelling: bool,
    pub outcome: Option<serde_json::Value>,
    pub settled_attempt: Option<i32>,
    pub stream_len: i64,
    pub queued_at_ms: i64,
    pub started_at_ms: Option<i64>,
}

impl TaskRow {
    pub fn into_task(self) -> Result<Task> {
        let missing = |what: &str| Error::Unknown(format!("task {} has no {what}", self.id));
        let status = match self.status.as_str() {
            "queued" => Status::Queued,
            "running" => Status::Running {
                attempt: Attempt(self.attempt as u32),
                phase: serde_json::from_value(self.phase.ok_or_else(|| missing("phase"))?)?,
                cancelling: self.cancelling,
                started_at_ms: self.started_at_ms.ok_or_else(|| missing("start"))?,
            },
            "settled" => Status::Settled {
                attempt: self.settled_attempt.map(|attempt| Attempt(attempt as u32)),
                outcome: serde_json::from_value(self.outcome.ok_or_else(|| missing("outcome"))?)?,
                stream_len: self.stream_len as u64,
            },
            other => return Err(Error::Unknown(format!("task {} is {other}", self.id))),
        };
        Ok(Task {
            id: TaskId(self.id),
            owner: owner(self.chat_id, self.battle_id, self.run_id)?,
            work: from_word::<Work>(&self.work)?,
            model: ModelRef { server: self.server, model: self.model },
            persona: self.persona,
            coder: self.coder.map(serde_json::from_value).transpose()?,
            host: self.host,
            machine: self.machine,
            limit_s: self.limit_s.map(|seconds| seconds as u32),
            attempts_max: self.attempts_max as u32,
            queued_at_ms: self.queued_at_ms,
            lost: serde_json::from_value(self.lost)?,
            status,
        })
    }
}

/// The table sees to it that it is exactly one.
pub(crate) fn owner(chat: Option<Uuid>, battle: Option<Uuid>, run: Option<Uuid>) -> Result<Owner> {
    let chat = chat.map(|id| Owner::Chat(ChatId(id)));
    let battle = || battle.map(|id| Owner::Battle(BattleId(id)));
    let run = || run.map(|id| Owner::Run(RunId(id)));
    chat.or_else(battle).or_else(run).ok_or_else(|| Error::Unknown("a task is nobody's".into()))
}
